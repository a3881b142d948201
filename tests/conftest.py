"""Fixtures that several test modules share."""

import os
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from xdist.scheduler import LoadFileScheduling

from compute.base.settings import Settings
from compute.datasets import Dataset
from compute.store.loading import Bench
from compute.store.store import Store
from tests.support import filled
from tests.support.processes import database, java
from tests.support.tiny import write_tiny

# For the processes that tests start: timing single queries starts one more Java for each run.
os.environ.setdefault("BEIRSCOPE_LATENCY_QUERIES", "0")
os.environ.setdefault("BEIRSCOPE_AHEAD", "0")
# Forty runs beside a tiny one cost each page a fifth of a second.
os.environ.setdefault("BEIRSCOPE_SHIPPED_RESULTS", "0")

# How long a case takes says nothing on a busy machine.
settings.register_profile("patient", suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("patient")


def pytest_configure(config: pytest.Config) -> None:
    """Every Java that tests start, also through other processes, starts quickly.

    And every product of matrices stays on one thread: several testers' threads wait for each other.
    """
    # Once, before there are workers: they inherit it.
    if not hasattr(config, "workerinput"):
        os.environ.setdefault("JAVA_TOOL_OPTIONS", java.options())
        os.environ.setdefault("OMP_NUM_THREADS", "1")
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


class _ByFile(LoadFileScheduling):
    """A tester has all tests of a file, and one of them all browsers: both share a beginning."""

    def _split_scope(self, nodeid: str) -> str:
        file = super()._split_scope(nodeid)
        return "tests/browser" if file.startswith("tests/browser/") else file


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> _ByFile:
    """Who has which tests, where there are several testers."""
    return _ByFile(config, log)


@pytest.fixture(scope="session", autouse=True)
def _packages_are_looked_through_once() -> Iterator[None]:
    """Each AppTest looks through all installed packages for Streamlit components, for 0.2 s."""
    if "streamlit.testing.v1" not in sys.modules:
        yield
        return
    from streamlit.components.v2 import manifest_scanner

    found = cache(manifest_scanner.scan_component_manifests)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(manifest_scanner, "scan_component_manifests", found)
        yield


@pytest.fixture
def shipped_results(monkeypatch: pytest.MonkeyPatch) -> None:
    """What comes with Beirscope stands in the home of the test, too."""
    monkeypatch.setenv("BEIRSCOPE_SHIPPED_RESULTS", "1")


@pytest.fixture
def tiny(tmp_path: Path) -> Dataset:
    """The tiny collection, taken into the home of the bench; its files are in `tiny` beside it."""
    write_tiny(tmp_path / "tiny")
    return filled.tiny(tmp_path / "home")


@pytest.fixture
def bench(tmp_path: Path, request: pytest.FixtureRequest) -> Bench:
    """A home of the test's own, into which nothing ships; `tiny` is in it where a test has both."""
    if "tiny" in request.fixturenames:
        # A home is copied before it is opened.
        request.getfixturevalue("tiny")
    now = Settings(home=tmp_path / "home", threads=1, latency_queries=0)
    return Bench(Store(now, shipped=tmp_path / "nothing"), now)


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[Path]:
    """The socket folder of a PostgreSQL server of the tests' own."""
    if not database.installed():
        pytest.skip("no PostgreSQL server here: apt-get install postgresql, initdb on the PATH")
    with database.server() as folder:
        yield folder


@pytest.fixture
def postgres(postgres_server: Path) -> str:
    """The address of an empty database."""
    return database.made(postgres_server)
