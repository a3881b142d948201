"""Figures of document lengths: half violins of groups of documents, and two systems query by query.
Plotly's own violins would be all tail here, so densities are computed from the counted lengths."""

import math
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from numpy.typing import NDArray
from pandas import DataFrame
from scipy.ndimage import gaussian_filter1d
from scipy.stats import binomtest

from compute.base.words import counted
from compute.views.shared import axes, traces
from compute.views.shared import theme as looks
from compute.views.shared.drawing import drawing, in_lists
from compute.views.shared.narrow_lists import Lists, ranked

ROW, NARROW, MANY = 48, 40, 12
"""Pixels per group (density and quantiles), and pixels if there are more than MANY groups."""
STEPS = 300
"""Points of a density along the axis."""
SHOWN = 0.995
"""Share of the documents that a linear axis covers; every group has the same weight."""
BARS = 41
"""Columns of the histogram of differences; the middle one is around 0."""
WHOLE, RELEVANT = "Corpus", "Relevant documents"
_SHOULDER, _BELOW = 0.7, 0.12
_HEADROOM, _FOOT = 0.75, 0.6
"""Rows of space above the first row and below the last."""
_LEAST_ROW, _MOST_ROW, _COLUMN_ROWS = 16, 30, 300
"""In a one-column figure, fewest and most pixels of a row, and most pixels of all rows. With these,
19 rows and their heading are at most 100 mm high."""
_LETTERS, _LETTER, _MEDIAN = 22, 11.5, 52
"""In a one-column figure: most letters of a name, pixels of a letter and of the medians."""

Row = Mapping[Hashable, Any]
Values = NDArray[np.float64]


def beside_corpus(summaries: DataFrame, named: DataFrame) -> DataFrame:
    """Return the rows of the main figure with title and family (empty if not a system): corpus,
    relevant documents, then systems, those with the shortest documents first. `summaries`: of,
    relevance, system, n, mean, p5, p25, p50, p75, p95, longest. `named`: system, title, family."""
    rows = summaries.merge(named, on="system", how="left")
    first = [_titled(rows, "corpus", WHOLE), _titled(rows, "relevant", RELEVANT)]
    top = rows[rows["of"] == "top"].sort_values(["p50", "mean", "title"])
    frames: list[DataFrame] = [*first, top]
    return pd.concat(frames, ignore_index=True).fillna({"family": ""})


def finding(rows: DataFrame) -> str:
    """Name the systems with the shortest and the longest median, or the shorter of two. `rows` are
    from `beside_corpus`; empty for fewer than two systems, or if all are equal."""
    top = rows[rows["of"] == "top"].sort_values("p50", kind="stable")
    if len(top) < 2 or top["p50"].nunique() < 2:
        return ""
    shortest, longest = top.iloc[0], top.iloc[-1]
    least, most = ("shorter", "longer") if len(top) == 2 else ("shortest", "longest")
    return (
        f"{shortest['title']} retrieves the {least} documents (median {words(shortest['p50'])}"
        f" words), {longest['title']} the {most} ({words(longest['p50'])})."
    )


def by_relevance(summaries: DataFrame) -> DataFrame:
    """Return the corpus and the grades, highest first, as rows in the form of `beside_corpus`."""
    judged = summaries[summaries["of"] == "judged"]
    judged = judged.assign(grade=judged["relevance"].astype(int)).sort_values("grade")[::-1]
    titles = [
        f"grade {_whole(g)}: {'relevant' if g > 0 else 'not relevant'}" for g in judged["grade"]
    ]
    corpus = _titled(summaries, "corpus", WHOLE)
    return pd.concat([corpus, judged.assign(title=titles)], ignore_index=True).assign(family="")


def _titled(rows: DataFrame, of: str, title: str) -> DataFrame:
    return rows[rows["of"] == of].assign(title=title)


def _whole(number: int) -> str:
    return f"{number:,}".replace("-", "−")


def words(number: float, *, with_sign: bool = False) -> str:
    """Format a length, or a difference of lengths, in words: `195`, `1,541`, `−9.5`."""
    size = f"{abs(number):,.1f}".removesuffix(".0")
    sign = "−" if number < 0 else "+" if with_sign else ""
    return size if size == "0" else sign + size


def _lists(rows: DataFrame, corpus: float, **_: object) -> Lists:
    """Return the rows by median, the shortest first, with the difference from the corpus. The
    corpus and relevant documents have no rank."""
    told = []
    for row in rows.to_dict("records"):
        gap = f" ({words(row['p50'] - corpus, with_sign=True)})" * (row["of"] != "corpus")
        place = np.nan if row["of"] in ("corpus", "relevant") else row["p50"]
        told.append((row["title"], place, f"{words(row['p50'])}{gap}"))
    return Lists("Words", "Of", [ranked("Median words", told, descending=False)])


@in_lists(_lists)
@drawing
def violins(
    rows: DataFrame,
    histogram: DataFrame,
    corpus: float,
    *,
    log: bool,
    cut: int | None,
    theme: str,
    narrow: bool = False,
) -> go.Figure:
    """Draw the distribution of document length for each row, as densities of the same height, in
    the given order.

    `rows` are from `beside_corpus`; `histogram` (of, relevance, system, n_words, count) has the
    same groups. Below each density are a thin line for the 5th–95th percentile, a thick one for the
    interquartile range, and a ring for the median. At the right are the median and its difference
    from `corpus`, the corpus's median (dotted line). A linear axis covers the share SHOWN of the
    documents. A `narrow` figure fits one column and shows only medians.
    """
    keys = ["of", "relevance", "system"]
    counts = dict(list(histogram.groupby(keys)[["n_words", "count"]]))
    own = [counts[tuple(row)] for row in rows[keys].itertuples(index=False)]
    records = rows.to_dict("records")
    low, high = span(own, log=log)
    high = cut or high
    figure = go.Figure(
        data=[
            *(
                _violin(one, place, (low, high), _colour(row, theme), log=log)
                for place, (row, one) in enumerate(zip(records, own, strict=True))
            ),
            _dotted(corpus, len(records), theme),
            *_quantiles(records, high, looks.palette(theme), narrow=narrow),
        ]
    )
    longer = _longer(records, own, high, theme, narrow=narrow)
    notes = [*_medians(records, corpus, theme, narrow=narrow), *longer]
    titles = list(rows["title"])
    layout = _narrow(titles, longer=bool(longer)) if narrow else _axes(titles)
    figure.update_layout(annotations=notes, **layout)
    return figure.update_xaxes(
        **(_logarithmic(low, high, narrow=narrow) if log else {"range": [0, high]})
    )


def _narrow(titles: Sequence[str], *, longer: bool) -> dict[str, Any]:
    """Return the layout for one column of a page, with rows as low as is legible."""
    row = _low(len(titles))
    above, below = _HEADROOM + _LEAST_ROW / row, _FOOT
    across = "words per document" + " (n ▸: n longer)" * longer
    font = {"size": _LETTER}
    return {
        "height": round(row * (len(titles) - 1 + above + below)) + 4,
        "margin": {"r": _MEDIAN, "t": 4},
        "xaxis": {"title": {"text": across}, "zeroline": False, "nticks": 5},
        "yaxis": axes.names_down(
            titles, above=above, below=below, longest=_LETTERS, ticklabelstandoff=4, tickfont=font
        ),
    }


def _low(n_rows: int) -> float:
    """Return the pixels of a row in a one-column figure."""
    return min(max(_COLUMN_ROWS / max(n_rows, 1), _LEAST_ROW), _MOST_ROW)


def _logarithmic(low: float, high: float, *, narrow: bool) -> dict[str, Any]:
    """Return a logarithmic axis with ticks at 1, 2, 5 (`narrow`: 1, 3) times powers of ten."""
    bases = (1, 3) if narrow and high > 10 * low else (1, 2, 5)
    steps = [base * 10**power for power in range(9) for base in bases]
    marks = [step for step in steps if low <= step <= high]
    ends = [math.log10(low), math.log10(high * 1.02)]
    said = [f"{mark:,}" for mark in marks]
    return {"type": "log", "range": ends, "tickvals": marks, "ticktext": said}


def span(counts: Sequence[DataFrame], *, log: bool) -> tuple[float, float]:
    """Return the ends of an axis that shows these histograms (n_words, count). Logarithms have no
    0, so documents without words count as one word."""
    if log:
        least = max(min(int(one["n_words"].min()) for one in counts), 1)
        return 0.9 * least, float(max(least + 1, *(int(one["n_words"].max()) for one in counts)))
    shares = pd.concat([one.assign(share=one["count"] / one["count"].sum()) for one in counts])
    by_length = shares.groupby("n_words")["share"].sum().sort_index().cumsum()
    reached = by_length[by_length >= SHOWN * len(counts) - 1e-9]
    return 0.0, float(max(reached.index[0], 1))


def density(counts: DataFrame, low: float, high: float, *, log: bool) -> tuple[Values, Values]:
    """Return lengths along the axis and the density there, which is at most 1, by a Gaussian
    kernel. Silverman's rule sets the kernel's width, in log units on a logarithmic axis. A length
    of n words is spread over n ± ½, so that integers leave no ripple. Mass beyond the ends is left
    out; mass that the kernel pushes over an end is reflected."""
    n_words, count = counts["n_words"].to_numpy(float), counts["count"].to_numpy(float)
    if log:
        n_words = np.maximum(n_words, 1)
    n_words, place = np.unique(n_words, return_inverse=True)
    upto = np.concatenate([[0], np.cumsum(np.bincount(place, weights=count))])
    scale = np.log10 if log else np.asarray
    start = max(low, 0.5) if log else -0.5
    edges = np.linspace(scale(start), scale(high + 0.5), STEPS + 1)
    # The cumulative sum rises from n − ½ to n + ½; between lengths it is constant.
    ends = np.column_stack([n_words - 0.5, n_words + 0.5]).ravel()
    sums = np.column_stack([upto[:-1], upto[1:]]).ravel()
    mass = np.diff(np.interp(10**edges if log else edges, ends, sums))
    middle = (edges[:-1] + edges[1:]) / 2
    width = _silverman(middle, mass) / (edges[1] - edges[0])
    smooth = gaussian_filter1d(mass, max(width, 1.0), mode="reflect")
    return (10**middle if log else np.maximum(middle, 0)), smooth / max(smooth.max(), 1e-300)


def _silverman(x: Values, weight: Values) -> float:
    """Return Silverman's kernel width (1986, eq. 3.31): 0.9 min(sd, IQR / 1.34) n^(-1/5)."""
    n = max(weight.sum(), 1.0)
    mean = (x * weight).sum() / n
    spread = math.sqrt(((x - mean) ** 2 * weight).sum() / n)
    reach = np.interp([0.25 * n, 0.75 * n], np.cumsum(weight), x)
    quarter = float(reach[1] - reach[0]) / 1.34
    return 0.9 * (min(spread, quarter) or spread) * n**-0.2


def _colour(row: Row, theme: str) -> str:
    look = looks.palette(theme)
    if row["of"] == "corpus":
        return look.muted
    if not row["family"]:
        return look.categories[1] if row["of"] == "relevant" else look.primary
    return looks.mark(row["family"], looks.FAMILIES, theme)[0]


def legend(rows: DataFrame, theme: str) -> list[looks.Entry]:
    """Return the legend of the systems' families, and of the marks below the densities."""
    look, marks = looks.palette(theme), looks.families(rows["family"], theme)
    below = [(look.muted, "━", "interquartile range"), (look.muted, "─", "5th–95th percentile")]
    return [*marks, *below, (look.text, "○", "median"), (look.text, "┄", "corpus median")]


def _violin(
    counts: DataFrame,
    place: int,
    ends: tuple[float, float],
    colour: str,
    *,
    log: bool,
) -> dict[str, Any]:
    """Return one group's density as an outline upwards from its row `place`."""
    x, y = density(counts, *ends, log=log)
    seen = np.flatnonzero(y > 0.002)
    first, last = (seen[0], seen[-1] + 1) if len(seen) else (0, 0)
    x, y = x[first:last], y[first:last]
    outline = np.concatenate([[0], y, [0]]) * _SHOULDER
    return {
        "type": "scatter",
        "x": np.round(np.concatenate([x[:1], x, x[-1:]]), 2),
        "y": np.round(place - outline, 4),
        "fill": "toself",
        "fillcolor": colour,
        "opacity": 0.8,
        "line": {"width": 0},
        "mode": "lines",
        "hoverinfo": "skip",
    }


def _quantiles(
    records: Sequence[Row], high: float, look: looks.Palette, *, narrow: bool
) -> list[dict[str, Any]]:
    def shown(end: str) -> list[float]:
        return [min(max(row[end], 1), high) for row in records]

    ends = [(shown(low), shown(top)) for low, top in (("p5", "p95"), ("p25", "p75"))]
    rows = [place + _BELOW for place in range(len(records))]
    words, size = [_hover(row) for row in records], 0.65 if narrow else 1.0
    return traces.quantiles(ends, shown("p50"), rows, words, look, size)


def _hover(row: Row) -> str:
    counted = {"corpus": "documents", "top": "retrieved documents"}.get(row["of"], "judgements")
    return (
        f"<b>{looks.escape(row['title'])}</b>"
        f"<br>median {words(row['p50'])}, mean {row['mean']:,.1f} words"
        f"<br>middle 50%: {words(row['p25'])} to {words(row['p75'])} words"
        f"<br>middle 90%: {words(row['p5'])} to {words(row['p95'])}, longest {row['longest']:,}"
        f"<br>{row['n']:,} {counted}"
    )


def _dotted(median: float, n_rows: int, theme: str) -> dict[str, Any]:
    line = {"width": 1.5, "dash": "dot", "color": looks.palette(theme).text}
    ends = {"x": [max(median, 1)] * 2, "y": [-1, n_rows - 0.6]}
    return {"type": "scatter", **ends, "mode": "lines", "line": line, "hoverinfo": "skip"}


def _medians(
    records: Sequence[Row], corpus: float, theme: str, *, narrow: bool
) -> list[dict[str, Any]]:
    """Return the right column: each median and, unless `narrow`, its difference from the corpus."""
    muted = looks.palette(theme).muted
    at = {"x": 1, "xref": "paper", "xanchor": "left", "xshift": 4 if narrow else 12}
    at |= {"font": {"size": _LETTER}} if narrow else {}
    notes = []
    for place, row in enumerate(records):
        text = f"<b>{words(row['p50'])}</b>"
        if row["of"] != "corpus" and not narrow:
            gap = words(row["p50"] - corpus, with_sign=True)
            text += f'  <span style="color:{muted}">{gap}</span>'
        notes.append(at | {"y": place - 0.08, "text": text})
    head = {"y": -0.95, "text": "median<br>vs corpus", "align": "left", "font": {"color": muted}}
    if narrow:
        above = -0.5 - _LEAST_ROW / _low(len(records))
        head |= {"y": above, "text": "median", "font": {"color": muted, "size": _LETTER}}
    return [*notes, at | head]


def _longer(
    records: Sequence[Row], counts: Sequence[DataFrame], high: float, theme: str, *, narrow: bool
) -> list[dict[str, Any]]:
    """Count the documents beyond the end of the axis: `62 over 700, to 1,541 ▸`; only `62 ▸` in a
    narrow figure, whose axis explains it."""
    at: dict[str, Any] = {"x": 1, "xref": "paper", "xanchor": "right", "xshift": -4}
    at["font"] = {"color": looks.palette(theme).muted, "size": 11}
    notes = []
    for place, (row, one) in enumerate(zip(records, counts, strict=True)):
        beyond = int(one.loc[one["n_words"] > high, "count"].sum())
        if beyond:
            text = (
                f"{beyond:,}"
                + ("" if narrow else f" over {high:,.0f}, to {row['longest']:,}")
                + " ▸"
            )
            notes.append(at | {"y": place - (0.42 if narrow else 0.3), "text": text})
    return notes


def _axes(titles: Sequence[str]) -> dict[str, Any]:
    return {
        "height": (ROW if len(titles) <= MANY else NARROW) * len(titles) + 84,
        "margin": {"r": 104, "t": 4},
        "xaxis": {"title": {"text": "words per document"}, "zeroline": False},
        "yaxis": axes.names_down(titles, above=1.15, below=0.4, ticklabelstandoff=6),
    }


@drawing
def differences(pairs: DataFrame, titles: tuple[str, str], *, theme: str) -> go.Figure:
    """Draw a histogram of the length of system A's documents minus that of B's, query by query.
    `pairs`: words_a, words_b, a row per query. Columns are equally wide, with the middle one around
    0; the outermost columns include the 2% of queries beyond them."""
    gaps = (pairs["words_a"] - pairs["words_b"]).to_numpy(float)
    reach = max(float(np.quantile(np.abs(gaps), 0.98)), 1.0)
    edges = np.linspace(-reach, reach, BARS + 1)
    count, _ = np.histogram(np.clip(gaps, -reach, reach), bins=edges)
    look = looks.palette(theme)
    sides = [look.loss] * (BARS // 2), [look.muted], [look.win] * (BARS // 2)
    figure = go.Figure()
    figure.add_bar(
        **traces.histogram(count, edges, "", " words"),
        marker={"color": [colour for side in sides for colour in side], "line": {"width": 0}},
    )
    figure.update_layout(annotations=_sides(gaps, titles, theme))
    figure.update_layout(height=ROW * 2 + 104, margin={"t": 44}, bargap=0.08)
    across = "median words of A minus B, per query"
    figure.update_xaxes(title_text=across, showgrid=False, range=[-reach, reach])
    figure.update_yaxes(title_text="queries", rangemode="tozero")
    return figure


def _sides(gaps: Values, titles: tuple[str, str], theme: str) -> list[dict[str, Any]]:
    look = looks.palette(theme)
    at = {"yref": "paper", "y": 1, "yanchor": "bottom", "xref": "paper"}
    names = [looks.escape(title, 22) for title in titles]
    shorter = f"{names[0]}<br>shorter: {int((gaps < 0).sum()):,}"
    longer = f"{names[1]}<br>shorter: {int((gaps > 0).sum()):,}"
    return [
        at | {"x": 0, "align": "left", "xanchor": "left", "text": shorter} | _inked(look.loss),
        at | {"x": 1, "align": "right", "xanchor": "right", "text": longer} | _inked(look.win),
    ]


def _inked(colour: str) -> dict[str, Any]:
    return {"font": {"color": colour}}


def first(k: int) -> str:
    """Return `the first 10 documents` for the top k of a ranking."""
    return f"the first {k} documents" if k > 1 else "the first document"


def verdict(pairs: DataFrame, titles: tuple[str, str], *, tested: bool = True) -> str:
    """Say on how many queries each system retrieves shorter documents, with an exact sign test if
    `tested`. `pairs`: words_a, words_b."""
    gaps = pairs["words_a"] - pairs["words_b"]
    shorter, longer = int((gaps < 0).sum()), int((gaps > 0).sum())
    equal = len(gaps) - shorter - longer
    told = [f"equal on {equal:,}"] * bool(equal)
    if tested and shorter + longer:
        p = binomtest(shorter, shorter + longer).pvalue
        told.append(f"sign test p {'< .001' if p < 0.001 else f'= {looks.plain(p)}'}")
    aside = f" ({'; '.join(told)})" * bool(told)
    return (
        f"{titles[0]} retrieves shorter documents on {shorter:,} of {counted(len(gaps), 'query')},"
        f" {titles[1]} on {longer:,}{aside}; the median difference per query is"
        f" {words(float(gaps.median()), with_sign=True)} words."
    )
