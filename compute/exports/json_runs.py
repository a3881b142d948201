"""Writes runs and judgements as JSON for other tools: BEIR, MTEB, and golden sets."""

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
from pandas import DataFrame

_LARGEST = 1e39


def written(
    run: DataFrame, form: str, system: str, split: str, queries: DataFrame, judged: DataFrame
) -> str:
    """Return a run (query_id, doc_id, score; in rank order) as JSON. The format is `beir` ({query:
    {document: score}}), `mteb` (MTEB's predictions, under the split) or `golden` (a row for each
    query with its text, the retrieved documents, and the relevant ones with grades)."""
    if form == "golden":
        return json.dumps(_golden(run, queries, judged), ensure_ascii=False, indent=1)
    # Scores are rounded as in TREC files, so that 64-bit readers see the same ties.
    with np.errstate(over="ignore"):
        single = run["score"].to_numpy().astype(np.float32).astype("U").astype(np.float64)
    scores = run.assign(score=np.clip(single, -_LARGEST, _LARGEST))
    table = {
        query: dict(zip(rows["doc_id"], rows["score"].tolist(), strict=True))
        for query, rows in scores.groupby("query_id", sort=False)
    }
    meta = {"mteb_model_meta": {"model_name": system, "revision": "no_revision_available"}}
    return json.dumps(table if form == "beir" else meta | {"default": {split: table}})


def _golden(run: DataFrame, queries: DataFrame, judged: DataFrame) -> list[Mapping[str, Any]]:
    """Return a row for each query of the golden set."""
    texts = dict(queries[["query_id", "text"]].dropna().to_numpy().tolist())
    lists = run.groupby("query_id", sort=False)["doc_id"].agg(list).to_dict()
    relevant = judged[judged["relevance"] > 0].groupby("query_id")
    grades = {query: rows[["doc_id", "relevance"]].to_numpy().tolist() for query, rows in relevant}
    return [
        {"query_id": query}
        | ({"query": texts[query]} if query in texts else {})
        | {"retrieved_ids": lists.get(query, [])}
        | {"expected_ids": [doc for doc, _ in grades.get(query, [])]}
        | {"grades": [grade for _, grade in grades.get(query, [])]}
        for query in queries["query_id"]
    ]
