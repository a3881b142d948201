"""The top ranks of systems and their judgements, as arrays. The *gain* of a judged document is its
relevance, at least 0; that of a hole is unknown. Only queries with a judgement are evaluated, since
the others have no score that a hole could change."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from pandas import DataFrame

from compute.base import parquet_files
from compute.base.errors import WrongInput

Numbers = NDArray[np.int64]
Codes = NDArray[np.int32]
Flags = NDArray[np.bool_]
Values = NDArray[np.float64]

TOP = parquet_files.schema("system:int32 query_id doc_id rank:int32")
JUDGED = parquet_files.schema("query_id doc_id relevance:int32")

OF_RANKS = ("document", "gain", "known")
"""The fields of `Lists` that have an entry for each rank."""
HOLE = -1
"""Placeholder for the gain of an unjudged document."""


@dataclass(frozen=True)
class Lists:
    """The top k of S systems for Q evaluated queries; arrays by system, query and rank - 1."""

    systems: tuple[str, ...]
    queries: tuple[str, ...]
    document: Codes
    """(S, Q, k) Number of the document; -1 at a rank that the list does not fill."""
    gain: Codes
    """(S, Q, k) Gain of a judged document; HOLE for an unjudged one, 0 at an empty rank."""
    known: Flags
    """(S, Q, k) Whether the document is judged for any query of the split."""
    judged: Numbers
    """(Q, L) Number of the query's judged documents that reach each level of gain."""
    levels: Numbers
    """(L,) Gains above 0 that occur in judgements, ascending; 1 if there are none."""
    n_judged: Numbers
    """(Q,) Number of the query's judged documents, relevant or not."""

    @property
    def depth(self) -> int:
        return self.document.shape[2]

    @property
    def filled(self) -> Flags:
        """Return a mask of the ranks that the lists fill, (S, Q, k)."""
        return self.document >= 0

    @property
    def holes(self) -> Flags:
        """Return a mask of the ranks with a document that is unjudged for the query, (S, Q, k)."""
        return self.gain == HOLE

    @property
    def steps(self) -> Numbers:
        """Return the gain that each level adds to the one below, (L,)."""
        return np.diff(self.levels, prepend=0)

    def cut(self, k: int) -> "Lists":
        """Return the lists cut to their first k ranks. Raises WrongInput if they have fewer."""
        if k > self.depth:
            raise WrongInput(f"these lists hold {self.depth} ranks, not {k}: choose a smaller k")
        top = {name: getattr(self, name)[:, :, :k] for name in OF_RANKS}
        return replace(self, **top)

    def of(self, systems: Sequence[str]) -> "Lists":
        """Return the lists of these systems, in this order. Raises KeyError for a missing
        system."""
        places = {name: place for place, name in enumerate(self.systems)}
        rows = [places[name] for name in systems]
        own = {name: getattr(self, name)[rows] for name in OF_RANKS}
        return replace(self, systems=tuple(systems), **own)

    def asked(self, queries: Numbers | slice) -> "Lists":
        """Return the lists restricted to the queries at these positions."""
        some = isinstance(queries, slice)
        names = self.queries[queries] if some else tuple(self.queries[one] for one in queries)
        own = {name: getattr(self, name)[:, queries] for name in OF_RANKS}
        counts = {"judged": self.judged[queries], "n_judged": self.n_judged[queries]}
        return replace(self, queries=names, **counts, **own)

    def beside(self, others: "Lists") -> "Lists":
        """Return the lists with only the judgements that `others`, of the same systems, lack."""
        places = {query: place for place, query in enumerate(others.queries)}
        held = np.array([places.get(query, -1) for query in self.queries], np.int64)
        judged = np.zeros(self.document.shape, bool)
        judged[:, held >= 0] = ~others.holes[:, held[held >= 0]]
        return replace(self, gain=np.where(judged & self.filled, np.int32(HOLE), self.gain))

    def binary(self, least: int = 1) -> "Lists":
        """Return the lists with binary gains: 1 for a gain of at least `least`, else 0."""
        place = int(np.searchsorted(self.levels, least))
        judged = np.pad(self.judged, [(0, 0), (0, 1)])[:, [place]]
        gain = np.where(self.gain == HOLE, self.gain, self.gain >= least)
        return replace(self, gain=gain, judged=judged, levels=np.ones(1, np.int64))


def arrange(
    top: DataFrame, judgements: DataFrame, k: int, systems: Sequence[str] | None = None
) -> Lists:
    """Arrange the first k ranks of `top` (system, query_id, doc_id, rank) and `judgements`
    (query_id, doc_id, relevance, each pair once) as arrays. `systems` gives the order of the
    systems (default: by name) and may include systems without hits."""
    names = tuple(systems) if systems is not None else tuple(sorted(top["system"].unique()))
    top = top.assign(system=pd.Index(names).get_indexer(pd.Index(top["system"])))
    hits, judged = (
        pa.Table.from_pandas(frame[schema.names], schema, preserve_index=False)
        for frame, schema in ((top, TOP), (judgements, JUDGED))
    )
    return arranged(hits, judged, k, names)


def arranged(top: pa.Table, judgements: pa.Table, k: int, systems: Sequence[str]) -> Lists:
    """Do the same as `arrange` for tables with the schemas JUDGED and TOP, whose `system` is a
    position in `systems`. Ids of `top` may be dictionary-encoded, which avoids text comparisons:
    for 1.5 million ranks, those take half a second, or several seconds as Python objects."""
    queries = judgements["query_id"].unique().sort()
    asked = _places(judgements["query_id"], queries)
    asking, retrieved = _encoded(top["query_id"]), _encoded(top["doc_id"])
    document = retrieved.indices.to_numpy()
    gains = judgements["relevance"].to_numpy().astype(np.int64).clip(0)
    levels = np.unique(gains[gains > 0]) if (gains > 0).any() else np.ones(1, np.int64)

    shape = (len(systems), len(queries), k)
    query = np.append(_places(asking.dictionary, queries), -1)[asking.indices.to_numpy()]
    place = _ranks(query, top, shape)
    # A judged document that is in no list has position -1 here and counts only in `judged`.
    judged, n = _places(judgements["doc_id"], retrieved.dictionary), len(retrieved.dictionary)
    known = np.zeros(n + 1, bool)
    known[judged] = True
    held = place >= 0
    place, document = place[held], document[held]
    gain, known = np.full(len(place), HOLE, np.int32), known[:n][document]
    wanted, listed = query[held][known] * n + document[known], judged >= 0
    gain[known] = _gains(wanted, (asked * n + judged)[listed], gains[listed])
    reached = [np.bincount(asked[gains >= level], minlength=len(queries)) for level in levels]
    return Lists(
        tuple(systems),
        tuple(queries.to_pylist()),
        _at(place, document, shape, -1),
        _at(place, gain, shape, 0),
        _at(place, known, shape, 0),
        np.stack(reached, axis=1).astype(np.int64),
        levels,
        np.bincount(asked, minlength=len(queries)).astype(np.int64),
    )


def _encoded(ids: pa.ChunkedArray) -> pa.DictionaryArray:
    """Encode ids as numbers and a dictionary."""
    one = ids.combine_chunks()
    return one if isinstance(one, pa.DictionaryArray) else one.dictionary_encode()


def _places(names: pa.Array | pa.ChunkedArray, among: pa.Array) -> Numbers:
    """Return the position of each name in `among`; -1 if it is missing."""
    found = pc.call_function("index_in", [names], pc.SetLookupOptions(among))
    return found.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)


def _ranks(query: Numbers, top: pa.Table, shape: tuple[int, int, int]) -> Numbers:
    """Return each hit's position in the flattened array of a shape; -1 for a hit outside it."""
    _, n_queries, k = shape
    system, rank = (top[name].to_numpy().astype(np.int64) for name in ("system", "rank"))
    held = (system >= 0) & (query >= 0) & (rank <= k)
    return np.where(held, (system * n_queries + query) * k + rank - 1, -1)


def _at(
    place: Numbers, column: NDArray[Any], shape: tuple[int, int, int], empty: int
) -> NDArray[Any]:
    """Return an array with the values of `column` at these positions, and `empty` elsewhere."""
    array = np.full(math.prod(shape), empty, column.dtype)
    array[place] = column
    return array.reshape(shape)


def _gains(wanted: Numbers, pairs: Numbers, gains: Numbers) -> Numbers:
    """Return the gains of the wanted pairs, by number; HOLE for pairs without a judgement."""
    if len(pairs) == 0:
        return np.full(len(wanted), HOLE)
    order = np.argsort(pairs)
    pairs, gains = pairs[order], gains[order]
    found = np.searchsorted(pairs, wanted).clip(max=len(pairs) - 1)
    return np.where(pairs[found] == wanted, gains[found], HOLE)
