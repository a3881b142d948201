"""Collections of a few documents, loaded into a store."""

import json
import random
from collections.abc import Mapping, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from compute.datasets.records import n_words
from compute.intake import imports
from compute.store.loading import Bench, Loaded
from compute.store.parts import KINDS

Text = tuple[str, str]
"""Title and text."""


def load(bench: Bench, folder: Path, name: str, texts: Sequence[Text]) -> Loaded:
    """Import a collection of these texts, in place of one of this name; the first is relevant to
    the one query."""
    place = folder / f"{name}-{len(list(folder.glob('*')))}"
    (place / "qrels").mkdir(parents=True)
    lines = [
        json.dumps({"_id": f"d{number}", "title": title, "text": text})
        for number, (title, text) in enumerate(texts)
    ]
    (place / "corpus.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (place / "queries.jsonl").write_text('{"_id": "q", "text": "what"}\n', encoding="utf-8")
    (place / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq\td0\t1\n", "utf-8")
    return imports.import_dataset(bench, name, path=place, replace=True)


def write_many(folder: Path, documents: int, title: str = "") -> Path:
    """A BEIR folder of so many short documents, and 20 queries; returns the folder.

    The first 20 are relevant to one each; with a title, each has it with its number.
    """
    words, chance = ["cat", "dog", "stock", "market", *"abcdefghijklmnop"], random.Random(7)
    texts = [" ".join(chance.choices(words, k=chance.randint(1, 6))) for _ in range(documents)]
    rows = [
        {"_id": f"d{place}", "title": title and f"{title} {place}", "text": text}
        for place, text in enumerate(texts)
    ]
    asked = [{"_id": f"q{place}", "text": text} for place, text in enumerate(texts[:20])]
    (folder / "qrels").mkdir(parents=True)
    for name, content in (("corpus", rows), ("queries", asked)):
        lines = "".join(json.dumps(record) + "\n" for record in content)
        (folder / f"{name}.jsonl").write_text(lines, encoding="utf-8")
    judged = "".join(f"q{place}\td{place}\t1\n" for place in range(20))
    (folder / "qrels" / "test.tsv").write_text(f"query-id\tcorpus-id\tscore\n{judged}", "utf-8")
    return folder


def documents(file: Path, texts: Sequence[Text]) -> Path:
    """A file of documents alone."""
    rows = [
        {
            "dataset": "x",
            "doc_id": str(number),
            "title": title,
            "text": text,
            "n_words": n_words(title, text),
        }
        for number, (title, text) in enumerate(texts)
    ]
    pq.write_table(pa.Table.from_pylist(rows, KINDS["documents"]), file)
    return file


def weighted_jaccard(
    one: Mapping[str, int], other: Mapping[str, int], floor: float
) -> float | None:
    """sum min / sum max of the shares above the floor, word by word; None where none is left."""

    def shares(counts: Mapping[str, int]) -> dict[str, float]:
        total = sum(counts.values())
        return {w: c / total for w, c in counts.items() if c / total > floor}

    s, t = shares(one), shares(other)
    most = sum(max(s.get(w, 0.0), t.get(w, 0.0)) for w in s | t)
    return sum(min(s.get(w, 0.0), t.get(w, 0.0)) for w in s | t) / most if most else None
