"""Training examples: queries with their judgements, BM25's hard negatives, and documents by row."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
from numpy.typing import NDArray
from pandas import DataFrame

from compute.base import parquet_files
from compute.base.errors import WrongInput
from compute.systems.augmented import vectors
from compute.systems.augmented.vectors import Documents
from compute.systems.searcher import Progress
from compute.systems.training.recipes import Material

WHOLE = 200_000
"""A corpus of at most this many documents is kept completely, so held-out queries are ranked among
all documents. Of a larger corpus, only documents that are relevant to a query or found by BM25 are
kept."""
HELD_OUT = 10
"""One in HELD_OUT training queries is held out if the dataset has no dev split."""
_DRAW = 20_210
"""Seed of the choice of held-out queries, which is the same for every training seed."""


@dataclass(frozen=True)
class Queries:
    """Queries with a relevant document; rows refer to the rows of documents."""

    query_ids: list[str]
    pieces: list[list[int]]
    judged: list[set[int]]
    """Rows of the documents that are judged relevant, by query."""
    hard: list[NDArray[np.int64]]
    """Rows found by BM25 but not judged relevant, best first; empty for held-out queries."""


@dataclass(frozen=True)
class Examples:
    """The data for a training."""

    documents: Documents
    train: Queries
    held_out: Queries
    held_out_judgements: DataFrame
    """query_id, doc_id, relevance."""


@dataclass(frozen=True)
class Pairs:
    """A batch: a relevant document for each query, and BM25's hard negatives."""

    queries: NDArray[np.int64]
    """Positions in `Queries`."""
    rows: NDArray[np.int64]
    """Rows of the distinct documents of the batch."""
    positive: NDArray[np.int64]
    """Position of each query's relevant document in `rows`."""
    masked: NDArray[np.bool_]
    """queries x rows: whether a document is another one judged relevant, and so not a negative."""


def read(material: Material, hard_from: int, progress: Progress) -> Examples:
    """Make examples from the material. Raises WrongInput if no query has a relevant document."""
    table = {name: pq.read_table(material.path(name)).to_pandas() for name in _frames(material)}
    hits = pq.read_table(material.path("hits"), columns=["query_id", "doc_id", "rank"]).to_pandas()
    kept = _kept(material.path("documents"), [*_judged(table)], hits)
    documents = vectors.read(material.path("documents"), kept, progress)
    train = _queries(table["queries"], table["judgements"], documents, hits, hard_from)
    if "held_out_queries" in table:
        judgements = table["held_out_judgements"]
        held = _queries(table["held_out_queries"], judgements, documents, None, 0)
    else:
        judgements = table["judgements"]
        train, held = _parted(train)
    if not train.query_ids or not held.query_ids:
        raise WrongInput("too few training queries have relevant documents here to hold some out")
    return Examples(documents, train, held, _of(judgements, held.query_ids))


def epoch(queries: Queries, batch: int, hard: int, random: np.random.Generator) -> Iterator[Pairs]:
    """Yield batches of all queries, once in random order, each with a random relevant document."""
    order = random.permutation(len(queries.query_ids))
    for start in range(0, len(order), batch):
        places = order[start : start + batch]
        drawn = [int(random.choice(sorted(queries.judged[place]))) for place in places]
        negatives: list[int] = []
        for place in places:
            found = queries.hard[place]
            negatives += random.choice(found, min(hard, len(found)), replace=False).tolist()
        yield _pairs(queries, places, drawn, negatives)


def _pairs(
    queries: Queries, places: NDArray[np.int64], drawn: list[int], negatives: list[int]
) -> Pairs:
    # Queries are sorted by length, so that the encoder reads little padding.
    """Make a batch of queries, their drawn relevant documents, and hard negatives."""
    order = np.argsort([len(queries.pieces[place]) for place in places], kind="stable")
    places, positives = places[order], np.array(drawn)[order]
    rows = np.unique(np.array([*drawn, *negatives], np.int64))
    masked = np.array([np.isin(rows, list(queries.judged[place])) for place in places])
    positive = np.searchsorted(rows, positives)
    masked[np.arange(len(places)), positive] = False
    return Pairs(places, rows, positive, masked)


def _frames(material: Material) -> list[str]:
    return [name for name in material.parts if name not in ("documents", "hits")]


def _judged(table: Mapping[str, DataFrame]) -> Iterator[str]:
    """Yield the ids of all documents that are judged relevant."""
    for name in ("judgements", "held_out_judgements"):
        if name in table:
            yield from table[name].loc[table[name]["relevance"] > 0, "doc_id"]


def _kept(documents: Path, judged: Sequence[str], hits: DataFrame) -> set[str] | None:
    """Return the ids of the documents to keep, or None to keep all."""
    if parquet_files.opened(documents).metadata.num_rows <= WHOLE:
        return None
    return set(judged) | set(hits["doc_id"])


def _of(judgements: DataFrame, query_ids: list[str]) -> DataFrame:
    columns = ["query_id", "doc_id", "relevance"]
    return judgements.loc[judgements["query_id"].isin(query_ids), columns].reset_index(drop=True)


def _queries(
    queries: DataFrame,
    judgements: DataFrame,
    documents: Documents,
    hits: DataFrame | None,
    hard_from: int,
) -> Queries:
    """Return the queries with a relevant document; without `hits` they have no hard negatives."""
    row = {doc_id: place for place, doc_id in enumerate(documents.doc_ids)}
    relevant: dict[str, set[int]] = {}
    for query_id, doc_id in judgements.loc[
        judgements["relevance"] > 0, ["query_id", "doc_id"]
    ].itertuples(index=False):
        if doc_id in row:
            relevant.setdefault(query_id, set()).add(row[doc_id])
    found = {} if hits is None else _hits(hits, row, relevant, hard_from)
    pieces = vectors.piece_ids()
    kept = Queries([], [], [], [])
    nothing = np.zeros(0, np.int64)
    for query_id, text in queries[["query_id", "text"]].itertuples(index=False):
        read = pieces(text or "")
        if query_id in relevant and read:
            kept.query_ids.append(query_id)
            kept.pieces.append(read)
            kept.judged.append(relevant[query_id])
            kept.hard.append(found.get(query_id, nothing))
    return kept


def _hits(
    hits: DataFrame, row: Mapping[str, int], relevant: Mapping[str, set[int]], hard_from: int
) -> dict[str, NDArray[np.int64]]:
    """Return the first `hard_from` rows that BM25 found for each query, without relevant ones."""
    found: dict[str, NDArray[np.int64]] = {}
    for query_id, group in hits.sort_values(["query_id", "rank"]).groupby("query_id", sort=False):
        judged = relevant.get(str(query_id), set())
        rows = (row[doc_id] for doc_id in group["doc_id"] if doc_id in row)
        others = [place for place in rows if place not in judged]
        found[str(query_id)] = np.array(others[:hard_from], np.int64)
    return found


def _parted(queries: Queries) -> tuple[Queries, Queries]:
    """Divide queries into those to train on and those to hold out."""
    size = len(queries.query_ids)
    held = set(np.random.default_rng(_DRAW).permutation(size)[: size // HELD_OUT].tolist())

    def some(of: list[int]) -> Queries:
        return Queries(
            [queries.query_ids[place] for place in of],
            [queries.pieces[place] for place in of],
            [queries.judged[place] for place in of],
            [queries.hard[place] for place in of],
        )

    return some([n for n in range(size) if n not in held]), some(sorted(held))
