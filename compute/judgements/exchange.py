"""Exports and imports added judgements: as qrels files, and as CSV with all fields of a row."""

import csv
import hashlib
import io
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pandas as pd
from pandas import DataFrame

from compute.base import formulas
from compute.base.errors import WrongInput
from compute.base.result_identity import canonical_json
from compute.datasets import compressed
from compute.datasets.names import column_of, columns
from compute.datasets.qrels import as_beir, as_json, as_trec
from compute.datasets.records import WHOLE
from compute.judgements.labels import (
    HUMAN,
    IMPORT,
    IN_VIEW,
    SOURCES,
    WITHDRAWN,
    Choice,
    listed,
    place_in_order,
    resolve,
    taken_back,
)
from compute.store.state import OPTIONAL, now

FORMATS = ("qrels", "beir", "csv", "json")
COLUMNS = (
    "dataset",
    "query_id",
    "doc_id",
    "relevance",  # empty if withdrawn
    "person",
    "source",
    "task",
    "guideline_version",
    "time",
    "unsure",
    "verified",
    "note",
    "entry",
    "takes_back",  # the entry of the row that this row withdraws
)
"""Columns of a CSV."""
_NEEDED = ("query_id", "doc_id", "relevance")
_PAIR = ["query_id", "doc_id"]
_TYPED = ("person", "note")
_UNNAMED = ("entry", "verified", "takes_back")
"""Columns in which rows with the same content may differ."""
_Row = dict[str, Any]
_GONE = "gone"
"""Marker, instead of a source, of a row that withdraws another one by its entry."""


def exported(
    rows: DataFrame,
    official: DataFrame,
    form: str,
    choice: Choice | None = None,
    *,
    with_official: bool = False,
) -> bytes:
    """Return a file of one dataset's added judgements, from all their rows. `csv` has every row of
    the chosen sources, including withdrawn ones. Names and notes that look like formulas get an
    apostrophe, so that spreadsheets do not evaluate them; import removes it. `qrels` (TREC's),
    `beir` and `json` have one label, by the rule, for each pair without an official judgement;
    `with_official` puts the official judgements first. Raises WrongInput if such a file would mix
    judgements made here with others, and for an id that the format cannot hold."""
    choice = choice or Choice()
    if form == "csv":
        chosen = rows.loc[rows["source"].isin([*choice.sources, WITHDRAWN]), list(COLUMNS)]
        for column in _TYPED:
            chosen[column] = [formulas.escaped(words) for words in chosen[column]]
        # All texts are quoted, since readers would end a line at a carriage return.
        quoting = csv.QUOTE_NONNUMERIC
        return chosen.to_csv(index=False, lineterminator="\n", quoting=quoting).encode()
    if form not in FORMATS:
        raise WrongInput(f"no format {form!r}; known: {', '.join(FORMATS)}")
    given = rows.loc[rows["source"].isin(choice.sources), "source"].unique()
    kinds = {"people here" if source in HUMAN else SOURCES[source] for source in given}
    if len(kinds) > 1:
        raise WrongInput(
            f"{form} cannot mark the sources of judgements ({', '.join(sorted(kinds))}): "
            "export csv, or each source separately"
        )
    labels = resolve(rows, choice)[[*_PAIR, "relevance"]]
    both = pd.concat([official[list(labels)], labels], ignore_index=True)
    both = both.drop_duplicates(_PAIR)
    frame = both if with_official else both.iloc[len(official.drop_duplicates(_PAIR)) :]
    return {"qrels": as_trec, "beir": as_beir, "json": as_json}[form](frame).encode()


@dataclass(frozen=True)
class Found:
    """Judgements of a file, ready for the store, and what was left out."""

    rows: DataFrame
    n_official: int = 0
    """Number of officially judged pairs, which are left out."""
    n_different: int = 0
    """Number of these pairs that the file grades differently."""


def from_qrels(
    judgements: DataFrame, official: DataFrame, dataset: str, person: str, name: str
) -> Found:
    """Return judgements of a qrels file or a collection (query_id, doc_id, relevance) as those of a
    person. They are marked as imported, with the file's name as the note. Officially judged pairs
    are left out."""
    whole = judgements.merge(official, on=_PAIR, how="left", suffixes=("", "_official"))
    judged = whole["relevance_official"].notna()
    different = judged & (whole["relevance_official"] != whole["relevance"])
    rows = whole.loc[~judged, [*_PAIR, "relevance"]].astype({"relevance": "Int64"})
    rows = rows.assign(
        dataset=dataset,
        person=person,
        source=IMPORT,
        task="",
        guideline_version="",
        **{**OPTIONAL, "note": name},
    )
    return Found(rows.reset_index(drop=True), int(judged.sum()), int(different.sum()))


def from_csv(path: Path, dataset: str, person: str = "") -> Found:
    """Read the rows of a CSV: query_id, doc_id, relevance, and any other `COLUMNS` that it has.
    Where person, time or source are missing, they are `person`, the time of the import, and an
    import with the file's name as the note. No person counts as verified. Raises Missing or
    WrongInput with file and line."""
    records = [
        _record(given, where, dataset, person, path.name)
        for where, given in csv_rows(path, _NEEDED)
    ]
    if not records:
        raise WrongInput(f"{path} contains no judgement: give a file with lines below the header")
    frame = DataFrame(records, columns=list(COLUMNS))
    return Found(frame.astype({"relevance": "Int64"}))


def csv_rows(
    path: Path, needed: Sequence[str], between: str = ","
) -> Iterator[tuple[str, Mapping[str, str]]]:
    """Yield the rows of a CSV by the names in its first line, each with its place for an error
    message. A required column may have a synonymous name (`records.column_of`); if none is
    required, all names must differ. Raises Missing or WrongInput with file and line, also if a
    required column is missing."""
    text = io.StringIO(compressed.utf8(path), newline="")
    reader = csv.DictReader(text, strict=True, delimiter=between)
    try:
        names = list(reader.fieldnames or ())
        meant = columns(names)
        for name in {*needed} - {*names}:
            names = [name if one == meant.get(column_of(name)) else one for one in names]
        reader.fieldnames = names
        missing = [name for name in needed if name not in names]
        if missing:
            raise WrongInput(f"{path}, line 1: no column {', '.join(missing)}: name the columns")
        for name in needed or names:
            if names.count(name) > 1:
                raise WrongInput(f"{path}, line 1: two columns are named {name}: rename one")
        for given in reader:
            where = f"{path}, line {reader.line_num}"
            if None in given or None in given.values():
                raise WrongInput(f"{where}: not as many columns as the header names; fix the line")
            yield where, given
    except csv.Error as error:
        raise WrongInput(f"{path}, line {reader.line_num}: {error}; fix the line") from None


def as_import(rows: DataFrame) -> DataFrame:
    """Mark all rows as imported. A withdrawal then withdraws only judgements in imported files."""
    kept = rows["relevance"].where(rows["source"] != WITHDRAWN)
    return rows.assign(source=IMPORT, relevance=kept)


def _record(
    given: Mapping[str, str], where: str, dataset: str, person: str, name: str
) -> dict[str, str | int | None]:
    """Check a row of a CSV and convert its fields. Raises WrongInput with the place `where`."""
    found = {column: given.get(column) or "" for column in COLUMNS}
    for column in _TYPED:
        if found[column].startswith("'") and formulas.FORMULA.match(found[column]):
            found[column] = found[column][1:]
    if (found["dataset"] or dataset) != dataset:
        raise WrongInput(f"{where}: of {found['dataset'][:80]}, not of {dataset}: import it there")
    if any(not name or "\ufeff" in name for name in (found["query_id"], found["doc_id"])):
        raise WrongInput(
            f"{where}: query_id or doc_id is empty or contains a byte order mark; fix the line"
        )
    who, source = found["person"] or person, found["source"] or IMPORT
    if not who:
        raise WrongInput(f"{where}: no assessor is named: add --person NAME")
    if source not in (*SOURCES, WITHDRAWN):
        known = ", ".join([*SOURCES, WITHDRAWN])
        raise WrongInput(f"{where}: no source {source[:40]!r}; known: {known}")
    return {
        **found,
        "dataset": dataset,
        "person": who,
        "source": source,
        "relevance": grade(found["relevance"], where),
        "unsure": _flag(found["unsure"], where),
        "verified": 0,
        "note": found["note"] if "note" in given else name,
        "time": _time(found["time"], where),
        "entry": found["entry"] or None,
        "takes_back": found["takes_back"] or None,
    }


def grade(text: str, where: str, name: str = "relevance") -> int | None:
    """Read a 32-bit integer; None for an empty text. Raises WrongInput, which names the field."""
    if not text.strip():
        return None
    found = WHOLE.fullmatch(text.strip())
    if found is None:
        raise WrongInput(f"{where}: {name} is {text[:40]!r}, not a whole number; fix the line")
    if len(found[1]) > 20 or not -(2**31) <= int(found[1]) < 2**31:
        raise WrongInput(f"{where}: {name} is {text[:40]!r}, too large a number; fix the line")
    return int(found[1])


def _flag(text: str, where: str) -> int:
    if text not in ("", "0", "1"):
        raise WrongInput(f"{where}: unsure is {text[:40]!r}, neither 0 nor 1; fix the line")
    return int(text or 0)


def _time(text: str, where: str) -> str | None:
    """Return a time as it is stored in the state, sortable as text."""
    if not text:
        return None
    try:
        time = datetime.fromisoformat(text)
        in_utc = time.replace(tzinfo=time.tzinfo or UTC).astimezone(UTC)
    except (ValueError, OverflowError):  # In UTC, a time in the year 1 may be before it.
        raise WrongInput(f"{where}: time is {text[:40]!r}, not of ISO 8601; fix the line") from None
    return in_utc.isoformat(timespec="microseconds")


def lacking(found: DataFrame, saved: DataFrame, at: str | None = None) -> DataFrame:
    """Return the rows that are not among the dataset's saved ones, each with its `entry` and the
    time `at` of the import (default: now). A row with a time is new unless all fields equal those
    of a saved one. A row without a time is new if the newest judgement of the pair by its person
    and source differs. So importing a file again adds nothing, even if others import it too."""
    at = at or now()
    known = {row["entry"] or _named(row) for row in _rows(saved)}
    said = _said(saved)
    kept, last = [], max(saved["id"], default=0)
    for row in _rows(found):
        before = _standing(said[_whose(row)])
        if row["entry"] is None and row["time"] is None:
            same = before.get((row["source"], row["task"] == IN_VIEW))
            if same is not None and same["relevance"] == row["relevance"]:
                continue
            row["entry"] = _named(row, after=max((old["id"] for old in before.values()), default=0))
        entry = row["entry"] or _named(row)
        if entry not in known:
            known.add(entry)
            kept.append(row | {"entry": entry, "imported": at})
            new = {"id": last + len(kept), "time": row["time"] or at}
            said[_whose(row)].append(kept[-1] | new)
    return DataFrame(kept, columns=[*COLUMNS, "imported"]).astype({"relevance": "Int64"})


def withdrawals(found: DataFrame, saved: DataFrame) -> DataFrame:
    """Return rows that withdraw the unchanged judgements of a file, to be added after the saved
    ones. Later judgements and withdrawals by the same person stay. If a row of the file replaced a
    judgement by that person from another file, the replaced one counts again. Withdrawals in the
    file are left out."""
    said, of_file = _said(saved), _said(found)
    rows = [row for whose, given in of_file.items() for row in _backs(given, said[whose])]
    return DataFrame(rows, columns=list(COLUMNS)).astype({"relevance": "Int64"})


def _backs(given: list[_Row], said: list[_Row]) -> list[_Row]:
    """Return rows that withdraw a file's judgements by one person on a pair, newest first."""
    backs: list[_Row] = []
    while True:
        standing = _standing([*said, *backs])
        olds = [(standing.get((row["source"], row["task"] == IN_VIEW)), row) for row in given]
        found = {old["id"]: old for old, row in olds if old is not None and _is_of(old, row)}
        if not found:
            return backs
        backs += [_back(old, said) for old in found.values()]


def _is_of(old: _Row, row: _Row) -> bool:
    """Return whether a saved judgement is that of a file's row, unchanged."""
    same = old["relevance"] is not None and old["relevance"] == row["relevance"]
    return same and row["time"] in (None, old["time"])


def _back(old: _Row, said: list[_Row]) -> _Row:
    # The entry makes the row unique, even if several processes withdraw the same file at once. An
    # imported file may already contain such a row, which withdraws nothing that was judged here.
    """Return the row that withdraws `old`."""
    before = sum(row["takes_back"] == old["entry"] for row in said)
    entry = f"withdrawn-{old['entry'] or old['id']}" + (f"-{before}" if before else "")
    here = {"time": None, "imported": None, "entry": entry, "takes_back": old["entry"]}
    return old | here | {"relevance": None}


def _said(rows: DataFrame) -> dict[tuple[str, str, str], list[_Row]]:
    """Group rows by pair and person, in their order."""
    said: dict[tuple[str, str, str], list[_Row]] = defaultdict(list)
    for row in _rows(rows):
        said[_whose(row)].append(row)
    return said


def _rows(frame: DataFrame) -> Iterator[_Row]:
    """Iterate over rows as dicts, with None for absent values."""
    names = [name for name in ("id", "imported", *COLUMNS) if name in frame]
    columns = [listed(frame[name]) for name in names]
    return (dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True))


def _whose(row: _Row) -> tuple[str, str, str]:
    return row["query_id"], row["doc_id"], row["person"]


def _standing(said: list[_Row]) -> dict[tuple[str, bool], _Row]:
    """Return the newest row of one person on one pair, by source and by whether it was given in
    view. Withdrawn judgements do not count. The last row that withdraws another by its entry has
    its own key, since it has no place in the order. `said` is in the order of saving."""
    gone = taken_back(
        [("", row["entry"], row["takes_back"], row["imported"] is not None) for row in said]
    )
    standing: dict[tuple[str, bool], _Row] = {}
    there = [row for place, row in enumerate(said) if place not in gone]
    for row in sorted(there, key=lambda row: place_in_order(row["time"], row["imported"])):
        source, seen = what = row["source"], row["task"] == IN_VIEW
        if source == WITHDRAWN:
            standing = {key: old for key, old in standing.items() if seen and not key[1]}
        else:
            standing.pop((WITHDRAWN, False), None)
            if seen:
                standing.pop((WITHDRAWN, True), None)
        standing[what] = row
    if gone:
        standing[_GONE, False] = said[max(gone)]
    return standing


def _named(row: _Row, **more: int) -> str:
    """Return an entry that is a hash of the row's content and of `more`."""
    content = {name: row[name] for name in COLUMNS if name not in _UNNAMED}
    return f"content-{hashlib.sha256(canonical_json(content | more).encode()).hexdigest()}"
