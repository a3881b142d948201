"""The Overlap page: what it shows without counts and with, deep links, words from outside."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from pandas import DataFrame
from streamlit.testing.v1 import AppTest

from compute import jobs
from compute.base.settings import Settings
from compute.corpora import overlap
from compute.intake import imports, leakage
from compute.recompute.run import Bench
from compute.store.own_datasets import own_datasets
from compute.store.store import Store
from compute.views.overlap import page as overlap_page
from tests.support import filled, pages
from tests.support.filled import HOSTILE, RUNS
from tests.support.pages import noted
from tests.support.tiny import DOCUMENTS, QUERIES, write_tiny

RUN = RUNS["plain"]
COLLECTIONS = ("one", "two", "three", "four", "five")


@pytest.fixture(scope="module")
def counted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Five collections of the tiny documents, each without one more of them, counted; two runs."""
    bench = filled.bench(folder := tmp_path_factory.mktemp("overlap"))
    for place, name in enumerate(COLLECTIONS):
        source = write_tiny(folder / name)
        kept = [json.dumps(record) for record in DOCUMENTS[: 6 - place]] + [""]
        (source / "corpus.jsonl").write_text("\n".join(kept), encoding="utf-8")
        taken = imports.import_dataset(bench, name, path=source)
        overlap.count(bench, taken)
        some = "".join(RUN.splitlines(True)[: place % 3 + 1])
        filled.add(bench, taken.dataset, {"base": RUN, HOSTILE: some})
    overlap.compare(bench, COLLECTIONS)
    return bench.settings.home


@pytest.fixture
def home(counted: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("BEIRSCOPE_HOME", str(counted))
    return counted


@pytest.fixture
def fresh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("BEIRSCOPE_HOME", str(tmp_path))
    return tmp_path


def opened(**address: str | list[str]) -> AppTest:
    return pages.opened("overlap", **address)


def figures(app: AppTest) -> list[Any]:
    return [json.loads(chart.proto.spec) for chart in app.get("plotly_chart")]


def heads(app: AppTest) -> list[str]:
    """The title over each panel."""
    return [figure["layout"]["annotations"][0]["text"] for figure in figures(app)]


def said(app: AppTest) -> str:
    return " ".join(e.value for e in (*noted(app), *app.info, *app.warning)).replace("\\", "")


def test_a_figure_takes_clicks_from_its_first_drawing_on(home: Path) -> None:
    """Streamlit itself sets it only once the figure is drawn; a click before that would be lost."""
    heatmap, *_ = figures(opened(view="Heatmap"))
    assert heatmap["layout"]["clickmode"] == "event+select"


def test_a_fresh_home_shows_the_correlations_of_the_paper(fresh: Path) -> None:
    app = opened(view="Domain shift", open="correlations")
    assert heads(app)[:2] == [
        "<b>SBERT (cosine)</b>  Spearman ρ = .77 (n = 14); with the open marks .55"
        "<br>95% CI .34 to .94; with the open marks .05 to .83",
        "<b>ANCE</b>  Spearman ρ = .71 (n = 14); with the open marks .48"
        "<br>95% CI .22 to .91; with the open marks −.03 to .79",
    ]
    assert app.multiselect(key="left_out").value == ["bioasq", "signal1m", "webis-touche2020"]
    assert "chosen after seeing the results" in said(app)
    rows = app.dataframe[0].value.drop(columns="System").round(3).to_numpy().tolist()
    assert rows == [
        ["unigrams", 3, 0.774, ".34 to .94", 14],
        ["unigrams", 0, 0.548, ".05 to .83", 17],
        ["unigrams", 3, 0.708, ".22 to .91", 14],
        ["unigrams", 0, 0.477, "−.03 to .79", 17],
        ["bigrams", 3, 0.647, ".12 to .89", 14],
        ["bigrams", 0, 0.435, "−.08 to .77", 17],
        ["bigrams", 3, 0.488, "−.09 to .82", 14],
        ["bigrams", 0, 0.283, "−.24 to .68", 17],
    ]


def test_the_address_leaves_out_what_it_names(fresh: Path) -> None:
    none = heads(opened(view="Domain shift", left_out=""))
    assert "ρ = .55 (n = 17)<br>" in none[0]
    two = heads(opened(view="Domain shift", left_out=["bioasq", "nq"], unit="bigrams"))
    assert "(n = 15); with the open marks .44" in two[0]


def test_any_printed_systems_against_any_baseline(fresh: Path) -> None:
    app = opened(
        view="Domain shift", table="BEIR v4, Table 2", baseline="ance", systems=["tas-b", "sparta"]
    )
    assert [head.split("</b>")[0] for head in heads(app)[:2]] == ["<b>TAS-B", "<b>SPARTA"]
    assert "minus ANCE" in json.dumps(figures(app)[0])


def test_wrong_names_in_the_address_are_said(home: Path) -> None:
    app = opened(view="Domain shit", unit="trigrams", floor="x", order="y", pair="one,six")
    assert "Did you mean Domain shift?" in said(app)
    for what in ("kind of words", "frequency bound", "order", "pair of corpora"):
        assert f"No {what} here is called" in said(app)
    shift = opened(view="Domain shift", table="no", source="six", own_systems="none", scores="no")
    for what in ("printed table", "counted corpus", "system of these scores", "table of scor"):
        assert f"No {what}" in said(shift)


def test_a_pair_that_other_similarities_lack_is_dropped_without_a_word(home: Path) -> None:
    app = opened(view="Heatmap", numbers="Published", pair="bioasq,trec-covid")
    app.selectbox(key="numbers").set_value("Computed").run()
    assert "is called" not in said(app)
    assert app.session_state["_run"].named["pair"] == ["one,two"]
    assert "No pair of corpora here is called" in said(opened(pair="bioasq,trec-covid"))


def test_the_graph_lists_the_neighbours_of_the_collection_in_the_address(home: Path) -> None:
    every = opened(view="Graph", numbers="Computed").dataframe[0].value
    assert "2nd nearest" in every
    app = opened(view="Graph", numbers="Computed", node="five")
    assert list(app.dataframe[0].value) == ["Corpus", "Similarity"]
    assert app.dataframe[0].value["Similarity"].is_monotonic_decreasing
    marks = [trace for trace in figures(app)[0]["data"] if trace.get("customdata")]
    assert ["five"] in [carried for trace in marks for carried in trace["customdata"]]


def test_the_heatmap_opens_the_pair_of_the_address(home: Path) -> None:
    app = opened(view="Heatmap", pair="five,four", function_words="true")
    triangle, both, *sides = figures(app)
    (points,) = [trace for trace in triangle["data"] if "customdata" in trace]
    ours = {tuple(sorted(pair)) for pair in points["customdata"]}
    assert {("five", "four"), ("one", "two")} <= ours
    assert len(triangle["layout"]["shapes"]) == 1 and len(sides) == 2
    assert app.selectbox(key="_pair").value == "five,four"
    assert "the" in both["layout"]["yaxis"]["ticktext"]
    pairs = app.dataframe[0].value
    assert list(pairs) == ["Corpus", "Other", "Similarity"]
    assert pairs["Similarity"].is_monotonic_decreasing


def test_names_from_outside_stay_letters_on_every_view(home: Path) -> None:
    for view in ("Heatmap", "Graph", "Domain shift"):
        app = opened(view=view)
        for figure in figures(app):
            shown = json.dumps(figure, ensure_ascii=False)
            assert "<b>*mine*" not in shown and "<script>" not in shown
        for element in (*app.markdown, *noted(app)):
            assert HOSTILE not in element.value
        for element in app.get("html"):
            assert "<b>*mine*" not in element.proto.body


@pytest.mark.parametrize(
    ("view", "unit"),
    [
        # Each view and each kind of words, and what the paper lacks; the other pairs take as long.
        pytest.param(view, unit, marks=() if place == 2 or at == place else pytest.mark.long)
        for place, view in enumerate(("Heatmap", "Graph", "Domain shift"))
        for at, unit in enumerate(overlap.UNITS)
    ],
)
def test_every_view_of_every_unit_draws(home: Path, view: str, unit: str) -> None:
    app = opened(view=view, unit=unit, floor="above 100 per million", order="By domain")
    assert not app.warning
    assert app.selectbox(key="unit").value == unit
    assert figures(app)
    if view == "Domain shift" and unit == "word pieces":
        assert "The paper has no word pieces, so unigrams are shown." in said(app)


def test_the_graph_says_how_faithful_its_distances_are(home: Path) -> None:
    app = opened(view="Graph", lines="0.9")
    assert app.slider(key="lines").value == 0.9
    assert "rank correlation of distance with 1 − similarity:" in said(app)
    assert len(app.dataframe[0].value) >= 5


def test_computed_gains_stand_against_computed_similarities(home: Path) -> None:
    app = opened(view="Domain shift", source="one", own_baseline="base")
    assert app.selectbox(key="source").value == "one"
    own = figures(app)[2]
    assert own["layout"]["annotations"][0]["text"].startswith("<b>&lt;b&gt;*mine*")
    assert "(n = 4)" in own["layout"]["annotations"][0]["text"]
    left = opened(view="Domain shift", source="one", own_baseline="base", left_out="two")
    assert "no rank correlation (n = 3: too few points); with the open marks" in heads(left)[2]


def test_what_training_sets_hold_stands_beside_the_domain_shift(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shift = {"view": "Domain shift", "open": "Train–test leakage"}
    assert "No training set is compared" in said(opened(**shift))
    settings = Settings(home=shutil.copytree(home, tmp_path / "home"), threads=1)
    monkeypatch.setenv("BEIRSCOPE_HOME", str(settings.home))
    bench = Bench(Store(settings), settings)
    (tmp_path / "train").write_text(str(QUERIES[0]["text"]), encoding="utf-8")
    (tmp_path / "other").write_text("nothing of it", encoding="utf-8")
    for name in ("train", "other"):
        row = own_datasets(bench.store)["one"]
        leakage.compare(bench, row, name, files=[tmp_path / name])
    app = opened(**shift)
    told = " ".join(one.value for one in app.markdown).replace("\\", "")
    assert "train contains 1 of the 3 queries of one and 0 of its 5 relevant documents" in told
    assert "other contains 0 of the 3 queries" in told
    table = app.dataframe[-1].value
    assert table["System"].tolist() == ["base", HOSTILE] * 2
    assert table["Queries"].tolist() == ["1 of 3"] * 4
    assert app.dataframe[-2].value["Change"].tolist() == [0.0] * 4


def test_after_an_import_systems_that_share_counted_collections_are_shown(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = Settings(home=shutil.copytree(home, tmp_path / "home"), threads=1)
    monkeypatch.setenv("BEIRSCOPE_HOME", str(settings.home))
    bench = Bench(Store(settings), settings)
    (tmp_path / "qrels.txt").write_text("q1 0 d1 1\nq2 0 d1 1\n", encoding="utf-8")
    bare = imports.import_dataset(bench, "aaa", qrels=tmp_path / "qrels.txt").dataset
    filled.add(bench, bare, dict.fromkeys(("bm25-mine", "bm25-other"), "q1 Q0 d1 1 1.0 t\n"))
    app = opened(view="Domain shift", source="one")
    assert app.selectbox(key="own_baseline").value in ("base", HOSTILE)
    assert "No dataset has a similarity" not in said(app)


def test_without_two_counted_collections_a_sentence_names_the_command() -> None:
    none = DataFrame({"dataset": []})
    assert overlap_page.too_few(none, "bigrams") == (
        "No corpus has its bigrams counted; two are needed for a comparison."
        " Count them with python -m compute overlap compute DATASET…."
    )
    one = DataFrame({"dataset": ["one", "one"]})
    assert overlap_page.too_few(one, "bigrams").startswith("Only one corpus has its bigrams")


def test_a_collection_that_is_not_counted_is_named_and_a_click_has_it_counted(
    fresh: Path,
) -> None:
    bench = Bench(Store(Settings(home=fresh)), Settings(home=fresh))
    imports.import_dataset(bench, "mine", path=write_tiny(fresh / "mine"))
    app = opened(view="Heatmap", numbers="Computed")
    assert app.caption[0].value == "Not counted yet\\: mine\\."
    (button,) = [one for one in app.button if one.label == "Count the words"]
    button.click().run()
    assert not app.exception
    (job,) = jobs.listed(bench.settings)
    assert (job.title, job.state) == ("word counts of mine", "queued")


@pytest.mark.long
def test_the_matrix_in_print_stands_there_on_the_first_day(fresh: Path) -> None:
    app = opened()
    assert app.selectbox(key="numbers").value == "Published"
    table = app.dataframe[0].value
    assert len(table) == 19 * 18 // 2
    assert table.iloc[0].tolist() == ["Climate-FEVER", "FEVER", 0.9998]
    assert "Source: Pyserini" in said(app)
    graph = opened(view="Graph")
    assert len(graph.dataframe[0].value) == 19
    assert "Source: Pyserini" in said(graph)


def test_who_has_counted_a_collection_sees_what_was_counted(home: Path) -> None:
    assert opened().selectbox(key="numbers").value == "Computed"
    assert len(opened(numbers="Published").dataframe[0].value) == 171


def test_an_address_of_counted_words_shows_what_was_counted(fresh: Path) -> None:
    assert opened(unit="bigrams").selectbox(key="unit").value == "bigrams"
    assert opened().selectbox(key="numbers").value == "Published"


def test_the_printed_matrix_is_named_as_what_the_view_rests_on(fresh: Path) -> None:
    rests = opened().session_state["_run"].rests_on
    assert rests.sources == {"Pyserini's documentation"}
    assert not rests.datasets
