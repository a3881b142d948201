"""Two runs fused in memory: equal to the fusion that a run stores, and what is said of it."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from pandas import DataFrame

from compute.base.errors import WrongInput
from compute.base.settings import Settings
from compute.evaluate import measures, runs
from compute.systems import learnt_from
from compute.systems.combine.fusion import Interpolation, Rrf
from compute.systems.searcher import Request
from compute.views.compare import fusion_sweep, fusions
from tests.views.records import under

DEPTH, QUERIES = 20, [f"q{number}" for number in range(60)]
MEASURE = "nDCG@10"


def _run(seed: int) -> DataFrame:
    """Lists of 0 to 12 of 30 documents, with equal scores among them."""
    random, rows = np.random.default_rng(seed), []
    for query in QUERIES:
        for doc in random.permutation(30)[: random.integers(0, 13)]:
            rows.append((query, f"d{doc}", float(random.integers(0, 6))))
    hits = DataFrame(rows, columns=["query_id", "doc_id", "score"])
    return runs.canonical(hits, depth=DEPTH, drop_self=False).frame


def _judgements() -> DataFrame:
    random = np.random.default_rng(9)
    rows = [(query, f"d{doc}", int(random.integers(0, 3))) for query in QUERIES for doc in range(9)]
    return DataFrame(rows, columns=["query_id", "doc_id", "relevance"])


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Both runs, the judgements, and what the sweep finds of them."""
    duckdb = pytest.importorskip("duckdb")
    folder, cursor = tmp_path_factory.mktemp("sweep"), duckdb.connect()
    one, other, judged = _run(1), _run(2), _judgements()
    cursor.execute(
        "create table parts (kind text, dataset text, system text, path text, provenance json)"
    )
    for name, run in (("a", one), ("b", other)):
        path = folder / f"{name}.parquet"
        run.to_parquet(path)
        row = ["hits", "tiny", name, str(path), f'{{"depth": {DEPTH}}}']
        cursor.execute("insert into parts values (?, ?, ?, ?, ?)", row)
    cursor.register("given", judged)
    cursor.execute("create table judgements as select 'tiny' as dataset, * from given")
    asked = {"dataset": "tiny", "a": "a", "b": "b", "measure": MEASURE}
    return one, other, judged, fusion_sweep.swept(cursor, **asked), cursor


def _stored(fusion: Any, world: Any, *, judged_only: bool = False) -> dict[str, float]:
    """The values of the run that this fusion stores."""
    one, other, judged, *_ = world
    request = Request(DataFrame(columns=["query_id", "text"]), DEPTH, Settings(), lambda *_: None)
    hits = fusion.combine([one, other], None, request)
    if judged_only:
        hits = hits.merge(judged[["query_id", "doc_id"]])
    run = runs.canonical(hits, depth=DEPTH, drop_self=False).frame
    found = measures.evaluate(run, judged, [MEASURE], depth=DEPTH)
    return dict(zip(found["query_id"], found["value"], strict=True))


@pytest.mark.parametrize(
    ("fusion", "method", "setting"),
    [
        (Interpolation(weight=0.35), fusion_sweep.INTERPOLATE, 0.35),
        (Interpolation(weight=1.0), fusion_sweep.INTERPOLATE, 1.0),
        (Rrf(k=60), fusion_sweep.RRF, 60.0),
        (Rrf(k=0), fusion_sweep.RRF, 0.0),
    ],
)
def test_a_setting_scores_what_the_stored_fusion_scores(
    world: Any, fusion: Any, method: str, setting: float
) -> None:
    swept = world[3]
    rows = swept[(swept["method"] == method) & (swept["setting"] == setting)].set_index("query_id")
    assert rows["value"].to_dict() == _stored(fusion, world)
    assert rows["left_out"].to_dict() == _stored(fusion, world, judged_only=True)


def test_each_system_alone_scores_what_its_own_run_scores(world: Any) -> None:
    *runs_, judged, swept, _ = world
    for place, run in enumerate(runs_):
        own = measures.evaluate(run, judged, [MEASURE, "Hole@10"], depth=DEPTH)
        wide = own.pivot(index="query_id", columns="measure", values="value")
        rows = swept[(swept["method"] == fusion_sweep.ALONE) & (swept["setting"] == place)]
        rows = rows.set_index("query_id")
        assert rows["value"].tolist() == wide[MEASURE].tolist()
        assert rows["holes"].equals(wide["Hole@10"].rename("holes"))


def test_holes_are_a_measure_like_others(world: Any) -> None:
    rows = fusion_sweep.swept(world[4], "tiny", "a", "b", "Hole@10")
    assert rows["value"].equals(rows["holes"])
    found = fusions.swept(rows, "Hole@10")
    assert found is not None
    least = fusions.best(found, "Hole@10")["value"]
    assert least == found.settings["value"].min()


def test_lists_that_were_cut_are_known(world: Any) -> None:
    cursor, asked = world[4], {"dataset": "tiny", "a": "a", "b": "b"}
    assert fusion_sweep.cut(cursor, **asked)["cut"].isna().all()
    cursor.execute("begin")
    cursor.execute(
        """update parts set provenance = '{"depth": 20, "cut": 12}' where system = 'b'"""
    )
    assert fusion_sweep.cut(cursor, **asked)["cut"].tolist() == [12]
    cursor.execute("rollback")


def test_a_measure_deeper_than_the_lists_has_no_answer(world: Any) -> None:
    cursor = world[4]
    asked = {"dataset": "tiny", "a": "a", "b": "b", "measure": "R@100"}
    assert fusion_sweep.swept(cursor, **asked).empty
    assert fusion_sweep.swept(cursor, **asked | {"b": "none", "measure": MEASURE}).empty


@pytest.mark.long
def test_settings_in_slices_are_the_same(world: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fusion_sweep, "_AT_ONCE", 1500)
    again = fusion_sweep.swept(world[4], "tiny", "a", "b", "nDCG@5")
    monkeypatch.undo()
    whole = fusion_sweep.swept(world[4], "tiny", "a", "b", "nDCG@5")
    keys = ["method", "setting", "query_id"]
    pd.testing.assert_frame_equal(
        again.sort_values(keys, ignore_index=True), whole.sort_values(keys, ignore_index=True)
    )


def _rows(values: dict[tuple[str, float], float], n: int = 60, **others: float) -> DataFrame:
    """The same value on each of n queries, for each setting."""
    given = [
        ("tiny", f"q{query}", *setting, value, others.get("holes", 0.5), left)
        for setting, value in values.items()
        for query in range(n)
        for left in [value if setting[0] != fusion_sweep.RRF else others.get("left_out", value)]
    ]
    return DataFrame(given, columns=list(fusion_sweep.COLUMNS))


_VALUES = {
    ("alone", 0.0): 0.3,
    ("alone", 1.0): 0.2,
    ("interpolate", 0.5): 0.4,
    ("interpolate", 1.0): 0.3,
    ("rrf", 60.0): 0.5,
}


def test_the_best_setting_is_named_with_what_it_is_worth_on_other_queries() -> None:
    found = fusions.swept(_rows(_VALUES), MEASURE)
    assert found is not None
    assert found.alone == pytest.approx((0.3, 0.2))
    assert fusions.verdict(found, ("A", "B"), MEASURE) == (
        "Best on these queries: RRF with k = 60, .500 (A .300, B .200). Cross-validated: .500,"
        " +.200 over A (95% CI .200 to .200)."
    )
    best = fusions.best(found, MEASURE)
    assert fusions.name(best, "bm25", "minilm", "d") == "rrf(bm25,minilm)"  # as it is stored
    weighted = fusions.best(found, MEASURE, fusion_sweep.INTERPOLATE)
    assert fusions.name(weighted, "bm25", "minilm", "d") == "interpolate(bm25,minilm)"
    with pytest.raises(WrongInput):
        fusions.name(best, "a b", "minilm", "d")
    tuned = fusions.name({**weighted, "setting": 0.65}, "bm25", "minilm", "scifact")
    assert tuned == "interpolate(bm25,minilm,weight=0.65,tuned=scifact)"
    assert learnt_from(f"rerank({tuned},minilm)", {}) == {"scifact"}


@pytest.mark.parametrize(
    ("measure", "first", "fused"), [(MEASURE, 0.6, 0.5), ("Hole@10", 0.1, 0.2)]
)
def test_a_fusion_that_beats_no_system_is_not_called_best(
    measure: str, first: float, fused: float
) -> None:
    ends = {("alone", 0.0): first, ("alone", 1.0): 0.3}
    for value in (first, fused):
        found = fusions.swept(_rows(ends | {("rrf", 60.0): value}), measure)
        assert found is not None
        said = fusions.verdict(found, ("A", "B"), measure)
        assert said.startswith("Best fusion on these queries: RRF with k = 60, ")
        assert "No fusion beats A." in said


def test_parts_count_the_same_and_vary_around_their_own_means() -> None:
    """By hand: 1 and 3 of one part, 10, 20 and 30 of another; (2 + 20) / 2, errors 1 and 5.77."""
    values = {"x": [1.0, 3.0], "y": [10.0, 20.0, 30.0]}
    rows = DataFrame(
        [
            (part, f"{part}{place}", *setting, value, 0.0, value)
            for setting in _VALUES
            for part, found in values.items()
            for place, value in enumerate(found)
        ],
        columns=list(fusion_sweep.COLUMNS),
    )
    found = fusions.swept(rows, MEASURE)
    assert found is not None
    assert found.settings["value"].tolist() == pytest.approx([11.0] * 3)
    error = np.sqrt(1 / 4 * (2 / 2) + 1 / 4 * (100 / 3))
    reach = (found.settings["high"] - found.settings["value"]).tolist()
    assert reach == pytest.approx([2.7764451 * error] * 3)


def test_few_queries_say_nothing_of_others() -> None:
    found = fusions.swept(_rows(_VALUES, n=20), MEASURE)
    assert found is not None
    assert found.fused is None
    assert "at least 50 queries" in fusions.verdict(found, ("A", "B"), MEASURE)


def test_a_setting_that_wins_on_what_is_judged_only_is_marked() -> None:
    found = fusions.swept(_rows(_VALUES, left_out=0.25), MEASURE)
    assert found is not None
    marked = found.settings.set_index(["method", "setting"])["only_judged"]
    assert marked["rrf", 60.0]
    assert not marked["interpolate", 0.5]
    drawn: Any = fusions.figure(found, ("A", "B"), MEASURE, theme="light").data
    assert drawn[4].marker.color[0] != drawn[1].marker.color[0]


def test_weights_are_carried_from_dataset_to_dataset() -> None:
    x = fusions.swept(_rows(_VALUES), MEASURE)
    y = fusions.swept(_rows(_VALUES | {("interpolate", 1.0): 0.6}), MEASURE)
    assert x is not None
    assert y is not None
    rows = fusions.across({"x": x, "y": y}, MEASURE, {"x": "X"})
    assert rows["Dataset"].tolist() == ["X", "y"]
    assert rows["Best weight"].tolist() == [0.5, 1.0]
    assert rows["Weight from other datasets"].tolist() == [1.0, 0.5]
    assert rows["Resulting loss"].tolist() == pytest.approx([0.1, 0.2])
    lost = fusions.losses({"x": x, "y": y}, MEASURE, {})
    assert lost.to_numpy()[0].tolist() == pytest.approx(["x", 0, 0.2])
    assert under(fusions.columns(lost), lost)["y"].tolist() == [".200", ".000"]
    alone = fusions.across({"x": x}, MEASURE, {})
    assert alone["Resulting loss"].isna().all()
