"""The Leaderboard's order, its table, and the boards beside it, as the dashboard draws them."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from compute.base.settings import Settings
from compute.intake import imports
from compute.judgements import PERSON
from compute.store.loading import Bench
from compute.store.store import Store
from tests.support.pages import noted, opened

HOSTILE = "<b>*mine*&$x$"
RANKS = {"good": 1, "alike": 1, HOSTILE: 6}
"""The rank that each system gives the relevant document of most queries."""
N_QUERIES = 40


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two collections of judgements alone, three systems on each; on one a hole was judged."""
    folder = tmp_path_factory.mktemp("boards")
    settings = Settings(home=folder / "home", threads=1)
    bench = Bench(Store(settings), settings)
    random = np.random.default_rng(1)
    for name in ("one", "two"):
        qrels = folder / "qrels.txt"
        qrels.write_text("".join(f"q{q} 0 d{q} 1\n" for q in range(N_QUERIES)), encoding="utf-8")
        dataset = imports.import_dataset(bench, name, qrels=qrels).dataset
        for system, rank in RANKS.items():
            file = folder / "some.run"
            file.write_text(_run(rank, random), encoding="utf-8")
            imports.import_run(bench, file, dataset, system=system)
    about = {"person": "ada", "task": "", "guideline_version": "", "source": PERSON}
    rows = [{"dataset": "one", "query_id": f"q{q}", "doc_id": "x6"} for q in range(N_QUERIES)]
    bench.store.add_judgements(pd.DataFrame(rows).assign(relevance=1, **about))
    return settings.home


def _run(rank: int, random: np.random.Generator) -> str:
    """Ten documents per query, the relevant one near a rank, the others unjudged."""
    lines = []
    for q in range(N_QUERIES):
        place = min(10, rank + int(random.integers(0, 3)))
        for at in range(1, 11):
            document = f"d{q}" if at == place else f"x{at if rank < 6 else 11 - at}"
            lines.append(f"q{q} Q0 {document} {at} {11 - at} t\n")
    return "".join(lines)


@pytest.fixture(autouse=True)
def home(judged: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BEIRSCOPE_HOME", str(judged))


def figure(app: AppTest, key: str) -> dict:
    (chart,) = [chart for chart in app.get("plotly_chart") if chart.key == key]
    return json.loads(chart.proto.spec)


def said(app: AppTest) -> str:
    return " ".join(caption.value for caption in noted(app)).replace("\\", "")


def means(app: AppTest) -> dict[str, float]:
    trace = figure(app, "order")["data"][0]
    return dict(zip(trace["customdata"], trace["x"], strict=True))


def test_alike_systems_share_a_bar_and_a_worse_one_does_not() -> None:
    app = opened(numbers="Computed", group="own")
    order = figure(app, "order")
    systems = order["data"][0]["customdata"]
    assert set(systems[:2]) == {"good", "alike"} and systems[2] == HOSTILE
    bars = [trace["y"] for trace in order["data"] if trace.get("xaxis") == "x2"]
    assert bars == [[0, 1]]
    texts = [note["text"] for note in order["layout"]["annotations"]]
    assert texts.count("1–2") == 2 and "3" in texts
    assert "the 2 datasets that all of these have, 80 judged queries" in said(app)
    assert order["layout"]["yaxis"]["ticktext"][2].startswith("&lt;b&gt;*mine*")


@pytest.mark.usefixtures("shipped_results")
def test_a_home_of_own_datasets_opens_on_them_alone_until_others_are_asked_for() -> None:
    app = opened()
    assert app.multiselect(key="group").value == ["own"]
    assert OWN_ALONE in [text.value for text in app.markdown]
    assert {row for row, _ in cells_of(app)} == {"one", "two"}
    papers = "The papers' tables are under Numbers: Published; no run here is of their families"
    assert papers in said(app) and "rerank, sparse: see Jobs." in said(app)
    # The address that the page gets shows the same.
    assert papers in said(opened(numbers="Computed"))
    every = opened(group="")
    assert every.multiselect(key="group").value == []
    assert {"one", "two"} < {row for row, _ in cells_of(every)}
    assert OWN_ALONE not in [text.value for text in every.markdown]
    (show_all,) = [button for button in app.button if button.label == "Show all datasets"]
    assert {row for row, _ in cells_of(app)} < {row for row, _ in cells_of(show_all.click().run())}
    assert opened(numbers="Published").multiselect(key="group").value == []
    # Own datasets may have no queries of the kind that is asked for.
    asked = opened(numbers="Computed", queries="question:what")
    assert OWN_ALONE not in [text.value for text in asked.markdown]


OWN_ALONE = "Own datasets alone are shown."


def cells_of(app: AppTest) -> set[tuple[str, str]]:
    """Dataset and system of each cell of the heatmap."""
    (marks,) = [one for one in figure(app, "cells")["data"] if one.get("customdata")]
    return {(dataset, system) for dataset, system in marks["customdata"] if dataset}


def test_the_order_of_one_dataset_opens_from_the_address() -> None:
    app = opened(numbers="Computed", group="own", over="two")
    assert app.selectbox(key="over").value == "two"
    assert "Over two, 40 judged queries." in said(app)
    assert means(app) != means(opened(numbers="Computed", group="own"))


@pytest.mark.usefixtures("shipped_results")
def test_added_judgements_move_the_order_and_stand_beside_the_official_ones() -> None:
    address = {"numbers": "Computed", "group": "own", "over": "one"}
    official, added = opened(**address), opened(**address, judgements="added")
    assert means(added)["good"] < means(official)["good"]
    assert means(added)[HOSTILE] > means(official)[HOSTILE]
    assert official.selectbox(key="beside").options[0] == "Official + added judgements"
    assert added.selectbox(key="beside").options[0] == "Official judgements"
    # Values moved, and no rank did: a figure would be all grey.
    for app in (official, added):
        same = "All systems have the same rank on both boards. 3 systems, on one. Kendall's τ"
        assert same in said(app)
        assert "bump" not in [chart.key for chart in app.get("plotly_chart")]
    assert "which no paper had" in said(opened(numbers="Computed", group="", judgements="added"))
    assert "which no paper had" not in said(official)
    # Where nobody judged, both boards are the same.
    other = opened(**address | {"over": "two"})
    assert "Official + added judgements" not in other.selectbox(key="beside").options


def test_the_table_has_every_system_with_interval_rank_and_group() -> None:
    app = opened(numbers="Computed", group="own", view="Table")
    rows = app.dataframe[0].value
    heads = ["System", "Mean", "Interval", "95% interval", "Rank", "First in", "Group"]
    assert list(rows.columns) == [*heads, "Hole@10", "Datasets", "one", "two"]
    # Of ten documents one is judged.
    assert rows["Hole@10"].tolist() == pytest.approx([0.9] * 3)
    assert rows["Datasets"].tolist() == [2, 2, 2]
    assert rows["Rank"].tolist() == ["1–2", "1–2", "3"]
    assert rows["Group"].tolist() == ["a", "a", "b"]
    assert rows["Mean"].tolist() == pytest.approx(((rows["one"] + rows["two"]) / 2).tolist())
    assert "cells" not in [chart.key for chart in app.get("plotly_chart")]


@pytest.mark.parametrize("measure", ["Hole@10", "R@100", "AP@100"])
def test_every_measure_has_an_order(measure: str) -> None:
    app = opened(numbers="Computed", group="own", measure=measure)
    assert figure(app, "order")["data"]


def test_of_holes_the_fewest_come_first() -> None:
    app = opened(numbers="Computed", group="own", measure="Hole@10", judgements="added")
    order = figure(app, "order")["data"][0]["x"]
    assert order == sorted(order)


def test_every_board_that_can_stand_beside_draws() -> None:
    app = opened(numbers="Published", table="BEIR v4, Table 2")
    for beside in app.selectbox(key="beside").options:
        app.selectbox(key="beside").set_value(beside).run()
        assert not app.exception and not app.error
    assert app.selectbox(key="beside").options[0] == "BEIR v4, Table 9: R@100"


def test_print_of_few_datasets_has_no_intervals_and_says_why() -> None:
    app = opened(numbers="Published", table="BEIR-PL, Table 6")
    assert "fewer than 10 datasets promise too much" in said(app)
    assert not figure(app, "order")["data"][0]["error_x"]["visible"]


def test_print_says_nothing_of_one_dataset() -> None:
    app = opened(numbers="Published", over="scifact")
    assert "In print there are no scores by query" in said(app)


@pytest.mark.usefixtures("shipped_results")
def test_a_dataset_that_is_not_in_the_order_is_said() -> None:
    app = opened(over="scifacts")
    assert "Did you mean scifact" in app.warning[0].value.replace("\\", "")


def few(home: Path, n_queries: int, *names: str) -> Settings:
    """Collections of which three systems answer half of the queries, or the only one."""
    settings = Settings(home=home, threads=1)
    bench = Bench(Store(settings, shipped=home / "nothing"), settings)
    for name in names or ("few",):
        _import_few(bench, home.with_name("some.txt"), name, n_queries)
    return settings


def _import_few(bench: Bench, file: Path, name: str, n_queries: int) -> None:
    file.write_text("".join(f"q{q} 0 d 1\n" for q in range(n_queries)), encoding="utf-8")
    dataset = imports.import_dataset(bench, name, qrels=file).dataset
    for rank, system in enumerate(("good", "middling", "bad"), 1):
        answered = range(max(n_queries // 2, 1))
        lines = [
            f"q{q} Q0 {'d' if at == rank else f'x{at}'} {at} {9 - at} t\n"
            for q in answered
            for at in (1, 2, 3)
        ]
        file.write_text("".join(lines), encoding="utf-8")
        imports.import_run(bench, file, dataset, system=system)


def test_a_board_over_returned_queries_stands_beside_one_over_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BEIRSCOPE_HOME", str(few(tmp_path / "home", 4, "few", "too").home))
    # All systems have the same R@100, so that some change ranks.
    address = {"numbers": "Computed", "group": "own", "beside": "R@100", "view": "Table"}
    for returned, value in (("true", "1.000"), ("false", ".500")):
        app = opened(**address, returned=returned)
        texts = [note["text"] for note in figure(app, "bump")["layout"]["annotations"]]
        assert f"{value}  good" in texts and f"good  {value}" in texts
        # The order, beside the table and below it, is over all.
        assert said(app).count("These means are over all judged queries") == 2 * (value == "1.000")


def test_the_table_of_a_collection_of_one_query_has_no_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BEIRSCOPE_HOME", str(few(tmp_path / "home", 1).home))
    app = opened(numbers="Computed", group="own", view="Table")
    assert not app.error
    rows = app.dataframe[0].value.set_index("System")
    assert rows.loc["good", "few"] == 1 and set(rows["Rank"]) == {"–"}
    assert "no ranks" in app.info[0].value


@pytest.mark.usefixtures("shipped_results")
def test_only_datasets_that_all_have_is_a_switch() -> None:
    every = opened(numbers="Published", table="BEIR v4, Table 2")
    assert "19 datasets, 10 systems" in said(every)
    shared = opened(numbers="Published", table="BEIR-PL, Table 3", shared="true")
    assert shared.get("plotly_chart")
    mixed = opened(numbers="Computed", group="", shared="true")
    assert "No dataset has a figure of every system" in mixed.info[0].value


def test_one_dataset_has_a_line_for_a_figure_of_ranks_and_no_wins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BEIRSCOPE_HOME", str(few(tmp_path / "home", 40).home))
    app = opened(numbers="Computed", group="own", beside="R@100")
    assert "2 systems have another rank there. 3 systems, on few." in said(app)
    assert not {"bump", "wins"} & {chart.key for chart in app.get("plotly_chart")}


def test_what_is_significantly_above_or_below_the_baseline_has_a_mark() -> None:
    address = {"numbers": "Computed", "group": "own", "baseline": "alike"}
    app = opened(**address)
    assert "▲ ▼: significantly above or below alike" in said(app)
    words = [text for trace in figure(app, "cells")["data"] for text in trace.get("text", ())]
    marked = [text for text in words if "<sup>" in text]
    assert len(marked) == 2 and all(text.endswith("<sup>▼</sup>") for text in marked)
    # The test is over all judged queries, and print has no scores by query.
    for other in ({"returned": "true"}, {"numbers": "Published", "group": "BEIR"}):
        assert "▲" not in said(opened(**(address | other)))


def test_a_printed_table_is_called_by_what_it_holds() -> None:
    app = opened(numbers="Published", table="BEIR v4, Table 9")
    assert "so single datasets cannot be tested" in said(app)
    table = app.selectbox(key="table")
    assert table.value == "BEIR v4, Table 9"
    assert "BEIR v4, Table 9: R@100, R_cap@100" in table.options


def test_the_filter_says_how_many_of_its_pickers_are_set_and_what_bold_is_among() -> None:
    app = opened(numbers="Computed", group="", systems=["good"], returned="true")
    labels = [block.proto.popover.label for block in app.get("popover")]
    assert "Filter (2)" in labels
    above = "1 of 3 systems shown; bold, colours and ranks compare all 3."
    assert above in said(app) and "shown;" not in said(opened(numbers="Computed", group=""))
    assert "All are compared, those too that are not shown above." in said(app)
    bare = opened(group="")
    assert "Filter" in [block.proto.popover.label for block in bare.get("popover")]
