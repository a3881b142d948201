"""Pages of one kind of queries alone: what they say, and that their numbers are of these."""

from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from compute.base.settings import Settings
from compute.intake import query_labels
from compute.reading.database import open_version
from compute.store.loading import Bench
from compute.store.own_datasets import own_datasets
from compute.store.store import Store
from tests.support import filled
from tests.support.holes import EVIL, RUNS, fill
from tests.support.pages import opened, words_of

OF = f"{EVIL}:sea"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two datasets with two runs, one with labels of a hostile key."""
    folder = tmp_path_factory.mktemp("kinds")
    now = Settings(home=fill(folder), threads=1)
    bench = Bench(Store(now, folder / "none"), now)
    again = filled.take(bench, {}, "again")
    filled.add(bench, again, dict.fromkeys(("sure", EVIL), RUNS[EVIL]))
    labels = f"q1\t{EVIL}\tsea\nq2\t{EVIL}\tland\nq3\t{EVIL}\tsea\n"
    labels += "q1\ta\tb:c\nq2\ta\td\nq1\ta:b\tc\nq2\ta:b\tc\nq3\ta:b\td\n"
    (folder / "labels").write_text(labels)
    query_labels.import_file(bench, folder / "labels", own_datasets(bench.store)["tiny"])
    return now.home


@pytest.fixture(autouse=True)
def _home(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BEIRSCOPE_HOME", str(home))
    monkeypatch.setenv("BEIRSCOPE_THREADS", "1")


def drawn(app: AppTest, key: str) -> Any:
    return app.session_state["_run"].drawn[key]


@pytest.mark.long
@pytest.mark.parametrize("page", ["dataset", "compare", "holes", "lengths"])
def test_a_page_of_one_dataset_says_which_queries_it_is_of(page: str) -> None:
    app = opened(f"pages/{page}.py", dataset="tiny", queries=OF)
    assert f"Only queries with {EVIL}: sea: 2 of 3 on tiny." in words_of(app)
    assert all(EVIL not in one.value for one in app.markdown), "a label is no Markdown"
    assert app.selectbox(key="queries").options[0] == "All queries"


def test_a_colon_in_a_key_leaves_every_kind_its_own_address() -> None:
    for kind, said in {"a:b:c": "a: b:c: 1", "a%3Ab:c": "a:b: c: 2"}.items():
        app = opened("pages/lengths.py", dataset="tiny", queries=kind)
        assert f"Only queries with {said} of 3 on tiny." in words_of(app)


def test_the_leaderboard_has_the_datasets_with_such_queries_alone(home: Path) -> None:
    app = opened(queries=OF)
    assert "2, on 1 dataset. Datasets without any are left out." in words_of(app)
    reading = open_version(Store(Settings(home=home, threads=1), home / "none"))
    rows = reading.cursor().execute("select * from scores where measure = 'nDCG@10'").df()
    reading.close()
    rows = rows[(rows["dataset"] == "tiny") & rows["query_id"].isin(["q1", "q3"])]
    app = opened(queries=OF, view="Table")
    shown = next(frame.value for frame in app.dataframe if "Mean" in frame.value)
    means = rows.groupby("system")["value"].mean().sort_values(ascending=False)
    assert shown["Mean"].to_list() == pytest.approx(means.to_list())
    assert "again" not in shown
    assert f"Computed over all judged queries with {EVIL}: sea" in words_of(app)


def test_what_is_in_print_is_of_all_queries() -> None:
    app = opened(queries=OF, numbers="Published")
    assert "Published scores cover all queries" in words_of(app)
    assert "Only queries" not in words_of(app)


def test_files_and_headings_say_the_kind() -> None:
    app = opened("pages/holes.py", dataset="tiny", queries=OF)
    shown = drawn(app, "intervals")
    assert f"queries with {EVIL}: sea" in shown.heading
    assert shown.name == "tiny-intervals-ndcg10-b-mine-x-sea"
    assert "queries" in app.session_state["_run"].picked, "export --address may name it"


@pytest.mark.long
def test_an_unknown_kind_is_said_and_another_dataset_has_its_own() -> None:
    app = opened("pages/compare.py", dataset="tiny", queries="topic:sea")
    assert "No query group here is called topic:sea." in words_of(app)
    app = opened("pages/compare.py", dataset="tiny", queries="answered:all", slice="answered")
    assert "Groups derived from the scores are only descriptive" in words_of(app)
    assert "cannot be tested; Dataset shows them" in words_of(app)
    app = opened("pages/compare.py", dataset="tiny", queries="reason:other")
    assert "made by people who saw the results are only descriptive" in words_of(app)
    app = opened("pages/compare.py", dataset="tiny", queries=OF)
    app.selectbox(key="dataset").set_value("again").run()
    assert not app.exception and not app.warning
    assert app.selectbox(key="queries").value == "", "all queries"
    assert "Only queries" not in words_of(app)
