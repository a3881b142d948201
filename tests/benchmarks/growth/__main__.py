"""How each cost grows with queries, systems and documents: three sizes each, and the exponent.

    python -m tests.benchmarks.growth                      all costs: README.md's table, costs.svg
    python -m tests.benchmarks.growth bm25 [DOCUMENTS …]   BM25 alone (default: 10000 30000 100000)
    python -m tests.benchmarks.growth --small --out FOLDER     to try it

Seconds are those of the processors, so that others on the machine matter less. Three sizes give a
rough exponent: where fixed costs are most of the smallest size, it is too low.
"""

import argparse
from collections.abc import Callable, Iterator
from pathlib import Path

from compute.exports.browser import PAINTER
from tests.benchmarks.growth import bm25, collections, stores
from tests.benchmarks.growth.drawing import figure
from tests.benchmarks.growth.lines import HEAD, Line, markdown
from tests.benchmarks.side_by_side import machine, replaced, say

FOLDER = Path(__file__).parent.parent
START, END = "<!-- growth -->", "<!-- end of growth -->"


def measured(*, small: bool) -> Iterator[Line]:
    """Every cost by everything it grows with; printed as they come."""
    say(" | ".join(HEAD))
    of_stores = stores.SMALL if small else stores.Sizes()
    of_collections = collections.SMALL if small else collections.Sizes()
    works: tuple[Callable[[], Iterator[Line]], ...] = (
        lambda: stores.scoring(of_stores),
        lambda: stores.publishing(of_stores),
        lambda: stores.pages(of_stores),
        lambda: collections.counting(of_collections),
        lambda: collections.comparing(of_collections),
        lambda: collections.dense(of_collections),
    )
    for work in works:
        yield from work()


def main() -> None:
    """Measure, print, write the table and the figure."""
    asking = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    asking.add_argument("only", nargs="?", choices=["bm25"])
    asking.add_argument("documents", nargs="*", type=int)
    asking.add_argument("--small", action="store_true")
    asking.add_argument("--out", type=Path, default=FOLDER)
    asked = asking.parse_args()
    if asked.only:
        bm25.table(asked.documents or bm25.SIZES)
        return
    lines = [*measured(small=asked.small), bm25.table(bm25.SMALL if asked.small else bm25.SIZES)]
    file = asked.out / "README.md"
    text = file.read_text("utf-8") if file.exists() else ""
    table = f"{machine()}\n\n{markdown(lines)}"
    file.write_text(replaced(text, START, END, table), "utf-8")
    (asked.out / "growth").mkdir(exist_ok=True)
    (asked.out / "growth" / "costs.svg").write_text(PAINTER.svg(figure(lines)), "utf-8")


if __name__ == "__main__":
    main()
