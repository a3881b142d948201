"""Judgement sets: which judgements a number is by, each under a name of its own.

`official`; `added`, the official ones and what was added by a rule; and each source on its own,
such as `person:ada`, `file:more.qrels` or `machine:gpt`. A source alone judges what it judged, and
nothing else counts.
"""

from collections import Counter
from collections.abc import Iterable

import pandas as pd
from pandas import DataFrame, Series

from compute.judgements.labels import IMPORT, MODEL, PERSON, Choice, labels, resolve

OFFICIAL, ADDED = "official", "added"
MACHINE = "machine"
_LABEL = ["query_id", "doc_id", "relevance"]


def of_machine(name: str) -> str:
    """The set of a machine's grades."""
    return f"{MACHINE}:{name}"


def of_added(rows: DataFrame, rule: str = "majority") -> dict[str, DataFrame]:
    """The sets of each person, model and imported file: query_id, doc_id, relevance, by name.

    `rows` are the added judgements of one dataset. A rule makes one grade of several in a file;
    settled disagreements are no person's own. A file is called by the note that all of an import
    share, as those of qrels do, else by the time of the import; files of one name are one set. No
    other file takes anything from it, though the newer one of a person counts among all added.
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
    """The official judgements, and after them the labels of pairs that have none."""
    both = pd.concat([official[_LABEL], resolve(rows, choice)[_LABEL]], ignore_index=True)
    return both.drop_duplicates(["query_id", "doc_id"], ignore_index=True)


def by_grade(grades: Iterable[int]) -> str:
    """`0: 12, 1: 5`: how many pairs have which grade."""
    counts = Counter(grades)
    return ", ".join(f"{grade}: {counts[grade]:,}" for grade in sorted(counts))


def _files(rows: DataFrame) -> Series:
    """Name of the file that each row came from; absent for judgements made here."""
    told = rows["imported"].fillna(rows["time"])
    imported = rows["imported"].mask(rows["source"] == IMPORT, told)
    imported = imported.astype("str").where(imported.notna())
    notes = rows["note"].groupby(imported)
    shared = (notes.transform("nunique") == 1) & (rows["note"] != "")
    return rows["note"].where(shared & imported.notna(), imported.str[:19])
