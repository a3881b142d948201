"""Collections for the full-size store: real queries and judgements, made-up documents.

The queries and judgements of 28 collections come from TREC files; the queries of MS MARCO and the
judgements of MS MARCO and Robust04, which nobody may hand on, are made up in the shape that the
papers print. All documents are made up: words by Zipf's law, lengths as printed.
"""

import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from pandas import DataFrame

from compute.datasets import DATASETS, Dataset, Document
from compute.datasets.qrels import read_qrels
from compute.datasets.reading import Source

LEAST, MOST_WORDS = 40_000, 8_000_000
"""A corpus is cut to so many words, but not below so many documents."""
OF_A_PART = 20_000
"""Documents of one of CQADupStack's forums at most."""
SPREAD = 0.6
"""Standard deviation of the logarithm of the lengths."""
GENERAL, OWN = 30_000, 200_000
"""Words that all collections share, and words that those of one domain share."""
CHUNK = 5_000
"""Documents made at a time."""
ROBUST_JUDGED = 500
"""Documents judged not relevant for a query of Robust04, about."""

Lengths = NDArray[np.int64]


def names() -> list[str]:
    """The datasets of BEIR that have runs of their own: 18, and the 12 parts of CQADupStack."""
    rows = DATASETS.values()
    whole = (row for row in rows if row.group == "BEIR" and row.name == row.collection)
    return [row.name for row in whole if not row.parts]


@dataclass(frozen=True)
class Size:
    """How much of the full size is made."""

    scale: float = 1.0
    """The share of the queries and documents."""
    documents: int = 150_000
    """Documents of a collection at most."""

    def of(self, number: float, least: int) -> int:
        return max(round(number * self.scale), least)


class Collection(Source):
    """One dataset as the project's own loading reads it."""

    def __init__(self, dataset: Dataset, queries: DataFrame, judgements: DataFrame, size: Size):
        self.dataset = dataset
        self.seed = zlib.crc32(dataset.name.encode())
        self._queries = queries
        self._judgements = judgements
        self._size = size

    @cached_property
    def doc_ids(self) -> pa.Array:
        """The corpus: judged documents, queries that are documents, and others, mixed."""
        known = self._judgements["doc_id"]
        if self.dataset.drop_self:
            known = pd.concat([known, self._queries["query_id"]])
        known = list(dict.fromkeys(known))
        others = max(_documents(self.dataset, self._size) - len(known), 0)
        ids = [*known, *(f"made-up-{number}" for number in range(others))]
        order = np.random.default_rng([self.seed, 1]).permutation(len(ids))
        return pa.array(ids, pa.string()).take(pa.array(order))

    @cached_property
    def n_words(self) -> Lengths:
        """Words of each document."""
        mean = _family(self.dataset).document_words or 100.0
        random = np.random.default_rng([self.seed, 2])
        found = random.lognormal(np.log(mean) - SPREAD**2 / 2, SPREAD, len(self.doc_ids))
        return np.maximum(found, 3).astype(np.int64)

    def documents(self) -> Iterator[Document]:
        """Every document, the same ones each time."""
        vocabulary = pa.array(list(map(_word, range(GENERAL + OWN))), pa.string())
        domain = zlib.crc32(self.dataset.domain.encode())
        for start in range(0, len(self.doc_ids), CHUNK):
            lengths = self.n_words[start : start + CHUNK]
            random = np.random.default_rng([self.seed, 3, start])
            words = vocabulary.take(pa.array(_zipf(random, int(lengths.sum()), domain)))
            titled = np.minimum(lengths // 3, 6) * bool(self.dataset.has_title)
            ends = np.column_stack([titled, lengths - titled]).ravel().cumsum()
            bounds = pa.array(np.append(0, ends).astype(np.int32))
            joined = pc.call_function("binary_join", [pa.ListArray.from_arrays(bounds, words), " "])
            pieces = joined.to_pylist()
            ids = self.doc_ids[start : start + CHUNK].to_pylist()
            yield from map(Document, ids, pieces[::2], pieces[1::2])

    def all_queries(self) -> DataFrame:
        return self._queries

    def judgements(self) -> DataFrame:
        return self._judgements

    def identity(self) -> dict[str, Any]:
        return {"made_up": "python -m tests.benchmarks.full_size", "scale": self._size.scale}


def collection(name: str, folder: Path, size: Size) -> Collection:
    """The collection of a dataset, its topics and qrels from TREC files of the folder."""
    dataset = DATASETS[name]
    file = f"beir-v1.0.0-{name.replace('/', '-')}.{dataset.split}"
    topics, qrels = folder / f"topics.{file}.tsv.gz", folder / f"qrels.{file}.txt.gz"
    random = np.random.default_rng(zlib.crc32(name.encode()))
    queries = _topics(topics) if topics.exists() else _queries(dataset, random)
    if qrels.exists():
        judgements = read_qrels(qrels)
    else:
        judgements = _judgements(dataset, queries, _documents(dataset, size), random)
    judged = queries[queries["query_id"].isin(judgements["query_id"])]
    kept = judged.head(size.of(len(judged), 5)).reset_index(drop=True)
    judgements = judgements[judgements["query_id"].isin(kept["query_id"])]
    return Collection(dataset, kept, judgements.reset_index(drop=True), size)


def _family(dataset: Dataset) -> Dataset:
    """The dataset whose statistics are printed: a forum's are those of all forums."""
    return DATASETS[dataset.name.partition("/")[0]]


def _documents(dataset: Dataset, size: Size) -> int:
    """Documents of the corpus."""
    family = _family(dataset)
    printed = (family.n_documents or LEAST) / max(len(family.parts), 1)
    words = MOST_WORDS / (family.document_words or 100.0)
    most = OF_A_PART if family.parts else min(size.documents, max(words, LEAST))
    return size.of(min(printed, most), 400)


def _topics(file: Path) -> DataFrame:
    """query_id, text of a file of two columns between tabs."""
    with pa.input_stream(str(file), compression="gzip") as stream:
        lines = stream.read().decode("utf-8").splitlines()
    rows = [line.split("\t", 1) for line in lines if line.strip()]
    return DataFrame(rows, columns=["query_id", "text"], dtype="str")


def _queries(dataset: Dataset, random: np.random.Generator) -> DataFrame:
    number = dataset.n_queries or 100
    ids = np.sort(random.choice(1_100_000, number, replace=False))
    lengths = np.maximum(random.poisson(dataset.query_words or 8.0, number), 2)
    words = _zipf(random, int(lengths.sum()), zlib.crc32(dataset.domain.encode()))
    texts = [" ".join(map(_word, piece)) for piece in np.split(words, lengths.cumsum()[:-1])]
    return DataFrame({"query_id": ids.astype(str), "text": texts}, dtype="str")


def _judgements(
    dataset: Dataset, queries: DataFrame, documents: int, random: np.random.Generator
) -> DataFrame:
    """As many relevant documents a query as printed; of a pool, those that are not, too."""
    mean = dataset.relevant_per_query or 1.0
    pooled = mean > 10
    least = 1 + random.poisson(mean - 1, len(queries))
    relevant = np.maximum(random.gamma(1.5, mean / 1.5, len(queries)).astype(int), 1)
    relevant = relevant if pooled else least
    judged = relevant + (random.poisson(ROBUST_JUDGED, len(queries)) if pooled else 0)
    judged = np.minimum(judged, documents // 2)
    rows = []
    for query_id, number, good in zip(queries["query_id"], judged, relevant, strict=True):
        grades = np.zeros(number, np.int64)
        grades[:good] = 1 + (random.random(min(good, number)) < 0.2) * pooled
        ids = random.choice(documents, number, replace=False).astype(str)
        rows.append(DataFrame({"query_id": query_id, "doc_id": ids, "relevance": grades}))
    return pd.concat(rows, ignore_index=True).astype({"query_id": "str", "doc_id": "str"})


def _zipf(random: np.random.Generator, number: int, domain: int) -> Lengths:
    """Numbers of words: Zipf's law (a logarithm uniform), two thirds of them general ones."""
    own = random.random(number, np.float32) < 1 / 3
    limit = np.where(own, np.float32(np.log(OWN)), np.float32(np.log(GENERAL)))
    rank = np.exp(random.random(number, np.float32) * limit).astype(np.int64) - 1
    # The words of a domain begin elsewhere among all that there are.
    return np.where(own, GENERAL + (rank + domain) % OWN, rank)


_SYLLABLES = [first + vowel for first in "bdfgklmnprstvz" for vowel in "aeiou"]


def _word(number: int) -> str:
    """A word of one syllable or more; frequent words are short."""
    number, last = divmod(int(number), len(_SYLLABLES))
    return (_word(number - 1) if number else "") + _SYLLABLES[last]
