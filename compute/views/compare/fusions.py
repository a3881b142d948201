"""Fusion of two systems: the best weight, its cross-validated score, and unjudged shares."""

from collections.abc import Hashable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import plotly.graph_objects as go
from pandas import DataFrame, Series

from compute.base.bounded_cache import remembered
from compute.base.errors import WrongInput
from compute.evaluate import tolerance
from compute.evaluate.estimates import tuning
from compute.evaluate.measures import better
from compute.evaluate.significance import by_part, student
from compute.evaluate.tolerance import above
from compute.systems import names, system
from compute.systems.combine.fusion import TUNED
from compute.views.compare.fusion_sweep import ALONE, INTERPOLATE, KS, RRF, WEIGHTS
from compute.views.page import Column
from compute.views.shared import axes, traces
from compute.views.shared import theme as looks
from compute.views.shared.drawing import drawing
from compute.views.shared.theme import between, escape, plain, precise, signed

Titles = tuple[str, str]
FUSING = (
    "Interpolation adds both scores, each scaled to 0–1; RRF adds 1 / (k + rank). Even at"
    " weight 0 or 1, documents of the other system fill up a short list."
)
MARKS = (
    "Line: mean; band: 95% CI; dotted: each system by itself. Hollow: better only if"
    " unjudged documents count as not relevant."
)
ELSEWHERE = "Cross-validated: ten-fold, ten times, over all weights and k."
_SCORES, _HOLES = [0.36, 1], [0, 0.22]
"""Positions of the figure's panels, from the bottom."""


class Swept(NamedTuple):
    """Fusion of two systems on a dataset."""

    settings: DataFrame
    """method, setting, value, low, high (the mean with Student's 95% interval), holes, left_out
    (the mean over condensed lists), only_judged: better than the best single system, but not over
    condensed lists."""
    alone: tuple[float, float]
    """The mean of each system."""
    fused: tuple[float, float, float, float] | None
    """By settings chosen on other queries: mean, gain over the better system, and its 95% CI."""
    n: int


@remembered
def swept(rows: DataFrame, measure: str) -> Swept | None:
    """Summarise `fusion_sweep.swept`, a row per setting. Parts of a dataset have equal weight. None
    if no query has a value at every setting."""
    wide = rows.pivot(index=["dataset", "query_id"], columns=["method", "setting"])
    wide = wide.take(np.flatnonzero(wide["value"].notna().to_numpy().all(axis=1)))
    if wide.empty:
        return None
    weights = by_part(wide.index.get_level_values("dataset").to_series())
    share = np.full(len(wide), 1 / len(wide)) if weights is None else weights
    means, sign = _means(wide, share), better(measure)
    is_alone = means["method"] == ALONE
    alone = means[is_alone].sort_values("setting")
    base = int(tolerance.best(sign * alone["value"]))
    found = means[~is_alone].reset_index(drop=True)
    found["only_judged"] = _only_judged(found, alone.iloc[base], sign)
    fused = _elsewhere(wide, share, base, sign)
    return Swept(found, tuple(alone["value"]), fused, len(wide))


def _means(wide: DataFrame, share: np.ndarray) -> DataFrame:
    """Return each setting's means, in which queries have a `share`, with the 95% interval."""
    values = wide["value"].to_numpy()
    mean = share @ values
    # Queries vary around the mean of their part; a single query has no variance.
    parts = wide["value"].groupby(level="dataset")
    off = (wide["value"] - parts.transform("mean")).to_numpy()
    n = parts.transform("size").to_numpy(dtype=np.float64)
    error = np.sqrt(share**2 * n / np.maximum(n - 1, 1) @ off**2)
    low, high = student(mean, error, len(wide) - 1)
    found = wide["value"].columns.to_frame(index=False)
    for name in ("holes", "left_out"):
        column = wide[name].to_numpy()
        there = ~np.isnan(column)
        # A query without hits, or with only unjudged hits, has no such value.
        found[name] = (share @ np.where(there, column, 0)) / (share @ there)
    return found.assign(value=mean, low=low, high=high)


def _only_judged(found: DataFrame, alone: Series, sign: int) -> np.ndarray:
    """Return true for settings that win only because unjudged documents count as not relevant."""
    ahead = above(sign * found["value"], sign * alone["value"])
    behind = above(sign * alone["left_out"], sign * found["left_out"])
    return np.asarray(ahead) & np.asarray(behind)


def _elsewhere(
    wide: DataFrame, share: np.ndarray, base: int, sign: int
) -> tuple[float, float, float, float] | None:
    """Return `Swept.fused`; `share`: weights of queries; `base`: the better system's index."""
    if len(wide) < tuning.FEWEST:
        return None
    values: Any = wide["value"]
    own = values[ALONE, float(base)].to_numpy()
    settings = values.drop(columns=ALONE, level=0).to_numpy().T
    parts = values.index.get_level_values("dataset")
    tuned = tuning.cross_validated(settings, [own], sign=sign, parts=parts)
    gap = float(share @ (tuned.values - own))
    low, high = student(gap, tuned.errors[0], len(values) - 1)
    return float(share @ tuned.values), gap, float(low), float(high)


def best(found: Swept, measure: str, method: str | None = None) -> Mapping[Hashable, Any]:
    """Return the row of `settings` with the best mean, among those of one method or of both."""
    rows = found.settings[found.settings["method"] == method] if method else found.settings
    return rows.to_dict("records")[int(tolerance.best(better(measure) * rows["value"]))]


def called(row: Mapping[Hashable, Any], titles: Titles) -> str:
    """Put a fusion into words: `Interpolation with weight .55 for BM25`, `RRF with k = 20`."""
    if row["method"] == RRF:
        return f"RRF with k = {row['setting']:g}"
    return f"Interpolation with weight {plain(row['setting'], 2)} for {titles[0]}"


def verdict(found: Swept, titles: Titles, measure: str) -> str:
    """State the best fusion on these queries, with its cross-validated score."""
    sign, row = better(measure), best(found, measure)
    base = int(tolerance.best([sign * one for one in found.alone]))
    name, other = titles[base], titles[1 - base]
    # A fusion may tie with one of its systems or be worse than it.
    which = "Best" if above(sign * row["value"], sign * found.alone[base]) else "Best fusion"
    said = (
        f"{which} on these queries: {called(row, titles)}, {plain(row['value'])} ({name}"
        f" {plain(found.alone[base])}, {other} {plain(found.alone[1 - base])})."
    )
    if which != "Best":
        said += f" No fusion beats {name}."
    if found.fused is None:
        return f"{said} A cross-validated estimate needs at least {tuning.FEWEST} queries."
    mean, gap, low, high = found.fused
    sure = "" if above(low, 0) or above(0, high) else ", not significant"
    return (
        f"{said} Cross-validated: {plain(mean)}, {signed(gap)} over {name}"
        f" (95% CI {between(low, high)}{sure})."
    )


def name(row: Mapping[Hashable, Any], a: str, b: str, dataset: str) -> str:
    """Return the name under which a fusion is stored; one that is not the default names the dataset
    that chose its setting. Raises WrongInput for systems without a usable name."""
    value = int(row["setting"]) if row["method"] == RRF else row["setting"]
    given = "k" if row["method"] == RRF else "weight"
    made = f"{row['method']}({names.parse(a)},{names.parse(b)},{given}={value}"
    plain_one = system(f"{made})").name
    is_default = given not in dict(names.parse(plain_one).parameters)
    return plain_one if is_default else system(f"{made},{TUNED}={dataset})").name


def offered(found: Swept, measure: str, a: str, b: str, dataset: str) -> list[str]:
    """Return the names of the best fusion and of default RRF; none if a name is unusable."""
    usual: Mapping[Hashable, Any] = {"method": RRF, "setting": 60}
    rows = best(found, measure), usual
    try:
        return list(dict.fromkeys(name(row, a, b, dataset) for row in rows))
    except WrongInput:
        return []


@drawing
def figure(found: Swept, titles: Titles, measure: str, *, theme: str) -> go.Figure:
    """Draw the mean at each weight and k, with its interval, and below it the unjudged share."""
    look = looks.palette(theme)
    drawn = go.Figure()
    for axis, method in (("", INTERPOLATE), ("2", RRF)):
        rows = found.settings[found.settings["method"] == method]
        x = rows["setting"] if method == INTERPOLATE else [str(k) for k in KS]
        for trace in _traces(rows, list(x), titles, measure, look):
            drawn.add_trace({**trace, "xaxis": f"x{axis}"})
        for alone in found.alone:
            ends = {"xref": f"x{axis} domain", "x0": 0, "x1": 1, "y0": alone, "y1": alone}
            drawn.add_shape(line={"dash": "dot", "width": 1, "color": look.muted}, **ends)
    ends = float(found.settings["low"].min()), float(found.settings["high"].max())
    return drawn.update_layout(**_layout(titles, measure, ends))


def _traces(
    rows: DataFrame, x: Sequence[Any], titles: Titles, measure: str, look: looks.Palette
) -> list[dict[str, Any]]:
    line = {"color": look.primary, "width": 2}
    fill = [look.background if hollow else look.primary for hollow in rows["only_judged"]]
    ends = rows["high"].tolist() + rows["low"].tolist()[::-1]
    band = {"x": [*x, *x[::-1]], "y": ends, "mode": "lines", "line": {"width": 0}}
    said = [_hover(row, titles, measure) for row in rows.to_dict("records")]
    marker = {"size": 9, "color": fill, "opacity": 1, "line": {"width": 2, "color": look.primary}}
    holes = {"x": list(x), "y": rows["holes"].tolist(), "yaxis": "y2", "mode": "lines"}
    return [
        {"type": "scatter", **band, "fill": "toself", "opacity": 0.25, "hoverinfo": "skip"}
        | {"fillcolor": look.primary},
        {"type": "scatter", "x": list(x), "y": rows["value"].tolist(), "mode": "lines+markers"}
        | {"line": line, "marker": marker, **traces.hover(said)},
        {"type": "scatter", **holes, "line": {"color": look.muted, "width": 2}}
        | traces.hover([f"{one:.0%} holes" for one in rows["holes"]]),
    ]


def _hover(row: Mapping[Hashable, Any], titles: Titles, measure: str) -> str:
    interval = f"{precise(row['low'])} to {precise(row['high'])}"
    return (
        f"<b>{escape(called(row, titles))}</b><br>{escape(measure)} {precise(row['value'])}"
        f" (95%: {interval})<br>{row['holes']:.0%} unjudged"
        f"<br>condensed list {precise(row['left_out'])}"
    )


def _layout(titles: Titles, measure: str, ends: tuple[float, float]) -> dict[str, Any]:
    a = escape(titles[0], 24)
    ticks = [weight for weight in WEIGHTS if round(weight * 20) % 4 == 0]
    return {
        "height": 420,
        "showlegend": False,
        "xaxis": {
            "domain": [0, 0.58],
            "tickvals": ticks,
            "title": {"text": f"interpolation: weight of {a}"},
        }
        | {"ticktext": [f"{one:g}".removeprefix("0") or "0" for one in ticks]},
        "xaxis2": {"domain": [0.66, 1], "type": "category", "title": {"text": "k of RRF"}},
        "yaxis": {"domain": _SCORES, "title": {"text": escape(measure)}} | axes.spanning(*ends, 8),
        "yaxis2": {"domain": _HOLES, "title": {"text": "Hole@10"}, "tickformat": ".0%"}
        | {"nticks": 3, "rangemode": "tozero"},
    }


def across(found: Mapping[str, Swept], measure: str, titles: Mapping[str, str]) -> DataFrame:
    """Return the best interpolation weight for each dataset, and the weight chosen on the others:
    Dataset, Queries, Best weight, its mean, Weight from other datasets (best by their mean),
    Resulting loss. The last two are absent for a single dataset."""
    good = better(measure) * _weights(found)
    others = [good.drop(index=name).mean() for name in good.index]
    chosen = [_best_of(mean) if len(good) > 1 else np.nan for mean in others]
    own = good.max(axis=1)
    lost = [
        own[name] - good.at[name, weight] if weight == weight else np.nan
        for name, weight in zip(good.index, chosen, strict=True)
    ]
    return DataFrame(
        {
            "Dataset": [titles.get(name, name) for name in good.index],
            "Queries": [found[name].n for name in good.index],
            "Best weight": [_best_of(means) for _, means in good.iterrows()],
            measure: (better(measure) * own).tolist(),
            "Weight from other datasets": chosen,
            "Resulting loss": lost,
        }
    )


def _best_of(means: Series) -> float:
    """Return the smallest of the best weights."""
    return float(means.index[int(tolerance.best(means))])


def columns(rows: DataFrame) -> list[Column]:
    """Return columns for `across` or `losses`; weights have two decimals."""
    numbers = set(rows.select_dtypes("float"))
    digits = {name: 2 if "eight" in str(name) else 3 for name in rows}
    return [
        Column(str(name), format=partial(plain, digits=digits[name]) if name in numbers else "")
        for name in rows
    ]


def losses(found: Mapping[str, Swept], measure: str, titles: Mapping[str, str]) -> DataFrame:
    """Return the loss on each dataset with the best weight of each other dataset
    (`tuning.carried`)."""
    lost = tuning.carried(_weights(found), better(measure))
    names = [titles.get(name, name) for name in lost.index]
    lost.columns = names
    lost.insert(0, "Best weight of", names)
    return lost.reset_index(drop=True)


def _weights(found: Mapping[str, Swept]) -> DataFrame:
    """Return the mean on each dataset (a row) at each interpolation weight (a column)."""
    means = {
        name: one.settings[one.settings["method"] == INTERPOLATE].set_index("setting")["value"]
        for name, one in found.items()
    }
    return DataFrame(means).T
