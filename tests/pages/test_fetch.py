"""The section Fetch of the Data page: what it offers, what its button asks for, what it says."""

from pathlib import Path

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from compute import jobs
from compute.base.settings import Settings
from compute.intake.fetch import offers
from compute.jobs import Job, Progress
from compute.store.store import Store
from compute.views.data import fetching as figures
from tests.support.pages import button_named, opened, words_of

PAGE = "pages/data.py"


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    """A home that has SciFact's archive."""
    settings = Settings(home=tmp_path / "home")
    (settings.home / "datasets").mkdir(parents=True)
    (settings.home / "datasets" / "scifact.zip").touch()
    monkeypatch.setenv("BEIRSCOPE_HOME", str(settings.home))
    return Store(settings)


def test_the_tables_say_what_there_is_and_why_the_rest_cannot_be_had(store: Store) -> None:
    app = opened(PAGE, show="Fetch")
    possible, others = (table.value.set_index("Archive") for table in app.dataframe[:2])
    assert possible.loc["scifact", "Here"] == "scifact.zip"
    assert possible.loc["msmarco", "To fetch"] == 1_082_258_632
    assert possible.loc["msmarco", "Remark"] == "slow to encode"
    told = [possible.loc["scifact-pl", name] for name in ("Here", "From")]
    assert told == ["–", "Hugging Face hub"]
    assert "scifact-pl" in possible.index[possible["To fetch"].isna()]
    assert list(others.index[:4]) == ["bioasq", "signal1m", "trec-news", "robust04"]
    assert "NIST" in str(others.loc["robust04", "Why not"])
    assert "pydocs-numpy" not in [*possible.index, *others.index]
    assert "into datasets in the server's home folder," in words_of(app)
    assert str(store.settings.home) not in words_of(app)


def test_the_button_queues_what_is_chosen_and_not_here(store: Store) -> None:
    app = opened(PAGE, show="Fetch", archives=["scifact", "nfcorpus", "fiqa-pl"])
    assert "Download size: 2.4 MB, and 1 archive of unknown size" in words_of(app)
    button_named(app, "Fetch").click().run()
    assert not app.exception
    (job,) = jobs.listed(store.settings)
    assert (job.kind, job.targets) == ("fetch", (("", "nfcorpus"), ("", "fiqa-pl")))
    said = opened(PAGE, show="Fetch")
    assert "No worker is running" in words_of(said)


def test_nothing_to_fetch_leaves_the_button_off(store: Store) -> None:
    app = opened(PAGE, show="Fetch")
    assert button_named(app, "Fetch").disabled
    assert "Choose archives" in words_of(app)
    app = opened(PAGE, show="Fetch", archives=["scifact"])
    assert button_named(app, "Fetch").disabled
    assert "All of these are stored already." in words_of(app)
    app = opened(PAGE, show="Fetch", archives=["bioasq"])
    assert "bioasq" in words_of(app)
    assert not app.multiselect(key="archives").value


def _parts_that_go_on() -> None:
    # Run as a script of its own.
    from compute.jobs.queue import NAMES
    from pages._data import fetch
    from pages._jobs import sections as jobs_sections
    from pages._shared import page_run, reading

    page_run.current().version = 0, 0
    fetch._progress(reading.opened(), [])
    jobs_sections._list(reading.opened(), [], NAMES)


def test_what_goes_on_by_itself_shows_nothing_to_who_is_signed_out(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    jobs.start(store, "fetch", datasets=["nfcorpus"])
    monkeypatch.setenv("BEIRSCOPE_SIGN_IN", "true")
    app = AppTest.from_function(_parts_that_go_on).run()
    assert [error.value for error in app.error] == ["sign in first"] * 2
    assert "nfcorpus" not in words_of(app)


def test_a_choice_is_told_in_words(store: Store) -> None:
    rows = offers.listed(store.settings)
    said = figures.chosen(rows, ["scifact-pl", "fiqa-pl"], 10**9)
    assert said == ("Download size: 2 archives of unknown size; 1.0 GB free.")
    assert figures.chosen(rows, ["quora"], 17) == "Download size: 15.9 MB; 17 bytes free."
    assert set(rows["here"]) == {"", "scifact.zip"}
    assert rows["size"].dtype == pd.Int64Dtype()


def test_progress_is_told_in_bytes() -> None:
    def task(progress: Progress | None) -> Job:
        return Job("x", "fetch", "running", "archive of scifact", 0.0, progress=progress)

    assert figures.now(task(None)) == "archive of scifact: sending the request"
    step = Progress("fetch", 1408, 2816, "kB", 704.0)
    assert figures.now(task(step)) == "archive of scifact: 1.4 MB of 2.8 MB, 2 s left"
    packed = Progress("fetch", 900, 0, "kB packed", None)
    assert figures.now(task(packed)) == "archive of scifact: 900 kB packed"
    several = Job(
        "j", "fetch", "running", "archive of 2 datasets", 0.0, targets=(("", "a"), ("", "b"))
    )
    assert figures.title(several, []) == "archive of 2 datasets: running (0 of 2 done)"
