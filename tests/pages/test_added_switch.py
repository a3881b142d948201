"""The switch above the pages: official, or official + added judgements."""

import shutil
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from compute.base.settings import Settings
from compute.judgements import ADJUDICATION, IMPORT, PERSON, Choice
from compute.reading.database import open_version
from compute.reading.overlay import Overlays
from compute.store.store import Store
from compute.views.leaderboard import select as leaderboard_select
from tests.support import filled
from tests.support.pages import PAGES, address_of, noted, opened
from tests.support.tiny import HOSTILE
from tests.support.unjudged import unjudged as unjudged_runs


@pytest.fixture(scope="module")
def unjudged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with the tiny collection and a run that finds an unjudged document first."""
    bench = filled.bench(tmp_path_factory.mktemp("switch"))
    filled.take(bench, {"some": "q3 Q0 d4 1 2.0 t\nq1 Q0 d1 1 2.0 t\n"})
    bench.store.close()
    return bench.settings.home


@pytest.fixture(scope="module")
def judged(unjudged: Path) -> Path:
    """The same, judged by one person."""
    home = shutil.copytree(unjudged, unjudged.with_name("judged"))
    judge(Store(Settings(home=home)), 1, person=HOSTILE)
    return home


@pytest.fixture(scope="module")
def twice(unjudged: Path) -> Path:
    """The same, judged by two people, who disagree."""
    home = shutil.copytree(unjudged, unjudged.with_name("twice"))
    store = Store(Settings(home=home))
    judge(store, 1)
    judge(store, 0, person="bob")
    return home


@pytest.fixture
def store(unjudged: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    """A home of the test's own, which nobody has judged."""
    home = shutil.copytree(unjudged, tmp_path / "home")
    monkeypatch.setenv("BEIRSCOPE_HOME", str(home))
    return Store(Settings(home=home, threads=1))


def judge(store: Store, relevance: int, person: str = "ada", source: str = PERSON) -> int:
    row = {"dataset": "tiny", "query_id": "q3", "doc_id": "d4", "relevance": relevance}
    about = {"person": person, "source": source, "task": "", "guideline_version": ""}
    return store.add_judgements(pd.DataFrame([row | about]))


def captions(app: AppTest) -> str:
    return " ".join(caption.value.replace("\\", "") for caption in noted(app))


def switches(app: AppTest) -> list[Any]:
    groups: list[Any] = list(app.get("button_group"))
    return [group for group in groups if group.label == "Judgements"]


def test_there_is_no_switch_before_anybody_judged(unjudged, monkeypatch):
    monkeypatch.setenv("BEIRSCOPE_HOME", str(unjudged))
    assert not switches(opened())


@pytest.mark.long
@pytest.mark.parametrize("page", PAGES)
def test_pages_with_scores_have_the_switch_and_annotators_do_not(judged, monkeypatch, page):
    monkeypatch.setenv("BEIRSCOPE_HOME", str(judged))
    without = ("annotate", "jobs", "about", "overlap", "data", "efficiency")
    assert bool(switches(opened(page, numbers="Computed"))) == (Path(page).stem not in without)


@pytest.mark.parametrize(
    ("page", "address"),
    [("overlap", {"view": "Domain shift"}), ("leaderboard", {}), ("data", {"show": "Runs"})],
)
def test_published_scores_and_pages_of_corpora_have_no_switch(judged, monkeypatch, page, address):
    monkeypatch.setenv("BEIRSCOPE_HOME", str(judged))
    assert not switches(opened(f"pages/{page}.py", **address))


@pytest.mark.long
@pytest.mark.parametrize("page", ["pages/leaderboard.py", "pages/holes.py"])
def test_the_address_opens_official_and_added(twice, monkeypatch, page):
    monkeypatch.setenv("BEIRSCOPE_HOME", str(twice))
    app = opened(page, judgements="added", rule="highest", numbers="Computed")
    assert "2 added judgements (2 assessors); several grades of a pair: the highest" in captions(
        app
    )
    assert app.query_params["judgements"] == "added"
    assert app.query_params["rule"] == "highest"


def shown_mean(app: AppTest) -> str:
    """What the leaderboard's first figure says of the run."""
    return app.get("plotly_chart")[0].proto.spec


def test_the_leaderboard_follows_the_switch_and_each_new_judgement(store):
    judge(store, 1)
    address = {"numbers": "Computed", "measure": "RR@10"}
    official = shown_mean(opened(**address))
    added = shown_mean(opened(**address, judgements="added"))
    assert official != added
    judge(store, 0)
    # The document is no hole now, nor is it relevant.
    assert shown_mean(opened(**address, judgements="added")) not in (official, added)
    assert shown_mean(opened(**address, judgements="official")) == official


def test_a_page_starts_with_what_was_chosen_last_and_says_so_in_the_address(store):
    judge(store, 1)
    app = opened("dataset", {"_last_judgements": ["added"]})
    assert "1 added judgement (1 assessor)." in captions(app)
    assert address_of(app)["judgements"] == ["added"]


@pytest.mark.long
@pytest.mark.usefixtures("shipped_results")
def test_a_dataset_without_any_has_no_switch(store):
    judge(store, 1)
    # Named in the address, or the page's own choice.
    for state, address in (({}, {"dataset": "scifact"}), ({"_last_dataset": "scifact"}, {})):
        app = opened("pages/holes.py", state, judgements="added", **address)
        assert app.selectbox(key="dataset").value == "scifact"
        assert not switches(app) and "1 added judgement" not in captions(app)
    assert switches(opened("pages/holes.py", dataset="tiny"))


@pytest.mark.long
def test_a_settled_disagreement_counts_at_once_where_nobody_chose_whose_judgements_do(store):
    judge(store, 0)
    before = opened("pages/holes.py", dataset="tiny", judgements="added")
    judge(store, 1, person="eve", source=ADJUDICATION)
    kept = ("_last_judgements", "_last_rule", "_last_sources")
    state = {key: before.session_state[key] for key in kept if key in before.session_state}
    after = opened("holes", state)
    assert "2 added judgements (2 assessors)" in captions(after)
    assert "sources" not in after.query_params


@pytest.mark.long
def test_what_does_not_come_from_people_here_counts_only_when_chosen(store):
    judge(store, 1, person="file", source=IMPORT)
    app = opened(judgements="added", numbers="Computed")
    assert "No added judgements count. Choose some under How to combine judgements." in captions(
        app
    )
    app = opened(judgements="added", sources=IMPORT, numbers="Computed")
    assert "1 added judgement (1 assessor), imported files included." in captions(app)
    app = opened("pages/holes.py", dataset="tiny", judgements="added")
    assert "No added judgements count" in captions(app)


@pytest.mark.long
def test_before_and_after_stands_open_once_a_file_is_imported(store):
    judge(store, 1, person="file", source=IMPORT)
    app = opened("pages/holes.py", dataset="tiny")
    assert "1 added judgement (1 assessor), imported files included." in captions(app)
    assert "Before: official judgements; after: also 1 added judgement." in captions(app)
    judge(store, 0)
    app = opened("pages/holes.py", dataset="tiny")
    assert "1 added judgement (1 assessor)." in captions(app)


def test_a_new_judgement_opens_no_new_reading(store):
    first = judge(store, 0)
    overlays = Overlays(store, open_version(store))
    for relevance in (0, 1):
        last = judge(store, relevance)
        with overlays.cursor(last, Choice()) as cursor:
            means = leaderboard_select.means(cursor, "RR@10").set_index("dataset")
        # The judged document stands before the one that is relevant officially, which is not found.
        assert means.loc["tiny", "value"] == pytest.approx((1 + relevance) / 3)
    assert last == first + 2


@pytest.mark.long
def test_the_holes_page_offers_the_added_judgements_as_a_file(store):
    def offered() -> list[str]:
        return [
            one.proto.label
            for one in opened("pages/holes.py", dataset="tiny").get("download_button")
        ]

    assert "Added judgements (CSV)" not in offered()
    judge(store, 1)
    assert {"Added judgements (CSV)", "Added judgements (TREC qrels)"} <= set(offered())


@pytest.mark.parametrize(
    "page",
    [
        "leaderboard",
        *(pytest.param(one, marks=pytest.mark.long) for one in ("compare", "efficiency")),
    ],
)
def test_a_dataset_judged_here_only_says_how_much_of_its_top_lists_nobody_judged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, page: str
) -> None:
    bench = filled.bench(tmp_path)
    unjudged_runs(bench, tmp_path)
    row = {"dataset": "bare", "query_id": "q1", "doc_id": "d1", "relevance": 1}
    about = {"person": "ada", "source": PERSON, "task": "", "guideline_version": ""}
    bench.store.add_judgements(pd.DataFrame([row | about]))
    monkeypatch.setenv("BEIRSCOPE_HOME", str(bench.settings.home))
    said = "bare has no other judgements: up to 67% of a system's top 10 is unjudged (Hole@10)"
    app = opened(f"pages/{page}.py", judgements="added", numbers="Computed")
    assert said in captions(app)
    assert "nothing else" not in captions(opened(f"pages/{page}.py", judgements="official"))
