"""A sample of a stored corpus, such as BEIR's million documents of DBPedia for timing systems."""

import json
import random
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow.parquet as pq

from compute.base.errors import Missing, WrongInput
from compute.datasets import Dataset
from compute.intake import imports
from compute.recompute import run
from compute.store import loading
from compute.store.loading import Bench, Loaded


def sample(bench: Bench, dataset: Dataset, n: int, seed: int = 0, name: str = "") -> Loaded:
    """Store a dataset of n documents: all judged ones, and a random sample of the others. It has
    the queries, narratives and judgements of the original; its default name includes n and the
    seed. Raises WrongInput if n is below the number of judged documents or not below that of all
    documents, and Missing if no texts are stored."""
    loaded = loading.load(bench, dataset)
    judgements, queries = run.read(loaded.judgements), run.read(loaded.queries)
    if loaded.documents is None:
        raise Missing(f"the documents of {dataset.name} are not stored: import or fetch them")
    rows = pq.read_table(loaded.documents.path, columns=["doc_id", "title", "text"]).to_pylist()
    judged = set(judgements["doc_id"])
    others = [row["doc_id"] for row in rows if row["doc_id"] not in judged]
    least = len(rows) - len(others)
    if not least <= n < len(rows):
        raise WrongInput(
            f"{n} documents of {dataset.name}: ask for {least} (the judged ones, which are kept)"
            f" to {len(rows) - 1}"
        )
    kept = judged.union(random.Random(seed).sample(others, n - least))
    called = name or f"{dataset.name.replace('/', '-')}-{n}-seed{seed}"
    with TemporaryDirectory(dir=bench.settings.home) as folder:
        place = Path(folder) / called
        (place / "qrels").mkdir(parents=True)
        _write(place / "corpus.jsonl", [row for row in rows if row["doc_id"] in kept], "doc_id")
        queries = queries[["query_id", "text"]].fillna("")
        if loaded.narratives:
            told = run.read(loaded.narratives).rename(columns={"text": "narrative"})
            queries = queries.merge(told, on="query_id", how="left").fillna("")
        asked = queries.to_dict("records")
        _write(place / "queries.jsonl", asked, "query_id")
        table = judgements[["query_id", "doc_id", "relevance"]]
        heads = ["query-id", "corpus-id", "score"]
        table.to_csv(place / "qrels" / "test.tsv", sep="\t", index=False, header=heads)
        same = {name: getattr(dataset, name) for name in ("language", "drop_self", "level")}
        return imports.import_dataset(bench, called, path=place, new=True, **same)


def _write(file: Path, rows: list[dict], key: str) -> None:
    with file.open("w", encoding="utf-8") as lines:
        for row in rows:
            lines.write(json.dumps({"_id": row.pop(key), **row}, ensure_ascii=False) + "\n")
