"""A real dashboard on a small home, and a real Chromium to look at it."""

import os
import shutil
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from compute.base.settings import PROJECT, Settings
from compute.intake import imports
from compute.jobs.serve import free_port
from compute.recompute import run
from compute.store.store import Store
from compute.systems import system
from tests.support.tiny import write_tiny

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
WAIT = 60_000
"""Milliseconds: a test waits for an event this long, never for a time to pass."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A browser test that fails is tried once more, and the summary names it under RERUN.

    A busy machine draws a page in another order at times. One that is named often has found
    something: look for it, `-p no:rerunfailures` tries each once.
    """
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.flaky(reruns=1))


def chromium() -> str | None:
    """The browser to drive: `$BEIRSCOPE_CHROMIUM`, or one on the PATH."""
    names = ("chromium", "chromium-browser", "google-chrome")
    found = (shutil.which(name) for name in names)
    return os.environ.get("BEIRSCOPE_CHROMIUM") or next(filter(None, found), None)


def port(first: int) -> int:
    """A free port from `first` on, apart from those of tests that run beside this one."""
    worker = os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw")
    return free_port(first + 1000 * int(worker))


@pytest.fixture(scope="session")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with the tiny collection, whose documents are hostile, and two runs on it."""
    folder = tmp_path_factory.mktemp("home")
    now = Settings(home=folder, latency_queries=0)
    bench = run.Bench(Store(now), now)
    loaded = imports.import_dataset(
        bench, "tiny", path=write_tiny(tmp_path_factory.mktemp("beir") / "tiny")
    )
    for name in ("bm25", "bm25(b=0.9)"):
        run.run(bench, system(name), loaded.dataset)
    return folder


@pytest.fixture(scope="session")
def dashboard(home: Path) -> Iterator[str]:
    """The address of a running dashboard."""
    with serving(home, port(8700)) as address:
        yield address


@contextmanager
def serving(home: Path, port: int, *told: str) -> Iterator[str]:
    """A dashboard on a home, with options of the server; its address."""
    server = start_server(home, port, *told)
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        server.terminate()
        server.wait()


def start_server(home: Path, port: int, *told: str) -> subprocess.Popen[bytes]:
    """The process of a dashboard on a home, once it answers at the port."""
    server = subprocess.Popen(
        [sys.executable, "-m", "pages._frame.server", f"--server.port={port}", *told],
        cwd=PROJECT,
        env={**os.environ, "BEIRSCOPE_HOME": str(home)},
        stdout=subprocess.DEVNULL,
    )
    try:
        _until_healthy(f"http://127.0.0.1:{port}/_stcore/health", server)
    except BaseException:
        server.kill()
        raise
    return server


def _until_healthy(url: str, server: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + WAIT / 1000
    while time.monotonic() < end:
        if server.poll() is not None:
            pytest.fail(f"the dashboard ended with status {server.returncode}")
        try:
            with urllib.request.urlopen(url, timeout=5) as answer:
                if answer.status == 200:
                    return
        except OSError:
            time.sleep(0.1)
    pytest.fail("the dashboard did not answer")


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Chromium without a window; without one the browser tests skip, or fail where required."""
    executable = chromium()
    if executable is None:
        reason = "no Chromium on the PATH or in $BEIRSCOPE_CHROMIUM"
        if os.environ.get("BEIRSCOPE_REQUIRE_BROWSER"):
            pytest.fail(reason)
        pytest.skip(reason)
    expect.set_options(timeout=WAIT)
    with sync_playwright() as play:
        running = play.chromium.launch(executable_path=executable, args=FLAGS)
        yield running
        running.close()


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """An empty window of 1440 by 900; what the page throws fails the test."""
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    context.set_default_timeout(WAIT)
    opened = context.new_page()
    errors: list[str] = []
    opened.on("pageerror", lambda error: errors.append(str(error)))
    opened.on("dialog", lambda dialog: errors.append(f"dialog: {dialog.message}"))
    yield opened
    context.close()
    assert errors == []
