"""The pages Dataset, Query and About: deep links, wrong names, texts from outside."""

import json
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from compute.evaluate.measures import FORMULAS, MEASURES
from compute.intake import imports, query_labels
from compute.recompute import run
from compute.views.page import offers
from tests.support import filled
from tests.support.filled import HOSTILE
from tests.support.pages import noted, opened
from tests.support.tiny import HOSTILE as TEXT


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tiny collection, hostile texts and all, with a run of a hostile name."""
    bench = filled.having(tmp_path_factory.mktemp("pages"))
    filled.take(bench, {}, "bare")
    return bench.settings.home


@pytest.fixture(autouse=True)
def at_home(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BEIRSCOPE_HOME", str(home))


def figure(app: AppTest) -> Any:
    return json.loads(app.get("plotly_chart")[0].proto.spec)


def boxes(app: AppTest) -> list[str]:
    """The labels in the ranked lists."""
    return [text for trace in figure(app)["data"] for text in trace.get("text", ())]


def plain(elements: Any) -> str:
    """What sentences say, without what keeps them from being Markdown."""
    return " ".join(element.value for element in elements).replace("\\", "")


def html(app: AppTest) -> str:
    return "\n".join(element.proto.body for element in app.get("html"))


def test_a_link_opens_the_query_the_systems_and_the_document_that_it_names() -> None:
    app = opened("query", dataset="tiny", a=HOSTILE, b="plain", query="q1", document="d4")
    assert app.multiselect(key="_systems").value == [HOSTILE, "plain"]
    assert app.selectbox(key="_query").value == "q1"
    assert app.selectbox(key="_document").value == "d4"
    assert sorted(label.split(" ")[0] for label in boxes(app)) == ["<b>?</b>"] * 2 + ["✓2"] * 2
    assert "ships in the harbour" in html(app)


def test_systems_go_from_the_lists_to_the_map() -> None:
    app = opened("query", dataset="tiny", systems=f"plain,{HOSTILE}")
    app.query_params.clear()
    app.switch_page("pages/map.py").run()
    assert (app.selectbox(key="system").value, app.selectbox(key="other").value) == (
        "plain",
        HOSTILE,
    )


def test_next_and_previous_walk_the_order() -> None:
    app = opened("query", dataset="tiny", order="by id", query="q1")
    before, after = app.button[0], app.button[1]
    assert before.disabled
    after.click().run()
    assert app.selectbox(key="_query").value == "q2"
    app.button[1].click().run()
    assert app.selectbox(key="_query").value == "q3"
    assert app.button[1].disabled
    app.button[0].click().run()
    assert app.selectbox(key="_query").value == "q2"


def test_looking_for_words_leaves_a_query_without_them() -> None:
    app = opened("query", dataset="tiny", query="q1")
    assert "3 queries." in plain(noted(app))
    app.text_input(key="find").set_value("bridge").run()
    assert app.selectbox(key="_query").value == "q2"
    assert "1 of 3 queries contains 'bridge'." in plain(noted(app))
    assert not app.warning
    app.text_input(key="find").set_value("no such words").run()
    assert "No query contains 'no such words'" in plain(app.info)
    app.text_input(key="find").set_value("").run()
    assert app.selectbox(key="_query").value == "q1"


@pytest.mark.long
@pytest.mark.usefixtures("shipped_results")
def test_the_dataset_stays_from_page_to_page_unless_the_address_names_one() -> None:
    app = opened("dataset", dataset="fever")
    app.query_params.clear()
    app.switch_page("pages/efficiency.py").run()
    app.switch_page("pages/dataset.py").run()
    assert app.selectbox(key="dataset").value == "fever"
    app.switch_page("pages/query.py").run()
    # FEVER has no ranked lists.
    assert app.selectbox(key="dataset").value != "fever"
    assert not app.warning


def test_choosing_a_document_shows_its_text_with_the_words_of_the_query() -> None:
    app = opened("query", dataset="tiny", query="q1", systems=[HOSTILE, "plain"])
    app.selectbox(key="_document").set_value("d1").run()
    assert ">harbour</mark>" in html(app)
    assert app.query_params["document"] == "d1"


@pytest.mark.long
@pytest.mark.parametrize("where", ["query", "map", "dataset", "about"])
def test_hostile_words_reach_no_page_as_markup(where: str) -> None:
    app = opened(where, dataset="tiny", query="q3", a=HOSTILE, document="d4")
    for words in (TEXT, HOSTILE, "<script", "<img"):
        assert words not in html(app)
        for element in (*app.markdown, *noted(app), *app.header, *app.info, *app.warning):
            assert words not in element.value, element
        for chart in app.get("plotly_chart"):
            spec = json.loads(chart.proto.spec)
            # What a click gives back is a name, and drawn nowhere.
            drawn = [{**trace, "customdata": None} for trace in spec["data"]]
            assert words not in repr([drawn, spec["layout"]])


def test_a_hostile_document_is_shown_word_for_word() -> None:
    for page in ("query", "map"):
        app = opened(page, dataset="tiny", query="q1", document="d4", a=HOSTILE)
        assert "&lt;script&gt;alert(&#x27;x&#x27;)&lt;/script&gt;" in html(app)


@pytest.mark.parametrize(
    ("where", "address", "said"),
    [
        ("query", {"dataset": "tiny", "query": "nosuch"}, "No query of tiny here is called nosuch"),
        ("dataset", {"dataset": "tini"}, "Did you mean tiny"),
        ("dataset", {"dataset": "<b>x"}, "No dataset here is called <b>x"),
    ],
)
def test_wrong_names_in_the_address_are_said(
    where: str, address: dict[str, str], said: str
) -> None:
    app = opened(where, **address)
    assert said in app.warning[0].value.replace("\\", "")


def test_a_way_through_the_page_dataset() -> None:
    app: Any = opened("dataset", dataset="tiny", system=HOSTILE, against="plian")
    assert "No system here is called plian. Did you mean plain?" in plain(app.warning)
    app.selectbox(key="against").set_value("plain").run()
    assert app.query_params["against"] == "plain"
    # Query and Map start with the system that was clicked on another page.
    assert app.session_state["_last_systems"] == [HOSTILE, "plain"]
    views = next(one for one in app.get("button_group") if one.label == "View")
    views.set_value("Documents").run()
    assert app.query_params["show"] == "Documents"
    app.text_input(key="doc").set_value("*d*").run()
    assert "No system retrieves *d*" in plain(app.info) and "*d*" not in app.info[0].value
    # By the browser's own Back.
    app.query_params["show"] = "Queries"
    app.run()
    assert app.dataframe[0].value["Query"].tolist() == ["q3", "q1", "q2"]
    assert not app.exception and not app.info


def test_the_page_about_the_numbers_defines_every_measure() -> None:
    app = opened("about", open=["Measures", "What is averaged?"])
    table = app.table[0].value
    named = table["Measure"].tolist()
    assert named[: len(MEASURES)] == list(MEASURES)
    assert {name.split("@")[0].split("(")[0] for name in named} == {*FORMULAS}
    assert (table["Definition"].str.len() > 20).all()
    assert any("CQADupStack is the mean" in element.value for element in app.markdown)


def test_who_comes_back_finds_the_query_that_was_left_until_other_lists_are_chosen() -> None:
    app = opened("query", dataset="tiny", a=HOSTILE, b="plain", query="q3")
    app.switch_page("pages/data.py").run()
    app.query_params.clear()
    app.switch_page("pages/query.py").run()
    assert app.selectbox(key="_query").value == "q3"
    app.selectbox(key="order").set_value("by id").run()
    assert app.selectbox(key="_query").value == "q1"


def test_an_emptied_picker_of_systems_stays_empty_until_one_is_chosen() -> None:
    app = opened("query", dataset="tiny", a=HOSTILE, b="plain")
    app.multiselect(key="_systems").set_value([]).run()
    assert [info.value for info in app.info] == ["Choose up to four systems\\."]
    assert app.multiselect(key="_systems").value == []
    app.multiselect(key="_systems").set_value(["plain"]).run()
    assert not app.info and boxes(app)


@pytest.mark.long
def test_a_query_beyond_those_that_are_offered_is_found_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench, names = filled.bench(tmp_path), [f"q{number}" for number in range(210)]
    (tmp_path / "qrels").write_text("".join(f"{q} 0 d1 1\n" for q in names), "utf-8")
    many = imports.import_dataset(bench, "many", qrels=tmp_path / "qrels").dataset
    filled.add(bench, many, {"one": "".join(f"{q} Q0 d1 1 1.0 t\n" for q in names)})
    monkeypatch.setenv("BEIRSCOPE_HOME", str(bench.settings.home))
    app = opened("query", dataset="many", query="q99")
    assert len(app.selectbox(key="_query").options) == 201, "it stands beside the first 200"
    app.switch_page("pages/data.py").run()
    app.query_params.clear()
    app.switch_page("pages/query.py").run()
    assert app.selectbox(key="_query").value == "q99"


def test_pickers_say_how_systems_of_like_names_differ() -> None:
    assert offers.told(["bm25", "bm25-multifield", "minilm", "mine"]) == [
        "BM25 (Pyserini): Lucene k1=0.9 b=0.4; title and text joined with one space; English"
        " analyser (Porter stemming, Lucene stop words); printed in BM25 Query Augmentation Table"
        " 1, Pyserini 2CR",
        "BM25 (Anserini): Lucene k1=0.9 b=0.4; title and text as separate fields, weights 1.0"
        " and 1.0; printed in BEIR v4 Table 2",
    ]
    assert offers.told(["minilm"]) == []


@pytest.mark.long
def test_a_key_gives_a_reason_from_the_list_that_the_dataset_keeps(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = filled.having(tmp_path)
    monkeypatch.setenv("BEIRSCOPE_HOME", str(bench.settings.home))

    def given() -> list[str]:
        part = bench.store.part("query_labels", "tiny")
        return [] if part is None else run.read(part)["value"].tolist()

    app = opened("query", dataset="tiny", query="q1")
    button = app.button(key="reason_2")
    assert (button.label, button.proto.shortcut) == ("wrong entity", "2")
    button.click().run()
    assert given() == ["wrong entity"]
    app.button(key="reason_2").click().run()
    assert given() == []
    app.text_area[0].set_value("rare\n*name*")
    next(one for one in app.button if one.label == "Save").click().run()
    kept = query_labels.reasons(bench.store.part("query_labels", "tiny"))
    assert kept == ["rare", "*name*"] and not app.exception
