"""kill -9 of an import at named places leaves nothing to see, and the run comes in again."""

import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from compute.base.settings import PROJECT
from compute.datasets import Dataset
from compute.intake import imports
from compute.recompute import run as recompute
from compute.store.loading import Bench
from compute.store.run_versions import Version
from tests.support.processes import prepared

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
    _kill(bench, file, place, calls)
    assert (bench.store.version(), bench.store.parts()) == before
    outcome = imports.import_run(bench, file, tiny)
    assert outcome.new
    assert {part.kind for part in bench.store.parts(system="mine")} == KINDS
    bench.store.tidy(datetime.now(UTC) + timedelta(hours=25))
    left = set(bench.store.home.glob("parts/*/*"))
    assert left == {part.path for part in bench.store.parts() if not part.shipped}


@pytest.mark.long
@pytest.mark.parametrize(
    ("place", "calls", "live"),
    # A version is written before the run that takes its place: among both, and at the end.
    [("after the rename", 6, "1"), ("before the commit", 1, "1"), ("after the commit", 1, "2")],
)
def test_a_killed_import_of_a_version_leaves_both_runs_or_the_old_one(
    bench: Bench, tiny: Dataset, tmp_path: Path, place: str, calls: int, live: str
) -> None:
    first, second = tmp_path / "first.run", tmp_path / "second.run"
    first.write_text(RUN, "utf-8")
    second.write_text(RUN.replace("2.0", "0.5"), "utf-8")
    imports.import_run(bench, first, tiny)
    _kill(bench, second, place, calls, "2")
    on_top = {"1": "d1", "2": "d2"}
    expected = {"mine": on_top[live]} | ({"mine@1": "d1"} if live == "2" else {})
    assert _leading(bench) == expected
    outcome = imports.import_run(bench, second, tiny, version=Version("2"))
    assert outcome.new == (live == "1")
    assert _leading(bench) == {"mine": "d2", "mine@1": "d1"}
    for system in ("mine", "mine@1"):
        assert {part.kind for part in bench.store.parts(system=system)} == KINDS
    bench.store.tidy(datetime.now(UTC) + timedelta(hours=25))
    left = set(bench.store.home.glob("parts/*/*"))
    assert left == {part.path for part in bench.store.parts(picked=None)}


def _kill(bench: Bench, file: Path, place: str, calls: int, *label: str) -> None:
    words = ["tests.support.processes.importer", str(bench.store.home), str(file), place]
    command = [sys.executable, "-m", *words, str(calls), *label]
    assert prepared.run(command, cwd=PROJECT, timeout=300).returncode == -9


def _leading(bench: Bench) -> dict[str, str]:
    """By run, versions too, what it puts first for q1."""
    found = {}
    for part in bench.store.parts("top", picked=None):
        first = recompute.read(part)
        found[part.system] = first[first["query_id"] == "q1"]["doc_id"].iloc[0]
    return found
