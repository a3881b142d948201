"""Documents as sparse BM25 vectors over word pieces."""

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
from numpy.typing import NDArray
from scipy import sparse

from compute.base import parquet_files
from compute.corpora import word_pieces
from compute.systems.neural import encoding
from compute.systems.searcher import Progress

_BATCH = 512

Vector = NDArray[np.float32]


@dataclass(frozen=True)
class Documents:
    """Documents of a corpus as rows of counts, with BM25's statistics over the whole corpus."""

    doc_ids: tuple[str, ...]
    counts: sparse.csr_array
    """Number of occurrences of each piece in title and text: len(doc_ids) x vocabulary."""
    lengths: NDArray[np.int64]
    """Number of pieces of each row."""
    total: int
    """N: number of documents of the corpus with at least one piece."""
    mean_length: float
    """M: mean length of a document in pieces."""
    frequencies: NDArray[np.int64]
    """df: document frequency of each piece."""

    @property
    def idf(self) -> Vector:
        """Return log((N - df + 0.5) / (df + 0.5) + 1) of each piece."""
        df = self.frequencies
        return np.log((self.total - df + 0.5) / (df + 0.5) + 1).astype(np.float32)

    def bm25(self, k: float, b: float) -> sparse.csr_array:
        """Return f(d) of each row: count (k + 1) / (count + k (1 - b + b |d| / M))."""
        norms = k * (1 - b + b * self.lengths / max(self.mean_length, 1e-9))
        counts = self.counts.data.astype(np.float64)
        by_value = np.repeat(norms, np.diff(self.counts.indptr))
        values = (counts * (k + 1) / (counts + by_value)).astype(np.float32)
        return sparse.csr_array((values, self.counts.indices, self.counts.indptr), self.shape)

    def words(self) -> sparse.csr_array:
        """Return bow(d) of each row: 1 for each piece that occurs in it."""
        ones = np.ones(self.counts.nnz, np.float32)
        return sparse.csr_array((ones, self.counts.indices, self.counts.indptr), self.shape)

    @property
    def shape(self) -> tuple[int, int]:
        """Return the numbers of rows and of pieces in the vocabulary."""
        return len(self.doc_ids), len(self.frequencies)


def read(documents: Path, kept: Collection[str] | None, progress: Progress) -> Documents:
    """Read the documents with the ids `kept` (all, for None) from a Parquet file (doc_id, title,
    text). Statistics are over the whole file. Documents without a piece do not count, as in
    Lucene."""
    file = parquet_files.opened(documents)
    size = word_pieces.word_pieces().get_vocab_size()
    frequencies = np.zeros(size, np.int64)
    ids: list[str] = []
    rows: list[tuple[NDArray[np.int32], NDArray[np.int32]]] = []
    total = pieces_seen = done = 0
    for doc_ids, counted in _counted(file):
        for doc_id, (pieces, counts) in zip(doc_ids, counted, strict=True):
            if not len(pieces):
                continue
            frequencies[pieces] += 1
            total += 1
            pieces_seen += int(counts.sum())
            if kept is None or doc_id in kept:
                ids.append(doc_id)
                rows.append((pieces, counts))
        done += len(doc_ids)
        progress(done, file.metadata.num_rows, "documents")
    matrix = _matrix(rows, size)
    lengths = np.asarray(matrix.sum(axis=1)).astype(np.int64).reshape(-1)
    mean = pieces_seen / total if total else 0.0
    return Documents(tuple(ids), matrix, lengths, total, mean, frequencies)


def piece_ids() -> Callable[[str], list[int]]:
    """Return a function from a text to the numbers of its word pieces, without special ones."""
    tokeniser = word_pieces.word_pieces()
    return lambda text: tokeniser.encode(text, add_special_tokens=False).ids


@cache
def first_piece() -> int:
    """Return the number of [CLS], which precedes a query."""
    return word_pieces.word_pieces().get_vocab()["[CLS]"]


@cache
def names() -> list[str]:
    """Return the pieces in the order of their numbers."""
    pieces = word_pieces.word_pieces().get_vocab()
    return sorted(pieces, key=lambda piece: pieces[piece])


def _counted(
    file: pq.ParquetFile,
) -> Iterator[tuple[list[str], list[tuple[NDArray[np.int32], NDArray[np.int32]]]]]:
    """Yield batches of ids, and the pieces of each document with their counts."""
    tokeniser = word_pieces.word_pieces()
    columns = ["doc_id", "title", "text"]
    for batch in file.iter_batches(_BATCH, columns=columns):
        doc_ids, titles, texts = (column.to_pylist() for column in batch.columns)
        joined = [
            encoding.joined(title or "", text or "")
            for title, text in zip(titles, texts, strict=True)
        ]
        found = tokeniser.encode_batch(joined, add_special_tokens=False)
        yield doc_ids, [_counts(each.ids) for each in found]


def _counts(pieces: list[int]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return the distinct pieces and their counts."""
    values, counts = np.unique(np.array(pieces, np.int32), return_counts=True)
    return values, counts.astype(np.int32)


def _matrix(rows: list[tuple[NDArray[np.int32], NDArray[np.int32]]], size: int) -> sparse.csr_array:
    """Assemble rows of (pieces, counts) as a sparse matrix."""
    starts = np.cumsum([0, *(len(pieces) for pieces, _ in rows)])
    nothing = np.zeros(0, np.int32)
    pieces = np.concatenate([nothing, *(pieces for pieces, _ in rows)])
    counts = np.concatenate([nothing, *(counts for _, counts in rows)])
    return sparse.csr_array((counts, pieces, starts), (len(rows), size))
