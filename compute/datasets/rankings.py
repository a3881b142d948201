"""Detection of rankings among files given as judgements, from their first rows."""

from collections.abc import Sequence

import pandas as pd
from pandas import DataFrame

Rows = Sequence[Sequence[str]]
_AT_LEAST, _GRADES, _LEVELS = 3, 5, 10
"""Rows of a query that suffice to distinguish ranks from grades; the largest plausible grade in a
file that declares grades; the number of distinct values above which falling numbers are scores."""


def seen(rows: Rows, *, named: bool) -> str:
    """Return the reason why rows are a ranking; empty if they may be judgements. Each row is
    (query, document, number), or has another column before the number. `named` says that a header
    or TREC's four columns declare judgements."""
    if not rows:
        return ""
    frame, last = DataFrame(rows), len(rows[0]) - 1
    number = pd.to_numeric(frame[last], errors="coerce")
    places = [2] if last == 3 and not frame.duplicated([0, 1]).any() else []
    places += [last] if not named or number.max() > _GRADES else []
    for place in places:
        counts = _counting(frame, place, number.max())
        if counts.mean() > 0.5:
            n = f"{counts.sum():,} of {len(counts):,} queries"
            return f"column {place + 1} counts 1, 2, 3 … in {n}"
    lists = _lists(frame, last)
    falls, rises = (_long(lists)["high"] < 0).mean(), (_long(lists)["low"] > 0).mean()
    fine = (number * 100 % 1 > 0).mean() > 0.5 and number.nunique() > 0.9 * len(number)
    scattered = not named and (fine or number.nunique() > _LEVELS)
    broken = (number % 1 > 0).mean() > 0.5 and (scattered or not (lists["high"] > 0).any())
    if broken and not (named and lists["low"].isna().all()):
        return f"column {last + 1} contains scores such as {number.max():g}"
    if max(falls, rises) > 0.5 and number.nunique() > _LEVELS:
        way = "scores that fall" if falls > 0.5 else "ranks or distances that rise"
        but = "; grades are accepted if lines are sorted by document"
        return f"column {last + 1} contains {way}, such as {number.max():g}{but}"
    return ""


def _counting(frame: DataFrame, place: int, largest: float) -> "pd.Series[bool]":
    """Return, for each query with enough rows, whether a column counts 1, 2, 3 …; `largest` is the
    largest number in the last column."""
    lists = _long(_lists(frame, place))
    # A few distinct grades in descending order also change in steps of 1, but downwards.
    return lists["counts"] & (lists["low"].gt(0) | (largest > _GRADES))


def are_ranks(rows: Rows) -> bool:
    """Return whether the numbers in rows (query, document, number) count 1, 2, 3 …, as ranks do."""
    if not rows:
        return False
    frame = DataFrame(rows)
    if _counting(frame, 2, pd.to_numeric(frame[2], errors="coerce").max()).mean() > 0.5:
        return True
    lists = _lists(frame, 2)
    return not seen(rows, named=False) and bool(_all_count(lists) and lists["n"].max() > 1)


def is_ranked(rows: Rows) -> bool:
    """Return whether rows of four columns are (query, document, rank, number)."""
    frame = DataFrame(rows)
    documents = frame[1].nunique() > 1 and not frame.duplicated([0, 1]).any()
    return documents and bool(_lists(frame, 2)["counts"].all())


def counts(rows: Rows, place: int) -> bool:
    """Return whether a column repeatedly counts 1, 2, 3 … (or from 0) down the rows."""
    number = pd.to_numeric(DataFrame(rows)[place], errors="coerce")
    one_more = number.diff() == 1
    return bool(one_more.mean() > 0.5 and (one_more | number.isin([0, 1])).mean() > 0.9)


def suspected(rows: Rows) -> str:
    """Return the reason why rows (query, document, number) may be a ranking, even if they are too
    few to decide; empty if there is none."""
    lists = _lists(DataFrame(rows), 2) if rows else DataFrame({"counts": [False], "low": [0.0]})
    if not _all_count(lists):
        return ""
    if lists["n"].max() == 1:
        return "each query has one document, with 1 or 0 in column 3"
    return "column 3 counts from 1 in every query"


def _all_count(lists: DataFrame) -> bool:
    """Return whether the column counts from 0 or 1 in every query, and never downwards."""
    return bool((lists["counts"] & ~lists["low"].lt(0)).all())


def graded(rows: Rows) -> tuple[bool, bool]:
    """Return two facts about the queries with three or more rows (query, document, number): whether
    the numbers are small and whole, like grades, and whether they rise in most lists, unlike
    scores."""
    frame = DataFrame(rows)
    number = pd.to_numeric(frame[2], errors="coerce") if rows else pd.Series([float("nan")])
    if not (number.between(0, _GRADES) & (number % 1 == 0)).all() or number.nunique() < 2:
        return False, False
    lists = _long(_lists(frame, 2))
    return len(lists) > 0, bool((lists["high"] > 0).mean() > 0.5)


def _long(lists: DataFrame) -> DataFrame:
    """Keep the queries with enough rows for a decision; the others are inconclusive."""
    return lists[lists["n"] >= _AT_LEAST]


def _lists(frame: DataFrame, place: int) -> DataFrame:
    """Return one row per query: n (its number of rows), low and high (the smallest and largest step
    in this column) and counts (whether it has the values 1, 2, 3 …, or 0, 1, 2 …, in any order)."""
    number = pd.to_numeric(frame[place], errors="coerce")
    steps = number.groupby(frame[0]).diff()
    by = DataFrame({"number": number, "step": steps}).groupby(frame[0])
    lists = DataFrame({"n": by.size(), "low": by["step"].min(), "high": by["step"].max()})
    first, different = by["number"].min(), by["number"].nunique()
    counted = by["number"].max() - first + 1
    lists["counts"] = first.isin([0, 1]) & (different == lists["n"]) & (counted == lists["n"])
    return lists
