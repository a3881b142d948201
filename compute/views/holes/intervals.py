"""Figures and tables of scores with their possible ranges, and of unjudged shares by rank."""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from pandas import DataFrame

from compute.base.words import counted, several
from compute.evaluate import holes
from compute.evaluate.tolerance import SHOWN, above, order, ranks
from compute.views.holes.view import OF
from compute.views.page import Column, Note, Table
from compute.views.shared import axes, traces
from compute.views.shared import theme as looks
from compute.views.shared.drawing import drawing, in_lists
from compute.views.shared.narrow_lists import Lists, Ranked, ranked
from compute.views.shared.theme import Palette

ROW = 30
"""Pixels per system."""
_RUNS = 4
"""Most runs of the pool that are named."""
_VISIBLE = 0.002
"""Least difference between two ranges that is visible in a figure."""
_NAMED = 3
"""Most flipped pairs of systems that are named."""

Row = Mapping[Hashable, Any]
RANGES = {"": "top k", "pool_": "pool", "collection_": "corpus"}
"""Names of the ranges of a score by the prefix of their columns."""
ENDS = ("low", "high")
_LINES = {"": (9, 0.28), "pool_": (4, 0.5), "collection_": (1.5, 0.75)}
"""Width and shade of the bar of each range."""
_ESTIMATES = {
    "expected": ("imputed", "diamond-open", 9),
    "condensed": ("condensed list", "line-ns-open", 13),
}


def _score_lists(rows: DataFrame, measure: str, **_: object) -> Lists:
    """Return the systems by score, with the possible range by the own list and unjudged share."""
    column, name = ranges(rows)[0]
    told = [
        (
            row["title"],
            row["value"],
            f"{looks.plain(row['value'])} ({looks.between(low, high)} by the {name});"
            f" {percent(row['hole'])} unjudged",
        )
        for row in rows.to_dict("records")
        for low, high in [(row[f"{column}low"], row[f"{column}high"])]
    ]
    return Lists("Measure", "System", [ranked(measure, told)])


@in_lists(_score_lists)
@drawing
def score_intervals(rows: DataFrame, measure: str, *, theme: str) -> go.Figure:
    """Draw a row per system, in the given order: a dot at its score, a bar for the range of its own
    list, and thinner lines for the ranges of the pool and the corpus. `rows`: system, title,
    n_queries, n_holes, value, low, high, hole, hole_beir; wider ranges (pool_low …), expected and
    condensed are drawn if the columns exist. At the right are both definitions of Hole@k."""
    look = looks.palette(theme)
    marks = [*_bars(rows, measure, look), *_guesses(rows, look), _dots(rows, measure, look)]
    across = {"title": {"text": measure}, "zeroline": False}
    layout = {
        "height": ROW * len(rows) + 120,
        "showlegend": True,
        "margin": {"r": 132, "t": 40},
        "xaxis": _scale(rows) | across,
        "yaxis": axes.names_down(rows["title"].tolist(), above=0.6, below=0.6, ticks=""),
        "annotations": list(_shares(rows, measure.partition("@")[2], look)),
    }
    return go.Figure(marks, layout)


def _scale(rows: DataFrame) -> dict[str, Any]:
    """Return an axis on which the ends of all bars are visible."""
    shown = [name for name, _ in ranges(rows)]
    low = min(float(rows[f"{name}low"].min()) for name in shown)
    return axes.spanning(low, max(0.1, *(float(rows[f"{name}high"].max()) for name in shown)))


def ranges(rows: DataFrame) -> list[tuple[str, str]]:
    """Return the prefix of the columns of each range, and its name."""
    return [(column, name) for column, name in RANGES.items() if f"{column}low" in rows]


def _drawn(rows: DataFrame) -> list[tuple[str, str]]:
    """Return `ranges` without those that are nowhere visibly wider than the one before."""
    found = ranges(rows)[:1]
    for column, name in ranges(rows)[1:]:
        more = [rows[f"{column}{end}"] - rows[f"{found[-1][0]}{end}"] for end in ENDS]
        if max(gap.abs().max() for gap in more) >= _VISIBLE:
            found.append((column, name))
    return found


def _bars(rows: DataFrame, measure: str, look: Palette) -> Iterator[dict[str, Any]]:
    """Yield the ranges, the widest first, so that the bar of the own list is on top."""
    hover = [_said(row, measure) for row in rows.to_dict("records")]
    for column, name in reversed(_drawn(rows)):
        width, shade = _LINES[column]
        ends = rows[f"{column}low"], rows[f"{column}high"]
        line = {"width": width, "color": looks.colour(shade, look.sequential)}
        yield traces.lines(*ends, range(len(rows)), line, hover, name=name)


def _guesses(rows: DataFrame, look: Palette) -> Iterator[dict[str, Any]]:
    for column, (name, symbol, size) in _ESTIMATES.items():
        if column in rows:
            line = {"width": 2, "color": look.outline}
            marker = {"symbol": symbol, "size": size, "color": look.outline, "line": line}
            yield traces.marks(rows[column].tolist(), None, marker, name=name)


def _dots(rows: DataFrame, measure: str, look: Palette) -> dict[str, Any]:
    line = {"width": 1, "color": look.background}
    marker = {"size": 11, "color": look.primary, "line": line}
    hover = [_said(row, measure) for row in rows.to_dict("records")]
    name = "score (unjudged = not relevant)"
    return traces.marks(rows["value"].tolist(), None, marker, hover, name=name)


def _said(row: Row, measure: str) -> str:
    lines = [
        f"<b>{looks.escape(row['title'])}</b>",
        f"{measure} {looks.precise(row['value'])}; possible range",
        *(
            f"{name}: {looks.precise(row[f'{column}low'])} to {looks.precise(row[f'{column}high'])}"
            for column, name in RANGES.items()
            if f"{column}low" in row
        ),
        f"{row['n_holes']:,} unjudged in {row['n_queries']:,} queries",
    ]
    for column, (name, _, _) in _ESTIMATES.items():
        if column in row:
            lines.append(f"{name}: {looks.precise(row[column])}")
    return "<br>".join(lines)


def _shares(rows: DataFrame, cut: str, look: Palette) -> Iterator[dict]:
    muted = {"color": look.muted}
    place = {"x": 1, "xref": "paper", "xanchor": "right"}
    for y, row in enumerate(rows.to_dict("records")):
        yield place | {"y": y, "xshift": 58, "text": f"<b>{percent(row['hole'])}</b>"}
        said = {"text": percent(row["hole_beir"]), "font": muted}
        yield place | {"y": y, "xshift": 124} | said
    head = place | {"y": 1, "yref": "paper", "yanchor": "bottom", "font": muted}
    yield head | {"xshift": 58, "text": f"Hole@{cut}"}
    yield head | {"xshift": 128, "text": "judged for<br>no query"}


def percent(share: float) -> str:
    """Format a share in whole percent; – if absent."""
    return "–" if pd.isna(share) else f"{share:.0%}"


def _rank_lists(rows: DataFrame, ranks: DataFrame, **_: object) -> Lists:
    """Return systems by unjudged share, the highest first: over all ranks, then rank by rank."""
    titles = dict(zip(rows["system"], rows["title"], strict=True))

    def told(title: str, own: DataFrame) -> Ranked:
        sums = own.groupby("system", sort=False)[["n_holes", "n_filled"]].sum()
        share = sums["n_holes"] / sums["n_filled"].where(sums["n_filled"] > 0)
        return ranked(
            title, [(titles[str(name)], value, percent(value)) for name, value in share.items()]
        )

    each = [told(f"Rank {rank}", own) for rank, own in ranks.groupby("rank")]
    return Lists("Ranks", "System", [told(f"Ranks 1 to {len(each)}", ranks), *each])


@in_lists(_rank_lists)
@drawing
def rank_heatmap(rows: DataFrame, ranks: DataFrame, *, theme: str) -> go.Figure:
    """Draw the share of queries whose document at a rank (column) is unjudged, for each system
    (row). `rows`: system, title, in order. `ranks`: system, rank, n_filled, n_holes, n_relevant."""
    look = looks.palette(theme)
    # The scale ends before the muted ink, on which no number would be legible.
    stops = [looks.colour(share, (look.background, look.muted)) for share in (0, 0.35, 0.65)]
    shares = (ranks["n_holes"] / ranks["n_filled"].where(ranks["n_filled"] > 0)).rename("share")
    wide = ranks.assign(share=shares).pivot(index="system", columns="rank", values="share")
    wide = wide.reindex(rows["system"])
    hover = _rank_hovers(rows, ranks).reindex(rows["system"]).to_numpy().tolist()
    heat = traces.cells(wide.to_numpy().tolist(), stops, 1, hover, x=wide.columns.tolist())
    layout = {
        "height": 26 * len(rows) + 70,
        "xaxis": _ranks_across(len(wide.columns)),
        "yaxis": axes.names_down(rows["title"].tolist(), ticks=""),
    }
    return go.Figure([heat, *_rank_texts(wide, stops)], layout)


def _ranks_across(k: int) -> dict[str, Any]:
    places = list(range(1, k + 1))
    ticks = {"tickvals": places, "ticktext": [str(rank) for rank in places], "ticks": ""}
    return ticks | {
        "range": [0.5, k + 0.5],
        "side": "top",
        "title": {"text": "rank"},
        "showgrid": False,
    }


def _rank_hovers(rows: DataFrame, ranks: DataFrame) -> DataFrame:
    """Return the tooltip of each system (a row) at each rank (a column)."""
    titles = dict(zip(rows["system"], rows["title"], strict=True))
    said = [
        f"<b>{looks.escape(titles[row['system']])}</b> at rank {row['rank']}<br>"
        f"{row['n_holes']:,} of {row['n_filled']:,} unjudged, {row['n_relevant']:,} relevant"
        for row in ranks.to_dict("records")
    ]
    return ranks.assign(said=said).pivot(index="system", columns="rank", values="said")


def _rank_texts(wide: DataFrame, stops: Sequence[str]) -> list[dict[str, Any]]:
    cells = [
        (rank, y, share)
        for y, (_, shares) in enumerate(wide.iterrows())
        for rank, share in shares.items()
        if pd.notna(share)
    ]
    words = [f"{100 * share:.0f}" for *_, share in cells]
    inks = [looks.ink(looks.colour(share, stops)) for *_, share in cells]
    return traces.texts([cell[:2] for cell in cells], words, inks, 12)


def interval_table(rows: DataFrame, measure: str) -> Table:
    """Return the values of the figures, a row per system."""
    cut = measure.partition("@")[2]
    ends = [(f"{c}{end}", f"{n.capitalize()}: {end}") for c, n in RANGES.items() for end in ENDS]
    heads = [("value", measure), *ends, ("expected", "Imputed"), ("condensed", "Condensed list")]
    columns = [
        Column("System", "title"),
        *(Column(head, name, looks.plain) for name, head in heads),
        Column(f"Hole@{cut}", "hole", percent),
        Column("Not judged for any query", "hole_beir", percent),
        Column("Unjudged", "n_holes"),
    ]
    there = [one for one in columns if one.field in rows]
    return Table("bounds", f"{measure} and its possible range", rows, there, of=OF)


def verdict(rows: DataFrame, measure: str) -> str:
    """State the unjudged share, and the score with the widest range."""
    cut = measure.partition("@")[2]
    least, most = rows["hole"].min(), rows["hole"].max()
    if not rows["n_holes"].any():
        return f"All documents in the top {cut} are judged."
    shares = list(dict.fromkeys(percent(share) for share in (least, most)))
    if shares == ["0%"]:
        shares = ["Less than 1%"]
    widest = rows.iloc[int((rows["high"] - rows["low"]).to_numpy().argmax())]
    ends = f"{looks.plain(widest['low'])}–{looks.plain(widest['high'])}"
    whose = "Most uncertain: " * (len(rows) > 1) + widest["title"]
    return (
        f"{'–'.join(shares).replace('%–', '–')} of the top {cut} is unjudged. {whose},"
        f" {looks.plain(widest['value'])} (possible range from its top {cut}: {ends})."
    )


def intervals_note(rows: DataFrame, measure: str, recorded: Row, about: Row) -> Note:
    """Say how to read the ranges, with facts about the judgements. `recorded`: n_judgements,
    n_not_relevant, highest, n_added, n_added_not_relevant of the judgements that count. `about`:
    the basis of the ranges, from `holes.select_unjudged.ranges`."""
    cut, grade = measure.partition("@")[2], int(recorded["highest"])
    grades = "0 or 1" if grade <= 1 else f"0 to {grade}"
    over = f"Over {int(rows['n_queries'].max()):,} judged queries."
    any_grade = f"range if unjudged documents in the top {cut} get any grade, {grades}."
    return Note(
        [
            f"{over} Dot: unjudged = not relevant. Bar: {any_grade}",
            f"{_pool_said(rows, about)} {_corpus_said(rows, about)}",
            _wider_said(measure),
        ],
        of_lists=[f"{over} Score: unjudged = not relevant. In brackets: {any_grade}"],
    )


def _pool_said(rows: DataFrame, about: Row) -> str:
    """Describe the range of the pool of stored runs; `about` has their names and number."""
    runs = counted(len(about["systems"]), "stored run")
    if "pool_low" in rows:
        line = "Thinner line" if "pool_" in dict(_drawn(rows)) else "No wider (not drawn)"
        return f"{line}: range if any document in the pool of {runs} could be relevant."
    return f"The pool of {runs} is too large to compute here; use python -m compute holes."


def _corpus_said(rows: DataFrame, about: Row) -> str:
    line = "Thinnest line" if "collection_" in dict(_drawn(rows)) else "No wider (not drawn)"
    n = about["n_documents"]
    of = ", whose size is unknown" if pd.isna(n) else f" of {int(n):,}"
    return f"{line}: the corpus{of}."


def _wider_said(measure: str) -> str:
    """Say how the ranges differ, which depends on the measure's denominator."""
    gain, k = holes.formula(measure)
    if gain.enough(k) == 0:
        return "The three ranges are the same, since only the top ranks count."
    return "Wider ranges only lower the lower bound: they raise the ideal score."


def last_note(rows: DataFrame, recorded: Row, waiting: Row | None = None) -> Note:
    """Say how unjudged documents are imputed, or why these judgements do not allow it. `waiting`:
    the record with added judgements, if these do not count now."""
    if "condensed" in rows:
        of = "judged" if recorded["n_not_relevant"] else "added and judged"
        imputed = f"an unjudged document gets the average gain of {of} documents at its rank"
        return Note([f"Imputed: {imputed} (optimistic)." * ("expected" in rows), _LEFT_OUT])
    there = waiting or recorded
    missing = holes.FEWEST_ADDED - int(there["n_added"])
    if waiting and missing <= 0 and int(there["n_added_not_relevant"]):
        return Note([_SILENCE, "Both appear if you choose official + added judgements above."])
    wanted = f"{missing} more added judgements" if missing > 0 else "added judgements"
    return Note([_SILENCE, f"Both appear after {wanted}, including some “not relevant”."])


_LEFT_OUT = "Condensed list: unjudged documents are removed (usually also optimistic)."
_SILENCE = (
    "The official qrels contain only relevant documents, so Hole@k is close to 1 −"
    " precision, and imputed or condensed scores are meaningless."
)


def before_and_after(before: DataFrame, after: DataFrame, measure: str) -> Table:
    """Return score, Hole@k and rank of each system by official judgements and with added ones,
    sorted by the score after. Both frames: system, title, value, hole."""
    cut = measure.partition("@")[2]
    both = before.merge(after[["system", "value", "hole"]], on="system", suffixes=("", "_after"))
    both = both.iloc[order(both["value_after"], both["system"])]
    places = both[["value", "value_after"]].apply(ranks).astype(int)
    both["change"] = both["value_after"] - both["value"]
    both["place"], both["place_after"] = places["value"], places["value_after"]
    columns = [
        Column("System", "title"),
        Column(f"{measure} before", "value", looks.plain),
        Column("after", "value_after", looks.plain),
        Column("change", format=looks.signed),
        Column(f"Hole@{cut} before", "hole", percent),
        Column("after", "hole_after", percent),
        Column("Rank before", "place"),
        Column("after", "place_after"),
    ]
    title = f"{measure} before and after added judgements"
    return Table("before-after", title, both, columns, of=OF)


def order_note(before: DataFrame, after: DataFrame) -> str:
    """State how many pairs' order flipped, with some names. Frames: system, title, value."""
    both = before.merge(after[["system", "value"]], on="system", suffixes=("", "_after"))
    both = both.iloc[order(both["value"], both["system"])].reset_index(drop=True)
    old, new = both["value"].to_numpy(), both["value_after"].to_numpy()
    first, second = np.triu_indices(len(both), 1)
    turned = above(old[first], old[second]) & above(new[second] - SHOWN, new[first])
    if len(both) < 2:
        return ""
    if not turned.any():
        same = "The ranking is the same before and after"
        slight = above(old[first], old[second]) & above(new[second], new[first])
        return (
            f"{same}, except for leads below {looks.plain(SHOWN)}." if slight.any() else f"{same}."
        )
    over = zip(second[turned], first[turned], strict=True)
    named = [
        f"{both['title'][one]} now leads {both['title'][other]}"
        f" by {looks.plain(new[one] - new[other])}"
        for one, other in over
    ]
    return f"The ranking changed (not tested): {several(named, _NAMED, 'pair')}."


def published_effect(effect: DataFrame) -> Table:
    """Return the paper's table, best after judging first; `effect`: title, before, after, hole."""
    rows = effect.assign(change=effect["after"] - effect["before"])
    rows = rows.sort_values("after", ascending=False, kind="stable")
    columns = [
        Column("System", "title"),
        Column("nDCG@10 before", "before", looks.plain),
        Column("after", format=looks.plain),
        Column("change", format=looks.signed),
        Column("Hole@10 before", "hole", percent),
    ]
    return Table("published-effect", "Published before and after", rows, columns, of=())
