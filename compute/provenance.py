"""Provenance: how a part was made. It is recorded, shown, and never part of its identity."""

import os
import platform
import shlex
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

PACKAGES = (
    "duckdb",
    "faiss-cpu",
    "numpy",
    "pandas",
    "pyserini",
    "sentence-transformers",
    "torch",
    "transformers",
)


def record(command: Sequence[str], seconds: float, **facts: Any) -> dict[str, Any]:
    """What made a part: the command that makes it again, seconds, versions, hardware, UTC date."""
    return {
        "command": f"python -m compute {shlex.join(command)}",
        "seconds": round(seconds, 3),
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "versions": dict(versions()),
        "hardware": dict(hardware()),
        **facts,
    }


@cache
def versions() -> tuple[tuple[str, str], ...]:
    """The versions of Python and of the packages that touch numbers."""
    found = [("python", platform.python_version())]
    for package in PACKAGES:
        try:
            found.append((package, version(package)))
        except PackageNotFoundError:
            found.append((package, "not installed"))
    return tuple(found)


@cache
def hardware() -> tuple[tuple[str, Any], ...]:
    """Processor, cores and memory (GiB) of this machine; no host name."""
    return (
        ("processor", _processor()),
        ("cores", os.cpu_count()),
        ("memory_gib", _memory_gib()),
        ("system", f"{platform.system()} {platform.machine()}"),
    )


def _processor() -> str:
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        for line in cpuinfo.read_text("utf-8").splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()


def _memory_gib() -> float | None:
    if sys.platform == "win32":
        return None
    return round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1024**3, 1)
