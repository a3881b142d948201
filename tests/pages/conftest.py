"""Homes that tests of several pages open."""

from pathlib import Path

import pytest

from compute.store.store import Store
from tests.support.processes.jobbing import tiny_home


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    """The store of a home with the tiny collection, where the dashboard looks."""
    made = tiny_home(tmp_path)
    monkeypatch.setenv("BEIRSCOPE_HOME", str(made.settings.home))
    monkeypatch.setenv("BEIRSCOPE_THREADS", "1")
    return made
