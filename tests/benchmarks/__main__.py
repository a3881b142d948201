"""The speed table: every benchmark that has a peer, side by side, one after the other.

    python -m tests.benchmarks                            list them
    python -m tests.benchmarks --all [--small]            run all, write the table into README.md
    python -m tests.benchmarks --only score search        run some, the other rows stay
    python -m tests.benchmarks --all --home HOME          the pages on a store, too

`--small` takes small sizes, for trying, and writes no table unless `--out` names another file.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from tests.benchmarks.side_by_side import ROWS, Row, between, machine, replaced, say

README = Path(__file__).with_name("README.md")
START, END = "<!-- the speed table -->", "<!-- end of the speed table -->"
COLUMNS = ("work", "bar", "ours", "peer, in the same run", "ratio", "bar reached", "command, date")


@dataclass(frozen=True)
class Benchmark:
    """A module, and the sizes of the table and of a trial."""

    name: str
    what: str
    sizes: str = ""
    small: str = ""

    def command(self, *, small: bool) -> list[str]:
        """What follows `python`."""
        return [
            "-m",
            f"tests.benchmarks.{self.name}",
            *(self.small if small else self.sizes).split(),
        ]


BENCHMARKS = (
    Benchmark("score", "score a stored run, beside pytrec_eval and ir_measures", "7", "0.05"),
    Benchmark("significance", "test all pairs of systems, beside scipy", "", "4 200 200"),
    Benchmark("importing", "import a run, beside pandas and ir_measures", "6.98", "0.02"),
    Benchmark("search", "BM25 to the run file, beside pyserini", "30000 500 1000", "500 20 100"),
    Benchmark("vectors", "exact dense search, beside faiss", "exact 100000", "exact 2000"),
    Benchmark(
        "annotate",
        "judge by key, beside Streamlit's own buttons (needs a Chromium)",
        "made pydocs-networkx 40 500",
        "made pydocs-networkx 4 500",
    ),
    Benchmark(
        "pages.rows",
        "every page on a store, such as that of full_size",
        "HOME",
        "HOME 2 efficiency",
    ),
    Benchmark(
        "overlap",
        "count words and compare vocabularies, beside scikit-learn and scipy",
        "50 1000000 CountVectorizer",
        "0.2 5000 CountVectorizer",
    ),
)
NEEDS_HOME = "pages.rows"


def listed() -> str:
    """The benchmarks with their commands."""
    lines = (f"python {' '.join(one.command(small=False)):66} {one.what}" for one in BENCHMARKS)
    return "\n".join(lines)


def measured(
    chosen: Sequence[Benchmark], *, small: bool, home: str = ""
) -> dict[Benchmark, list[Row]]:
    """The rows of each benchmark, which runs in a process of its own and prints as it goes.

    `home` stands for HOME, which the table keeps to itself.
    """
    found = {}
    for one in chosen:
        start = time.perf_counter()
        with tempfile.NamedTemporaryFile("r", encoding="utf-8") as rows:
            words = (home if word == "HOME" else word for word in one.command(small=small))
            command = [sys.executable, *words]
            status = subprocess.run(command, env=os.environ | {ROWS: rows.name}).returncode
            found[one] = [Row(**json.loads(line)) for line in rows]
        say(f"{one.name}: {time.perf_counter() - start:.0f} s, status {status}")
    return found


def lines(one: Benchmark, rows: Sequence[Row], *, small: bool) -> list[str]:
    """The rows of a benchmark as Markdown; the last cell tells the benchmark."""
    command = f"`{' '.join(['python', *one.command(small=small)])}`, {datetime.now(UTC):%Y-%m-%d}"
    return [
        _line((row.work, row.bar, row.ours, row.peer, row.ratio, row.verdict, command))
        for row in rows
    ]


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cell.replace('|', '/') or '–' for cell in cells)} |"


def written(text: str, found: dict[Benchmark, list[Row]], *, small: bool) -> str:
    """The text with the new rows between the marks; rows of other benchmarks stay."""
    old = between(text, START, END)
    kept = [line for line in old.splitlines() if "`python -m tests.benchmarks." in line]
    table = []
    for one in BENCHMARKS:
        own = [
            line for line in kept if f"tests.benchmarks.{one.name}" in line.rpartition("`python")[2]
        ]
        table += lines(one, found[one], small=small) if found.get(one) else own
    head = [_line(COLUMNS), _line(["---"] * len(COLUMNS))]
    return replaced(text, START, END, "\n".join([machine(), "", *head, *table]))


def main() -> int:
    """List, or run and write the table; status 1 where a benchmark gave no rows."""
    asking = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    asking.add_argument("--all", action="store_true")
    asking.add_argument("--only", nargs="+", choices=[one.name for one in BENCHMARKS], default=[])
    asking.add_argument("--small", action="store_true")
    asking.add_argument("--out", type=Path)
    asking.add_argument("--home", default="")
    asked = asking.parse_args()
    able = [one for one in BENCHMARKS if asked.home or one.name != NEEDS_HOME]
    chosen = [one for one in able if asked.all or one.name in asked.only]
    if not chosen:
        say(listed())
        return 0
    out = asked.out or (None if asked.small else README)
    gave = True
    for one in chosen:
        found = measured([one], small=asked.small, home=asked.home)
        gave = gave and all(found.values())
        # After each: what was measured stays if the rest is stopped.
        if out is not None:
            text = out.read_text("utf-8") if out.exists() else ""
            out.write_text(written(text, found, small=asked.small), "utf-8")
    return 0 if gave else 1


if __name__ == "__main__":
    sys.exit(main())
