"""Divides the terms of many corpora by hash into partitions on disk, each of which fits into
memory. A term is represented by DuckDB's 64-bit hash. The probability that any two of 100 million
different terms collide is 3 in 10,000; a similarity would change by the rarer one's share."""

import os
from collections.abc import Iterable, Iterator
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from compute.corpora.overlap.jaccard import FLOORS, Vocabulary, sums

BITS = 8
"""Maximum number of hash bits for the partition, since sorting by one byte takes a single pass."""
ASKED_BITS = 26
"""Number of hash bits by which possible terms are looked up, in a table of 64 MB."""
RECORD = np.dtype([("term", np.uint64), ("share", np.float64)])


class Partitions:
    """Partitions in a file, filled corpus by corpus and then read one by one."""

    def __init__(self, file: BinaryIO, names: Iterable[str], bits: int) -> None:
        self._file = file
        self._bits = bits
        self._asked = np.zeros(1 << ASKED_BITS, dtype=bool)
        self._bounds: dict[str, list[NDArray[np.int64]]] = {name: [] for name in names}
        """Start of each partition, and end of the last one, for each added piece of a corpus."""
        self.totals = {name: np.zeros(len(FLOORS)) for name in self._bounds}
        """Sums of each corpus's shares above each of FLOORS."""

    def __len__(self) -> int:
        return 1 << self._bits

    def add(self, name: str, terms: np.ndarray, shares: np.ndarray, *, asked: bool) -> None:
        """Add terms of a corpus. Requested corpora (`asked`) must be added first; of the others,
        only terms that a requested corpus may contain are kept."""
        self.totals[name] += sums(shares)
        beginnings = terms >> (64 - ASKED_BITS)
        if asked:
            self._asked[beginnings] = True
        else:
            kept = self._asked[beginnings]
            terms, shares = terms[kept], shares[kept]
        partitions = (terms >> (64 - BITS)).astype(np.uint8) >> (BITS - self._bits)
        order = np.argsort(partitions, kind="stable")
        records = np.empty(len(terms), RECORD)
        records["term"], records["share"] = terms[order], shares[order]
        sizes = np.bincount(partitions, minlength=len(self))
        bounds = np.cumsum([0, *sizes]) * RECORD.itemsize + self._file.tell()
        self._bounds[name].append(bounds)
        self._file.write(records.data)

    def __iter__(self) -> Iterator[dict[str, Vocabulary]]:
        """Yield the terms of each partition that occur in several corpora, by corpus."""
        self._file.flush()
        for number in range(len(self)):
            records = [self._read(name, number) for name in self._bounds]
            terms = np.concatenate([of_corpus["term"] for of_corpus in records])
            _, places, times = np.unique(terms, return_inverse=True, return_counts=True)
            ends = np.cumsum([len(of_corpus) for of_corpus in records])[:-1]
            yield {
                name: Vocabulary(its_places, of_corpus["share"]).where(times[its_places] > 1)
                for name, of_corpus, its_places in zip(
                    self._bounds, records, np.split(places, ends), strict=True
                )
            }

    def _read(self, name: str, number: int) -> np.ndarray:
        """Read the terms of a corpus in one partition."""
        pieces = (
            os.pread(self._file.fileno(), bounds[number + 1] - bounds[number], bounds[number])
            for bounds in self._bounds[name]
        )
        return np.frombuffer(b"".join(pieces), RECORD)
