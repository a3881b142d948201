"""The child processes in which a worker runs heavy steps: started, watched and ended here."""

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from compute.base import disk_refusals
from compute.base.files import make_folder
from compute.base.settings import PROJECT, Settings
from compute.jobs import logs
from compute.store.loading import Progress

GRACE = 3.0
"""Seconds between asking a child to end and killing it."""
SPARE = 5.0
"""Seconds that a shard's child waits for the next shard, with everything that it has loaded."""
LOOK = 0.5
"""Seconds between checks of whether the task is still wanted."""


class StepFailed(Exception):
    """Raised if a step failed; the message is the sentence to show."""


class Stopped(Exception):
    """Raised if a task was cancelled or given to another worker while a step was running."""


class Crew:
    """The running workflows and child processes of a worker, which end together."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.ending = threading.Event()
        self._children: set[Child] = set()
        self._spare: Child | None = None
        self._at_work: set[str] = set()
        self._lock = threading.Lock()

    @contextlib.contextmanager
    def at_work(self, job: str) -> Iterator[None]:
        """Record that a job or task is running here, for the duration of the block."""
        with self._lock:
            self._at_work.add(job)
        try:
            yield
        finally:
            with self._lock:
                self._at_work.discard(job)

    def is_busy(self) -> bool:
        """Return whether a job, a task or a shard is running here."""
        with self._lock:
            return bool(self._at_work)

    def stranded(self, given: Collection[str]) -> set[str]:
        """Return the workflows that are assigned to this worker but not running here."""
        with self._lock:
            return set(given) - self._at_work

    @contextlib.contextmanager
    def child(self, job: str) -> Iterator["Child"]:
        """Yield a child process for one task, which ends with the block."""
        child = Child(self, job)
        with self._lock:
            self._children.add(child)
        try:
            yield child
        finally:
            self._dismiss(child)

    @contextlib.contextmanager
    def child_of_shards(self, task: str) -> Iterator["Child"]:
        """Yield a child for a shard of a task: the previous shard's child, if it is still waiting.
        After the block it waits for another shard."""
        child = self._spare_of(task) or Child(self, task)
        with self._lock:
            self._children.add(child)
        try:
            yield child
        except BaseException:
            self._dismiss(child)
            raise
        with self._lock:
            self._spare = child
        waiting = threading.Timer(SPARE, self._let_go, [child])
        waiting.daemon = True
        waiting.start()

    def _spare_of(self, task: str) -> "Child | None":
        """Return the waiting child if it belongs to the task; dismiss any other."""
        with self._lock:
            child, self._spare = self._spare, None
        if child is None or (child.job == task and child.lives):
            return child
        self._dismiss(child)
        return None

    def _let_go(self, child: "Child") -> None:
        with self._lock:
            # If it was used again in the meantime, another timer is running.
            spare = self._spare is child and time.monotonic() - child.idle_since >= SPARE
            if spare:
                self._spare = None
        if spare:
            self._dismiss(child)

    def _dismiss(self, child: "Child") -> None:
        child.close()
        with self._lock:
            self._children.discard(child)

    def end(self) -> None:
        """Kill all children; a thread that waits for a child never returns."""
        self.ending.set()
        with self._lock:
            for child in self._children:
                child.kill()


class Child:
    """A child process in its own process group, started at the first step."""

    def __init__(self, crew: Crew, job: str) -> None:
        self.job = job
        """The id of the task, which also names the log."""
        self.idle_since = time.monotonic()
        self._crew = crew
        self._process: subprocess.Popen[bytes] | None = None
        self._rest = b""

    @property
    def lives(self) -> bool:
        """Whether its process is running."""
        return self._process is not None and self._process.poll() is None

    def do(
        self, order: Mapping[str, Any], *, watch: Progress, wanted: Callable[[], bool]
    ) -> dict[str, Any]:
        """Run a step and return its answer; `watch` is called with its progress. Raises StepFailed
        with a sentence, and Stopped once the task is no longer `wanted`."""
        process = self._started()
        assert process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            process.stdin.write(json.dumps({**order, "job": self.job}).encode() + b"\n")
            process.stdin.flush()
        for answer in self._answers(process, wanted):
            if "progress" in answer:
                watch(*answer["progress"])
            elif "error" in answer:
                raise StepFailed(answer["error"])
            else:
                self.idle_since = time.monotonic()
                return answer
        raise StepFailed(self._ended(process))

    def stop(self) -> None:
        """End the child during a step. It has GRACE seconds to clean up before it is killed."""
        if self._process is not None:
            with contextlib.suppress(ProcessLookupError, subprocess.TimeoutExpired):
                os.killpg(self._process.pid, signal.SIGTERM)
                self._process.wait(GRACE)
            self.close()

    def close(self) -> None:
        """End an idle child and all processes that it has started."""
        process = self._process
        if process is not None:
            self.kill()
            process.wait()
            for pipe in (process.stdin, process.stdout):
                if pipe is not None:
                    with contextlib.suppress(BrokenPipeError):
                        pipe.close()
            self._process = None

    def kill(self) -> None:
        """Kill the child's whole group at once."""
        if self._process is not None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)

    def _started(self) -> "subprocess.Popen[bytes]":
        """Return the process, and start it if necessary. Raises StepFailed."""
        if self._process is None:
            settings = self._crew.settings
            log = logs.file(settings, self.job)
            try:
                self._process = _start(settings, log, self.job)
            except OSError as error:
                raise StepFailed(
                    str(disk_refusals.refusal(error, settings.home) or error)
                ) from error
        return self._process

    def _answers(
        self, process: "subprocess.Popen[bytes]", wanted: Callable[[], bool]
    ) -> Iterator[dict[str, Any]]:
        """Yield the child's answers. Stops it and raises Stopped once the task is not wanted."""
        assert process.stdout is not None
        looked = time.monotonic()
        while True:
            ready, _, _ = select.select([process.stdout], [], [], LOOK)
            if time.monotonic() - looked >= LOOK:
                looked = time.monotonic()
                if not wanted():
                    self.stop()
                    raise Stopped(self.job)
            if ready:
                received = os.read(process.stdout.fileno(), 65536)
                if not received:
                    return
                *lines, self._rest = (self._rest + received).split(b"\n")
                yield from map(json.loads, lines)

    def _ended(self, process: "subprocess.Popen[bytes]") -> str:
        """Return a sentence on why the child ended without an answer."""
        status = process.wait()
        if self._crew.ending.is_set():
            # The worker is about to end; the task must not be recorded as failed.
            threading.Event().wait()
        if status == -signal.SIGKILL:
            return "the step was killed, most likely for lack of memory: free some, then retry"
        return f"the step ended without a result (status {status}): see the log"


def _start(settings: Settings, log: Path, job: str) -> "subprocess.Popen[bytes]":
    """Start a child process whose errors go to the job's log."""
    make_folder(log.parent)
    with log.open("ab") as errors:
        return subprocess.Popen(
            [sys.executable, "-m", "compute.jobs.steps"],
            cwd=PROJECT,
            env=environment(settings, job),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            process_group=0,
        )


def environment(settings: Settings, job: str) -> dict[str, str]:
    """Return the environment of a job's child: the settings; the LLM's key only for judging."""
    values = {field.name: getattr(settings, field.name) for field in fields(settings)}
    values["metrics_token"] = ""
    if not job.startswith("judge-"):
        values["judge_key"] = ""
    given = {f"BEIRSCOPE_{name.upper()}": _words(value) for name, value in values.items()}
    return os.environ | given | {"OMP_NUM_THREADS": str(settings.threads)}


def _words(value: Any) -> str:
    if isinstance(value, tuple):
        return ",".join(value)
    return "" if value is None else str(value)
