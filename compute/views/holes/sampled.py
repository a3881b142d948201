"""Estimates from sampled judgements, with scores and possible ranges: data, figure, text."""

from collections.abc import Hashable, Iterator, Mapping
from typing import Any

import pandas as pd
import plotly.graph_objects as go
from pandas import DataFrame

from compute.base.words import counted
from compute.evaluate import tolerance
from compute.evaluate.estimates.intervals import FEWEST, Estimates
from compute.evaluate.estimates.linearised import kind
from compute.judgements.sampling import SCORES
from compute.judgements.tasks.estimated import Estimated
from compute.judgements.tasks.tasks import Task
from compute.views.annotate.tables import GOALS
from compute.views.holes.intervals import ENDS
from compute.views.holes.view import OF_SAMPLE
from compute.views.page import Column, Note, Table
from compute.views.shared import axes, traces
from compute.views.shared import theme as looks
from compute.views.shared.drawing import drawing, in_lists
from compute.views.shared.narrow_lists import Lists, ranked
from compute.views.shared.theme import Palette

_ROW = 30
"""Pixels per system."""

ABOUT = ("estimate", "error", "estimate_low", "estimate_high")
_LIKE = ("like_low", "like_high")
_RANKS = ("rank_low", "rank_high")


def systems(bounds: DataFrame, found: Estimated) -> DataFrame:
    """Return a row per system: system, value (the current score), low, high (possible range),
    estimate, error, estimate_low, estimate_high (95% CI for these queries, uncorrected), like_low,
    like_high (95% CI for queries like these), rank_low, rank_high (from 1, given the significant
    pairs, 95% simultaneously), n_judged, enough. While the sample is too small, `estimate` and
    `error` are the only estimates present.

    `bounds`: from `select.bounds`, of the same systems. Estimates and intervals are truncated to
    the pool's range; the list's is too narrow: the ideal order also counts other lists.
    """
    rows = bounds.merge(_told(found.estimates), on="system")
    # Without official judgements, only the range of the measure itself is known.
    least = rows["pool_low"].astype(float).fillna(0)
    most = rows["pool_high"].astype(float).fillna(1)
    for name in ("estimate", "estimate_low", "estimate_high"):
        rows[name] = rows[name].clip(least, most)
    # Other queries may have other unjudged documents, so these ranges do not bound their mean.
    for name in _LIKE:
        rows[name] = rows[name].clip(0, found.estimates.most)
    rows = rows[["system", "value", "low", "high", *ABOUT, *_LIKE, *_RANKS]]
    return rows.assign(n_judged=found.n_judged, enough=found.estimates.enough)


def _told(estimates: Estimates) -> DataFrame:
    """Return system, and the results of the estimates in `systems`."""
    scores = estimates.scores().set_axis(["system", *ABOUT], axis=1)
    like = estimates.queries_like_these().set_axis(["system", *_LIKE], axis=1)
    ranks = estimates.ranks()[["system", *_RANKS]].astype(dict.fromkeys(_RANKS, "Int64"))
    told = scores.merge(like, on="system").merge(ranks, on="system")
    if not estimates.enough:
        told[[*ABOUT[2 if estimates.has_errors else 0 :], *_LIKE]] = float("nan")
        told[list(_RANKS)] = pd.NA
    if estimates.of_differences_only:
        told[[*ABOUT, *_LIKE]] = float("nan")
    return told


def pairs(found: Estimated) -> DataFrame:
    """Return a, b, difference, error, low, high (simultaneous 95% CI), separable, n_judged, enough.
    The differences and their intervals are absent while the sample is too small."""
    estimates = found.estimates
    rows = estimates.pairs()
    better = estimates.better()
    a, b = rows["a"].to_numpy(), rows["b"].to_numpy()
    rows["separable"] = better[a, b] | better[b, a]
    rows["a"], rows["b"] = ([estimates.systems[place] for place in places] for places in (a, b))
    if not estimates.enough:
        rows[["difference", "error", "low", "high"]] = float("nan")
    return rows.assign(n_judged=found.n_judged, enough=estimates.enough)


def provenance(task: Task, found: Estimated) -> dict[str, str | int]:
    """Return the inputs of the estimates: task, sample (frame and its pairs), goal, seed,
    predictor. Several batches are listed in order, separated by commas."""
    seeds = [batch.seed for batch in found.batches]
    return {
        "task": task.id,
        "frame": ", ".join(batch.frame for batch in found.batches),
        "n_frame": found.n_pairs,
        "goal": task.goal,
        "seed": seeds[0] if len(seeds) == 1 else ", ".join(map(str, seeds)),
        "predictor": ", ".join(batch.predictor for batch in found.batches),
        "n_judged": found.n_judged,
    }


def stopped(found: Estimated) -> dict[str, str | int]:
    """Return gaps: judged pairs after a waiting one, the assessors awaited, and missing systems."""
    return {
        "n_behind": found.n_behind,
        "n_waiting": found.n_waiting,
        "waits_for": ", ".join(found.waits_for) if found.n_behind else "",
        "without_lists": ", ".join(found.missing),
    }


def _lists(rows: DataFrame, measure: str, **_: object) -> Lists:
    """Return the systems by estimate, or else current score, with interval and possible range."""
    told = [
        (
            row["title"],
            row["value"] if pd.isna(row["estimate"]) else row["estimate"],
            f"{_said_shortly(row)}; possible {looks.between(row['low'], row['high'])}",
        )
        for row in rows.to_dict("records")
    ]
    return Lists("Measure", "System", [ranked(measure, told)])


def _said_shortly(row: Mapping[Hashable, Any]) -> str:
    if pd.isna(row["estimate"]):
        return f"current {looks.plain(row['value'])}"
    if not row["enough"]:
        return f"{looks.plain(row['estimate'])} (SE {looks.plain(row['error'])})"
    within = looks.between(row["estimate_low"], row["estimate_high"])
    return f"{looks.plain(row['estimate'])} ({within})"


@in_lists(_lists)
@drawing
def estimates(rows: DataFrame, measure: str, *, theme: str) -> go.Figure:
    """Draw a row per system, in the given order: a pale bar for its possible range, a dot with a
    95% interval for the estimate, and an open mark for the current score. `rows`: from `systems`,
    with title; without estimates only the bar and the current score are drawn."""
    look = looks.palette(theme)
    layout = {
        "height": _ROW * len(rows) + 120,
        "showlegend": True,
        "margin": {"t": 40},
        "xaxis": {"title": {"text": measure}, "zeroline": False} | _scale(rows),
        "yaxis": axes.names_down(rows["title"].tolist(), above=0.6, below=0.6, ticks=""),
    }
    return go.Figure(list(_marks(rows, measure, look)), layout)


def _scale(rows: DataFrame) -> dict[str, Any]:
    """Return an axis that covers every bar and interval."""
    low = rows[["low", "value", "estimate_low"]].min().min()
    high = rows[["high", "estimate_high"]].max().max()
    return axes.spanning(float(low), float(high))


def _marks(rows: DataFrame, measure: str, look: Palette) -> Iterator[dict[str, Any]]:
    said = [_said(row, measure) for row in rows.to_dict("records")]
    places, pale = range(len(rows)), {"width": 9, "color": looks.colour(0.28, look.sequential)}
    yield traces.lines(rows["low"], rows["high"], places, pale, said, name="possible range")
    if rows["enough"].all() and rows["estimate_low"].notna().any():
        low, high = rows["estimate_low"], rows["estimate_high"]
        line = {"width": 4, "color": look.primary}
        yield traces.lines(low, high, places, line, said, name="95% CI")
    if rows["estimate"].notna().any():
        dot = {"size": 11, "color": look.primary, "line": {"width": 1, "color": look.background}}
        yield traces.marks(rows["estimate"].tolist(), None, dot, said, name="estimate")
    today = {"symbol": "line-ns-open", "size": 13, "color": look.outline, "line": {"width": 2}}
    yield traces.marks(rows["value"].tolist(), None, today, said, name="current score")


def _said(row: Mapping[Hashable, Any], measure: str) -> str:
    lines = [
        f"<b>{looks.escape(row['title'])}</b>",
        f"{measure} current {looks.precise(row['value'])}; possible"
        f" {looks.precise(row['low'])} to {looks.precise(row['high'])}",
    ]
    if row["enough"] and pd.notna(row["estimate"]):
        low, high = (looks.precise(row[f"estimate_{end}"]) for end in ("low", "high"))
        lines.append(f"estimate {looks.precise(row['estimate'])}, 95% CI {low} to {high}")
    elif pd.notna(row["estimate"]):
        estimate, error = looks.precise(row["estimate"]), looks.precise(row["error"])
        lines.append(f"estimate {estimate}, standard error {error}; no interval")
    return "<br>".join(lines)


def verdict(
    rows: DataFrame,
    told: DataFrame,
    found: Estimated,
    task: Task,
    certain: str = "",
    of_two: str = "",
) -> str:
    """State the decision that the judgements allow, and gaps. `rows`: from `systems`, with title.
    `told`: from `pairs`. `certain`: from the function of that name, which needs no sample.
    `of_two`: the verdict if the task compares two systems."""
    said = [certain or of_two or _enough(rows, told, found, task)]
    if found.n_behind:
        person = " or ".join(found.waits_for) or "an assessor"
        said.append(
            f"The sample stops at document {found.place + 1:,}, which waits for {person};"
            f" {counted(found.n_behind, 'judged document')} after it cannot count yet."
        )
    if not found.n_waiting and not found.estimates.is_census:
        said.append("All sampled documents are judged or skipped.")
    if found.estimates.of_differences_only:
        said.append("Scores cannot be estimated: documents that all systems rank are not sampled.")
    if found.n_left_out:
        drawn = counted(found.n_left_out, "older draw")
        said.append(f"The runs behind {drawn} changed; the judgements count, but not as a sample.")
    if found.missing:
        said.append(f"No ranked lists for these queries: {', '.join(found.missing)}.")
    return " ".join(filter(None, said))


def certain(rows: DataFrame) -> str:
    """Name the better of two systems by a sum if their possible ranges do not overlap."""
    if len(rows) != 2:
        return ""
    worse, better = rows.sort_values("low").to_dict("records")
    if not better["low"] > worse["high"] + tolerance.TOLERANCE:
        return ""
    ranges = (looks.between(one["low"], one["high"]) for one in (better, worse))
    return (
        f"{better['title']} is better whatever the grades of the unjudged documents are:"
        f" {' against '.join(ranges)}."
    )


def _not_enough(has: Estimates) -> str:
    if has.range_only:
        return (
            "This measure has no interval: it depends on documents outside the sample, or its"
            " interval coverage is too low in simulations. P and DCG have intervals."
        )
    return (
        f"Not enough judgements yet: {has.n_relevant:,} relevant and {has.n_not_relevant:,}"
        f" non-relevant; at least {FEWEST} of each are needed for a confidence interval."
    )


def _enough(rows: DataFrame, told: DataFrame, found: Estimated, task: Task) -> str:
    """State the widest margin of error and the number of significant pairs."""
    if not found.estimates.enough:
        return _not_enough(found.estimates)
    if task.baseline:
        told = told[(told["a"] == task.baseline) | (told["b"] == task.baseline)]
    if task.goal == SCORES:
        half = ((rows["estimate_high"] - rows["estimate_low"]) / 2).to_numpy()
        widest = rows["title"].iloc[int(half.argmax())]
        apart = f"The widest margin of error is ±{looks.plain(float(half.max()))} ({widest})"
    else:
        # The sample skips documents that both systems rank, so it tells little about scores.
        half = ((told["high"] - told["low"]) / 2).to_numpy()
        titles = dict(zip(rows["system"], rows["title"], strict=True))
        two = " and ".join(
            titles.get(told[side].iloc[int(half.argmax())], "") for side in ("a", "b")
        )
        apart = (
            "The widest margin of error of a difference (95% for all pairs together) is"
            f" ±{looks.plain(float(half.max()))} ({two})"
        )
    if not len(told):
        return f"{apart}."
    pairs = counted(len(told), "pair")
    return f"{apart}; {told['separable'].sum():,} of {pairs} differ significantly."


def numbers(rows: DataFrame, measure: str) -> Table:
    """Return the values of the figure, a row per system; `rows`: from `systems`, with title."""
    heads = [(f"Current {measure}", "value"), ("Estimate", "estimate"), ("SE", "error")]
    for head, name in (("These queries", "estimate"), ("Queries like these", "like")):
        heads += [(f"{head}: {end}", f"{name}_{end}") for end in ENDS]
    columns = [
        Column("System", "title"),
        *(Column(head, name, looks.plain) for head, name in heads),
        Column("Best rank", "rank_low"),
        Column("Worst rank", "rank_high"),
    ]
    title = f"{measure} of systems, estimated from a sample"
    return Table("estimated-numbers", title, rows, columns, of=OF_SAMPLE)


NUMBERS = Note(
    [
        "These queries: 95% CI of the mean over these queries, from sampling judgements.",
        "Queries like these: 95% CI that includes the variance between queries.",
        "Ranks: possible ranks given the significant pairs (95% simultaneous).",
    ]
)
"""How to read the columns of `numbers`."""


def wanted(found: Estimated, task: Task, half_width: float) -> Note:
    """State the number of further judgements for a margin of error."""
    more = found.more(task, half_width)
    of = "of a score" if task.goal == SCORES else "of a difference"
    if not found.estimates.enough:
        return Note(["The number of judgements can be predicted once there is an interval."])
    width = looks.plain(half_width)
    if more is None:
        return Note([f"Not reachable: skipped documents keep the margin of error above {width}."])
    if not more:
        return Note([f"Every margin of error {of} is already at most {width}."])
    return Note(
        [
            f"For a margin of error {of} of at most {width}: about"
            f" {counted(more, 'more judgement')} (6 to 22% too many in simulations).",
        ]
    )


def note(task: Task, found: Estimated, measure: str) -> Note:
    """Describe the sample, and how to read the figure."""
    goal = f"{GOALS[task.goal]} ({task.baseline})" if task.baseline else GOALS[task.goal]
    drawn = [
        f"seed {one.seed}, predictor {one.predictor}, frame {one.frame}" for one in found.batches
    ]
    pool = f"The ideal list contains documents that are judged or in a top {task.depth}."
    facts = [
        f"{found.n_judged:,} of {found.n:,} sampled documents judged, drawn from"
        f" {int((found.growth.size > 0).sum()):,} of the {found.n_pairs:,} in the lists.",
        "The 95% CI covers sampling error on these queries; choose beforehand when to stop."
        * found.estimates.enough,
        pool * kind(measure).is_ratio,
        "The task's own judgements count, whatever is chosen at the top of the page.",
        f"Sampled for {goal}, task {task.title} ({task.id}): {'; '.join(drawn)}.",
    ]
    return Note(facts)
