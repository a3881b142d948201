"""Every page on a store, as two rows of the speed table: warm, and cold in a fresh process.

    python -m tests.benchmarks.pages.rows HOME [OPENINGS [PAGE …]]      (default: 10, every page)

By the part `server` of `tests.benchmarks.pages`. The bars: warm at the 95th percentile under
300 ms, with pickers that nobody chose before; cold under 2 s.
"""

import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from compute.base.settings import Settings
from compute.store.store import Store
from tests.benchmarks.side_by_side import Row, seconds, show

WARM, COLD = 0.3, 2.0


def measured(home: str, openings: str, pages: Sequence[str]) -> list[dict[str, Any]]:
    """The page table of `tests.benchmarks.pages`."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "pages.json"
        options = ["server", "--openings", openings, "--json", str(file)]
        options += ["--pages", *pages] if pages else []
        command = [sys.executable, "-m", "tests.benchmarks.pages", home, *options]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        return json.loads(file.read_text("utf-8"))["server"]


def rows(pages: list[dict[str, Any]], of: str) -> list[Row]:
    """The warm row and the cold one; each names the slowest page."""
    warm = {page["page"]: page["new_p95_ms"] / 1000 for page in pages}
    cold = {page["page"]: page["cold_s"] for page in pages}
    work = f"any of {len(pages)} pages on {of}"
    return [
        _row(f"{work}, warm, 95th percentile", "p95 under 300 ms on the server", warm, WARM),
        _row(f"{work}, cold", "under 2 s", cold, COLD),
    ]


def _row(work: str, bar: str, by_page: dict[str, float], most: float) -> Row:
    slowest = max(by_page, key=by_page.__getitem__)
    over = [page for page, taken in by_page.items() if taken >= most]
    ours = f"{seconds(min(by_page.values()))} to {seconds(by_page[slowest])} ({slowest})"
    ours += f"; over the bar: {', '.join(over)}" if over else ""
    return Row(work, bar, ours, "", "", met=not over)


def main(home: str, openings: str = "10", *pages: str) -> None:
    store = Store(Settings(home=Path(home)))
    parts = store.parts("hits")
    store.close()
    hits = sum(part.rows for part in parts) / 1e6
    of = f"{len(parts)} runs, {hits:,.0f} million hits"
    for row in rows(measured(home, openings, pages), of):
        show(row)


if __name__ == "__main__":
    main(*sys.argv[1:])
