"""The Compare page with two datasets and two runs on each, one of a hostile name."""

import re
from pathlib import Path
from typing import Any

import pytest
from pandas.testing import assert_frame_equal, assert_series_equal
from streamlit.testing.v1 import AppTest

from compute import jobs
from compute.base.settings import Settings
from compute.corpora.overlap import count
from compute.intake import imports
from compute.reading.database import Reading, open_version
from compute.recompute import run
from compute.store.store import Store
from compute.systems import system
from compute.views.compare import differences
from compute.views.compare import select as compare_select
from compute.views.dataset import select_systems
from tests.support import filled, pages
from tests.support.filled import HOSTILE, RUNS
from tests.support.pages import noted
from tests.support.ranked_lists import overlap
from tests.support.tiny import write_tiny


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    bench = filled.bench(tmp_path_factory.mktemp("compare"))
    for name in ("tiny", "again"):
        filled.take(bench, name=name)
    return bench.settings


@pytest.fixture(scope="module")
def reading(home: Settings, tmp_path_factory: pytest.TempPathFactory) -> Reading:
    return open_version(Store(home, shipped=tmp_path_factory.mktemp("nothing")))


def opened(home: Settings, monkeypatch: pytest.MonkeyPatch, page: str, **address: Any) -> AppTest:
    monkeypatch.setenv("BEIRSCOPE_HOME", str(home.home))
    app = pages.opened(page, **address)
    for element in (*app.markdown, *noted(app)):
        assert HOSTILE not in element.value, "a name from outside must not be read as Markdown"
    return app


def table_of(app: AppTest) -> Any:
    """The first table of the page."""
    return app.dataframe[0].value


def said(app: AppTest) -> str:
    elements = (*noted(app), *app.info, *app.warning)
    return " ".join(element.value for element in elements).replace("\\", "")


def test_two_systems_on_every_query(reading: Reading) -> None:
    rows = compare_select.pairs(reading.cursor(), ["tiny"], "plain", HOSTILE, "RR@10")
    found: Any = rows.set_index("query_id")[["value_a", "value_b", "n_relevant"]]
    assert found.loc["q1"].tolist() == [1, 0.5, 2]
    assert found.loc["q3"].tolist() == [1, 0, 1], "an unanswered query scores 0"
    assert rows["query_id"].tolist() == ["q3", "q1", "q2"], "A's largest lead first"
    holes = compare_select.pairs(reading.cursor(), ["tiny"], "plain", HOSTILE, "Hole@10")
    assert len(differences.valued(holes)) == 2, "without hits there are no holes to count"


def test_the_overlap_of_stored_runs_is_that_of_their_lists(reading: Reading) -> None:
    cursor = reading.cursor()
    found = compare_select.overlaps(cursor, ["tiny"], "plain", HOSTILE).set_index("query_id")
    lists = cursor.execute("select * from hits where dataset = 'tiny'").df()
    sides = [lists[lists["system"] == name] for name in ("plain", HOSTILE)]
    wanted = overlap(*(side[["query_id", "doc_id", "rank"]] for side in sides))
    assert_series_equal(found["rbo"], wanted, check_names=False)
    assert found["shared"].to_dict() == {"q1": 2, "q2": 0, "q3": 0}
    few = compare_select.overlaps(cursor, ["tiny"], "plain", HOSTILE, ["q3", "q1", "none"])
    assert_frame_equal(few.set_index("query_id"), found.loc[["q1", "q3"]])
    assert compare_select.overlaps(cursor, ["tiny"], "plain", HOSTILE, []).empty
    assert compare_select.overlaps(cursor, ["tiny"], "plain", "nobody").empty


def test_every_dataset_that_both_have_is_a_row(reading: Reading) -> None:
    rows = compare_select.across(reading.cursor(), "plain", HOSTILE, "RR@10")
    assert set(rows["dataset"]) == {"tiny", "again"}
    (row,) = rows[rows["dataset"] == "tiny"].to_dict("records")
    assert (row["n"], row["a_more"], row["b_more"], row["equal"]) == (3, 2, 0, 1)
    assert row["mean_a"] == pytest.approx(1)


def test_tests_need_two_queries(reading: Reading) -> None:
    cursor = reading.cursor()
    (row,) = compare_select.tested(cursor, ["tiny"], "plain", HOSTILE, "RR@10").to_dict("records")
    assert row["n"] == 3 and row["difference"] == pytest.approx(0.5)
    assert compare_select.tested(cursor, ["tiny"], "plain", "nobody", "RR@10").empty


def test_the_median_system_is_no_system_s_own(reading: Reading) -> None:
    cursor = reading.cursor()
    rows: Any = select_systems.moved(cursor, ["tiny"], "RR@10", select_systems.MEDIAN).set_index(
        "system"
    )
    assert rows.loc["plain"].tolist() == [2, 1, 0]
    assert rows.loc[HOSTILE].tolist() == [0, 1, 2]
    against: Any = select_systems.moved(cursor, ["tiny"], "RR@10", "plain").set_index("system")
    assert against.loc["plain"].tolist() == [0, 3, 0]


def test_queries_know_who_is_best_and_who_is_next(reading: Reading) -> None:
    rows: Any = select_systems.queries(reading.cursor(), ["tiny"], "RR@10").set_index("query_id")
    assert rows.loc["q1", ["best", "second", "middle", "worst"]].tolist() == [1, 0.5, 0.75, 0.5]
    assert rows.loc["q1", ["winner", "loser"]].tolist() == ["plain", HOSTILE]
    assert rows.index[0] == "q2", "the easiest first"


def test_a_document_is_found_where_it_is_ranked_and_where_it_is_judged(reading: Reading) -> None:
    rows: Any = select_systems.ranked_at(reading.cursor(), ["tiny"], "d3")
    (row,) = rows.to_dict("records")
    assert (row["query_id"], row["system"], row["rank"], row["relevance"]) == ("q2", "plain", 1, 1)
    judged = select_systems.ranked_at(reading.cursor(), ["tiny"], "d5")
    assert judged["system"].isna().all() and judged["query_id"].tolist() == ["q1"]
    assert select_systems.like(reading.cursor(), ["tiny"], "D")["doc_id"].tolist()[0] == "d1"


@pytest.fixture(scope="module")
def of_four(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    bench = filled.bench(tmp_path_factory.mktemp("four"))
    filled.take_twelve(bench)
    return bench.settings


def test_compare_from_an_address_through_its_pickers(
    of_four: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = {"dataset": "own", "a": "a", "b": "c", "measure": "RR@10"}
    app = opened(of_four, monkeypatch, "compare", **address, find="0.1")
    assert [app.selectbox(key=key).value for key in address] == list(address.values())
    assert len(app.get("plotly_chart")) == 1
    assert "not significant" in app.header[0].value and ".1 takes " in said(app)
    field = app.number_input(key="find")
    assert (field.placeholder, field.help) == ("such as .02", "From .001 to 1")
    field.set_value(0.25).run()
    assert app.query_params["find"] == "0.25" and ".25 takes " in said(app)
    app.query_params["open"] = "tests"
    app.number_input(key="find").set_value(None).run()
    assert "find" not in app.query_params and " takes " not in said(app)
    for wrong in ("x", "-1", "nan", "inf", "1e999", "0", ""):
        app.query_params["find"] = wrong
        app.run()
        assert not app.error and app.number_input(key="find").value is None
    (swap,) = [button for button in app.button if button.label == "Swap A and B"]
    swap.click().run()
    assert (app.selectbox(key="a").value, app.selectbox(key="b").value) == ("c", "a")
    app.selectbox(key="b").set_value("c").run()
    assert "System A and system B are the same" in said(app)
    # The browser's own Back, from a system that is not there.
    app.query_params["b"] = "d"
    app.run()
    assert app.selectbox(key="b").value == "d" and "A and B" not in said(app)
    wrong = opened(of_four, monkeypatch, "compare", dataset="own", a="dd")
    assert "No system on own here is called dd. Did you mean d?" in said(wrong)
    wrong = opened(of_four, monkeypatch, "compare", dataset="own", measure="nDCG@7")
    assert "To score the stored runs by it, run python -m compute rescore" in said(wrong)


@pytest.mark.long
def test_the_best_fusion_is_stored_by_a_button_and_then_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = filled.bench(tmp_path)
    settings = bench.settings
    tiny = filled.take(bench, dict(zip(("one", "two"), RUNS.values(), strict=True)))
    address = {"dataset": "tiny", "a": "one", "b": "two", "measure": "RR@10", "fuse": "true"}
    app = opened(settings, monkeypatch, "compare", **address)
    button, usual = (one for one in app.button if one.label.startswith("Store "))
    assert usual.label.replace("\\", "") == "Store rrf(one,two)"
    button.click().run()
    links = [link.proto.label for link in app.get("page_link")]
    assert any("see Jobs for its progress" in label for label in links)
    assert len(jobs.listed(settings, 5)) == 1
    fusion = re.sub(r"\\(.)", r"\1", button.label.removeprefix("Store "))
    # What the job does, here.
    assert run.run(bench, system(fusion), tiny).new
    app = opened(settings, monkeypatch, "compare", **address)
    assert any(one.label.startswith("Compare ") for one in app.button)
    assert any(name.startswith("Interpolation: one") for name in app.selectbox(key="a").options)


@pytest.mark.long
def test_a_similar_name_is_a_link_and_no_other_pair_is_compared_before(
    home: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = opened(home, monkeypatch, "compare", dataset="tiny", a="plian", b=HOSTILE)
    assert "Did you mean plain?" in said(app) and not app.header
    assert "_last_systems" not in app.session_state
    next(one for one in app.button if one.label == "plain").click().run()
    assert app.query_params["a"] == "plain" and app.header and not app.warning
    assert app.session_state["_last_systems"] == ["plain", HOSTILE]
    app = opened(home, monkeypatch, "compare", dataset="tiny", a="plian", b=HOSTILE)
    app.selectbox(key="a").set_value("plain").run()
    assert not app.warning and app.header
    # One that only this page lacks is no typing error.
    gone = opened(home, monkeypatch, "compare", dataset="arguana")
    assert "called arguana" in said(gone) and gone.header


@pytest.mark.long
def test_words_are_looked_up_once_rare_ones_are_asked_for(
    home: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = filled.bench(tmp_path)
    settings = bench.settings
    with (write_tiny(tmp_path / "own") / "corpus.jsonl").open("a", encoding="utf-8") as corpus:
        # From ten occurrences on a word is not rare.
        corpus.writelines(
            f'{{"_id": "more{number}", "text": "ships in the harbour"}}\n' for number in range(10)
        )
    own = imports.import_dataset(bench, "own", path=tmp_path / "own")
    filled.add(bench, own.dataset, RUNS)
    count(bench, own)
    app = opened(settings, monkeypatch, "compare", dataset="own", open="kinds")
    assert app.selectbox(key="slice").options[-1] == "rare words"
    app.selectbox(key="slice").set_value("vocabulary").run()
    assert not app.exception
    kinds = next(frame.value for frame in app.dataframe if "vs. other queries" in frame.value)
    assert kinds["Query group"].to_list() == ["none", "half or more"]
    # By the browser's own Back and Forward, while another kind is picked.
    app.selectbox(key="slice").set_value("words").run()
    app.query_params["slice"] = "vocabulary"
    assert not app.run().error
    again = opened(home, monkeypatch, "compare", dataset="tiny", slice="vocabulary")
    assert not again.error
