"""The terms of many corpora, partitioned by hash on disk: a part at a time fits into memory.

DuckDB's hash of 64 bits stands for the term. That any two of 100 million different terms have the
same one has a chance of 3 in 10,000, and would move a similarity by the share of the rarer term.
"""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compute.corpora.overlap.jaccard import FLOORS, Vocabulary, sums

BITS = 8
"""Of a hash, at most, that say its partition: sorting by one byte takes a single pass."""
ASKED_BITS = 26
"""Of a hash, by which it is known whether a corpus may have its term: a table of 64 MB."""

PIECE = 1_000_000
"""Terms written at a time: few pieces are quickly read again."""

Terms = NDArray[np.uint64]
Shares = NDArray[np.float64]


class Partitions:
    """Filled corpus by corpus, then read partition by partition; the files lie in a folder."""

    def __init__(self, folder: Path, names: Iterable[str], bits: int) -> None:
        self._bits = bits
        self._asked = np.zeros(1 << ASKED_BITS, dtype=bool)
        self._files = [folder / "terms", folder / "shares"]
        self._bounds: dict[str, list[NDArray[np.int64]]] = {name: [] for name in names}
        """Of each piece of a corpus, where its partitions begin, and where the last one ends."""
        self._end = 0
        self.totals = {name: np.zeros(len(FLOORS)) for name in self._bounds}
        """What the shares of a corpus sum to at each of FLOORS."""

    def __len__(self) -> int:
        return 1 << self._bits

    def fill(self, name: str, terms: Iterable[tuple[Terms, Shares]], *, asked: bool) -> None:
        """All terms of a corpus; those asked for come first. Of others, what these may have."""
        waiting: list[tuple[Terms, Shares]] = []
        for hashes, shares in terms:
            self.totals[name] += sums(shares)
            beginnings = hashes >> (64 - ASKED_BITS)
            if asked:
                self._asked[beginnings] = True
            kept = self._asked[beginnings]
            waiting.append((hashes[kept], shares[kept]))
            if sum(len(some) for some, _ in waiting) >= PIECE:
                self._write(name, waiting)
                waiting = []
        if waiting:
            self._write(name, waiting)

    def _write(self, name: str, waiting: Iterable[tuple[Terms, Shares]]) -> None:
        terms, shares = map(np.concatenate, zip(*waiting, strict=True))
        partitions = (terms >> (64 - BITS)).astype(np.uint8) >> (BITS - self._bits)
        order = np.argsort(partitions, kind="stable")
        for path, column in zip(self._files, (terms, shares), strict=True):
            with path.open("ab") as file:
                column[order].tofile(file)
        sizes = np.bincount(partitions, minlength=len(self))
        self._bounds[name].append(np.cumsum([self._end, *sizes]))
        self._end += len(terms)

    def __iter__(self) -> Iterator[dict[str, Vocabulary]]:
        """Of each partition the terms that several corpora have."""
        for number in range(len(self)):
            terms, shares = (
                [self._read(path, dtype, pieces, number) for pieces in self._bounds.values()]
                for path, dtype in zip(self._files, (np.uint64, np.float64), strict=True)
            )
            _, places, times = np.unique(
                np.concatenate(terms), return_inverse=True, return_counts=True
            )
            shared = times[places] > 1
            ends = np.cumsum([len(of_corpus) for of_corpus in terms])[:-1]
            yield {
                name: Vocabulary(its_places[kept], its_shares[kept])
                for name, its_places, its_shares, kept in zip(
                    self._bounds,
                    np.split(places, ends),
                    shares,
                    np.split(shared, ends),
                    strict=True,
                )
            }

    @staticmethod
    def _read(
        path: Path, dtype: type, pieces: Sequence[NDArray[np.int64]], number: int
    ) -> NDArray[Any]:
        read = [
            np.fromfile(path, dtype, end - first, offset=8 * first)
            for first, end in (bounds[number : number + 2] for bounds in pieces)
        ]
        return np.concatenate([np.empty(0, dtype), *read])
