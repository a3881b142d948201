"""A query in words: lines of pickers, the legend, and scores."""

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from pandas import DataFrame

from compute.evaluate.measures import better
from compute.views.page import Column
from compute.views.shared import theme as looks

ORDERS = {
    "by difference": ("difference", "Largest difference"),
    "a ahead": ("ahead", "A better"),
    "b ahead": ("behind", "B better"),
    "lowest score first": ("lowest", "Lowest score of A"),
    "highest score first": ("highest", "Highest score of A"),
    "by id": ("id", "Query id"),
}
"""Orders of a dataset's queries: their names in `query.select.queries`, and labels; A and B are the
first two systems."""
_OTHER_SIDE = {"ahead": "behind", "behind": "ahead"}
RANKS = ("10", "20", "50", "100")
"""Depths to which lists can be shown."""

SIGNS = (
    "✓ relevant (✓2: grade 2), · not relevant, ? unjudged.",
    "A document in several lists has a coloured edge, and lines join its positions.",
)
"""Legend of the signs in the boxes."""


def judgement(relevance: float) -> str:
    """`relevant`, `judged` (not relevant) or `hole` (unjudged) for a grade or its absence."""
    if pd.isna(relevance):
        return "hole"
    return "relevant" if relevance > 0 else "judged"


def said(relevance: float) -> str:
    """The judgement of a document, in words."""
    return {
        "relevant": f"relevant, grade {relevance}",
        "judged": f"judged not relevant, grade {relevance}".replace("-", "−"),
        "hole": "unjudged for this query",
    }[judgement(relevance)]


def names(hits: DataFrame) -> dict[str, str]:
    """The documents of `hits` (doc_id, title, text) by id, each with a line for a picker."""
    lines = {}
    for row in hits.to_dict("records"):
        name = name_of(row)
        doc_id = row["doc_id"]
        lines[doc_id] = doc_id if name == doc_id else f"{doc_id} · {_line(name)}"
    return lines


def option(query: Mapping[Hashable, Any]) -> str:
    """A line for a picker of queries: id, text if loaded, and the scores of systems a and b."""
    text = f" · {_line(query['text'])}" if isinstance(query["text"], str) else ""
    values = [query["value_a"], query["value_b"]]
    scores = " and ".join(looks.plain(value) for value in values[: 1 + pd.notna(values[1])])
    return f"{query['query_id']}{text} · {scores}"


def by_value(order: str, measure: str) -> str:
    """Name in `query.select.queries` of an order of ORDERS; with some measures, the better value is
    the lower one."""
    name = ORDERS[order][0]
    return name if better(measure) > 0 else _OTHER_SIDE.get(name, name)


def found(query: Mapping[Hashable, Any], find: str, n_listed: int) -> str:
    """Number of queries found, from n_found and n_queries of any row."""
    number, every = f"{query['n_found']:,}", f"{query['n_queries']:,}"
    verb = "contains" if query["n_found"] == 1 else "contain"
    said = f"{number} of {every} queries {verb} {find!r}" if find else f"{every} queries"
    cut = f"; the first {n_listed:,} are listed. Refine the search with Find in queries."
    return said + (cut if n_listed < query["n_found"] else ".")


def _line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 110 else line[:109] + "…"


def titled(names: Sequence[str], systems: DataFrame) -> list[tuple[str, str]]:
    """Names and titles of systems without duplicates; `systems`: system, title of all."""
    titles = dict(zip(systems["system"], systems["title"], strict=True))
    return [(name, titles.get(name, name)) for name in dict.fromkeys(names)]


def name_of(row: Mapping[Hashable, Any]) -> str:
    """A document's title; without one, the start of its text; without texts, its id."""
    texts = [text for text in (row["title"], row["text"]) if isinstance(text, str)]
    return next((text for text in texts if text.strip()), row["doc_id"])[:400]


def placed(places: DataFrame, systems: Sequence[tuple[str, str]]) -> list[str]:
    """Ranks of a document in systems (name, title), as sentences. `places`: system, rank."""
    ranks = dict(zip(places["system"], places["rank"], strict=True))
    found = [f"{ranks[name]:,} by {title}" for name, title in systems if name in ranks]
    missing = [title for name, title in systems if name not in ranks]
    sentences = [f"Ranked {', '.join(found)}."] if found else []
    return sentences + ([f"Not in the list of {', '.join(missing)}."] if missing else [])


def notes(values: DataFrame, systems: Sequence[tuple[str, str]], measure: str) -> list[str]:
    """Score for the head of each list, from system, measure, value of a query."""
    chosen = values[values["measure"] == measure]
    known = dict(zip(chosen["system"], chosen["value"], strict=True))
    return [f"{measure} {looks.plain(known.get(name, np.nan))}" for name, _ in systems]


def value_rows(values: DataFrame, systems: Sequence[tuple[str, str]]) -> DataFrame:
    """Scores on a query: System and a column for each measure; `values`: system, measure, value."""
    wide = values.pivot(index="system", columns="measure", values="value")
    wide = wide.reindex([name for name, _ in systems])
    wide.insert(0, "System", [title for _, title in systems])
    return wide


def value_columns(rows: DataFrame, measures: Sequence[str]) -> list[Column]:
    """Columns of that table, with the measures in this order."""
    shown = [Column(one, format=looks.plain) for one in measures if one in rows]
    return [Column("System"), *shown]
