"""Training sets, one text at a time: files of queries, pairs, triples or documents, or a split."""

import io
import itertools
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from compute.base import parquet_files
from compute.base.errors import WrongInput
from compute.datasets import compressed
from compute.datasets.records import lines, refuse
from compute.recompute.run import read
from compute.store.loading import Loaded

_LOOKED_AT = 100
"""Number of lines of a table that show which columns contain texts."""

Line = tuple[int, str]


class Text(NamedTuple):
    """A text of a training set, and its place there."""

    file: str
    """Name of the file without its folder; for a split, the split's name."""
    place: str
    """The id of the text or, if it has none, its line, such as `line 12`."""
    text: str


def of_file(path: Path) -> Iterator[Text]:
    """Yield every text of a file, plain or compressed. The first lines determine the format. In
    JSON lines, `title` and `text` together are one text; without a `text`, every string with a
    space is one. Tab-separated columns with a space in the first hundred lines are texts. Otherwise
    each line is a text. Raises Missing, or WrongInput with file and line."""
    with compressed.opened(path) as file:
        numbered = lines(io.BufferedReader(file), str(path), refuse)
        first = list(itertools.islice(numbered, _LOOKED_AT))
        every = itertools.chain(first, numbered)
        if first and first[0][1].lstrip().startswith(("{", "[")):
            found = _records(path, every)
        elif any("\t" in line for _, line in first):
            found = _table(path, every, _text_columns(path, first))
        else:
            found = (Text(path.name, f"line {number}", line) for number, line in every)
        some = (text for text in found if text.text.strip())
        if not (one := next(some, None)):
            raise WrongInput(f"{path} contains no text: give a file with texts")
        yield one
        yield from some


def of_split(loaded: Loaded) -> Iterator[Text]:
    """Yield the texts of a stored split: its queries, and the documents judged relevant."""
    name, judged = loaded.dataset.name, read(loaded.judgements)
    for query_id, text in read(loaded.queries)[["query_id", "text"]].dropna().to_numpy():
        yield Text(name, query_id, text)
    relevant = set(judged.loc[judged["relevance"] > 0, "doc_id"])
    for doc_id, title, text in documents(loaded, relevant):
        yield Text(name, doc_id, f"{title} {text}")


def documents(loaded: Loaded, wanted: set[str]) -> Iterator[tuple[str, str, str]]:
    """Yield doc_id, title and text of these documents of a stored dataset, if it has texts."""
    if loaded.documents is None:
        return
    for batch in parquet_files.batches(loaded.documents.path, ["doc_id", "title", "text"]):
        for row in zip(*(column.to_pylist() for column in batch.columns), strict=True):
            if row[0] in wanted and row[2] is not None:
                yield row[0], row[1] or "", row[2]


def _records(path: Path, numbered: Iterable[Line]) -> Iterator[Text]:
    """Yield the texts of JSON lines, with the id of a record as place if it has one."""
    for number, line in numbered:
        try:
            record = json.loads(line)
            texts = list(_strings(record))
        except (ValueError, RecursionError):
            raise WrongInput(f"{path}, line {number}: broken JSON; fix the line") from None
        named = record.get("_id") if isinstance(record, dict) else None
        place = f"line {number}" if named is None else str(named)
        yield from (Text(path.name, place, text) for text in texts)


def _strings(value: Any) -> Iterator[str]:
    """Yield the texts in a JSON value."""
    if isinstance(value, dict) and isinstance(value.get("text"), str):
        yield f"{value.get('title') or ''} {value['text']}"
    elif isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _strings(inner)
    elif isinstance(value, str) and " " in value.strip():
        yield value


def _text_columns(path: Path, first: list[Line]) -> list[int]:
    """Return the indexes of the columns with a space in any of these lines."""
    rows = [line.split("\t") for _, line in first]
    columns = range(max(map(len, rows)))
    found = [
        column
        for column in columns
        if any(" " in row[column].strip() for row in rows if column < len(row))
    ]
    if not found:
        raise WrongInput(
            f"{path}: no column of texts, every cell of its first lines is one word: give texts,"
            " not only ids"
        )
    return found


def _table(path: Path, numbered: Iterable[Line], columns: list[int]) -> Iterator[Text]:
    """Yield the texts of a table; a first column without texts contains the ids."""
    for number, line in numbered:
        cells = line.split("\t")
        place = f"line {number}" if columns[0] == 0 else cells[0]
        yield from (Text(path.name, place, cells[at]) for at in columns if at < len(cells))
