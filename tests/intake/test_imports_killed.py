"""kill -9 of an import at named places leaves nothing to see, and the run comes in again."""

import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from compute.base.settings import PROJECT
from compute.datasets import Dataset
from compute.intake import imports
from compute.store.loading import Bench

RUN = "q1 Q0 d1 1 2.0 mine\nq1 Q0 d2 2 1.0 mine\nq2 Q0 d3 1 1.0 mine\n"
KINDS = {"hits", "top", "scores", "length_counts"}


@pytest.mark.parametrize(
    ("place", "calls"),
    # The parts of an import are written one after another: in the midst of them, and at the end.
    [("after the file", 2), ("after the rename", 3), ("before the commit", 1)],
)
def test_a_killed_import_leaves_nothing_to_see(
    bench: Bench, tiny: Dataset, tmp_path: Path, place: str, calls: int
) -> None:
    file = tmp_path / "mine.run"
    file.write_text(RUN, "utf-8")
    before = bench.store.version(), bench.store.parts()
    words = [
        sys.executable,
        "-m",
        "tests.support.processes.importer",
        str(bench.store.home),
        str(file),
        place,
    ]
    ended = subprocess.run([*words, str(calls)], cwd=PROJECT, timeout=300)
    assert ended.returncode == -9
    assert (bench.store.version(), bench.store.parts()) == before
    outcome = imports.import_run(bench, file, tiny)
    assert outcome.new
    assert {part.kind for part in bench.store.parts(system="mine")} == KINDS
    bench.store.tidy(datetime.now(UTC) + timedelta(hours=25))
    left = set(bench.store.home.glob("parts/*/*"))
    assert left == {part.path for part in bench.store.parts() if not part.shipped}
