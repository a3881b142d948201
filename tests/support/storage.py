"""Stores for tests: small runs with values worked by hand."""

from pathlib import Path

import pandas as pd
from pandas import DataFrame

from compute.base.settings import Settings
from compute.store.store import Store, top


def open_store(
    home: Path, state: str = "", shipped: Path | None = None, parts_at: str = ""
) -> Store:
    """A store with nothing shipped beside it, unless said."""
    now = Settings(home=home, state=state, threads=2, parts_at=parts_at)
    return Store(now, shipped or home / "none")


def hits(*rows: tuple[str, str, int]) -> DataFrame:
    """query_id, doc_id, rank, score; the score falls with the rank."""
    frame = pd.DataFrame(rows, columns=["query_id", "doc_id", "rank"])
    return frame.assign(score=1.0 / frame["rank"]).astype({"rank": "int32"})


def scores(measure: str, **values: float) -> DataFrame:
    """query_id, measure, value."""
    frame = pd.DataFrame(list(values.items()), columns=["query_id", "value"])
    return frame.assign(measure=measure)


def publish_run(
    store: Store, dataset: str, system: str, run: DataFrame, values: DataFrame, mark: str = "f"
) -> None:
    """Publish hits, top and scores of one system; `mark` is their fingerprint."""
    with store.publishing(f"run {system} {dataset}") as publication:
        for kind, content in (("hits", run), ("top", top(run)), ("scores", values)):
            publication.add(
                kind, content, dataset=dataset, system=system, fingerprint=mark, provenance={}
            )


def judgement(query_id: str, doc_id: str, relevance: int | None, person: str = "ada") -> DataFrame:
    """One row as `Store.add_judgements` takes it."""
    return pd.DataFrame(
        {
            "dataset": ["tiny"],
            "query_id": [query_id],
            "doc_id": [doc_id],
            "relevance": [relevance],
            "person": [person],
            "task": ["holes"],
            "guideline_version": ["1"],
            "source": ["page"],
        }
    )
