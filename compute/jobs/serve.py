"""The start of the dashboard and of a worker, one of each per home folder."""

import contextlib
import importlib
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from compute.base import json_files, listen_address, printable, scratch
from compute.base.errors import Unavailable
from compute.base.locks import sole
from compute.base.permissions import open_to_others
from compute.base.settings import PROJECT, Settings
from compute.jobs.worker import command
from compute.jobs.workers import being_installed, not_installed

FIRST_PORT = 8501
PAUSE, LONGEST, STEADY = 1.0, 300.0, 60.0
"""The first and the longest pause in seconds before an ended worker is started again, and how long
one must live. The pause doubles whenever a worker lives for a shorter time."""


def free_port(first: int = FIRST_PORT, address: str = Settings.address, tries: int = 50) -> int:
    """Return the first free port from `first` on. Raises Unavailable after `tries` ports."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    for port in range(first, first + tries):
        with socket.socket(family) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            with contextlib.suppress(OSError):
                probe.bind((address, port))
                return port
    if tries == 1:
        raise Unavailable(
            f"port {first} of {address} is in use: stop the program that listens there"
        )
    last = first + tries - 1
    raise Unavailable(f"ports {first} to {last} are all in use: stop one of their programs")


def running_at(file: Path) -> str:
    """Return the address of the dashboard that holds the lock; empty while it starts."""
    with contextlib.suppress(OSError, ValueError, KeyError):
        return str(json_files.parsed(file.read_text("utf-8"))["url"])
    return ""


def serve(settings: Settings) -> int:
    """Run the dashboard until it is stopped; return the exit status. Raises Unavailable, before
    anything is started, if it must not listen on its address."""
    listen_address.check(settings, settings.address)
    signed = listen_address.sign_in(settings, listen_address.secrets_files(settings))
    lock = settings.home / "serve.lock"
    with sole(lock) as held:
        if held is None:
            _say(
                f"Beirscope is already running at {running_at(lock)}: open that, or stop it first."
            )
            return 0
        tries = 1 if settings.port else 50
        port = free_port(settings.port or FIRST_PORT, settings.address, tries)
        host = f"[{settings.address}]" if ":" in settings.address else settings.address
        url = f"http://{host}:{port}"
        json.dump({"url": url, "process": os.getpid()}, held)
        held.flush()
        if port != (settings.port or FIRST_PORT):
            _say(f"Port {FIRST_PORT} is in use; using {port}.")
        for line in open_to_others(settings.home, listen_address.secrets_files(settings)):
            _say(f"Warning: {line}")
        scratch.sweep(settings.home)
        if being_installed():
            _say("Packages are still being installed; a worker starts when they are complete.")
        elif not_installed():
            _say("Only for viewing: make run installs what computing needs.")
        return _run_both(settings, port, options(settings, port, signed), f"Beirscope: {url}")


def options(settings: Settings, port: int, signed: listen_address.SignIn | None) -> list[str]:
    """Return the options of Streamlit that are not in `.streamlit/config.toml`."""
    hosts = sorted(
        {one.host for one in listen_address.origins(settings, settings.address, port, signed)}
    )
    files = [file for file in listen_address.secrets_files(settings) if file.exists()]
    return [
        f"--server.address={settings.address}",
        f"--server.port={port}",
        f"--server.maxUploadSize={settings.upload_megabytes}",
        *(f"--server.allowedHosts={host}" for host in hosts),
        *(f"--secrets.files={file}" for file in files if signed),
    ]


def _run_both(settings: Settings, port: int, told: Sequence[str], where: str) -> int:
    """Run the dashboard in the foreground and a worker in the background. The worker starts once
    its libraries are installed, ends with the dashboard, and is restarted if it ends earlier.
    `where` is printed once the dashboard can be opened."""
    dashboard = start(settings.home, told)
    signal.signal(signal.SIGTERM, lambda *_: dashboard.terminate())
    with _working(settings):
        try:
            if _listens(dashboard, settings.address, port):
                _say(f"{where}   (stop with Ctrl-C)")
            return dashboard.wait()
        except KeyboardInterrupt:
            # Ctrl-C reaches both; a signal to only this process does not.
            dashboard.terminate()
            return dashboard.wait()


@contextlib.contextmanager
def _working(settings: Settings) -> Iterator[None]:
    """Keep a worker running for the with-block."""
    ending = threading.Event()
    watching = threading.Thread(target=_keep_working, args=[settings, ending])
    watching.start()
    try:
        yield
    finally:
        ending.set()
        watching.join()


def _keep_working(settings: Settings, ending: threading.Event) -> None:
    """Start a worker once its libraries are installed, and restart it until `ending` is set."""
    pause, log = PAUSE, settings.home / "logs" / "worker.log"
    while not_installed() and not ending.wait(PAUSE):
        importlib.invalidate_caches()
    while not ending.is_set():
        began = time.monotonic()
        try:
            if not _ends_by_itself(_worker(settings), ending):
                return
            why = f"The worker ended ({log} says why)"
        except OSError as error:
            why = f"No worker can be started ({error})"
        # A worker that keeps dying would take processor time from the pages if restarted at once.
        pause = PAUSE if time.monotonic() - began > STEADY else pause
        printable.warn(f"{why}: another try in {pause:.0f} s")
        ending.wait(pause)
        pause = min(2 * pause, LONGEST)


def _ends_by_itself(worker: "subprocess.Popen[bytes]", ending: threading.Event) -> bool:
    """Wait until a worker ends; return False if it was stopped because the dashboard ends."""
    while worker.poll() is None:
        if ending.wait(0.2):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(worker.pid, signal.SIGTERM)
            worker.wait()
            return False
    return True


def _listens(dashboard: "subprocess.Popen[bytes]", address: str, port: int) -> bool:
    """Wait until the dashboard accepts connections; return False if it ends before."""
    while dashboard.poll() is None:
        with contextlib.suppress(OSError), socket.create_connection((address, port), timeout=1):
            return True
        time.sleep(0.1)
    return False


def start(home: Path, told: Sequence[str]) -> "subprocess.Popen[bytes]":
    """Start only a dashboard, with these options of Streamlit."""
    # Each page runs in its own thread, and each thread would keep its freed memory.
    own = {"MALLOC_ARENA_MAX": "2", **os.environ, "BEIRSCOPE_HOME": str(home)}
    words = [sys.executable, "-m", "pages._frame.server", *told]
    return subprocess.Popen(words, cwd=PROJECT, env=own, stdout=subprocess.DEVNULL)


def _worker(settings: Settings) -> "subprocess.Popen[bytes]":
    """Start a worker with lower priority than the dashboard; it always ends with this process."""
    (settings.home / "logs").mkdir(parents=True, exist_ok=True)
    with (settings.home / "logs" / "worker.log").open("ab") as log:
        return subprocess.Popen(
            ["nice", *command()],
            cwd=PROJECT,
            env={**os.environ, "BEIRSCOPE_HOME": str(settings.home)},
            stdin=subprocess.PIPE,
            stdout=log,
            stderr=log,
            process_group=0,
        )


def _say(line: str) -> None:
    printable.say(line)
    sys.stdout.flush()
