"""The kinds of parts and their columns, as plain rows; `parts` makes schemas of them."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

Columns = Sequence[tuple[str, str]]
"""Names, and types as Arrow writes them."""

_TEXT = "string"
_HITS: Columns = [
    ("dataset", _TEXT),
    ("system", _TEXT),
    ("query_id", _TEXT),
    ("doc_id", _TEXT),
    ("rank", "int32"),
    ("score", "double"),
]
_TERMS: Columns = [("dataset", _TEXT), ("n", "int32"), ("term", _TEXT), ("count", "int64")]
COLUMNS: Mapping[str, Columns] = {
    "hits": _HITS,
    "top": _HITS,
    "scores": [
        ("dataset", _TEXT),
        ("system", _TEXT),
        ("query_id", _TEXT),
        ("measure", _TEXT),
        ("value", "double"),
    ],
    "documents": [
        ("dataset", _TEXT),
        ("doc_id", _TEXT),
        ("title", _TEXT),
        ("text", _TEXT),
        ("n_words", "int32"),
    ],
    "queries": [
        ("dataset", _TEXT),
        ("query_id", _TEXT),
        ("text", _TEXT),
        ("n_words", "int32"),
    ],
    "query_labels": [
        ("dataset", _TEXT),
        ("query_id", _TEXT),
        ("key", _TEXT),
        ("value", _TEXT),
    ],
    "judgements": [
        ("dataset", _TEXT),
        ("query_id", _TEXT),
        ("doc_id", _TEXT),
        ("relevance", "int32"),
    ],
    "subtopics": [
        ("dataset", _TEXT),
        ("query_id", _TEXT),
        ("doc_id", _TEXT),
        ("subtopic", _TEXT),
        ("relevance", "int32"),
    ],
    "machine_grades": [
        ("dataset", _TEXT),
        ("system", _TEXT),
        ("query_id", _TEXT),
        ("doc_id", _TEXT),
        ("relevance", "int32"),
    ],
    "leakage": [
        ("dataset", _TEXT),
        ("system", _TEXT),
        ("of", _TEXT),
        ("text_id", _TEXT),
        ("file", _TEXT),
        ("training_id", _TEXT),
        ("similarity", "double"),
    ],
    "lengths": [("dataset", _TEXT), ("doc_id", _TEXT), ("n_words", "int32")],
    "length_counts": [
        ("dataset", _TEXT),
        ("system", _TEXT),
        ("of", _TEXT),
        ("level", "int32"),
        ("n_words", "int32"),
        ("count", "int64"),
    ],
    "efficiency": [
        ("dataset", _TEXT),
        ("system", _TEXT),
        ("measure", _TEXT),
        ("value", "double"),
    ],
    "ngrams": _TERMS,
    "wordpieces": _TERMS,
    "generated": [
        ("dataset", _TEXT),
        ("system", _TEXT),
        ("doc_id", _TEXT),
        ("number", "int32"),
        ("text", _TEXT),
    ],
    "model": [
        ("dataset", _TEXT),
        ("system", _TEXT),
        ("file", _TEXT),
        ("number", "int32"),
        ("content", "binary"),
    ],
    "training": [
        ("dataset", _TEXT),
        ("system", _TEXT),
        ("step", "int64"),
        ("name", _TEXT),
        ("value", "double"),
    ],
    "augmented": [
        ("dataset", _TEXT),
        ("system", _TEXT),
        ("query_id", _TEXT),
        ("piece", _TEXT),
        ("in_query", "bool"),
        ("weight", "double"),
    ],
    "overlap": [
        ("dataset", _TEXT),
        ("other", _TEXT),
        ("unit", _TEXT),
        ("floor", "double"),
        ("similarity", "double"),
        ("fingerprint", _TEXT),
        ("other_fingerprint", _TEXT),
    ],
}
"""Columns of each kind; `schema` documents them."""
NAMED_OTHERWISE = ("machine_grades", "leakage", "query_labels")
"""Kinds whose `system` is not a retrieval system: an LLM that graded, a training set."""
_OWN = re.compile(
    rf"({'|'.join(COLUMNS)})/([\da-f]{{32}}\.parquet|\.[\da-f]{{32}}(\.parquet)?\.tmp)"
    r"|shards/([\da-f]{64}\.tar(\.tmp)?|\.[\da-f]{32}\.tmp)"
)


def is_own(file: Path) -> bool:
    """Whether Beirscope gave a file in a folder of parts, or in the trash, its name and place; it
    never touches other files, or the targets of links."""
    named = _OWN.fullmatch(f"{file.parent.name}/{file.name}")
    return bool(named) and not file.is_symlink() and not file.parent.is_symlink()
