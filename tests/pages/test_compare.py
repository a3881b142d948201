"""The page Compare with two datasets and two runs on each, one of a hostile name."""

import re
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from compute import jobs
from compute.base.settings import PROJECT, Settings
from compute.corpora.overlap import count
from compute.intake import imports, query_labels
from compute.reading.database import Reading, open_version
from compute.recompute import run
from compute.store.loading import Bench
from compute.store.own_datasets import own_datasets
from compute.store.store import Store
from compute.systems import system
from compute.views.compare import differences
from compute.views.compare import select as compare_select
from compute.views.dataset import select_systems
from tests.support.pages import noted
from tests.support.ranked_lists import overlap
from tests.support.tiny import write_tiny

EVIL = "<b>*mine*&$x$"
RUNS = {
    "sure": "q1 Q0 d1 1 3.0 t\nq1 Q0 d4 2 2.0 t\nq2 Q0 d3 1 1.0 t\nq3 Q0 d6 1 1.0 t\n",
    EVIL: "q1 Q0 d4 1 3.0 t\nq1 Q0 d1 2 2.0 t\nq2 Q0 d2 1 1.0 t\n",
}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    folder = tmp_path_factory.mktemp("compare")
    settings = Settings(home=folder / "home", threads=1)
    bench = Bench(Store(settings, shipped=folder / "nothing"), settings)
    for own in ("tiny", "again"):
        taken = imports.import_dataset(bench, own, path=write_tiny(folder / own)).dataset
        for name, lines in RUNS.items():
            (folder / "some.run").write_text(lines, encoding="utf-8")
            imports.import_run(bench, folder / "some.run", taken, system=name)
    return settings


@pytest.fixture(scope="module")
def reading(home: Settings, tmp_path_factory: pytest.TempPathFactory) -> Reading:
    return open_version(Store(home, shipped=tmp_path_factory.mktemp("nothing")))


def opened(home: Settings, monkeypatch: pytest.MonkeyPatch, page: str, **address: Any) -> AppTest:
    monkeypatch.setenv("BEIRSCOPE_HOME", str(home.home))
    app = AppTest.from_file(str(PROJECT / "app.py"), default_timeout=60)
    app.query_params.update(address)
    app.switch_page(f"pages/{page}.py")
    app.run()
    assert not app.exception, app.exception
    assert not app.error, app.error
    for element in (*app.markdown, *noted(app)):
        assert EVIL not in element.value, "a name from outside must not be read as Markdown"
    return app


def table_of(app: AppTest) -> Any:
    """The first table of the page."""
    return app.dataframe[0].value


def said(app: AppTest) -> str:
    elements = (*noted(app), *app.info, *app.warning)
    return " ".join(element.value for element in elements).replace("\\", "")


def test_two_systems_on_every_query(reading: Reading) -> None:
    rows = compare_select.pairs(reading.cursor(), ["tiny"], "sure", EVIL, "RR@10")
    found: Any = rows.set_index("query_id")[["value_a", "value_b", "n_relevant"]]
    assert found.loc["q1"].tolist() == [1, 0.5, 2]
    assert found.loc["q3"].tolist() == [1, 0, 1], "an unanswered query scores 0"
    assert rows["query_id"].tolist() == ["q3", "q1", "q2"], "A's largest lead first"
    holes = compare_select.pairs(reading.cursor(), ["tiny"], "sure", EVIL, "Hole@10")
    assert len(differences.valued(holes)) == 2, "without hits there are no holes to count"


def test_the_overlap_of_stored_runs_is_that_of_their_lists(reading: Reading) -> None:
    cursor = reading.cursor()
    found = compare_select.overlaps(cursor, ["tiny"], "sure", EVIL).set_index("query_id")
    lists = cursor.execute("select * from hits where dataset = 'tiny'").df()
    sides = [lists[lists["system"] == name] for name in ("sure", EVIL)]
    wanted = overlap(*(side[["query_id", "doc_id", "rank"]] for side in sides))
    pd.testing.assert_series_equal(found["rbo"], wanted, check_names=False)
    assert found["shared"].to_dict() == {"q1": 2, "q2": 0, "q3": 0}
    assert compare_select.overlaps(cursor, ["tiny"], "sure", "nobody").empty


def test_every_dataset_that_both_have_is_a_row(reading: Reading) -> None:
    rows = compare_select.across(reading.cursor(), "sure", EVIL, "RR@10")
    assert set(rows["dataset"]) == {"tiny", "again"}
    (row,) = rows[rows["dataset"] == "tiny"].to_dict("records")
    assert (row["n"], row["a_more"], row["b_more"], row["equal"]) == (3, 2, 0, 1)
    assert row["mean_a"] == pytest.approx(1)


def test_tests_need_two_queries(reading: Reading) -> None:
    cursor = reading.cursor()
    (row,) = compare_select.tested(cursor, ["tiny"], "sure", EVIL, "RR@10").to_dict("records")
    assert row["n"] == 3 and row["difference"] == pytest.approx(0.5)
    assert compare_select.tested(cursor, ["tiny"], "sure", "nobody", "RR@10").empty


def test_the_median_system_is_no_system_s_own(reading: Reading) -> None:
    cursor = reading.cursor()
    rows: Any = select_systems.moved(cursor, ["tiny"], "RR@10", select_systems.MEDIAN).set_index(
        "system"
    )
    assert rows.loc["sure"].tolist() == [2, 1, 0]
    assert rows.loc[EVIL].tolist() == [0, 1, 2]
    against: Any = select_systems.moved(cursor, ["tiny"], "RR@10", "sure").set_index("system")
    assert against.loc["sure"].tolist() == [0, 3, 0]


def test_queries_know_who_is_best_and_who_is_next(reading: Reading) -> None:
    rows: Any = select_systems.queries(reading.cursor(), ["tiny"], "RR@10").set_index("query_id")
    assert rows.loc["q1", ["best", "second", "middle", "worst"]].tolist() == [1, 0.5, 0.75, 0.5]
    assert rows.loc["q1", ["winner", "loser"]].tolist() == ["sure", EVIL]
    assert rows.index[0] == "q2", "the easiest first"


def test_a_document_is_found_where_it_is_ranked_and_where_it_is_judged(reading: Reading) -> None:
    rows: Any = select_systems.ranked_at(reading.cursor(), ["tiny"], "d3")
    (row,) = rows.to_dict("records")
    assert (row["query_id"], row["system"], row["rank"], row["relevance"]) == ("q2", "sure", 1, 1)
    judged = select_systems.ranked_at(reading.cursor(), ["tiny"], "d5")
    assert judged["system"].isna().all() and judged["query_id"].tolist() == ["q1"]
    assert select_systems.like(reading.cursor(), ["tiny"], "D")["doc_id"].tolist()[0] == "d1"


FOUND = {"a": range(9), "b": range(3), "c": (9, 10, 11), "d": (8, 11)}
"""By system the queries, of twelve, on which it ranks the relevant document first."""


@pytest.fixture(scope="module")
def of_four(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    """Four systems: a and b differ on six queries, always for a, which is p = 2 / 2^6 alone."""
    folder = tmp_path_factory.mktemp("four")
    settings = Settings(home=folder / "home", threads=1)
    bench = Bench(Store(settings, shipped=folder / "nothing"), settings)
    (folder / "qrels").write_text("".join(f"q{q} 0 d{q} 1\n" for q in range(12)), encoding="utf-8")
    own = imports.import_dataset(bench, "own", qrels=folder / "qrels").dataset
    for name, found in FOUND.items():
        lines = (f"q{q} Q0 {f'd{q}' if q in found else 'x'} 1 1 t\n" for q in range(12))
        (folder / "some.run").write_text("".join(lines), encoding="utf-8")
        imports.import_run(bench, folder / "some.run", own, system=name)
    return settings


def test_compare_from_an_address_through_its_pickers(
    of_four: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = {"dataset": "own", "a": "a", "b": "c", "measure": "RR@10"}
    app = opened(of_four, monkeypatch, "compare", **address, find="0.1")
    assert [app.selectbox(key=key).value for key in address] == list(address.values())
    assert len(app.get("plotly_chart")) == 3
    assert "not significant" in app.header[0].value and ".1 takes " in said(app)
    field = app.number_input(key="find")
    assert (field.placeholder, field.help) == ("such as .02", "From .001 to 1")
    field.set_value(0.25).run()
    assert app.query_params["find"] == "0.25" and ".25 takes " in said(app)
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
    assert "A and B are the same system" in said(app)
    # The browser's own Back, from a system that is not there.
    app.query_params["b"] = "d"
    app.run()
    assert app.selectbox(key="b").value == "d" and "A and B" not in said(app)
    wrong = opened(of_four, monkeypatch, "compare", dataset="own", a="dd", measure="nDCG@7")
    assert "No system on own here is called dd. Did you mean d?" in said(wrong)
    assert "To score the stored runs by it: python -m compute score" in said(wrong)


def test_kinds_of_queries_by_labels_of_ones_own(
    home: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "labels").write_text(f"q1\t{EVIL}\t{EVIL}\nq2\t{EVIL}\tland\n", "utf-8")
    bench = Bench(Store(home, shipped=tmp_path / "nothing"), home)
    query_labels.import_file(bench, tmp_path / "labels", own_datasets(bench.store)["again"])
    app = opened(home, monkeypatch, "compare", dataset="again", slice=EVIL)
    assert app.selectbox(key="slice").value == EVIL


def test_the_best_fusion_is_stored_by_a_button_and_then_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = Settings(home=tmp_path / "home", threads=1)
    bench = Bench(Store(settings, shipped=tmp_path / "nothing"), settings)
    tiny = imports.import_dataset(bench, "tiny", path=write_tiny(tmp_path / "tiny")).dataset
    for name, lines in zip(("one", "two"), RUNS.values(), strict=True):
        (tmp_path / "some.run").write_text(lines, encoding="utf-8")
        imports.import_run(bench, tmp_path / "some.run", tiny, system=name)
    address = {"dataset": "tiny", "a": "one", "b": "two", "measure": "RR@10", "fuse": "true"}
    app = opened(settings, monkeypatch, "compare", **address)
    button = next(one for one in app.button if one.label.startswith("Store "))
    button.click().run()
    assert any("the page Jobs shows how far" in one.value for one in app.markdown)
    assert len(jobs.listed(settings, 5)) == 1
    fusion = re.sub(r"\\(.)", r"\1", button.label.removeprefix("Store "))
    # What the job does, here.
    assert run.run(bench, system(fusion), tiny).new
    app = opened(settings, monkeypatch, "compare", **address)
    assert any(one.label.startswith("Compare ") for one in app.button)
    assert any(name.startswith("Interpolation of one") for name in app.selectbox(key="a").options)


def test_words_are_looked_up_once_rare_ones_are_asked_for(
    home: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = Settings(home=tmp_path / "home", threads=1)
    bench = Bench(Store(settings, shipped=tmp_path / "nothing"), settings)
    with (write_tiny(tmp_path / "own") / "corpus.jsonl").open("a", encoding="utf-8") as corpus:
        # From ten occurrences on a word is not rare.
        corpus.writelines(
            f'{{"_id": "more{number}", "text": "ships in the harbour"}}\n' for number in range(10)
        )
    own = imports.import_dataset(bench, "own", path=tmp_path / "own")
    for name, lines in RUNS.items():
        (tmp_path / "some.run").write_text(lines, encoding="utf-8")
        imports.import_run(bench, tmp_path / "some.run", own.dataset, system=name)
    count(bench, own)
    app = opened(settings, monkeypatch, "compare", dataset="own")
    assert app.selectbox(key="slice").options[-1] == "rare words"
    app.selectbox(key="slice").set_value("vocabulary").run()
    assert not app.exception
    kinds = next(frame.value for frame in app.dataframe if "Minus the others" in frame.value)
    assert kinds["Kind of query"].to_list() == ["none", "half or more"]
    # By the browser's own Back and Forward, while another kind is picked.
    app.selectbox(key="slice").set_value("words").run()
    app.query_params["slice"] = "vocabulary"
    assert not app.run().error
    again = opened(home, monkeypatch, "compare", dataset="tiny", slice="vocabulary")
    assert not again.error
