"""What a benchmark prints: our figure, the peer's of the same run, their ratio, and the bar."""

import json
import os
import platform
import re
import resource
import sys
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_info

ROWS = "BEIRSCOPE_BENCHMARK_ROWS"
"""Names a file to which every row goes too, as a line of JSON: how the speed table is made."""


@dataclass(frozen=True)
class Row:
    """One row of the speed table; figures are words, with their units."""

    work: str
    bar: str
    ours: str
    peer: str
    ratio: str
    """Ours beside the peer's; empty where nobody else does the work."""
    met: bool | None
    """None where the design sets no bar."""

    @property
    def verdict(self) -> str:
        """Whether the bar is reached."""
        return {True: "reached", False: "MISSED", None: "no bar"}[self.met]


def show(row: Row) -> None:
    """Print a row, and keep it where it is asked for."""
    beside = "; ".join(filter(None, (f"ours {row.ours}", row.peer, row.ratio)))
    say(f"{row.work}: {beside} (bar: {row.bar or 'none'}: {row.verdict})")
    if file := os.environ.get(ROWS):
        with Path(file).open("a", encoding="utf-8") as lines:
            lines.write(json.dumps(asdict(row)) + "\n")


def quicker(theirs: float, ours: float) -> str:
    """How many times as quick ours is, of two times."""
    return f"{theirs / ours:,.{1 if theirs < 20 * ours else 0}f} times as quick"


def seconds(value: float) -> str:
    """Seconds, in milliseconds where they are few."""
    return f"{value:.2f} s" if value >= 1 else f"{1000 * value:.0f} ms"


def peak() -> int:
    """The most memory that this process had, in MB."""
    status = Path("/proc/self/status")
    if status.exists():
        # Not ru_maxrss: on Linux it begins with that of the process that started this one.
        found = re.search(r"VmHWM:\s+(\d+) kB", status.read_text("utf-8"))
        return int(found[1]) * 1024 // 10**6 if found else 0
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 10**6


def machine() -> str:
    """The processor, its cores here, how busy it was at the end, and NumPy's BLAS."""
    load = os.getloadavg()[0]
    np.ones((2, 2)) @ np.ones((2, 2))  # Its BLAS is told only where NumPy is loaded.
    blas = next(library for library in threadpool_info() if library["user_api"] == "blas")
    named = f"{blas['internal_api']} {blas['version']} for {blas.get('architecture', '?')}"
    cores = f"{os.cpu_count()} cores, load {load:.1f} at the end of the run"
    return f"{_processor()}, {cores}; NumPy on {named}."


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    if not info.exists():
        return platform.processor() or platform.machine()
    named = (line for line in info.read_text("utf-8").splitlines() if line.startswith("model name"))
    return next(named, platform.machine()).partition(":")[2].strip() or platform.machine()


def say(line: str) -> None:
    """Print a line at once."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def between(text: str, start: str, end: str) -> str:
    """What stands between two marks of a text; empty where it has none."""
    return text.partition(start)[2].partition(end)[0]


def replaced(text: str, start: str, end: str, content: str) -> str:
    """The text with this content between two marks, at its end where it has none."""
    before, _, rest = text.partition(start)
    after = rest.partition(end)[2] or "\n"
    return f"{before}{start}\n{content}\n{end}{after}"
