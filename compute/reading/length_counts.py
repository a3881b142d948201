"""Counted lengths as arrays of frequencies, for all runs on a dataset."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from duckdb import DuckDBPyConnection
from numpy.typing import NDArray

from compute.corpora.lengths import DEPTH
from compute.reading import gathered
from compute.reading.gathered import Runs

GROUPS = ("corpus", "relevant", "top")
"""All documents of the corpus, those judged above 0, and the top hits of every query."""

_SYSTEM = "system"
_KEYS = [_SYSTEM, "group", "n_words"]
_DEPTHS = [str(rank) for rank in range(1, DEPTH + 1)]

Numbers = NDArray[np.int64]


class Counts(NamedTuple):
    """The number of documents by length. Rows are sorted by system, group and length."""

    systems: Numbers
    """Indexes into the list of requested systems."""
    groups: Numbers
    """Indexes into GROUPS."""
    n_words: Numbers
    counts: Numbers
    """Numbers of documents, above 0."""


class Middle(NamedTuple):
    """The mean and median length of documents in one group, for one system or for no system."""

    system: int
    group: int
    n: int
    mean: float
    median: float


def runs(cursor: DuckDBPyConnection) -> dict[str, Runs]:
    """Return the counted runs of each dataset."""
    return {of.dataset: of for of in gathered.runs(cursor, "length_counts")}


def together(datasets: Sequence[Runs], systems: Sequence[str], k: int) -> Counts:
    """Return the combined counts of these datasets for `systems` (the empty name means no system).
    The group `top` has only the top k. Raises ValueError for a k outside 1 to 10."""
    if str(k) not in _DEPTHS:
        raise ValueError(f"k is {k}: it must be from 1 to {DEPTH}")
    found = [_chosen(of, systems, k) for of in datasets]
    if len(found) == 1:
        return found[0]
    if not found:
        none = np.empty(0, np.int64)
        return Counts(none, none, none, none)
    (own, groups, n_words), counts = _added(
        [np.concatenate(column) for column in zip(*(of[:-1] for of in found), strict=True)],
        np.concatenate([of.counts for of in found]),
    )
    return Counts(own, groups, n_words, counts)


def middles(of: Counts, cut: int | None = None) -> list[Middle]:
    """Return the mean and median of every system and group; longer documents count as `cut` words.
    For an even number of documents, the median is the mean of the two in the middle."""
    if not len(of.counts):
        return []
    apart = (np.diff(of.systems) != 0) | (np.diff(of.groups) != 0)
    starts = np.concatenate(([0], np.flatnonzero(apart) + 1))
    words = of.n_words if cut is None else np.minimum(of.n_words, cut)
    n, sums = (np.add.reduceat(each, starts) for each in (of.counts, words * of.counts))
    upto = np.cumsum(of.counts)
    before = upto[starts] - of.counts[starts]
    # The median is between documents ceil(n / 2) and floor(n / 2) + 1, which are equal if n is odd.
    low, high = (
        words[np.searchsorted(upto, before + place)] for place in ((n + 1) // 2, n // 2 + 1)
    )
    columns = of.systems[starts], of.groups[starts], n, sums / n, (low + high) / 2
    return [Middle(*row) for row in zip(*(column.tolist() for column in columns), strict=True)]


def prepare(cursor: DuckDBPyConnection) -> None:
    """Gather the remaining parts of all datasets."""
    for of in runs(cursor).values():
        gathered.table(of, [_SYSTEM], ["group"], _made)


def _chosen(of: Runs, systems: Sequence[str], k: int) -> Counts:
    """Return the counts of the requested systems on a dataset."""
    table = gathered.table(of, [_SYSTEM], [*_KEYS, str(k)], _made)
    ids = table[_SYSTEM].combine_chunks()
    places = {system: place for place, system in enumerate(systems)}
    # Rows that were not requested get the index -1.
    place = np.array([places.get(system, -1) for system in ids.dictionary.to_pylist()], np.int64)
    where = place[ids.indices.to_numpy()]
    group, words, counts = (table[name].to_numpy() for name in ("group", "n_words", str(k)))
    some = (where >= 0) & (counts > 0)
    found = Counts(where[some], group[some], words[some], counts[some])
    # The file is sorted by name, which may not be the caller's order.
    order = np.argsort(found.systems, kind="stable")
    return Counts(*(column[order] for column in found))


def _made(of: Runs) -> pa.Table:
    """Return _KEYS, and for each k the number of documents of that length in the top k."""
    columns = ["of", "level", "n_words", "count"]
    read = [
        pq.read_table(file, columns=columns, read_dictionary=["of"], use_threads=False)
        for file in of.files
    ]
    system = np.repeat(np.arange(len(read)), [len(part) for part in read])
    table = pa.concat_tables(read).unify_dictionaries().combine_chunks()
    level, words, count = (table[name].to_numpy().astype(np.int64) for name in columns[1:])
    group = _groups(table["of"].combine_chunks(), level)
    some = group >= 0
    first = np.where(group == GROUPS.index("top"), level - 1, 0)
    keys, counts = _added([system[some], group[some], words[some]], count[some], first[some])
    ids = pa.DictionaryArray.from_arrays(keys[0].astype(np.int32), of.systems)
    made = dict(zip(_KEYS, [ids, *keys[1:]], strict=True))
    return pa.table(made | dict(zip(_DEPTHS, np.cumsum(counts, axis=1).T, strict=True)))


def _groups(of: pa.DictionaryArray, level: Numbers) -> Numbers:
    """Return the index in GROUPS of each row; -1 for rows that belong to no group."""
    names = {"corpus": 0, "judged": 1, "top": 2}
    place = np.array([names.get(name, -1) for name in of.dictionary.to_pylist()], np.int64)
    found = place[of.indices.to_numpy()]
    return np.where((found == 1) & (level <= 0), -1, found)


def _added(
    keys: Sequence[Numbers], counts: Numbers, columns: Numbers | None = None
) -> tuple[list[Numbers], Numbers]:
    """Merge rows with equal keys, sorted by key. Returns the keys and the sums of the counts, in
    DEPTH columns if `columns` has the column of each count."""
    order = np.lexsort(keys[::-1])
    ordered = [key[order] for key in keys]
    new = np.any([np.diff(key, prepend=-1) != 0 for key in ordered], axis=0)
    starts = np.flatnonzero(new)
    if columns is None:
        return [key[starts] for key in ordered], np.add.reduceat(counts[order], starts)
    grid = np.zeros((len(starts), DEPTH), np.int64)
    np.add.at(grid, (np.cumsum(new) - 1, columns[order]), counts[order])
    return [key[starts] for key in ordered], grid
