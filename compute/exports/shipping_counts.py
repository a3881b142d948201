"""Selects which counts and similarities ship: no rare terms, and only shipped corpora."""

from collections.abc import Collection, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pandas import DataFrame

from compute.corpora.overlap.comparing import similarities_stored
from compute.corpora.overlap.tokens import UNITS
from compute.store.store import Part

FEWEST = {"unigrams": 3, "bigrams": 10, "word pieces": 1}
"""Minimum number of occurrences of a shipped term; rarer bigrams could reveal texts."""


def cut(part: Part, table: pa.Table) -> tuple[pa.Table, dict[str, Any]]:
    """Return the frequent terms of a part with counts, and the provenance of the truncation."""
    units: dict[str, Any] = {}
    kept = pc.scalar(False)
    for name, about in part.provenance["units"].items():
        fewest, n = FEWEST[name], UNITS[name].n
        kept = kept | ((pc.field("n") == n) & (pc.field("count") >= fewest))
        share = fewest / about["tokens"] if fewest > 1 and about["tokens"] else 0.0
        units[name] = {**about, "cut": share}
    return table.filter(kept), {"units": units}


def similarities(parts: Sequence[Part], collection: str, others: Collection[str]) -> DataFrame:
    """Return the valid similarities of a corpus to other shipped ones."""
    rows = similarities_stored(parts)
    return rows[(rows["dataset"] == collection) & rows["other"].isin(others)]
