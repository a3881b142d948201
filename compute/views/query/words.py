"""Texts about a query: picker lines, the legend, judgements, ranks and scores."""

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
"""Orders of queries: names in `query.select.queries`, and titles (A, B: the first two systems)."""
_OTHER_SIDE = {"ahead": "behind", "behind": "ahead"}
RANKS = ("10", "20", "50", "100")
"""Depths down to which lists can be shown."""

SIGNS = (
    "✓ relevant (✓2: grade 2), · not relevant, ? unjudged.",
    "A document in several lists has a coloured edge, and lines join its positions.",
)
"""Legend of the signs in the boxes."""


def judgement(relevance: float) -> str:
    """Return `relevant`, `judged` (not relevant) or `hole` (unjudged) for a grade, if any."""
    if pd.isna(relevance):
        return "hole"
    return "relevant" if relevance > 0 else "judged"


def said(relevance: float) -> str:
    """State the judgement of a document in words."""
    return {
        "relevant": f"relevant, grade {relevance}",
        "judged": f"judged not relevant, grade {relevance}".replace("-", "−"),
        "hole": "unjudged for this query",
    }[judgement(relevance)]


def names(hits: DataFrame) -> dict[str, str]:
    """Return a picker's line for each document of `hits` (doc_id, title, text), by id."""
    lines = {}
    for row in hits.to_dict("records"):
        name = name_of(row)
        doc_id = row["doc_id"]
        lines[doc_id] = doc_id if name == doc_id else f"{doc_id} · {_line(name)}"
    return lines


def option(query: Mapping[Hashable, Any]) -> str:
    """Return a picker's line for a query: id, text if loaded, and the scores of systems a and b."""
    text = f" · {_line(query['text'])}" if isinstance(query["text"], str) else ""
    values = [query["value_a"], query["value_b"]]
    scores = " and ".join(looks.plain(value) for value in values[: 1 + pd.notna(values[1])])
    return f"{query['query_id']}{text} · {scores}"


def by_value(order: str, measure: str) -> str:
    """Return the name that `query.select.queries` uses for an order in ORDERS. If the measure is
    better when lower, "ahead" and "behind" are exchanged."""
    name = ORDERS[order][0]
    return name if better(measure) > 0 else _OTHER_SIDE.get(name, name)


def found(query: Mapping[Hashable, Any], find: str, n_listed: int) -> str:
    """Say how many queries were found, from n_found and n_queries of any row."""
    number, every = f"{query['n_found']:,}", f"{query['n_queries']:,}"
    verb = "contains" if query["n_found"] == 1 else "contain"
    said = f"{number} of {every} queries {verb} {find!r}" if find else f"{every} queries"
    cut = f"; the first {n_listed:,} are listed. Refine the search with Find in queries."
    return said + (cut if n_listed < query["n_found"] else ".")


def _line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 110 else line[:109] + "…"


def titled(names: Sequence[str], systems: DataFrame) -> list[tuple[str, str]]:
    """Return names and titles of systems without duplicates; `systems`: system, title."""
    titles = dict(zip(systems["system"], systems["title"], strict=True))
    return [(name, titles.get(name, name)) for name in dict.fromkeys(names)]


def name_of(row: Mapping[Hashable, Any]) -> str:
    """Return a document's title; if empty, the start of its text; without texts, its id."""
    texts = [text for text in (row["title"], row["text"]) if isinstance(text, str)]
    return next((text for text in texts if text.strip()), row["doc_id"])[:400]


def placed(places: DataFrame, systems: Sequence[tuple[str, str]]) -> list[str]:
    """Say at which ranks systems (name, title) have a document. `places`: system, rank."""
    ranks = dict(zip(places["system"], places["rank"], strict=True))
    found = [f"{ranks[name]:,} by {title}" for name, title in systems if name in ranks]
    missing = [title for name, title in systems if name not in ranks]
    sentences = [f"Ranked {', '.join(found)}."] if found else []
    return sentences + ([f"Not in the list of {', '.join(missing)}."] if missing else [])


def notes(values: DataFrame, systems: Sequence[tuple[str, str]], measure: str) -> list[str]:
    """Return a score for the head of each list; `values`: system, measure, value of a query."""
    chosen = values[values["measure"] == measure]
    known = dict(zip(chosen["system"], chosen["value"], strict=True))
    return [f"{measure} {looks.plain(known.get(name, np.nan))}" for name, _ in systems]


def value_rows(values: DataFrame, systems: Sequence[tuple[str, str]]) -> DataFrame:
    """Return the scores on a query, a column per measure; `values`: system, measure, value."""
    wide = values.pivot(index="system", columns="measure", values="value")
    wide = wide.reindex([name for name, _ in systems])
    wide.insert(0, "System", [title for _, title in systems])
    return wide


def value_columns(rows: DataFrame, measures: Sequence[str]) -> list[Column]:
    """Return the columns of `value_rows`, with the measures in this order."""
    shown = [Column(one, format=looks.plain) for one in measures if one in rows]
    return [Column("System"), *shown]
