"""Settings: environment variables take precedence over `settings.toml` in the home folder, and that
over the defaults."""

import os
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from compute.base.errors import WrongInput
from compute.base.files import plain_text
from compute.base.redaction import MASK, keep, masked

PROJECT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True, repr=False)
class Settings:
    """All settings. Each can be set by `$BEIRSCOPE_<NAME>`; paths may start with `~`."""

    home: Path = PROJECT / "data" / "local"
    """Folder of parts, state, caches and logs."""
    datasets: Path | None = None
    """Folder with BEIR archives or folders, which is searched before anything is downloaded."""
    mirror: str = ""
    """Mirror of BEIR's archives: an http or https address that serves files `NAME.zip`."""
    shipped_results: bool = True
    """Show the shipped results in addition to results computed here."""
    state: str = ""
    """SQLAlchemy URL of the manifest and judgements; none: `state.sqlite` in the home folder."""
    parts_at: str = ""
    """Bucket for the parts of several homes, `s3://bucket/folder`; none: the home folder."""
    depth: int = 1000
    """Hits stored per query."""
    shard_documents: int = 16_384
    """Documents per shard (eight times as many for Lucene and word counts); a corpus of two shards
    or more is divided among workers. 0: never. Must be the same on all machines."""
    weights_apart: bool = False
    """Run systems that need model weights only on workers started with `--weights`, such as workers
    with a GPU, and everything else on other workers. Must be the same on all machines."""
    measures: tuple[str, ...] = ()
    """Measures to score in addition to the defaults, such as P@5, AP@1000 or Bpref."""
    ahead: bool = True
    """Compute the slow answers of pages before anybody asks, at the lowest priority."""
    threads: int = os.cpu_count() or 1
    """Threads of a heavy step."""
    device: str = "cpu"
    """Device on which sentence-transformers models encode, rerank and train, as named by torch:
    cpu, cuda, cuda:1, mps. Scores of two devices may differ in their last digits."""
    java_memory: str = "2g"
    """Heap of a Java process, as a value of `-Xmx`."""
    cache_bytes: int = 20 * 1024**3
    """Disk space for cached indexes and embeddings; the least recently used are deleted first."""
    vector_bytes: int = 8 * 1024**3
    """Memory for building an approximate index of vectors, by an estimate after 2,048 documents; a
    larger index is refused. 0: no limit."""
    latency_queries: int = 50
    """Queries of a run that are timed one at a time to measure latency; 0: none."""
    address: str = "127.0.0.1"
    """Address that the dashboard listens on; any other than this machine's own needs `sign_in`."""
    port: int = 0
    """Port of the dashboard; 0: the first free one from 8501."""
    hosts: tuple[str, ...] = ()
    """Host names of the dashboard besides localhost, with or without a port."""
    upload_megabytes: int = 200
    """Size limit of an uploaded file."""
    job_starts_per_person: int = 60
    """Jobs that a person may start per hour; 0: no limit."""
    job_starts: int = 120
    """Jobs that all people together may start per hour; 0: no limit."""
    jobs_waiting: int = 100
    """Jobs that may be queued or running at once; 0: no limit."""
    judge_address: str = ""
    """LLM server for judging, with OpenAI's chat interface, such as `http://localhost:8000/v1`."""
    judge_model: str = ""
    """Model on the LLM server."""
    judge_key: str = ""
    """Key for the LLM server, if it needs one; safer in the environment than in a file."""
    judge_at_once: int = 4
    """Concurrent requests to the LLM server, at most 64."""
    judge_tokens: int = 16
    """Tokens of an answer, at most 100,000: 16 suffice for a grade; reasoning models need several
    thousand."""
    judge_seconds: int = 120
    """Seconds to wait for an answer from the LLM server, at most 3,600."""
    sign_in: bool = False
    """Require sign-in by OIDC; without it everyone has all rights."""
    viewers: tuple[str, ...] = ()
    """People who may view and export: e-mail addresses, or domains such as `@example.org`."""
    annotators: tuple[str, ...] = ()
    """People who may also judge."""
    operators: tuple[str, ...] = ()
    """People who may also start jobs, import, fetch and create tasks."""
    default_role: str = ""
    """Role of people who sign in and are on no list: none, viewer, annotator or operator."""
    session_hours: int = 24
    """Hours after which people must sign in again; 0: when the browser's cookie expires."""
    metrics_token: str = ""
    """Token with which Prometheus reads `/metrics`, at least 16 characters; none: no `/metrics`.
    Safer in the environment than in a file."""
    logs: str = ""
    """Log format: `json` for one JSON object per line; none: readable lines."""

    @property
    def shard_documents_of_words(self) -> int:
        """Documents per shard for indexing or counting words. Shards for encoding are smaller,
        since a model takes a minute for what these steps do in a second."""
        return 8 * self.shard_documents

    def __repr__(self) -> str:
        """Return all settings as text, with secrets and the database's password masked."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        values |= {name: MASK for name in SECRET if values[name]}
        told = ", ".join(f"{name}={value!r}" for name, value in values.items())
        return masked(f"Settings({told})", {})


SECRET = ("judge_key", "metrics_token")
"""Settings whose values are never shown."""
_TOKEN = re.compile(r"[!-~]{16,}")
_BUCKET = re.compile(r"s3://[a-z0-9][a-z0-9.-]+(/(?!\.+(/|$))[\w.-]+)*/?")
_AT_LEAST_1 = (
    "depth",
    "threads",
    "upload_megabytes",
    "judge_at_once",
    "judge_tokens",
    "judge_seconds",
)
_AT_MOST = {"judge_at_once": 64, "judge_tokens": 100_000, "judge_seconds": 3600}
_WORDS = {"true": True, "on": True, "1": True, "false": False, "off": False, "0": False}


def _value(kind: Any, given: Any, origin: str) -> Any:
    """Return a setting's value in the type of its field; `origin` says where it was set."""
    if kind == tuple[str, ...]:
        return _several(given, origin)
    text = str(given)
    if kind is bool:
        if text.lower() not in _WORDS:
            raise WrongInput(f"{origin} is {text[:40]!r}, not true or false: fix or unset it")
        return _WORDS[text.lower()]
    if kind is int:
        return _number(text, origin)
    if not isinstance(given, str):
        told = MASK if origin.lower().endswith(SECRET) else text[:40]
        raise WrongInput(f"{origin} is {told}, not text: put it between quotes")
    if kind is str:
        return text
    return _path(text, origin) if text else None


def _number(text: str, origin: str) -> int:
    """Return a whole number of at most 18 digits; 0 only for settings that give 0 a meaning."""
    if not re.fullmatch(r"[+-]?[0-9]{1,18}", text):
        raise WrongInput(f"{origin} is {text[:40]!r}, not a whole number: fix or unset it")
    least = 1 if origin.lower().endswith(_AT_LEAST_1) else 0
    if int(text) < least:
        raise WrongInput(f"{origin} is {text}, less than {least}: fix or unset it")
    for name, most in _AT_MOST.items():
        if origin.lower().endswith(name) and int(text) > most:
            raise WrongInput(f"{origin} is {text}, more than {most:,}: fix or unset it")
    return int(text)


def _path(text: str, origin: str) -> Path:
    try:
        return Path(text).expanduser().resolve()
    except (ValueError, RuntimeError, OSError):
        raise WrongInput(f"{origin} is {text[:80]!r}, not a path: fix or unset it") from None


def _several(given: Any, origin: str) -> tuple[str, ...]:
    """Return the items of a list in the file, or the words of a text separated by commas or
    spaces; commas in brackets do not separate."""
    words = given
    if isinstance(given, str):
        words = [word for word in re.split(r"[,\s]+(?![^()]*\))", given) if word]
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        found = repr(given)[:40]
        raise WrongInput(f'{origin} is {found}, not a list such as ["a", "b"]: fix or unset it')
    return tuple(words)


def load(environment: Mapping[str, str] = os.environ) -> Settings:
    """Return the current settings. Raises WrongInput for an unknown name or a bad value."""
    named = environment.get("BEIRSCOPE_HOME")
    home = _path(named, "BEIRSCOPE_HOME") if named else Settings.home.resolve()
    # HOME matters for paths that start with `~`.
    given = {
        name: text
        for name, text in environment.items()
        if name.startswith("BEIRSCOPE_") or name == "HOME"
    }
    return _loaded(home, tuple(given.items()), _stamp(home), _stamp(home / "settings.toml"))


def _stamp(path: Path) -> tuple[int, ...] | None:
    """Return a stamp that changes with the file; None if the file cannot be read."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mode, found.st_ino, found.st_mtime_ns, found.st_size


@lru_cache(maxsize=8)
def _loaded(home: Path, given: tuple[tuple[str, str], ...], *_: object) -> Settings:
    """Return the settings, cached until something changes, since a page reads them for every
    SELECT. The further arguments are stamps of the files, which only serve as cache keys."""
    environment = dict(given)
    if home.exists() and not home.is_dir():
        raise WrongInput(f"BEIRSCOPE_HOME is {home}, a file: set it to a folder")
    kinds = {field.name: field.type for field in fields(Settings)}
    values: dict[str, Any] = {}
    file = home / "settings.toml"
    # A dangling link must not count as a missing file, or `sign_in` could be lost with it.
    if file.exists() or file.is_symlink():
        for name, value in _from_file(file).items():
            if name not in kinds:
                known = ", ".join(kinds)
                raise WrongInput(f"{file}: there is no setting {name[:40]!r}; known: {known}")
            values[name] = _value(kinds[name], value, f"{file}: {name}")
    for name, kind in kinds.items():
        text = environment.get(f"BEIRSCOPE_{name.upper()}")
        if text:
            values[name] = _value(kind, text, f"BEIRSCOPE_{name.upper()}")
    now = replace(Settings(), **(values | {"home": home}))
    for name in SECRET:
        keep(getattr(now, name))
    _check(now)
    return now


def _check(now: Settings) -> None:
    """Raise WrongInput for values that the types of the fields allow, but nothing can use."""
    if not re.fullmatch(r"[0-9]+[kmgKMG]?", now.java_memory):
        raise WrongInput(
            f"java_memory is {now.java_memory[:40]!r}, not a size such as 500m or 2g: fix or"
            " unset it"
        )
    if now.metrics_token and not _TOKEN.fullmatch(now.metrics_token):
        raise WrongInput(
            "metrics_token is not 16 or more ASCII characters without spaces: use the"
            " output of `openssl rand -hex 32`, or unset it"
        )
    if now.parts_at and not _BUCKET.fullmatch(now.parts_at):
        raise WrongInput("parts_at is not of the form s3://bucket/folder: fix or unset it")
    if now.logs not in ("", "json"):
        raise WrongInput(f"logs is {now.logs[:40]!r}, not json: fix or unset it")


def _from_file(file: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(plain_text(file))
    # RecursionError: nested too deeply. ValueError also covers a number of thousands of digits.
    except (ValueError, RecursionError) as error:
        raise WrongInput(f"{file}: not valid TOML ({error}): fix or remove it") from None
    except OSError as error:
        raise WrongInput(f"{file} cannot be read ({error.strerror}): fix or remove it") from None
