"""Maps queries that a file names by their texts to query ids, and chunks to their documents."""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
from pandas import DataFrame

from compute.base.errors import WrongInput
from compute.base.words import counted, shown
from compute.datasets import compressed

_WORD = "(?:chunk|passage|part|para|page|sent|seg|[cpns])?"
CHUNK = re.compile(rf"(.+?)(?:[#:@/|_. -]+{_WORD}[_-]?\d+)$", re.IGNORECASE)
"""Matches the id of a chunk, such as d1#0, d1_3 or d1::chunk-2; the group is its document's id."""


def queries(found: Iterable[str], known: DataFrame, name: str, file: Path) -> dict[str, str]:
    """Return the query id for each text by which a file names a query; nothing if any name is an id
    or none is a text. `known` has query_id and text. Runs of white space count as one space. Raises
    WrongInput if some but not all names are texts, or if two queries of the dataset share a
    text."""
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
            f"{file}: {n} are not query texts of {name}, such as {shown(lacking[0])}: write"
            " them as they are there, give ids, or leave them out"
        )
    twice = known["text"].dropna().map(_squeezed).duplicated(keep=False)
    if len(both := known.loc[known["text"].notna()][twice & known["text"].isin(found)]):
        told = f"{shown(both['query_id'].iloc[0])} and {shown(both['query_id'].iloc[1])}"
        raise WrongInput(f"{file}: queries {told} of {name} have the same text: give ids")
    return {text: query for text, query in asked.items() if query is not None}


def by_ids(table: pa.Table, known: DataFrame, name: str, file: Path) -> pa.Table:
    """Return a file's rows with query ids instead of query texts, if any. Raises as `queries`."""
    asked = table["query_id"].unique().cast(pa.string()).to_pylist()
    names = queries(asked, known, name, file)
    return _renamed(table, "query_id", names) if names else table


def documents(chunks: pa.Array, table: Path | None = None) -> dict[str, str]:
    """Return the document of each chunk, from the form of its id or from a table (id, tab,
    document)."""
    ids = chunks.to_pylist()
    if table is None:
        return {one: found[1] for one in ids if (found := CHUNK.fullmatch(one))}
    lines = (line.split("\t") for line in compressed.utf8(table).splitlines() if line.strip())
    of = {row[0]: row[1] for row in lines if len(row) == 2}
    return {one: of[one] for one in ids if one in of}


def folded(
    hits: pa.Table, known: pa.ChunkedArray | None, fold: Path | bool, file: Path
) -> tuple[pa.Table, str]:
    """Return the hits with documents instead of their chunks, each at its best rank, and a sentence
    that reports this. `known` documents are not chunks. Raises WrongInput if no hit is a chunk."""
    own = hits["doc_id"].unique().cast(pa.string())
    names = documents(own, fold if isinstance(fold, Path) else None)
    there = pa.array([*names], pa.string())
    stay = there.filter(are_in(there, known)) if known is not None else there[:0]
    names = {chunk: doc for chunk, doc in names.items() if chunk not in {*stay.to_pylist()}}
    if not names:
        raise WrongInput(
            f"{file}: no document id has the form of a chunk, as d1#0 or d1_3: leave out --fold"
        )
    told = f"{counted(len(names), 'chunk')} to {counted(len({*names.values()}), 'document')}"
    return _renamed(hits, "doc_id", names), f"{told}, each at its best rank"


def of_known(ids: pa.Array, known: pa.ChunkedArray) -> tuple[str, str] | None:
    """Return a chunk and its document, if the document is known; None if there is no such chunk."""
    names = documents(ids)
    found = are_in(pa.array([*names.values()], pa.string()), known).to_pylist()
    return next((pair for pair, there in zip(names.items(), found, strict=True) if there), None)


def are_in(ids: pa.Array, known: pa.Array | pa.ChunkedArray) -> pa.BooleanArray:
    """Return whether each id is among the known ones."""
    return pc.call_function("is_in", [ids], pc.SetLookupOptions(known.cast(pa.string())))


def _renamed(table: pa.Table, name: str, names: Mapping[str, str]) -> pa.Table:
    """Return a table with these ids of a column replaced."""
    column = table[name].combine_chunks()
    coded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    new = pa.array([names.get(one, one) for one in coded.dictionary.to_pylist()], pa.string())
    ids = new.take(coded.indices)
    place = table.schema.get_field_index(name)
    return table.set_column(place, name, ids.dictionary_encode() if coded is column else ids)


def _squeezed(text: str) -> str:
    return " ".join(text.split())
