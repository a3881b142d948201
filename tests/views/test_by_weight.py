"""Weighted means, intervals and rankings on Dataset and Leaderboard; without weights all is as
before."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pandas import DataFrame
from pandas.testing import assert_frame_equal

from compute.datasets import DATASETS, dataset
from compute.evaluate.distributions import student
from compute.intake import imports, query_labels
from compute.reading.database import open_version
from compute.store import provenance
from compute.store.loading import Bench
from compute.store.own_datasets import own_datasets
from compute.views.dataset.page import page as dataset_page
from compute.views.leaderboard import cells, select, select_order
from compute.views.leaderboard.page import page as leaderboard
from compute.views.page import Figure, Page, Table
from compute.views.shared import standings
from tests.support import filled
from tests.support.filled import FOUND
from tests.support.storage import hits, open_store, publish_run, scores
from tests.views import records

TRAFFIC = [0, 3, 2, 2, 3, 2, 3, 3, 2, 3, 2, 3]
SHARES = np.array(TRAFFIC) / sum(TRAFFIC)
SYSTEMS = sorted(FOUND)
RR = "RR@10"
ASKED = {"measure": RR, "systems": SYSTEMS, "sign": 1}


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    """Four systems on two datasets of the same twelve queries."""
    made = filled.bench(tmp_path)
    filled.take_twelve(made)
    filled.take_twelve(made, "other")
    return made


def label(bench: Bench, key: str, values: Mapping[int, object], **how: Any) -> None:
    """Give queries of `own` labels."""
    file = bench.settings.home.parent / "labels"
    file.write_text("".join(f"q{n}\t{key}\t{value}\n" for n, value in values.items()), "utf-8")
    query_labels.import_file(bench, file, dataset("own", own_datasets(bench.store)), **how)


def weigh(bench: Bench, weights: list) -> None:
    label(bench, "traffic", dict(enumerate(weights)), weight="traffic")


def asked(bench: Bench, query: Any, **about: Any) -> DataFrame:
    with open_version(bench.store).cursor() as cursor:
        return query(cursor, **about)


def ranked(bench: Bench) -> DataFrame:
    rows = asked(bench, standings.by_weight, datasets=["own"], measure=RR)
    return standings.ranked(rows, RR).set_index("system")


def values(system: str) -> np.ndarray:
    return np.isin(range(12), list(FOUND[system])).astype(float)


def drawn(page: Page, bench: Bench, **address: Any) -> list[Any]:
    """All that a page shows."""
    shown = records.shown(page, bench.settings.home, **address)
    figures = [of.drawn(theme="light").to_json() for of in shown.parts if isinstance(of, Figure)]
    tables = [records.written(of).to_csv() for of in shown.parts if isinstance(of, Table)]
    return [shown.words, figures, tables]


@pytest.mark.long
def test_equal_weights_have_students_interval_and_others_robust_ones(bench: Bench) -> None:
    weigh(bench, [5] * 12)
    once = asked(bench, standings.standing, datasets=["own"], measure=RR)
    once, equal = standings.ranked(once, RR).set_index("system"), ranked(bench)
    columns = ["value", "low", "high"]
    assert_frame_equal(equal[columns], once.loc[equal.index, columns])
    label(bench, "traffic", dict(enumerate(TRAFFIC)), replace=True)
    found, off = ranked(bench).loc["a"], values("a") - SHARES @ values("a")
    assert (found["value"], found["n"]) == (pytest.approx(SHARES @ values("a")), 11)
    error = np.sqrt((SHARES**2 * off**2 / (1 - SHARES)).sum())
    square, far = (SHARES**2).sum(), SHARES**2 / (1 - SHARES)
    freedom = 1 / (square + far.sum() ** 2 - (far**2).sum())
    low, high = student(found["value"], error, freedom)
    assert (found["low"], found["high"]) == pytest.approx((low, high))
    label(bench, "pair", {n: n // 2 for n in range(12)}, family="pair")
    # Six families count as fewer than ten, however many queries they have.
    assert np.isnan(ranked(bench)["high"]["a"])


def test_repeats_widen_the_weighted_interval(bench: Bench) -> None:
    weigh(bench, TRAFFIC)
    before = ranked(bench).loc["a"]
    file = bench.settings.home.parent / "again.run"
    file.write_text("".join(f"q{n} Q0 d{n} 1 1 t\n" for n in range(12)), "utf-8")
    row = dataset("own", own_datasets(bench.store))
    imports.import_run(bench, file, row, system="a", repeat=True, any_tag=True)
    found = ranked(bench).loc["a"]
    means = [float(SHARES @ values("a")), 1.0]
    assert found["value"] == pytest.approx(np.mean(means))
    assert (found["runs"], found["spread"]) == (2, pytest.approx(np.std(means, ddof=1)))
    assert found["high"] - found["low"] > before["high"] - before["low"]


@pytest.mark.long
def test_few_effective_queries_have_no_interval_and_no_ranks(bench: Bench) -> None:
    weigh(bench, [1e308, 1e308, *[1] * 10])
    found = ranked(bench)
    assert found["low"].isna().all() and found.loc["a", "value"] == pytest.approx(1)
    shown = records.shown(dataset_page, bench.settings.home, dataset="own", measure=RR)
    assert "count as 2): no ranks: the weighted queries of own count as fewer" in shown.words


@pytest.mark.long
def test_a_ranking_is_weighted_only_where_there_are_weights(bench: Bench) -> None:
    weigh(bench, TRAFFIC)
    once, by = (
        {
            name: asked(bench, select_order.of_runs, datasets=names, weighted=weighted, **ASKED)
            for name, names in (("own", ["own"]), ("other", ["other"]), ("both", ["own", "other"]))
        }
        for weighted in (False, True)
    )
    assert_frame_equal(by["other"], once["other"])
    means = by["own"].set_index("system")["mean"]
    assert means["c"] == pytest.approx(SHARES @ values("c")) and means["c"] > means["b"]
    mean = once["other"].set_index("system").loc["c", "mean"]
    both = by["both"].set_index("system").loc["c"]
    assert both["mean"] == pytest.approx((means["c"] + mean) / 2)
    assert both["low"] < both["mean"] < both["high"]


@pytest.mark.long
def test_pages_without_weights_are_as_before(bench: Bench) -> None:
    pages = (
        (dataset_page, {"dataset": "other", "measure": RR}),
        (leaderboard, {"numbers": "Computed", "group": "own", "measure": RR}),
        (leaderboard, {"numbers": "Computed", "group": "own", "measure": RR, "view": "Table"}),
    )
    before = [drawn(page, bench, **address) for page, address in pages]
    switched = drawn(pages[1][0], bench, **pages[1][1], weighted="true")
    assert switched == before[1]
    weigh(bench, TRAFFIC)
    assert [drawn(page, bench, **address) for page, address in pages] == before


@pytest.mark.long
def test_dataset_and_leaderboard_show_weighted_means(bench: Bench) -> None:
    weigh(bench, TRAFFIC)
    home = bench.settings.home
    shown = records.shown(dataset_page, home, dataset="own", measure=RR)
    rows = records.written(shown.table("weighted")).set_index("System")
    mean = f"{SHARES @ values('c'):.3f}".removeprefix("0")
    assert (rows["Weighted"]["c"], rows["Each query once"]["c"]) == (mean, ".250")
    assert "Weighted by traffic (11 queries count as " in shown.words
    shown = records.shown(
        leaderboard, home, numbers="Computed", group="own", measure=RR, weighted="true"
    )
    assert mean in str(shown.figure("cells")["data"])
    assert "weighted on own (traffic); elsewhere each query counts once" in shown.words


def test_parts_count_equally_and_weights_within_them(tmp_path: Path) -> None:
    store, random = open_store(tmp_path / "home"), np.random.default_rng(5)
    forums, ids, wanted = DATASETS["cqadupstack"].parts, [str(n) for n in range(4)], []
    for forum in forums:
        for system in ("bm25", "dpr"):
            given = dict(zip(ids, random.random(4).tolist(), strict=True))
            publish_run(store, forum, system, hits(("0", "d1", 1)), scores(RR, **given))
        weights = random.integers(1, 9, 4)
        wanted.append(weights / weights.sum() @ list(given.values()))
        rows = DataFrame({"query_id": ids, "key": "traffic", "value": weights.astype(str)})
        query_labels.put(store, forum, rows, provenance.record([], 0), weight="traffic")
    with open_version(store).cursor() as cursor:
        by = standings.by_weight(cursor, forums, RR)
        means = cells.by_weight(select.means(cursor, RR), by)
        about: dict[str, Any] = ASKED | {"systems": ["bm25", "dpr"], "weighted": True}
        order = select_order.of_runs(cursor, datasets=["cqadupstack"], **about)
    for rows in (means[means["dataset"] == "cqadupstack"], order.assign(value=order["mean"])):
        assert rows.set_index("system")["value"]["dpr"] == pytest.approx(np.mean(wanted))
    value = standings.ranked(by, RR).set_index("system")["value"]["dpr"]
    assert value == pytest.approx(np.mean(wanted))
