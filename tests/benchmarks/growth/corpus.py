"""Made-up documents whose words are spread as those of real ones are."""

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

WORDS = 150
"""Mean words of a document; a query has 8."""


def made_up(n_documents: int, file: Path, n_queries: int = 200) -> list[str]:
    """Write documents (doc_id, title, text, n_words) to a Parquet file; gives queries."""
    random, upto = _words(n_documents)
    texts = [(name, pa.string()) for name in ("doc_id", "title", "text")]
    schema = pa.schema([*texts, ("n_words", pa.int64())])
    with pq.ParquetWriter(file, schema) as out:
        for ids, own, lengths in _documents(n_documents, random, upto):
            columns = {"doc_id": ids, "title": [""] * len(ids), "text": own, "n_words": lengths}
            out.write_table(pa.table(columns, schema))
    asked = np.searchsorted(upto, random.random((n_queries, 8)))
    return [_text(own) for own in asked]


def write_beir(n_documents: int, folder: Path, n_queries: int = 500) -> None:
    """Write a BEIR folder; a query has 8 words of the one document that is relevant to it."""
    random, upto = _words(n_documents)
    wanted = dict.fromkeys(random.choice(n_documents, min(n_queries, n_documents), replace=False))
    (folder / "qrels").mkdir(parents=True)
    with (
        (folder / "corpus.jsonl").open("w") as corpus,
        (folder / "queries.jsonl").open("w") as queries,
        (folder / "qrels" / "test.tsv").open("w") as qrels,
    ):
        qrels.write("query-id\tcorpus-id\tscore\n")
        for ids, texts, _ in _documents(n_documents, random, upto):
            for name, text in zip(ids, texts, strict=True):
                corpus.write(f'{{"_id": "{name}", "title": "", "text": "{text}"}}\n')
                if int(name[1:]) in wanted:
                    asked = " ".join(random.choice(text.split(), 8))
                    queries.write(json.dumps({"_id": f"q{name}", "text": asked}) + "\n")
                    qrels.write(f"q{name}\t{name}\t1\n")


def _words(n_documents: int) -> tuple[np.random.Generator, np.ndarray]:
    """Chances of the words, summed up, by Zipf's law; there are as many as Heaps' law says."""
    # Heaps: a corpus of n words has about 30 n^0.5 different ones.
    vocabulary = int(30 * (n_documents * WORDS) ** 0.5)
    shares = 1 / np.arange(2, vocabulary + 2)
    return np.random.default_rng(seed=n_documents), np.cumsum(shares / shares.sum())


def _documents(
    n_documents: int, random: np.random.Generator, upto: np.ndarray
) -> Iterator[tuple[list[str], list[str], np.ndarray]]:
    """Ids, texts and lengths of 5,000 documents at a time."""
    for first in range(0, n_documents, 5000):
        lengths = random.poisson(WORDS, min(5000, n_documents - first))
        words = np.searchsorted(upto, random.random(lengths.sum()))
        ids = [f"d{number}" for number in range(first, first + len(lengths))]
        yield ids, [_text(own) for own in np.split(words, np.cumsum(lengths)[:-1])], lengths


def _text(words: np.ndarray) -> str:
    return " ".join(f"w{word:x}" for word in words)
