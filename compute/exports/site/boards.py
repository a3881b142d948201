"""The Leaderboards of a site: each printed table and the computed scores, by each measure."""

import math
from collections.abc import Hashable, Iterator, Mapping
from typing import Any, NamedTuple

from pandas import DataFrame

from compute.base.errors import WrongInput
from compute.exports.site import figures
from compute.exports.site.shown import Shown, parts
from compute.views.leaderboard import board as leaderboard
from compute.views.leaderboard import (
    cells,
    heatmap,
    intervals,
    order_confidence,
    select_marks,
    select_order,
)
from compute.views.leaderboard import select as leaderboard_select
from compute.views.leaderboard.board import Board
from compute.views.leaderboard.cells import COMPUTED, PUBLISHED
from compute.views.shared import catalogue, standings
from compute.views.shared.theme import between

Row = Mapping[Hashable, Any]


class Of(NamedTuple):
    """Which numbers a board shows; computed ones have no source."""

    source: str
    measure: str

    @property
    def kind(self) -> str:
        """One of `cells.NUMBERS`."""
        return PUBLISHED if self.source else COMPUTED


def boards(shown: Shown) -> Iterator[tuple[Of, dict[str, Any]]]:
    """Each board that is not empty, computed ones first, with what its page shows."""
    tables = shown.ask(leaderboard_select.published_tables)
    asked = [Of("", measure) for measure in shown.measures]
    asked += [Of(*row) for row in tables[["source", "measure"]].itertuples(index=False)]
    for of in asked:
        if of.measure in (shown.wanted.measures or (of.measure,)):
            found = _cells(shown, of)
            if len(found):
                yield of, _board(shown, of, found)


def _cells(shown: Shown, of: Of) -> DataFrame:
    if of.kind == PUBLISHED:
        asked = {"source": of.source, "measure": of.measure}
        printed = cells.printed(shown.ask(leaderboard_select.published, **asked))
        return cells.by_language(printed)
    means = shown.ask(leaderboard_select.means, measure=of.measure)
    means = means[means["dataset"].isin([row.name for row in shown.datasets])]
    holes, trained = (
        shown.ask(query) for query in (leaderboard_select.holes, leaderboard_select.trained_pairs)
    )
    return cells.computed(means, holes, trained, "value")


def _board(shown: Shown, of: Of, found: DataFrame) -> dict[str, Any]:
    datasets = shown.ask(catalogue.datasets)
    board = leaderboard.board(found, datasets, shown.systems, of.measure)
    ground = next(iter(order_confidence.grounds(board).values()), None)
    order = _order(shown, of, board, ground) if ground else None
    told = {
        "origin": cells.origin(of.kind, of.source),
        "matrix": _matrix(shown, of, board),
        "heatmap": _heatmap(shown, of, board),
    }
    if ground is None or order is None:
        return told | {"table": _table(intervals.table(None, board), board), "said": ""}
    titles = leaderboard.short_titles(board.systems)
    title = f"Means of {of.measure} with intervals and groups"
    facts = order_confidence.facts(order, board, ground)
    if how := order_confidence.how_to_read(order, "in the table below"):
        facts.append(f"How to read this: {how}")
    figure = intervals.intervals(order, titles, of.measure, "light")
    return told | {
        "said": order_confidence.verdict(order, titles),
        "table": _table(intervals.table(order, board, _holes(shown, of, ground)), board),
        "order": figures.drawn(figure, title, facts),
    }


def _order(shown: Shown, of: Of, board: Board, ground: order_confidence.Ground) -> DataFrame | None:
    about: dict[str, Any] = {"measure": of.measure, "sign": board.sign} | ground._asdict()
    try:
        if of.kind == COMPUTED:
            return shown.ask(select_order.of_runs, **about)
        single = len(ground.datasets) == 1  # in print nothing is known of its queries
        return None if single else shown.ask(select_order.of_print, source=of.source, **about)
    except WrongInput:  # too few queries for an order
        return None


def _holes(shown: Shown, of: Of, ground: order_confidence.Ground) -> dict[str, float] | None:
    if of.kind != COMPUTED or of.measure == intervals.HOLES:
        return None
    rows = shown.ask(leaderboard_select.holes)
    own = rows[rows["dataset"].isin(ground.datasets) & rows["system"].isin(ground.systems)]
    found = own.groupby("system")["hole"].mean()
    return dict(zip(found.index, found, strict=True))


def _table(table: DataFrame, board: Board) -> dict[str, Any]:
    """The order of systems, without the columns of datasets, which the matrix has."""
    kept = [
        str(name) for name in table if name not in {*intervals.headings(board).values(), "system"}
    ]
    rows = [
        [_words(name, value) for name, value in zip(kept, row, strict=True)]
        for row in table[kept].itertuples(index=False)
    ]
    return {"columns": kept, "rows": rows}


def _words(column: str, value: Any) -> Any:
    if isinstance(value, float):
        whole = column == "Datasets" and not math.isnan(value)
        return "–" if math.isnan(value) else str(int(value)) if whole else f"{value:z.4f}"
    return value if isinstance(value, str) else str(value)


def _heatmap(shown: Shown, of: Of, board: Board) -> dict[str, Any]:
    names = board.systems["system"].tolist()
    baseline = cells.baseline(names) or names[0]
    first = names[: heatmap.MOST_WITH_NUMBERS]
    asked = {"datasets": board.datasets["dataset"].tolist(), "systems": names}
    computed = of.kind == COMPUTED
    marks = (
        shown.ask(select_marks.against, measure=of.measure, baseline=baseline, **asked)
        if computed
        else None
    )
    colour = heatmap.BELOW_BEST
    look: dict[str, Any] = {"colour_by": colour, "baseline": baseline, "shown": first}
    figure = heatmap.heatmap(board, theme="light", marks=marks, **look)
    title = shown.titles.get(baseline, baseline)
    notes = [leaderboard.hidden(board, first)]
    notes += leaderboard.caption(board, cells.origin(of.kind, of.source), first)
    notes += [heatmap.note(board, colour, baseline)]
    notes += heatmap.marks_note(marks, title) if marks is not None else []
    return figures.drawn(figure, f"{of.measure} of systems on datasets", notes)


def _matrix(shown: Shown, of: Of, board: Board) -> dict[str, Any]:
    """Every value: a row for each system, a cell for each dataset, with interval and holes."""
    around = _around(shown, of, board) if of.kind == COMPUTED else {}
    found = {(row["dataset"], row["system"]): row for row in board.cells.to_dict("records")}
    datasets = board.datasets["dataset"].tolist()
    rows = [
        {
            "system": shown.called.get(name, name),
            "title": title,
            "cells": [_cell(found.get((one, name)), around.get((one, name))) for one in datasets],
        }
        for name, title in zip(board.systems["system"], board.systems["title"], strict=True)
    ]
    return {"datasets": datasets, "titles": board.datasets["title"].tolist(), "rows": rows}


def _cell(row: Row | None, around: Row | None) -> dict[str, Any] | None:
    if row is None or math.isnan(row["value"]):
        return None
    told = []
    if around is not None and not math.isnan(around["low"]):
        told.append(between(around["low"], around["high"]))
    if around is not None and not math.isnan(around["hole"]):
        told.append(f"{around['hole']:.0%} holes")
    told += ["in-domain"] * bool(row["in_domain"]) + ["?"] * bool(row["suspect"])
    digits = 4 if around is not None else 3
    return {"value": f"{row['value']:z.{digits}f}", "said": told, "best": bool(row["best"])}


def _around(shown: Shown, of: Of, board: Board) -> dict[tuple[str, str], Row]:
    """Interval and holes of each computed score."""
    known = {row.name: row for row in shown.datasets}
    found = {}
    for name in board.datasets["dataset"]:
        asked = {"datasets": parts(known[name]), "measure": of.measure}
        ranked = standings.ranked(shown.ask(standings.standing, **asked), of.measure)
        found |= {(name, row["system"]): row for row in ranked.to_dict("records")}
    return found
