"""Minimum detectable difference of two systems, and queries needed for a difference, in words. Rows
of pairs are from `shared.standings.among_all`."""

import math
from collections.abc import Hashable, Mapping, Sequence
from typing import Any, NamedTuple

from pandas import DataFrame, Series

from compute.base.words import several
from compute.evaluate import power
from compute.evaluate.power import LARGEST
from compute.evaluate.sign_flips import LEVEL
from compute.views.page import Note
from compute.views.shared import standings
from compute.views.shared.theme import plain

TOO_FEW = Note(["Too few queries differ to compute the minimum detectable difference."])

_NAMED = 6
"""Most systems that the sentence on leads names."""


class Plan(NamedTuple):
    """A pair, tested both as a single pair and corrected for all pairs."""

    n: int
    n_pairs: int
    level: float
    deviation: float
    detectable: float
    """Minimum detectable difference, corrected for all pairs; nan if unknown."""
    alone: float
    """The same for a single pair."""
    unit: str = "queries"


def of_two(tested: Mapping[Hashable, Any]) -> Plan:
    """Return the plan of a pair tested by itself, from the fields of `significance.Comparison`."""
    n, differing, unit = int(tested["n"]), tested["won"] + tested["lost"], "queries"
    over = n
    if tested.get("families"):
        n, differing, unit = int(tested["families"]), tested["differing"], "families"
        over = tested["freedom"] + 1
    found = float(power.detectable(tested["error"], over, LEVEL, differing))
    return Plan(n, 1, LEVEL, tested["error"] * math.sqrt(n), found, found, unit)


def of_pair(row: Series) -> Plan:
    """Return the plan of a pair tested among all pairs, from its row."""
    whole = int(row["n"]), int(row["n_pairs"])
    unit = "families" if row.get("by_family", False) else "queries"
    numbers = (float(row[name]) for name in Plan._fields[2:-1])
    return Plan(*whole, *numbers, unit=unit)


def found(plan: Plan) -> Note:
    """State the minimum detectable difference."""
    if math.isnan(plan.detectable):
        return TOO_FEW
    least = f"Minimum detectable difference (80% power): {_found(plan.detectable)}"
    alone = f" corrected for {plan.n_pairs:,} pairs, {_found(plan.alone)} for this pair only"
    return Note([f"{least}{alone * (plan.n_pairs > 1)}."])


def needed(plan: Plan, difference: float) -> Note:
    """State the number of queries needed to detect a given difference."""
    if math.isnan(plan.detectable):
        return TOO_FEW
    n, alone = (_queries(plan, difference, level) for level in (plan.level, LEVEL))
    of = f"{difference:.6g}".removeprefix("0")
    told = f"Detecting a true difference of {of} takes {n} {plan.unit} (80% power)"
    rest = f" corrected for {plan.n_pairs:,} pairs, {alone} for this pair only"
    return Note([f"{told}{rest * (plan.n_pairs > 1)}."])


def leads(first: str, others: Sequence[str], pairs: DataFrame, titles: Mapping[str, str]) -> str:
    """State the minimum detectable lead of the first system over each of the others, by name."""
    plans = {one: of_pair(standings.pair(pairs, first, one)) for one in others}
    known = {one: plan for one, plan in plans.items() if plan.detectable <= LARGEST}
    if not known:
        return ""
    least = sorted(plan.detectable for plan in known.values())
    ends = dict.fromkeys(map(rounded_up, (least[0], least[-1])))
    numbers = dict.fromkeys(f"{ask(plan.n for plan in plans.values()):,}" for ask in (min, max))
    against = several([titles.get(one, one) for one in known], _NAMED, "system")
    return (
        f"With {'–'.join(numbers)} {plans[others[0]].unit}, the test of {titles.get(first, first)}"
        f" against {against} has 80% power only for true differences above about {'–'.join(ends)}."
    )


def _queries(plan: Plan, difference: float, level: float) -> str:
    n = int(power.queries_needed(difference, plan.deviation, level))
    return f"{n:,}" if n < power.MOST else f"more than {power.MOST:,}"


def _found(least: float) -> str:
    return rounded_up(least) if least <= LARGEST else "none possible"


def rounded_up(value: float) -> str:
    """Format a value rounded up, so that the printed difference is detectable."""
    return plain(math.ceil(value * 1000 - 1e-6) / 1000)
