"""Breakdown of a query's score: the contribution of each rank, the ideal order, and the sum."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from numpy.typing import NDArray
from pandas import DataFrame

from compute.evaluate.rank_terms import FILLED
from compute.evaluate.score_breakdown import Explained
from compute.evaluate.tolerance import equal
from compute.views.query.words import said
from compute.views.shared import axes as shared_axes
from compute.views.shared import theme as looks
from compute.views.shared import traces
from compute.views.shared.drawing import drawing

ROW = 62
"""Pixels of a system's bars, which are below a line of text."""
_WORDS = 26
_FOOT = 26
FEWEST = 10
"""Fewest ranks shown, even if the last ones contribute nothing."""

Named = Sequence[tuple[str, Explained]]
"""Title and breakdown of each system, from top to bottom."""


@drawing
def gains(explained: Named, *, theme: str) -> go.Figure:
    """Draw bars by rank, a row per system, with wider, paler bars of the ideal order behind. A bar
    is a rank's share of the score, so the bars of a row add up to it."""
    look = looks.palette(theme)
    figure = go.Figure(layout=_frame(explained, look))
    for row, (title, found) in enumerate(explained):
        axes = {"xaxis": "x", "yaxis": f"y{row + 1}" if row else "y"}
        best = {"color": look.line, "line": {"width": 0}}
        figure.add_bar(**_bars(found.best, found, 0.9), marker=best, **axes)
        blue = look.sequential[6]
        figure.add_bar(**_bars(found.listed, found, 0.5), marker={"color": blue}, **axes)
        figure.add_annotation(
            text=f"<b>{looks.escape(title, 30)}</b>  {_worked(found)}",
            y=_span(row, len(explained))[1],
            **{"x": 0, "xref": "paper", "yref": "paper", "xanchor": "left", "yanchor": "bottom"},
            font={"size": 13},
        )
    return figure


def _worked(found: Explained) -> str:
    """Write out the division in numbers; only the value if the measure has no denominator."""
    value = looks.plain(found.value, 4)
    if not found.divided_by:
        return f"{found.measure} {value}"
    divisor = _number(found.divisor)
    if not found.divisor and found.divided_by == FILLED:
        return f"no {found.measure}: the list is empty"
    if not found.divisor:
        return f"{found.measure} 0: no document is judged relevant"
    return f"{_number(found.total)} ÷ {divisor} ({found.divided_by}) = {value}"


def _number(value: float) -> str:
    """Format a sum, as an integer if it is one."""
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:.4f}"


def _bars(terms: DataFrame, found: Explained, width: float) -> dict[str, Any]:
    shown = terms[terms["term"] > 0]
    return {
        "x": shown["rank"].to_numpy(np.int64),
        "y": _share(shown["term"], found),
        "width": width,
        **traces.hover([_hover(row, found) for row in shown.to_dict("records")]),
    }


def _share(terms: pd.Series, found: Explained) -> NDArray[np.float64]:
    return terms.to_numpy(np.float64) / (found.divisor or 1.0)


def _hover(row: dict[Any, Any], found: Explained) -> str:
    who = f"<b>{looks.escape(row['doc_id'])}</b> at" if "doc_id" in row else "Best order:"
    lines = [f"{who} rank {row['rank']:,}, {said(row['relevance'])}"]
    share = looks.precise(row["term"] / (found.divisor or 1.0))
    if row["discount"] == 1:
        return "<br>".join([*lines, f"adds {share} to {found.measure}"])
    worked = f"{row['gain']:g} ÷ {row['discount']:.3f} = {row['term']:.4f}"
    return "<br>".join([*lines, f"{worked}, adds {share} to {found.measure}"])


def _span(row: int, n_rows: int) -> tuple[float, float]:
    """Return bottom and top of a row's bars, as fractions of the plot."""
    height = n_rows * (ROW + _WORDS)
    top = 1 - (row * (ROW + _WORDS) + _WORDS) / height
    return max(top - ROW / height, 0.0), top


def _deepest(explained: Named) -> int:
    """Return the last rank to show."""
    ranks = [FEWEST]
    for _, found in explained:
        for terms in (found.listed, found.best):
            ranks += terms.loc[terms["term"] > 0, "rank"].astype(int).tolist()
    return max(ranks)


def _frame(explained: Named, look: looks.Palette) -> dict[str, Any]:
    deepest = _deepest(explained)
    shares = [
        share for _, found in explained for f in (found.listed, found.best)
        for share in _share(f["term"], found)
    ]  # fmt: skip
    highest = max(shares, default=0.0) or 1.0
    ticks = {"dtick": 1} if deepest <= 20 else {"nticks": 8}
    still = shared_axes.BARE
    frame: dict[str, Any] = {
        "height": len(explained) * (ROW + _WORDS) + _FOOT,
        "margin": {"l": 6, "r": 6, "t": 0, "b": _FOOT},
        "barmode": "overlay",
        "xaxis": still | ticks | {"range": [0.4, deepest + 0.6], "automargin": False},
    }
    for row in range(len(explained)):
        frame[f"yaxis{row + 1}" if row else "yaxis"] = still | {
            "domain": _span(row, len(explained)),
            "range": [0, highest * 1.05],
            "showticklabels": False,
            "zeroline": True,
            "zerolinecolor": look.line,
        }
    frame["xaxis"]["anchor"] = f"y{len(explained)}" if len(explained) > 1 else "y"
    return frame


def table(found: Explained) -> DataFrame:
    """Return the sum rank by rank, as text: contributions of the list and of the ideal order, then
    totals. If there are more than 20 ranks, those that add nothing are left out."""
    best = {row["rank"]: row for row in found.best.to_dict("records")}
    rows = [
        _line(row, best.get(row["rank"]))
        for row in _shown(found).to_dict("records")
    ]  # fmt: skip
    columns = [
        "Rank",
        "Grade",
        "Gain",
        "Discount",
        "Contribution",
        "Ideal grade",
        "Ideal contribution",
        "Document",
    ]
    sums = ["Sum", "", "", "", _number(found.total), "", _number(found.best_total), ""]
    frame = DataFrame([*rows, sums], columns=columns)
    return frame if len(found.best) else frame.drop(columns=["Ideal grade", "Ideal contribution"])


def _shown(found: Explained) -> DataFrame:
    """Return the ranks that the table shows, including those only of the ideal order."""
    listed = found.listed
    missing = sorted(set(found.best["rank"]) - set(listed["rank"]))
    rows = pd.concat([listed, DataFrame({"rank": missing})]) if missing else listed
    if len(rows) <= 20:
        return rows
    best = set(found.best["rank"]) if len(found.best) <= 20 else set()
    return rows[(rows["term"] > 0) | rows["rank"].isin(best)]


def _line(row: dict[Any, Any], best: dict[Any, Any] | None) -> list[str]:
    there = isinstance(row.get("doc_id"), str)
    grade = "unjudged" if pd.isna(row["relevance"]) else f"{row['relevance']}".replace("-", "−")
    discount = row["discount"]
    listed = (
        [grade, f"{row['gain']:g}", f"{discount:.4g}", _number(row["term"])]
        if there
        else ["–", "", "", ""]
    )
    ideal = [f"{best['relevance']}", _number(best["term"])] if best else ["", ""]
    return [f"{int(row['rank']):,}", *listed, *ideal, row["doc_id"] if there else ""]


def conclusion(found: Explained, stored: float | None, title: str) -> str:
    """Write out the division and say whether it gives the stored score."""
    divided = _worked(found)
    if stored is None:
        return f"{title}: {divided}. No value is stored."
    if equal(stored, found.value):
        return f"{title}: {divided}, as stored."
    return (
        f"{title}: {divided}; the stored {found.measure}, {looks.plain(stored, 4)}, is"
        " from a longer list."
    )
