"""The Lengths page as addresses open it: on a tiny collection, on what ships, without documents."""

import json
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from compute.intake import imports
from tests.support import filled, pages
from tests.support.filled import HOSTILE, RUNS
from tests.support.pages import noted

GRADED = "q1 0 d1 1\nq2 0 d2 2\nq3 0 d3 0\n"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`tiny` with runs, one's name hostile, one not counted; `bare` with no documents."""
    bench = filled.bench(folder := tmp_path_factory.mktemp("lengths"))
    third = "q1 Q0 d5 1 3.0 t\nq1 Q0 nowhere 2 2.0 t\n"
    filled.take(bench, RUNS | {"third": third, "uncounted": third})
    (folder / "qrels.txt").write_text(GRADED, encoding="utf-8")
    bare = imports.import_dataset(bench, "bare", qrels=folder / "qrels.txt").dataset
    filled.add(bench, bare, RUNS)
    # As a run of an earlier version is stored.
    with bench.store.publishing("forget") as publication:
        publication.remove("length_counts", "tiny", "uncounted")
    return bench.settings.home


@pytest.fixture(autouse=True)
def _home(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BEIRSCOPE_HOME", str(home))


def opened(**address: Any) -> AppTest:
    return pages.opened("lengths", **address)


def captions(app: AppTest) -> str:
    return " ".join(caption.value for caption in noted(app)).replace("\\", "")


def figures(app: AppTest) -> list[dict]:
    return [json.loads(chart.proto.spec) for chart in app.get("plotly_chart")]


def rows(figure: dict) -> list[str]:
    return figure["layout"]["yaxis"]["ticktext"]


def test_every_picker_opens_from_the_address() -> None:
    app = opened(
        dataset="tiny", k="1", axis="Logarithmic", cut="true", a="third", b="plain", open="grades"
    )
    assert app.selectbox(key="dataset").value == "tiny"
    assert app.selectbox(key="k").value == "1"
    assert app.toggle(key="cut").value
    assert (app.selectbox(key="a").value, app.selectbox(key="b").value) == ("third", "plain")
    assert not app.warning
    main, medians, pair, gaps, grades = figures(app)
    assert main["layout"]["xaxis"]["type"] == pair["layout"]["xaxis"]["type"] == "log"
    assert rows(pair) == ["third", "plain"]
    assert "Lengths of the first document per query." in captions(app)
    assert "Documents longer than 512 words count as 512." in captions(app)
    assert rows(grades) == ["Corpus", "grade 2: relevant", "grade 1: relevant"]
    # q1 alone is answered by both: d5 of 9 words against d1 of 8.
    notes = [note["text"] for note in gaps["layout"]["annotations"]]
    assert notes == ["third<br>shorter: 0", "plain<br>shorter: 1"]
    assert "tiny" in rows(medians)


def test_systems_stand_beside_the_collection_and_names_stay_text() -> None:
    app = opened(dataset="tiny")
    main = figures(app)[0]
    assert rows(main)[:2] == ["Corpus", "Relevant documents"]
    assert "&lt;b&gt;*mine*&amp;&#36;x&#36;" in rows(main)
    for chart in app.get("plotly_chart"):
        assert HOSTILE not in chart.proto.spec
    for element in (*app.markdown, *noted(app)):
        assert HOSTILE not in element.value


def test_picked_systems_alone_are_shown() -> None:
    app = opened(dataset="tiny", systems="third")
    assert app.multiselect(key="systems").value == ["third"]
    main, medians, *_ = figures(app)
    assert rows(main) == ["Corpus", "Relevant documents", "third"]
    names = [name.strip() for name in medians["layout"]["xaxis"]["ticktext"]]
    assert [name for name in names if name not in ("Corpus", "Relevant")] == ["third"]


@pytest.mark.long
@pytest.mark.usefixtures("shipped_results")
def test_what_is_not_in_the_figure_is_said() -> None:
    said = captions(opened(dataset="tiny"))
    assert (
        "Not measured yet: 1 of 4 runs; python -m compute lengths compute tiny measures them."
        in said
    )
    assert "Only systems with a run on tiny." in said
    assert "Left out: 1 retrieved document that the corpus lacks." in said


def test_a_collection_without_documents_says_what_would_help() -> None:
    app = opened(dataset="bare")
    assert "bare was imported without texts" in app.info[0].value
    assert "add-texts bare FOLDER" in app.info[0].value.replace("\\", "")
    # The other datasets stay in sight.
    assert len(figures(app)) == 1


@pytest.mark.long
@pytest.mark.usefixtures("shipped_results")
def test_what_ships_is_shown_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BEIRSCOPE_HOME", str(tmp_path))
    app = opened(open=["averages", "published-lengths"])
    main, medians, *_ = figures(app)
    # The collection, the relevant documents, and eight systems.
    assert len(rows(main)) == 2 + 8
    assert len(rows(medians)) == 7
    words = app.dataframe[0].value.set_index("Dataset")
    assert words.loc["SciFact", "Words per document"] == pytest.approx(214.63, abs=0.005)
    assert words.loc["NFCorpus", "of all splits"] == pytest.approx(3.32, abs=0.005)
    printed = app.dataframe[1].value
    assert list(printed["Published (BEIR v4)"]) == [10, 160, 14, 89, 42_000]
    pydocs = opened(dataset="pydocs-numpy")
    assert len(rows(figures(pydocs)[0])) == 2 + 9


def test_two_systems_that_are_one_are_not_compared() -> None:
    app = opened(dataset="tiny", a="plain", b="plain")
    assert "Choose two systems" in app.info[0].value


def test_wrong_names_in_the_address_are_said() -> None:
    app = opened(dataset="tiny", **dict.fromkeys(("k", "axis", "systems", "a"), "tinny"))
    said = sorted(one.value.replace("\\", "") for one in app.warning)
    nouns = ["axis", "number of documents", *["system with measured lengths"] * 2]
    assert [one.partition(" here is called tinny.")[0] for one in said] == [
        f"No {noun}" for noun in nouns
    ]
    assert figures(app)
    app = opened(dataset="tinny")
    wanted = "No dataset with lengths or runs here is called tinny. Did you mean tiny?"
    assert wanted in app.warning[0].value.replace("\\", "")
    assert not figures(app), "of an unknown dataset nothing is shown"
