"""Queries that a file calls by their texts, or documents by their chunks: by their ids."""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

import pyarrow as pa
from pandas import DataFrame

from compute.base.errors import WrongInput
from compute.base.words import counted, shown

_WORD = "(?:chunk|passage|part|para|page|sent|seg|[cpns])?"
CHUNK = re.compile(rf"(.+?)(?:[#:@/|_. -]+{_WORD}[_-]?\d+)$", re.IGNORECASE)
"""An id of a chunk, and that of its document: d1#0, d1_3, d1::chunk-2."""


def queries(found: Iterable[str], known: DataFrame, name: str, file: Path) -> dict[str, str]:
    """The ids of the queries of a file that are texts of a dataset's; none where one is an id.

    `known` has query_id and text. White space counts as one blank. Raises WrongInput where some of
    them are texts and others are not, or two queries of the dataset have one text.
    """
    found, ids = [*found], {*known["query_id"]}
    if ids & {*found} or known["text"].isna().all():
        return {}
    texts = {_squeezed(text): query for query, text in known[["query_id", "text"]].dropna().values}
    asked = {text: texts.get(_squeezed(text)) for text in found}
    lacking = [text for text, query in asked.items() if query is None]
    if len(lacking) == len(found):
        return {}
    if lacking:
        n = f"{len(lacking):,} of {counted(len(found), 'query text')}"
        raise WrongInput(
            f"{file}: {n} are no texts of queries of {name}, such as {shown(lacking[0])}: write"
            " them as they are there, give ids, or leave them out"
        )
    twice = known["text"].dropna().map(_squeezed).duplicated(keep=False)
    if len(both := known.loc[known["text"].notna()][twice & known["text"].isin(found)]):
        told = f"{shown(both['query_id'].iloc[0])} and {shown(both['query_id'].iloc[1])}"
        raise WrongInput(f"{file}: queries {told} of {name} have one text: give ids")
    return {text: query for text, query in asked.items() if query is not None}


def documents(chunks: pa.Array, table: Path | None = None) -> dict[str, str]:
    """The document of each chunk that is called as one, or that a table (id, tab, document) has."""
    ids = chunks.to_pylist()
    if table is None:
        return {one: found[1] for one in ids if (found := CHUNK.fullmatch(one))}
    lines = (line.split("\t") for line in table.read_text("utf-8").splitlines() if line.strip())
    of = {row[0]: row[1] for row in lines if len(row) == 2}
    return {one: of[one] for one in ids if one in of}


def renamed(column: pa.ChunkedArray, names: Mapping[str, str]) -> pa.ChunkedArray:
    """A column of ids with others in the place of those that are named."""
    if pa.types.is_dictionary(column.type):
        column = column.combine_chunks()
        new = pa.array([names.get(one, one) for one in column.dictionary.to_pylist()], pa.string())
        return pa.chunked_array([new.take(column.indices).dictionary_encode()])
    coded = column.combine_chunks().dictionary_encode()
    new = pa.array([names.get(one, one) for one in coded.dictionary.to_pylist()], column.type)
    return pa.chunked_array([new.take(coded.indices)])


def _squeezed(text: str) -> str:
    return " ".join(text.split())
