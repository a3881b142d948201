"""The kinds of parts and their columns as plain data; `parts` makes schemas of them."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from compute.base.words import typed

Columns = Sequence[tuple[str, str]]
"""Names of columns, and their types in Arrow's spelling."""

_HITS = "dataset system query_id doc_id rank:int32 score:double"
_TERMS = "dataset n:int32 term count:int64"
_COLUMNS = {
    "hits": _HITS,
    "top": _HITS,
    "scores": "dataset system query_id measure value:double",
    "repeats": "dataset system run:int32 query_id doc_id rank:int32 score:double",
    "run_scores": "dataset system run:int32 query_id measure value:double",
    "documents": "dataset doc_id title text n_words:int32",
    "queries": "dataset query_id text n_words:int32",
    "narratives": "dataset query_id text",
    "query_labels": "dataset query_id key value",
    "anchor": "dataset of margin:double fingerprint",
    "judgements": "dataset query_id doc_id relevance:int32",
    "subtopics": "dataset query_id doc_id subtopic relevance:int32",
    "machine_grades": "dataset system query_id doc_id relevance:int32",
    "carried": "dataset system query_id doc_id relevance:int32 old_doc_id how similarity:double",
    "leakage": "dataset system of text_id file training_id similarity:double",
    "translation": "dataset system of pairs:int32 mean:double sd:double",
    "lengths": "dataset doc_id n_words:int32",
    "length_counts": "dataset system of level:int32 n_words:int32 count:int64",
    "efficiency": "dataset system measure value:double",
    "ngrams": _TERMS,
    "wordpieces": _TERMS,
    "generated": "dataset system doc_id number:int32 text",
    "model": "dataset system file number:int32 content:binary",
    "training": "dataset system step:int64 name value:double",
    "augmented": "dataset system query_id piece in_query:bool weight:double",
    "printed": "dataset of printed measure value:double",
    "overlap": "dataset other unit floor:double similarity:double fingerprint other_fingerprint",
}
COLUMNS: Mapping[str, Columns] = {kind: typed(columns) for kind, columns in _COLUMNS.items()}
"""The columns of each kind; `schema` documents them."""
NAMED_OTHERWISE = ("machine_grades", "carried", "leakage", "query_labels", "translation")
"""Kinds whose `system` is an LLM, an older dataset, a training set or an encoder, not a system."""
OF_RUNS = ("repeats", "run_scores")
"""Kinds that exist only for a system with several runs."""
_OWN = re.compile(
    rf"({'|'.join(COLUMNS)})/([\da-f]{{32}}\.parquet|\.[\da-f]{{32}}(\.parquet)?\.tmp)"
    r"|shards/([\da-f]{64}\.tar(\.tmp)?|\.[\da-f]{32}\.tmp)"
)


def is_own(file: Path) -> bool:
    """Return whether Beirscope named and placed a file in a folder of parts or in the trash. Other
    files and links are never touched."""
    named = _OWN.fullmatch(f"{file.parent.name}/{file.name}") and file.is_file()
    return bool(named) and not file.is_symlink() and not file.parent.is_symlink()
