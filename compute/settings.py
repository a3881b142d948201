"""Settings: the environment over `settings.toml` in the home folder over the defaults."""

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from compute.errors import WrongInput

PROJECT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True)
class Settings:
    """Every setting there is. `$BEIRSCOPE_<NAME>` sets one; paths may start with `~`."""

    home: Path = PROJECT / "data" / "local"
    """Where parts, state, caches and logs live."""
    datasets: Path | None = None
    """A folder with BEIR archives or folders, looked into before anything is downloaded."""
    state: str = ""
    """SQLAlchemy URL of the manifest and judgements; empty: `state.sqlite` in the home folder."""
    depth: int = 1000
    """Hits kept per query."""
    threads: int = os.cpu_count() or 1
    """Threads of one heavy step."""
    java_memory: str = "2g"
    """Heap of a Java process, as `-Xmx` takes it."""
    cache_bytes: int = 20 * 1024**3
    """Indexes and embeddings above this size go, least recently used first."""
    latency_queries: int = 50
    """Queries of a run that are timed one at a time, for its latency; 0 times none."""


def _value(kind: Any, text: str, origin: str) -> Any:
    if kind is int:
        try:
            return int(text)
        except ValueError:
            raise WrongInput(
                f"{origin} is {text!r}, not a whole number: mend or unset it"
            ) from None
    if kind is str:
        return text
    return Path(text).expanduser().resolve() if text else None


def load(environment: Mapping[str, str] = os.environ) -> Settings:
    """The settings in force. Raises WrongInput for an unknown name or a bad value."""
    home = Path(environment.get("BEIRSCOPE_HOME") or Settings.home).expanduser().resolve()
    kinds = {field.name: field.type for field in fields(Settings)}
    values: dict[str, Any] = {}
    file = home / "settings.toml"
    if file.exists():
        for name, value in _from_file(file).items():
            if name not in kinds:
                known = ", ".join(kinds)
                raise WrongInput(f"{file}: no setting {name!r}; known: {known}")
            values[name] = _value(kinds[name], str(value), f"{file}: {name}")
    for name, kind in kinds.items():
        text = environment.get(f"BEIRSCOPE_{name.upper()}")
        if text:
            values[name] = _value(kind, text, f"BEIRSCOPE_{name.upper()}")
    return replace(Settings(), **(values | {"home": home}))


def _from_file(file: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(file.read_text("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise WrongInput(f"{file}: not valid TOML ({error}): mend or remove it") from None
