"""Names of figures and tables on the command line, and the addresses of their pages."""

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple
from urllib.parse import parse_qs, urlsplit

from compute.base.errors import WrongInput
from compute.base.words import near

Address = tuple[str, dict[str, list[str]]]
"""A page, such as `lengths`, and the values of its controls."""


class Named(NamedTuple):
    """Place of a figure or table: its page, its key on the page, and required control values."""

    page: str
    key: str
    given: Mapping[str, str] = {}
    of_one: Mapping[str, str] | None = {"dataset": "{}"}
    """Control values for a single dataset, whose name replaces {}; None if it shows all
    datasets."""


# Papers report no per-query scores, so only computed scores give the ranking on one dataset.
_OVER: Mapping[str, str] = {"numbers": "Computed", "over": "{}"}
FIGURES = {
    "leaderboard": Named("leaderboard", "cells", {"view": "Heatmap"}, of_one=None),
    "order": Named("leaderboard", "order", of_one=_OVER),
    "wins": Named("leaderboard", "wins", of_one=None),
    "boards": Named("leaderboard", "bump", of_one=_OVER),
    "standing": Named("dataset", "standing", {"show": "Systems"}),
    "spread": Named("dataset", "spread", {"show": "Overview"}),
    "difficulty": Named("dataset", "difficulty", {"show": "Queries"}),
    "judged": Named("dataset", "judged", {"show": "Judgements"}),
    "compare": Named("compare", "differences"),
    "scatter": Named("compare", "scatter"),
    "likeness": Named("compare", "likeness"),
    "kinds": Named("compare", "kinds"),
    "lists": Named("query", "lists"),
    "map": Named("map", "map"),
    "map-all": Named("map", "all"),
    "overlap": Named("overlap", "pairs", {"numbers": "Computed"}, of_one=None),
    "graph": Named("overlap", "graph", {"view": "Graph", "numbers": "Computed"}, of_one=None),
    "lengths": Named("lengths", "lengths"),
    "medians": Named("lengths", "medians"),
    "gaps": Named("lengths", "gaps"),
    "holes": Named("holes", "intervals"),
    "orders": Named("holes", "orders"),
    "ranks": Named("holes", "ranks"),
    "left-out": Named("holes", "left_out"),
    "sets": Named("holes", "set_ranks"),
    "efficiency": Named("efficiency", "latency_p50_ms"),
    "sizes": Named("efficiency", "index_bytes"),
}
TABLES = {
    "leaderboard": Named("leaderboard", "board", {"view": "Table"}, of_one=None),
    "against-print": Named("leaderboard", "ours-published", {"numbers": "Computed"}, of_one=None),
    "statistics": Named("dataset", "statistics", {"show": "Overview"}),
    "measures": Named("dataset", "systems", {"show": "Overview"}),
    "tests": Named("compare", "tests"),
    "lengths": Named("lengths", "averages"),
    "holes": Named("holes", "bounds"),
    "sets": Named("holes", "sets"),
    "set-boards": Named("holes", "set-boards"),
    "set-pairs": Named("holes", "set-pairs"),
    "set-grades": Named("holes", "set-grades"),
    "efficiency": Named("efficiency", "costs"),
    "runs": Named("about", "origins"),
}


def named(kind: str, name: str) -> Named:
    """Return the figure or table (`kind`) with this name, or with a page and key, as in
    `compare.fused`. Raises WrongInput for an unknown name."""
    known = FIGURES if kind == "figure" else TABLES
    page, dot, key = name.partition(".")
    if dot:
        return Named(page, key)
    if name not in known:
        raise WrongInput(f"no {kind} {name!r}; {near(name, known)}known: {', '.join(known)}")
    return known[name]


def of_dataset(name: str, found: Named, dataset: str) -> dict[str, list[str]]:
    """Return the control values that restrict `found` to this dataset. Raises WrongInput if it
    always shows all datasets."""
    if found.of_one is None:
        raise WrongInput(
            f"{name} is about all datasets: leave out --dataset; for one dataset there are the"
            " figures order and standing and the table measures"
        )
    return {key: [value.format(dataset)] for key, value in found.of_one.items()}


def address(text: str) -> Address:
    """Parse page and control values in a full or partial address. Raises WrongInput."""
    parts = urlsplit(text)
    page = parts.path.strip("/") or "leaderboard"
    if not re.fullmatch("[a-z]+", page):
        raise WrongInput(f"{text!r} is not an address of a page, such as lengths?dataset=scifact")
    return page, parse_qs(parts.query, keep_blank_values=True)


def settings(words: Sequence[str]) -> dict[str, list[str]]:
    """Parse words such as `measure=nDCG@10` into values by key. Raises WrongInput."""
    found: dict[str, list[str]] = {}
    for word in words:
        key, equals, value = word.partition("=")
        if not equals or not key:
            raise WrongInput(f"{word!r} is not KEY=VALUE, such as measure=nDCG@10")
        found.setdefault(key, []).append(value)
    return found
