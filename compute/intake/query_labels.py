"""Labels of queries: what kinds of queries a dataset has, as a file says."""

import csv
import io
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
from pandas import DataFrame

from compute.base.errors import Conflict, WrongInput
from compute.base.files import digest
from compute.base.locks import locked
from compute.base.result_identity import fingerprint
from compute.base.words import counted, shown
from compute.datasets import Dataset, trec, unpacked_size
from compute.judgements.exchange import utf8
from compute.recompute import run as recompute
from compute.store import provenance
from compute.store.loading import Bench
from compute.store.store import Part

KIND = "query_labels"
COLUMNS = ["query_id", "key", "value"]
MOST_VALUES = 40
"""Values of one key; more say nothing of kinds of queries."""
LONGEST = 60
"""Characters of a key or a value: it stands at an axis."""


def import_file(
    bench: Bench, file: Path, dataset: Dataset, *, replace: bool = False
) -> tuple[Part, bool]:
    """Add the labels of a file (`read`) to those of a dataset: its part, and whether it is new.

    Keys that the file does not name keep their labels; queries that the dataset has not, such as
    those of another split, are left out. Raises WrongInput with file and line, Conflict where a key
    has other labels and `replace` is not said.
    """
    start = time.perf_counter()
    if dataset.parts:
        raise WrongInput(f"{dataset.name} has parts: name one of them, such as {dataset.parts[0]}")
    loaded = recompute.stored_dataset(bench.store, dataset)
    unpacked_size.require(file, bench.settings.home)
    rows = read(file)
    known = rows["query_id"].isin(recompute.read(loaded.queries)["query_id"])
    if not known.any():
        raise WrongInput(
            f"{dataset.name} has none of the queries of {file}: is it of another dataset?"
        )
    about: dict[str, Any] = {"file": file.name, "sha256": digest(file)}
    about["labels_of_other_queries"] = int((~known).sum())
    words = ["import-labels", file.name, "--dataset", dataset.name]
    made = provenance.record(words, time.perf_counter() - start, **about)
    with locked(bench.store.home / "locks" / "import.lock"):
        old = bench.store.part(KIND, dataset.name)
        rows = _beside(old, rows.loc[known, COLUMNS], replace=replace)
        mark = fingerprint(KIND, [], labels=rows.to_numpy().tolist())
        if old and old.fingerprint == mark:
            return old, False
        of: dict[str, Any] = {"dataset": dataset.name, "fingerprint": mark, "provenance": made}
        with bench.store.publishing(f"import labels of queries of {dataset.name}") as parts:
            return parts.add(KIND, rows, **of), True


def read(file: Path) -> DataFrame:
    """query_id, key, value, line: the labels of a file, each once.

    A TSV of these three columns, with or without their names above it; or BEIR's queries.jsonl, of
    which every field beside id and text counts that is a word or a number, those of `metadata`
    too. Raises Missing or WrongInput with file and line.
    """
    first = next((line for line in trec.lines(file, 1) if line.strip()), "")
    found = _records(file) if first.lstrip("\ufeff \t").startswith("{") else _table(file)
    rows = DataFrame(found, columns=[*COLUMNS, "line"]).astype({"line": "int64"})
    if rows.empty:
        raise WrongInput(f"{file}: no label in it, give a file with some")
    rows = rows.drop_duplicates(COLUMNS, ignore_index=True)
    if len(twice := rows[rows.duplicated(["query_id", "key"])]):
        query_id, key, _, line = twice.iloc[0]
        raise WrongInput(
            f"{file}, line {line}: query {shown(query_id)} has another {shown(key)} above; keep one"
        )
    values = rows.groupby("key")["value"].nunique()
    if len(many := values[values > MOST_VALUES]):
        raise WrongInput(
            f"{file}: {shown(many.index[0])} has {many.iloc[0]:,} values: too many for kinds of"
            f" queries, keep at most {MOST_VALUES}"
        )
    return rows


def _table(file: Path) -> Iterator[tuple[str, str, str, int]]:
    reader = csv.reader(io.StringIO(utf8(file), newline=""), delimiter="\t", quoting=csv.QUOTE_NONE)
    for number, given in enumerate(reader, 1):
        cells = [cell.strip() for cell in given]
        where = f"{file}, line {number}"
        if not any(cells) or (number == 1 and cells == COLUMNS):
            continue
        if len(cells) != 3 or not all(cells):
            raise WrongInput(f"{where}: not query_id, key and value between tabs, mend the line")
        yield cells[0], _short(cells[1], where), _short(cells[2], where), number


def _records(file: Path) -> Iterator[tuple[str, str, str, int]]:
    for number, line in enumerate(utf8(file).split("\n"), 1):
        if not line.strip():
            continue
        where = f"{file}, line {number}"
        try:
            record = json.loads(line)
            query_id, inner = record["_id"], record.get("metadata") or {}
            fields = {**record, **inner}
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            raise WrongInput(f"{where}: no query with an _id in JSON, mend the line") from None
        for key, value in fields.items():
            kind = key not in ("_id", "text", "title") and type(value) in (str, int, float, bool)
            if kind and value != "":
                yield str(query_id), _short(key, where), _short(str(value), where), number


def _short(text: str, where: str) -> str:
    if len(text) > LONGEST or not text.isprintable():
        raise WrongInput(
            f"{where}: {shown(text)} is no label: write at most {LONGEST} characters in one line"
        )
    return text


def _beside(old: Part | None, rows: DataFrame, *, replace: bool) -> DataFrame:
    """The rows with those stored of other keys. Raises Conflict for other labels of a key."""
    if old is not None:
        stored = recompute.read(old)[COLUMNS]
        same = stored[stored["key"].isin(rows["key"])]
        both = pd.concat([same, rows]).drop_duplicates()
        if len(same) and len(both) > max(len(same), len(rows)) and not replace:
            raise Conflict(
                f"{shown(same['key'].iloc[0])} has other labels on {old.dataset}: rename the key,"
                " or put these in the place of those (--replace)"
            )
        rows = pd.concat([stored[~stored["key"].isin(rows["key"])], rows])
    return rows.sort_values(["key", "query_id"], ignore_index=True)


def said(part: Part) -> str:
    """`3 labels for 50 queries of tiny: topic (3 values)`."""
    rows = recompute.read(part)
    values = rows.groupby("key")["value"].nunique()
    keys = ", ".join(f"{key} ({counted(int(n), 'value')})" for key, n in values.items())
    queries = f"{rows['query_id'].nunique():,}"
    told = f"{counted(len(rows), 'label')} of {queries} queries of {part.dataset}: {keys}"
    if others := part.provenance["labels_of_other_queries"]:
        told += f"; {counted(others, 'label')} of queries that it has not left out"
    return told
