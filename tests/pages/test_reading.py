"""A new version is opened beside the readers, and shown once it is open."""

import time
from pathlib import Path

import pytest

from pages._shared import reading
from tests.support.storage import hits, judgement, open_store, publish_run, scores

RUN = hits(("q1", "d1", 1))


def test_a_new_version_is_shown_once_it_is_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    store = open_store(home)
    monkeypatch.setenv("BEIRSCOPE_HOME", str(home))
    monkeypatch.setattr(reading, "_AHEAD", reading._Ahead())
    publish_run(store, "tiny", "bm25", RUN, scores("R@10", q1=0.1))
    first = store.version()
    # Nobody opens ahead: the newest, as ever.
    assert reading._current() == (first, 0)
    reading._open_newest()
    reading._AHEAD.beat = time.monotonic()
    publish_run(store, "tiny", "minilm", RUN, scores("R@10", q1=0.2))
    assert store.version() > first
    assert reading._current() == (first, 0)
    # What people judge is seen at once, whatever is being opened.
    store.add_judgements(judgement("q1", "d1", 1))
    assert reading._current() == (first, 1)
    reading._open_newest()
    assert reading._current() == (store.version(), 1)
    assert {file.name.partition("-")[0] for file in (home / "caches").glob("*-*.parquet")} == {
        "scores",
        "top",
    }


def test_nobody_waits_for_one_that_is_not_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = open_store(tmp_path / "home")
    monkeypatch.setenv("BEIRSCOPE_HOME", str(store.home))
    late = time.monotonic() - 2 * reading.PATIENCE
    monkeypatch.setattr(reading, "_AHEAD", reading._Ahead(0, late))
    publish_run(store, "tiny", "bm25", RUN, scores("R@10", q1=0.1))
    assert reading._current() == (store.version(), 0)
