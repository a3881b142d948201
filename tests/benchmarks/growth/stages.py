"""What each stage of a large collection costs, by the commands that people use.

    python -m tests.benchmarks.growth.stages [DOCUMENTS …] [--keep FOLDER]

The collection is made up: 150 words a document, by Zipf's law, 500 queries. Seconds, those of the
processors, the most memory that the command and all below it held, what it left on the disk. Each
command runs in a process of its own in one home; `--keep` leaves the home there.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from compute.recompute import efficiency
from tests.benchmarks.growth.corpus import write_beir
from tests.benchmarks.growth.lines import processors
from tests.benchmarks.side_by_side import machine, say

SIZES = (10_000, 100_000)
STAGES: Mapping[str, tuple[str, ...]] = {
    "import": ("import-dataset", "COLLECTION", "--name", "large"),
    "bm25": ("run", "bm25", "large"),
    "lengths": ("lengths", "compute", "large"),
    "overlap": ("overlap", "compute", "large"),
    "scores": ("scores", "--dataset", "large"),
    "holes": ("holes", "--dataset", "large", "--measure", "nDCG@10"),
}
HEAD = "documents  stage     seconds  processors  memory MB  disk MB"


def measured(n_documents: int, folder: Path) -> Iterator[str]:
    """A line for each stage on so many documents."""
    collection, home = folder / "collection", folder / "home"
    write_beir(n_documents, collection)
    yield f"{n_documents:9,}  the collection itself{size(collection) / 1e6:40,.0f}"
    for stage, words in STAGES.items():
        asked = [str(collection) if word == "COLLECTION" else word for word in words]
        before, busy = size(home), processors()
        with efficiency.watched() as cost:
            subprocess.run(
                [sys.executable, "-m", "compute", *asked],
                env=os.environ | {"BEIRSCOPE_HOME": str(home)},
                stdout=subprocess.DEVNULL,
                check=True,
            )
        busy, left = processors() - busy, size(home) - before
        yield (
            f"{n_documents:9,}  {stage:8}  {cost.seconds:7.1f}  {busy:10.1f}"
            f"  {cost.peak_bytes / 1e6:9,.0f}  {left / 1e6:7,.0f}"
        )


def size(folder: Path) -> int:
    """Bytes of the files below it."""
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())


def main() -> None:
    """Measure and print."""
    asking = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    asking.add_argument("documents", nargs="*", type=int, default=SIZES)
    asking.add_argument("--keep", type=Path)
    asked = asking.parse_args()
    say(f"{machine()}\n{HEAD}")
    for n_documents in asked.documents:
        with tempfile.TemporaryDirectory() as name:
            folder = asked.keep / str(n_documents) if asked.keep else Path(name)
            for line in measured(n_documents, folder):
                say(line)


if __name__ == "__main__":
    main()
