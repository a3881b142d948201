"""Processes of Python that begin with what Beirscope imports, for tests that start many.

A dashboard spends two of its first three seconds on imports. Here one process, `python -m
tests.support.processes.prepared SOCKET`, has done them, and forks for each that is wanted: nothing
else has happened in it, and it has no other thread of Python. Tests of what a process imports, and
of how it ends by itself, start it by `subprocess`, as people do.
"""

import atexit
import ctypes
import gc
import inspect
import json
import os
import runpy
import socket
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable, Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import resolve_name
from typing import Any, NoReturn

from compute.base.settings import PROJECT

LEFT_OUT = ("pages._frame.server",)
"""What runs as `__main__` itself."""
LONGEST = 1 << 17
"""Bytes of an order."""
_SUBREAPER = 36
"""PR_SET_CHILD_SUBREAPER of Linux's prctl."""
_turn = threading.Lock()


class Popen(subprocess.Popen[Any]):
    """`subprocess.Popen` of `[sys.executable, "-m", MODULE, …]`, or of "-c" and a script."""

    def _execute_child(self, *given: Any) -> None:
        """Have it forked in the place of forking it here."""
        told = inspect.signature(super()._execute_child).bind(*given).arguments  # pyrefly: ignore
        begin: Callable[[], None] | None = told["preexec_fn"]
        python, *words = map(str, told["args"])
        assert python == sys.executable and words[0] in ("-m", "-c")
        order = {
            "words": words,
            "folder": str(told["cwd"] or Path.cwd()),
            "environment": dict(os.environ if told["env"] is None else told["env"]),
            "session": told["start_new_session"],
            "begin": begin and f"{begin.__module__}:{begin.__name__}",
        }
        names = ("p2cread", "c2pwrite", "errwrite")
        streams = [told[name] if told[name] >= 0 else at for at, name in enumerate(names)]
        try:
            self.pid = _forked(json.dumps(order).encode(), streams)
            self._child_created = True
        finally:
            ends = ("p2cread", "p2cwrite", "c2pread", "c2pwrite", "errread", "errwrite")
            self._close_pipe_fds(*(told[name] for name in ends))  # pyrefly: ignore


def run(
    words: Sequence[str | Path], timeout: float | None = None, **told: Any
) -> subprocess.CompletedProcess[Any]:
    """`subprocess.run` of such a process, by what it takes: `stdout=PIPE` and the like."""
    with Popen(words, **told) as process:
        try:
            said = process.communicate(timeout=timeout)
        except BaseException:
            process.kill()
            raise
    return subprocess.CompletedProcess(words, process.returncode, *said)


def _forked(order: bytes, streams: list[int]) -> int:
    """The process that does it, a child of this one."""
    with _turn:
        orders, _ = _prepared()
        # Its parent ends at once; then this process is the next above it that takes in orphans.
        ctypes.CDLL(None).prctl(_SUBREAPER, 1)
        try:
            socket.send_fds(orders, [order], streams)
            return int(orders.recv(LONGEST))
        finally:
            ctypes.CDLL(None).prctl(_SUBREAPER, 0)


@cache
def _prepared() -> tuple[socket.socket, subprocess.Popen[bytes]]:
    """The process that forks, and where it takes orders; it ends with this one."""
    here, there = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with there:
        words = [sys.executable, "-m", "tests.support.processes.prepared", str(there.fileno())]
        return here, subprocess.Popen(words, cwd=PROJECT, pass_fds=[there.fileno()])


def _order(orders: socket.socket) -> dict[str, Any]:
    """Fork for each order that comes; returns it in the process that is to do it."""
    while True:
        told, streams, _, _ = socket.recv_fds(orders, LONGEST, 3)
        if not told:
            os._exit(0)
        between = os.fork()
        if not between:
            break
        os.waitpid(between, 0)
        for stream in streams:
            os.close(stream)
    between = os.getpid()
    if os.fork():
        os._exit(0)
    while os.getppid() == between:
        time.sleep(0.001)
    orders.send(str(os.getpid()).encode())
    orders.close()
    for at, stream in enumerate(streams):
        os.dup2(stream, at)
        os.close(stream)
    return json.loads(told)


def _begin(order: dict[str, Any]) -> tuple[str, str]:
    """Let this process be as if it had been started so; "-m" or "-c", and what it runs."""
    os.chdir(order["folder"])
    os.environ.clear()
    os.environ.update(order["environment"])
    if order["session"]:
        os.setsid()
    if order["begin"]:
        resolve_name(order["begin"])()
    flag, what, *words = order["words"]
    sys.argv[:] = [flag, *words]
    return flag, what


def _run(flag: str, what: str) -> int:
    """Run it to its end; the status that Python would end with."""
    try:
        if flag == "-m":
            runpy.run_module(what, run_name="__main__", alter_sys=True)
        else:
            exec(what, {"__name__": "__main__"})
    except SystemExit as end:
        if isinstance(end.code, str):
            sys.stderr.write(f"{end.code}\n")
            return 1
        return end.code or 0
    except BaseException:
        traceback.print_exc()
        return 1
    return 0


def _end(status: int) -> NoReturn:
    """As Python ends, but for taking apart all that was imported: a second for what all share."""
    threading._shutdown()  # pyrefly: ignore
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


if __name__ == "__main__":
    from compute.jobs import worker, workflows  # noqa: F401
    from pages._shared.page_files import SHARED

    for name in SHARED:
        if name not in LEFT_OUT:
            import_module(name)
    # Else each copies what all share to look for garbage in it.
    gc.freeze()
    orders = socket.socket(fileno=int(sys.argv[1]))
    _end(_run(*_begin(_order(orders))))
