"""A dataset that runs make, with texts and without judgements."""

import json
from pathlib import Path
from typing import Any

from compute.datasets.shapes import How
from compute.intake import imports
from compute.store.loading import Bench, Loaded

TEXTS = {
    **{"d1": "a wing", "d2": "a wing and a prayer", "d3": "three", "d4": "fore"},
    **{"d5": "five wings", "hub": "in every list"},
}
_LISTS = {
    "a": {"q1": ["d1", "d2", "hub"], "q2": ["d2", "d3", "hub"], "q3": ["d3", "hub", "d1"]},
    "b": {"q1": ["d1", "d2", "hub"], "q2": ["d4", "d5", "hub"], "q3": ["hub", "d3", "d2"]},
}
_QUERIES = {"q1": "one wing", "q2": "two wings", "q3": "three"}
ROWS = {
    system: [
        {
            "query_id": query,
            "query": _QUERIES[query],
            "retrieved_ids": ids,
            "retrieved_contexts": [TEXTS[one] for one in ids],
        }
        for query, ids in lists.items()
    ]
    for system, lists in _LISTS.items()
}
"""The rows of two runs, as evaluations of RAG write them."""


def written(file: Path, rows: Any) -> Path:
    """A file of JSON."""
    file.write_text(json.dumps(rows), encoding="utf-8")
    return file


def unjudged(bench: Bench, folder: Path, name: str = "bare") -> Loaded:
    """The dataset, and both runs on it."""
    files = [written(folder / f"{system}.json", rows) for system, rows in ROWS.items()]
    loaded = imports.import_dataset(bench, name, files=[(file, How()) for file in files])
    for file in files:
        imports.import_run(bench, file, loaded.dataset)
    return loaded
