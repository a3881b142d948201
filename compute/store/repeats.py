"""Repeats: several runs of one system, for example after its index was rebuilt, shown as one. The
first run is the system's hits, and is shown wherever lists are; a part of the kind `repeats` has
the others. The part `scores` has the means over the runs by query, so that all code that reads
scores sees the system once; `run_scores` has the scores of each run."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pyarrow.compute as pc
import pyarrow.parquet as pq

from compute.store import damage
from compute.store.store import Part, Store

if TYPE_CHECKING:
    from pandas import DataFrame


def of(store: Store, hits: Part) -> Part | None:
    """Return the further runs of a system with these hits; None if it has a single run. Raises
    Unavailable if they are damaged."""
    found = store.parts("repeats", hits.dataset, hits.system)
    # If the first run was replaced, its further runs do not count.
    found = [part for part in found if part.provenance["inputs"]["hits"] == hits.fingerprint]
    damage.refuse(store.verify(part) for part in found)
    return next(iter(found), None)


def recorded(part: Part | None) -> list[dict[str, Any]]:
    """Return the provenance of each further run."""
    return part.provenance["runs"] if part else []


def lists(part: Part | None) -> Iterator[tuple[int, DataFrame]]:
    """Yield number and hits of each further run, without the columns dataset and system."""
    for number in range(2, 2 + len(recorded(part))):
        assert part is not None
        table = pq.read_table(part.path, filters=pc.field("run") == number)
        yield number, table.drop_columns(["dataset", "system", "run"]).to_pandas()


def averaged(scores: DataFrame) -> DataFrame:
    """Return query_id, measure, value: the mean score over the runs that have one."""
    return scores.groupby(["measure", "query_id"], sort=False)["value"].mean().reset_index()
