"""MaxSim, the score of late interaction, over token vectors in memory-mapped shards. Khattab and
Zaharia, "ColBERT: Efficient and Effective Passage Search via Contextualized Late Interaction over
BERT", SIGIR 2020, equation 3."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from compute.systems.neural import encoding

NAME = "tokens"
"""Name of the files with token vectors in the folder of an index."""
_AT_ONCE = 65_536
"""Number of documents' token vectors compared at once; with 384 dimensions they take 100 MB."""


def maxsim(query: np.ndarray, tokens: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Return the score of each document, (documents,), as 32-bit floats. A score is the sum, over
    the query's tokens, of the largest inner product with any token of the document. `query` is
    (query tokens, dimensions); `tokens` is (document tokens, dimensions), with `counts` vectors for
    each document, one document after the other. A document without tokens scores 0, as do all
    documents for a query without tokens."""
    scores = np.zeros(len(counts), np.float32)
    filled = counts > 0
    if not filled.any() or not len(query):
        return scores
    products = tokens.astype(np.float32, copy=False) @ query.astype(np.float32, copy=False).T
    starts = np.cumsum(counts[filled]) - counts[filled]
    # With empty documents left out, each segment ends where the next one starts.
    scores[filled] = np.maximum.reduceat(products, starts, axis=0).sum(axis=1)
    return scores


@dataclass(frozen=True)
class Tokens:
    """The token vectors of a corpus; documents and tokens are numbered across all shards."""

    shards: Sequence[np.ndarray]
    """Token vectors of each shard, (tokens, dimensions), float16, memory-mapped."""
    counts: np.ndarray
    """(documents,) Number of tokens of each document."""
    starts: np.ndarray
    """(documents,) Number of each document's first token."""
    firsts: np.ndarray
    """(shards + 1,) Number of each shard's first token, and the total number of tokens."""

    def documents_of(self, tokens: np.ndarray) -> np.ndarray:
        """Return the documents that have the tokens with these numbers, ascending."""
        # If several documents start at one token, all but the last are empty.
        return np.unique(np.searchsorted(self.starts, tokens, side="right") - 1)

    def scores(self, queries: Sequence[np.ndarray], documents: np.ndarray) -> np.ndarray:
        """Return the MaxSim of each query with each of `documents`, an ascending list: (queries,
        documents). Each query is (its tokens, dimensions). The documents' vectors are read once for
        all queries."""
        found = [np.empty((len(queries), 0), np.float32)]
        for some in self._pieces(documents):
            tokens, counts = self._read(some)
            tokens = tokens.astype(np.float32)
            rows = [maxsim(query, tokens, counts) for query in queries]
            found.append(np.reshape(rows, (len(queries), len(some))))
        return np.concatenate(found, axis=1)

    def _pieces(self, documents: np.ndarray) -> Iterator[np.ndarray]:
        """Yield consecutive documents that together have about `_AT_ONCE` tokens."""
        before = np.cumsum(self.counts[documents]) // _AT_ONCE
        cuts = np.flatnonzero(np.diff(before)) + 1
        yield from np.split(documents, cuts)

    def _read(self, documents: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the token vectors of the documents, in order, and their number for each."""
        starts, counts = self.starts[documents], self.counts[documents]
        shards = np.searchsorted(self.firsts, starts, side="right") - 1
        parts = []
        for shard, start, count in zip(shards, starts, counts, strict=True):
            if count:
                begin = start - self.firsts[shard]
                parts.append(self.shards[shard][begin : begin + count])
        return (np.concatenate(parts) if parts else self._none()), counts

    def _none(self) -> np.ndarray:
        return np.empty((0, self.shards[0].shape[1] if self.shards else 0), np.float16)


def read(folder: Path) -> Tokens:
    """Open the token vectors in the folder of an index."""
    shards = encoding.read(folder, NAME)
    counts = np.concatenate([np.empty(0, np.int64), *encoding.read(folder, NAME, "count")])
    firsts = np.cumsum([0, *map(len, shards)])
    return Tokens(shards, counts, np.cumsum(counts) - counts, firsts)
