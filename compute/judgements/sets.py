"""Judgement sets: named choices of the judgements behind a number. They are `official`, `added`
(official and added judgements, combined by a rule), and each single source, such as `person:ada`,
`file:more.qrels`, `machine:gpt`, or `carried:old` for judgements of an older version of the
collection. In the set of a single source, only its judgements count."""

from collections import Counter
from collections.abc import Iterable

import pandas as pd
from pandas import DataFrame, Series

from compute.judgements.labels import IMPORT, MODEL, PERSON, Choice, labels, resolve

OFFICIAL, ADDED = "official", "added"
MACHINE, CARRIED = "machine", "carried"
_LABEL = ["query_id", "doc_id", "relevance"]


def of_machine(name: str) -> str:
    """Return the name of the set of an LLM's grades."""
    return f"{MACHINE}:{name}"


def of_added(rows: DataFrame, rule: str = "majority") -> dict[str, DataFrame]:
    """Return the sets of each person, model and imported file, by name: query_id, doc_id,
    relevance.

    `rows` are the added judgements of one dataset. The rule combines several grades in a file;
    adjudications belong to no person. A file is named after the note that all rows of an import
    share, as for qrels, else after the time of the import; files with the same name form one set. A
    set ignores other files, although a person's grades in newer files replace older ones in
    `added`.
    """
    found: dict[str, DataFrame] = {}
    if rows.empty:
        return found
    for source in (PERSON, MODEL):
        standing = labels(rows, [source])
        for name, own in standing.groupby("person", sort=True):
            found[f"{source}:{name}"] = resolve(own, Choice(rule, (source,)))[_LABEL]
    files = _files(rows)
    for name in sorted(files.dropna().unique()):
        standing = labels(rows[files.isna() | (files == name)], [IMPORT])
        if len(standing):
            found[f"file:{name}"] = resolve(standing, Choice(rule, (IMPORT,)))[_LABEL]
    return found


def with_added(official: DataFrame, rows: DataFrame, choice: Choice) -> DataFrame:
    """Return the official judgements, followed by the labels of other pairs."""
    both = pd.concat([official[_LABEL], resolve(rows, choice)[_LABEL]], ignore_index=True)
    return both.drop_duplicates(["query_id", "doc_id"], ignore_index=True)


def by_grade(grades: Iterable[int]) -> str:
    """Say how many pairs have each grade: `0: 12, 1: 5`."""
    counts = Counter(grades)
    return ", ".join(f"{grade}: {counts[grade]:,}" for grade in sorted(counts))


def _files(rows: DataFrame) -> Series:
    """Return the name of each row's file; absent for judgements made here."""
    told = rows["imported"].fillna(rows["time"])
    imported = rows["imported"].mask(rows["source"] == IMPORT, told)
    imported = imported.astype("str").where(imported.notna())
    notes = rows["note"].groupby(imported)
    shared = (notes.transform("nunique") == 1) & (rows["note"] != "")
    return rows["note"].where(shared & imported.notna(), imported.str[:19])
