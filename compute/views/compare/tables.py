"""Two systems on the same queries, as sentences and tables."""

import math
from collections.abc import Hashable, Mapping
from typing import Any

from pandas import DataFrame

from compute.base.words import counted
from compute.evaluate import sign_flips
from compute.evaluate.distributions import EQUAL
from compute.evaluate.families import FEWEST
from compute.evaluate.families import said as families_said
from compute.evaluate.measures import better
from compute.evaluate.tolerance import equal
from compute.views.compare.differences import Verdict
from compute.views.page import Column
from compute.views.shared import theme as looks
from compute.views.shared.theme import signed

Titles = tuple[str, str]
ALPHA = sign_flips.LEVEL
BY_FAMILY = (
    "By families of queries: signs of family sums are flipped; the interval is cluster-robust (CR2,"
    " with Satterthwaite's degrees of freedom)."
)
BY_RUN = (
    "Interval and p cover queries and runs (each variance with its own t); effect size, wins and"
    " the minimum detectable difference cover only queries, with means over runs."
)
LEAST_UNJUDGED = 0.005
"""Smallest unjudged share that is mentioned."""
TESTS = {
    "p_randomisation": "Randomisation test",
    "p_t": "Paired t-test",
    "p_wilcoxon": "Wilcoxon signed-rank test",
}
"""Test of each p-value of `significance.Comparison`."""
TWO_WAY = "Two-way t-test, over queries and runs"
"""Test used if the means of several runs differ."""


def answer(
    found: Verdict,
    tested: Mapping[Hashable, Any],
    titles: Titles,
    measure: str,
    family: tuple[float, int] | None = None,
) -> str:
    """State leader, difference, significance and number of queries in one sentence. `tested` has
    the fields of `significance.Comparison`, or is empty for too few queries. `family`: p corrected
    for all pairs, and their number, if there is more than one pair."""
    worth = better(measure) * found.difference
    if equal(worth, 0):
        return f"{titles[0]} and {titles[1]} have the same mean {measure}."
    ahead = 0 if worth > 0 else 1
    lead = looks.plain(abs(found.difference))
    head = f"{titles[ahead]} leads by {'less than .001' if lead == '.000' else lead}"
    if tested:
        sign = better(measure) * (1 - 2 * ahead)
        low, high = sorted(sign * tested[end] for end in ("low", "high"))
        of = int(tested.get("families") or 0)
        if of and math.isnan(tested["p_randomisation"]):
            told = f"{counted(of, 'family')} of {counted(found.n, 'query')} count as fewer"
            return f"{head}, without test or interval: {told} than {FEWEST} of equal size."
        head += f" ({_interval(low, high, 3)}), {_significance(tested['p_randomisation'], family)}"
        if of:
            head += f", by {families_said(found.n, of, tested['design_effect'])}"
        head += _over_runs(tested, titles)
    elif found.n > 1:
        head += f", without test or interval: all {found.n:,} queries are in one family"
    return f"{head}."


def weighted(found: DataFrame, titles: Titles, measure: str) -> str:
    """Put a row of `select.weighted` into a sentence; empty without a row."""
    if found.empty:
        return ""
    row = found.iloc[0]
    head = (
        f"Weighted by {row['key']} ({counted(int(row['n']), 'query')} count as"
        f" {row['effective']:,.0f}): {titles[0]} {looks.plain(row['mean_a'])}, {titles[1]}"
        f" {looks.plain(row['mean_b'])}"
    )
    worth = better(measure) * row["difference"]
    if equal(worth, 0):
        return f"{head}."
    ahead = 0 if worth > 0 else 1
    sign = better(measure) * (1 - 2 * ahead)
    low, high = sorted(sign * float(row[end]) for end in ("low", "high"))
    lead = looks.plain(abs(row["difference"]))
    tested = "" if math.isnan(row["p"]) else f", {_significance(row['p'], None)}"
    interval = _interval(low, high, 3)
    return f"{head}; {titles[ahead]} leads by {lead} ({interval}){tested}."


def _over_runs(tested: Mapping[Hashable, Any], titles: Titles) -> str:
    """State the effect of several runs, after a semicolon; empty if there are none."""
    if "runs_a" not in tested:
        return ""
    moved, others = [], list[str]()
    for side, title in zip("ab", titles, strict=True):
        runs, spread = int(tested[f"runs_{side}"]), float(tested[f"spread_{side}"])
        if runs == 1:
            taken = ", so the other's is used" if tested["same_spread"] else " and left out"
            others.append(f"{title} has one run: its run-to-run variance is unknown{taken}")
        elif spread > EQUAL:
            moved.append(f"the score of {title} by {looks.plain(spread)} (SD of {runs} runs)")
        else:
            others.append(f"the {runs} runs of {title} are equal (spread 0)")
    head = [f"a rebuild alone moves {' and '.join(moved)}"] * bool(moved)
    return f"; {'; '.join([*head, *others])}"


def outcomes(found: Verdict, titles: Titles) -> str:
    """State the number of queries on which each system is better."""
    return (
        f"{titles[0]} is better on {counted(found.a_better, 'query')}, {titles[1]} on"
        f" {found.b_better:,}; equal on {found.equal:,}."
    )


def _significance(p: float, family: tuple[float, int] | None) -> str:
    """State significance by a pair's own p and by `family`: corrected p, number of pairs."""
    if family is None:
        return f"{'significant' if p < ALPHA else 'not significant'} ({_said(p)})"
    after = f"after correction for {family[1]:,} pairs"
    if p < ALPHA <= family[0]:
        return f"significant by itself ({_said(p)}), not {after} ({_said(family[0])})"
    if family[0] < ALPHA <= p:
        # The corrected test uses the queries that all systems share, which may be fewer.
        return f"not significant by itself ({_said(p)}), but {after} ({_said(family[0])})"
    word = "significant" if p < ALPHA else "not significant"
    return f"{word} ({_said(p)}; {after} {_said(family[0])})"


def said(found: Verdict, titles: Titles, measure: str) -> list[str]:
    """State means and difference of two systems."""
    a, b = titles
    sentences = [
        f"{measure} over {counted(found.n, 'query')}: {a} {looks.plain(found.mean_a)},"
        f" {b} {looks.plain(found.mean_b)}.",
        *["Lower is better."] * (better(measure) < 0),
        f"{a} minus {b}: {signed(found.difference)}.",
    ]
    if found.left_out:
        sentences.append(f"Left out: {found.left_out:,} queries without a value for each system.")
    return sentences


def unjudged(holes: DataFrame, titles: Titles) -> str:
    """State the unjudged shares of both top tens, if any; `holes` has value_a and value_b."""
    a, b = holes["value_a"].mean(), holes["value_b"].mean()
    if not max(a, b) >= LEAST_UNJUDGED:
        return ""
    both = f"{a:.0%} of the top 10 of {titles[0]} and {b:.0%} of {titles[1]}"
    return f"Unjudged: {both}. Judging them could change the difference."


def unanswered(number: int, queries: int, title: str) -> str:
    """Say how many queries a system left without hits; empty if it answered all."""
    total = counted(int(queries), "query")
    return f"{title} leaves {number:,} of {total} unanswered; these score 0." if number else ""


def difference_columns(rows: DataFrame, titles: Titles, *, whole: bool) -> list[Column]:
    """Return columns for the queries that differ most, leaving out empty columns."""
    has_text, has_lists = bool(rows["text"].notna().any()), bool(rows["rbo"].notna().any())
    return [
        *[Column("Part", "dataset")] * whole,
        Column("Query", "query_id"),
        *[Column("Text", "text")] * has_text,
        Column(titles[0], "value_a", looks.plain),
        Column(titles[1], "value_b", looks.plain),
        Column("Difference", "difference", signed),
        *[Column("RBO", "rbo", looks.plain), Column("Overlap@10", "shared")] * has_lists,
        *[Column("Unjudged@10", ("hole_a", "hole_b"), _shares)]
        * bool(rows["hole_a"].notna().any()),
    ]


def _shares(a: float, b: float) -> str:
    return ", ".join("–" if math.isnan(one) else f"{one:.0%}" for one in (a, b))


def across_columns(titles: Titles) -> list[Column]:
    """Return columns for datasets: means, their difference, and the queries won by each."""
    return [
        Column("Dataset", "title"),
        Column("Queries", "n", "{:,}".format),
        Column(titles[0], "mean_a", looks.plain),
        Column(titles[1], "mean_b", looks.plain),
        Column("Difference", "difference", signed),
        Column("95% CI", ("low", "high"), lambda low, high: f"{signed(low)} to {signed(high)}"),
        Column(f"{titles[0]} better", "a_better"),
        Column("Equal", "equal"),
        Column(f"{titles[1]} better", "b_better"),
    ]


def test_rows(found: Mapping[Hashable, Any], about: Mapping[str, str]) -> DataFrame:
    """Return a row for each test that can be done: test, p, and the verdict at the 5% level."""
    named = TESTS | ({"p_randomisation": TWO_WAY} if math.isnan(found["p_t"]) else {})
    verdicts = "do not differ significantly", "differ"
    rows = [
        (*about.values(), name, found[key], verdicts[bool(found[key] < ALPHA)])
        for key, name in named.items()
        if not math.isnan(found[key])
    ]
    return DataFrame(rows, columns=[*about, "Test", "p", "The two systems"])


TEST_COLUMNS = (Column("Test"), Column("p", format=lambda p: p_text(p)), Column("The two systems"))


def p_text(value: float) -> str:
    """Format a p-value: `.0400`, `< .0001`; – if absent."""
    if math.isnan(value):
        return "–"
    return f"{value:.4f}".removeprefix("0") if value >= 0.0001 else "< .0001"


def among_all(p: float, n_pairs: int) -> str:
    """State the p of one pair corrected for all pairs of a dataset's systems."""
    told = (
        "the two differ significantly" if p < ALPHA else "the two are not significantly different"
    )
    return (
        f"Corrected for all {n_pairs:,} pairs of systems on this dataset (fusions count, other"
        f" in-domain systems do not): {_said(p)}, {told}."
    )


def alone(titles: Titles, p_alone: float, p: float, n_pairs: int) -> str:
    """Say that two systems differ as a single pair but not after correction; else empty."""
    if p_alone >= ALPHA or p < ALPHA:
        return ""
    return (
        f"As a single comparison, {titles[0]} and {titles[1]} differ ({_said(p_alone)}); corrected"
        f" for {n_pairs:,} pairs, {_said(p)}."
    )


def _said(p: float) -> str:
    """Format p as `p = .07`, with more digits if rounding would give exactly the level."""
    if p < 0.001 or p > 0.99:
        return "p < .001" if p < 0.5 else "p > .99"
    text = looks.plain(p, 2 if p >= 0.01 else 3)
    return f"p = {p_text(p) if float(text) == ALPHA else text}"


def effect(found: Mapping[Hashable, Any], titles: Titles) -> list[str]:
    """State the difference and the effect size, each with its interval."""
    interval = _interval(found["low"], found["high"], 3)
    said = f"{titles[0]} minus {titles[1]}: {signed(found['difference'])} ({interval})."
    if math.isnan(found["effect"]):
        return [said]
    interval = _interval(found["effect_low"], found["effect_high"], 2)
    words = {"very small": 0.2, "small": 0.5, "medium": 0.8, "large": math.inf}
    size = round(abs(found["effect"]), 2)
    word = next(name for name, most in words.items() if size < most)
    return [
        said,
        f"Effect size {signed(found['effect'], 2)} ({interval}), {word}: mean difference / standard"
        " deviation of the differences.",
    ]


def _interval(low: float, high: float, digits: int) -> str:
    if not (math.isfinite(low) and math.isfinite(high)):
        return "too few queries for an interval"
    return f"95% CI: {signed(low, digits)} to {signed(high, digits)}"


def lost_columns(titles: Titles) -> list[Column]:
    """Return columns for relevant documents by place."""
    return [Column("Place", "place"), *(Column(t, s) for t, s in zip(titles, "ab", strict=True))]
