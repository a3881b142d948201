"""`make run`: the dashboard at once, and a worker beside it that waits to be asked."""

import json
import os
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from compute import jobs
from compute.base.settings import PROJECT, Settings
from compute.jobs import serve
from compute.jobs.serve import running_at
from tests.support.processes.jobbing import environment, say, session, until


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(home=tmp_path / "home", threads=1)


@pytest.fixture
def served(settings: Settings) -> Iterator["subprocess.Popen[bytes]"]:
    start = time.monotonic()
    words = [sys.executable, "-m", "compute", "serve"]
    process = subprocess.Popen(
        words,
        cwd=PROJECT,
        env=environment(settings),
        stdout=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        until(lambda: _healthy(settings), "the dashboard")
        say(f"the dashboard answers {time.monotonic() - start:.1f} s after it was started")
        yield process
    finally:
        process.kill()
        process.wait()
        for left in session(process.pid):
            os.kill(left, signal.SIGKILL)


def _healthy(settings: Settings) -> bool:
    url = running_at(settings.home / "serve.lock")
    if not url:
        return False
    try:
        with urllib.request.urlopen(f"{url}/_stcore/health", timeout=5) as answer:
            return answer.status == 200
    except OSError:
        return False


@pytest.mark.parametrize(
    "how",
    [pytest.param(signal.SIGTERM, marks=pytest.mark.long), signal.SIGKILL],
    ids=["stopped", "killed"],
)
def test_no_work_is_begun_unasked_and_the_worker_ends_with_the_dashboard(
    settings: Settings, served: "subprocess.Popen[bytes]", how: signal.Signals
) -> None:
    (worker,) = until(lambda: jobs.workers_alive(settings), "a worker")
    assert worker.process in session(served.pid)
    assert jobs.listed(settings) == []
    dashboard = json.loads((settings.home / "serve.lock").read_text("utf-8"))["process"]
    assert dashboard == served.pid
    served.send_signal(how)
    served.wait(60)
    until(lambda: not jobs.workers_alive(settings), "the end of the worker")
    if how == signal.SIGTERM:
        until(lambda: not session(served.pid), "the end of all that was started")


@pytest.mark.long
def test_a_worker_that_ended_is_started_again(
    settings: Settings, served: "subprocess.Popen[bytes]"
) -> None:
    (first,) = until(lambda: jobs.workers_alive(settings), "a worker")
    os.kill(first.process, signal.SIGKILL)
    until(
        lambda: {one.process for one in jobs.workers_alive(settings)} - {first.process},
        "another worker",
    )
    served.send_signal(signal.SIGTERM)
    served.wait(60)
    until(lambda: not session(served.pid), "the end of all that was started")


def test_where_no_worker_can_be_started_the_dashboard_says_so_and_serves(
    settings: Settings, capfd: pytest.CaptureFixture[str]
) -> None:
    settings.home.mkdir(parents=True)
    (settings.home / "logs").write_text("in the way", "utf-8")
    with serve._working(settings):
        said = until(lambda: capfd.readouterr().err, "what is wrong")
        assert "No worker can be started" in said and "another try" in said


@pytest.mark.long
def test_the_address_is_told_once_it_can_be_opened(settings: Settings) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "compute", "serve"],
        cwd=PROJECT,
        env=environment(settings),
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stdout
    try:
        told = next(line for line in process.stdout if line.startswith("Beirscope: "))
        assert running_at(settings.home / "serve.lock") in told
        assert _healthy(settings)
    finally:
        process.terminate()
        process.wait(60)
