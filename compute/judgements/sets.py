"""Judgement sets: named choices of the judgements behind a number. They are `official`; `added`
(official and added, combined by a rule); and each single source, such as `person:ada`,
`file:more.qrels`, `machine:gpt`, or `carried:old` for judgements of an older version of the
collection. With a single source, only its judgements count."""

from collections import Counter
from collections.abc import Iterable

import pandas as pd
from pandas import DataFrame, Series

from compute.judgements.labels import IMPORT, MODEL, PERSON, Choice, labels, resolve

OFFICIAL, ADDED = "official", "added"
MACHINE, CARRIED = "machine", "carried"
_LABEL = ["query_id", "doc_id", "relevance"]


def of_machine(name: str) -> str:
    """The set of an LLM's grades."""
    return f"{MACHINE}:{name}"


def of_added(rows: DataFrame, rule: str = "majority") -> dict[str, DataFrame]:
    """Sets of each person, model and imported file: query_id, doc_id, relevance, by name.

    `rows` are the added judgements of one dataset. A rule combines several grades in a file;
    settled disagreements belong to no person. A file is named after the note shared by an import,
    as for qrels, else after the time of the import; files with the same name are one set. Other
    files do not affect it, though a person's newer one counts among all added ones.
    """
    found: dict[str, DataFrame] = {}
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
    """The official judgements, followed by labels of pairs without one."""
    both = pd.concat([official[_LABEL], resolve(rows, choice)[_LABEL]], ignore_index=True)
    return both.drop_duplicates(["query_id", "doc_id"], ignore_index=True)


def by_grade(grades: Iterable[int]) -> str:
    """`0: 12, 1: 5`: number of pairs by grade."""
    counts = Counter(grades)
    return ", ".join(f"{grade}: {counts[grade]:,}" for grade in sorted(counts))


def _files(rows: DataFrame) -> Series:
    """Name of each row's file; absent for judgements made here."""
    told = rows["imported"].fillna(rows["time"])
    imported = rows["imported"].mask(rows["source"] == IMPORT, told)
    imported = imported.astype("str").where(imported.notna())
    notes = rows["note"].groupby(imported)
    shared = (notes.transform("nunique") == 1) & (rows["note"] != "")
    return rows["note"].where(shared & imported.notna(), imported.str[:19])
