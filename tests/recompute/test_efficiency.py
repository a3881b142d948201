"""What runs cost: what is measured, what adds up, and what stays absent."""

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from compute.datasets import Dataset
from compute.recompute import efficiency, run
from compute.recompute.efficiency import Cost, Costs
from compute.store import freshness, provenance
from compute.store.loading import Bench
from compute.store.store import Part
from compute.systems import system

MB = 1024**2
NONE: Mapping[str, Any] = {}


def test_the_peak_counts_what_a_child_process_holds() -> None:
    script = "block = bytearray(80 * 1024**2); print(len(block), flush=True); input()"
    with efficiency.watched() as idle:
        pass
    with efficiency.watched() as cost:
        child = subprocess.Popen(
            [sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        assert child.stdin and child.stdout
        child.stdout.readline()
        held = efficiency.resident()
        child.communicate(b"\n")
    assert held - idle.peak_bytes > 70 * MB
    assert cost.peak_bytes >= idle.peak_bytes
    assert cost.seconds > 0


def kept(folder: Path, facts: Mapping[str, Any] = NONE, *, resumed: bool = False) -> Path:
    """An index of 1,000 bytes that took 4 seconds and 500 MB."""
    folder.mkdir()
    (folder / "vectors").write_bytes(bytes(1000))
    cost = Cost(seconds=4.0, peak_bytes=500 * MB)
    efficiency.keep_index(folder, cost, facts, resumed=resumed)
    return folder


def test_an_index_remembers_what_it_took(tmp_path: Path) -> None:
    # An earlier version kept the recall of the first run that the index was made for.
    folder = kept(tmp_path / "index", {"documents": 20, "candidate_recall@100": 0.98})
    found = efficiency.of_index(folder, 20)
    assert found == {
        "index_bytes": 1000,
        "index_seconds": 4.0,
        "documents": 20,
        "peak_memory_bytes": 500 * MB,
    }


def test_the_last_stretch_of_an_interrupted_build_is_no_cost(tmp_path: Path) -> None:
    found = efficiency.of_index(kept(tmp_path / "index", resumed=True), 20)
    assert found == {"index_bytes": 1000}


def test_times_of_another_machine_are_left_out_and_sizes_stay(tmp_path: Path) -> None:
    folder = kept(tmp_path / "index")
    file = folder / "built.json"
    other = json.loads(file.read_text("utf-8")) | {
        "hardware": dict(provenance.hardware()) | {"cores": 999}
    }
    file.write_text(json.dumps(other), encoding="utf-8")
    assert efficiency.of_index(folder, 20) == {"index_bytes": 1000}


def test_an_index_of_an_earlier_version_has_seconds_but_no_peak(tmp_path: Path) -> None:
    folder = kept(tmp_path / "index")
    (folder / "built.json").write_text('{"seconds": 4.0}', encoding="utf-8")
    index = efficiency.of_index(folder, 20)
    assert index == {"index_bytes": 1000, "index_seconds": 4.0, "documents": 20}
    costs = efficiency.of_run(Cost(seconds=2.0, peak_bytes=MB), 10, indexes={"one": index})
    assert "peak_memory_bytes" not in costs.values
    (folder / "built.json").unlink()
    assert efficiency.of_index(folder, 20) == {"index_bytes": 1000}


INDEX = {
    "index_bytes": 1000.0,
    "index_seconds": 4.0,
    "documents": 20.0,
    "peak_memory_bytes": 500.0,
    "candidate_recall@100": 0.98,
}


def test_a_run_has_the_costs_of_its_index_and_of_its_search() -> None:
    costs = efficiency.of_run(Cost(seconds=2.0, peak_bytes=300), 10, indexes={"one": INDEX})
    assert costs.values == {
        "index_seconds": 4.0,
        "index_bytes": 1000.0,
        "documents_per_second": 5.0,
        "search_seconds": 2.0,
        "queries_per_second": 5.0,
        "peak_memory_bytes": 500.0,
        "candidate_recall@100": 0.98,
    }


def test_a_system_made_from_others_costs_what_they_cost_and_its_own() -> None:
    """Two inputs share an index, which counts once; the third has one of its own."""
    one = efficiency.of_run(Cost(seconds=2.0, peak_bytes=300), 10, indexes={"a": INDEX})
    two = efficiency.of_run(Cost(seconds=3.0, peak_bytes=900), 10, indexes={"a": INDEX})
    other = INDEX | {"index_bytes": 50.0, "index_seconds": 1.0}
    three = efficiency.of_run(Cost(seconds=1.0, peak_bytes=1), 10, indexes={"b": other})
    costs = efficiency.of_run(Cost(seconds=4.0, peak_bytes=7), 10, inputs=[one, two, three])
    assert costs.values == {
        "index_seconds": 5.0,
        "index_bytes": 1050.0,
        "documents_per_second": 4.0,
        "search_seconds": 10.0,
        "queries_per_second": 1.0,
        "peak_memory_bytes": 900.0,
    }
    assert set(costs.about["indexes"]) == {"a", "b"}


def test_what_one_input_lacks_is_absent_of_the_whole() -> None:
    one = efficiency.of_run(Cost(seconds=2.0, peak_bytes=300), 10, indexes={"a": INDEX})
    assert efficiency.of_run(Cost(seconds=4.0, peak_bytes=7), 10, inputs=[one, None]).values == {}


@pytest.mark.long
def test_costs_stand_and_fall_with_the_run_that_they_are_of(bench: Bench, tiny: Dataset) -> None:
    outcome = run.run(bench, system("bm25"), tiny)
    costs = efficiency.stored(bench.store, "tiny", "bm25")
    assert costs is not None
    assert costs.values["index_bytes"] > 0
    assert costs.values["documents_per_second"] == 6 / costs.values["index_seconds"]
    assert costs.values["queries_per_second"] == 3 / costs.values["search_seconds"]
    assert costs.values["peak_memory_bytes"] > 50 * MB
    assert "latency_p50_ms" not in costs.values
    assert costs.about["hardware"] == dict(provenance.hardware())
    parts = bench.store.parts()
    assert {part.kind for part in freshness.split(parts)[1]} == set()
    fused = run.run(bench, system("rrf(bm25,bm25-rm3)"), tiny)
    both = efficiency.stored(bench.store, "tiny", fused.hits.system)
    assert both is not None
    # bm25 and bm25-rm3 search one index.
    assert both.values["index_bytes"] == costs.values["index_bytes"]
    assert both.values["search_seconds"] > costs.values["search_seconds"]
    _replace(bench, outcome.hits)
    assert efficiency.stored(bench.store, "tiny", "bm25") is None
    stale = {(part.kind, part.system) for part in freshness.split(bench.store.parts())[1]}
    assert ("efficiency", "bm25") in stale
    with bench.store.publishing("an import") as publication:
        efficiency.add(publication, outcome.hits, None, {})
    assert bench.store.part("efficiency", "tiny", "bm25") is None


def _replace(bench: Bench, hits: Part) -> None:
    """Put other hits in the place of these."""
    with bench.store.publishing("another run") as publication:
        publication.add(
            "hits",
            run.read(hits),
            dataset=hits.dataset,
            system=hits.system,
            fingerprint="0" * 64,
            provenance=hits.provenance,
        )


def test_every_measure_is_explained() -> None:
    measured = efficiency.of_run(Cost(seconds=2.0, peak_bytes=3), 1, indexes={"a": INDEX})
    assert set(Costs(measured.values, {}).values) < set(efficiency.MEASURED)
