"""Dashboards that tests serve from a home, as processes of their own."""

import os
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from compute.base.settings import PROJECT
from compute.jobs.serve import free_port
from tests.support.processes import prepared

WAIT = 60_000
"""Milliseconds: a test waits for an event this long, never for a time to pass."""


def port(first: int) -> int:
    """A free port from `first` on, apart from those of tests that run beside this one."""
    worker = os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw")
    return free_port(first + 1000 * int(worker))


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
    server = prepared.Popen(
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
