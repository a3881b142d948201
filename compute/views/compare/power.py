"""What two systems' test would have found, and the queries that a named difference takes, in words.

Rows of pairs are those of `shared.standings.among_all`.
"""

import math
from collections.abc import Hashable, Mapping
from typing import Any, NamedTuple

from pandas import Series

from compute.evaluate import power
from compute.evaluate.power import LARGEST
from compute.evaluate.sign_flips import LEVEL
from compute.views.page import Note
from compute.views.shared.theme import plain

TOO_FEW = Note(["Too few queries differ to say which difference this test would find."])


class Plan(NamedTuple):
    """A pair's test alone, or among all pairs."""

    n: int
    n_pairs: int
    level: float
    deviation: float
    detectable: float
    """Absent (nan) where nothing can be said."""
    alone: float


def of_two(tested: Mapping[Hashable, Any]) -> Plan:
    """Of the fields of `significance.Comparison`: a pair that is tested alone."""
    n, differing = int(tested["n"]), tested["won"] + tested["lost"]
    found = float(power.detectable(tested["error"], n, LEVEL, differing))
    return Plan(n, 1, LEVEL, tested["error"] * math.sqrt(n), found, found)


def of_pair(row: Series) -> Plan:
    """Of a pair's row among all pairs."""
    whole = int(row["n"]), int(row["n_pairs"])
    return Plan(*whole, *(float(row[name]) for name in Plan._fields[2:]))


def found(plan: Plan) -> Note:
    """The smallest difference that the test would have found."""
    if math.isnan(plan.detectable):
        return TOO_FEW
    least = f"Smallest true difference found with 80% chance: {_found(plan.detectable)}"
    alone = f", all {plan.n_pairs:,} pairs corrected; this pair alone, {_found(plan.alone)}"
    how = (
        f"were the true difference {rounded_up(plan.detectable)}, {plan.n:,} queries like these"
        " would show it as significant in 8 of 10 samples. That is what the test can see; what the"
        " difference is, its interval above says."
    )
    told = [f"{least}{alone * (plan.n_pairs > 1)}."]
    return Note(told, how if plan.detectable <= LARGEST else "")


def needed(plan: Plan, difference: float) -> Note:
    """The queries that it takes to find a difference that somebody names."""
    if math.isnan(plan.detectable):
        return TOO_FEW
    n, alone = (_queries(plan, difference, level) for level in (plan.level, LEVEL))
    rest = f", all {plan.n_pairs:,} pairs corrected; this pair alone, {alone}"
    return Note(
        [f"To find {_named(difference)} takes {n} queries{rest * (plan.n_pairs > 1)}."],
        how=f"so many queries like these {plan.n:,} would show a true difference of"
        f" {_named(difference)} as significant with 80% chance.",
    )


def leads(plans: list[Plan]) -> str:
    """The smallest lead over several systems, or over one, that would have been found: below it
    the chance to miss is larger than 1 - POWER."""
    known = sorted(one.detectable for one in plans if one.detectable <= LARGEST)
    if not known:
        return ""
    ends = dict.fromkeys(rounded_up(value) for value in (known[0], known[-1]))
    lead = "a true lead over it" if len(plans) == 1 else "true leads over these"
    if len(known) < len(plans):
        lead = f"true leads over {len(known):,} of these {len(plans):,}"
    numbers = dict.fromkeys(f"{ask(plan.n for plan in plans):,}" for ask in (min, max))
    return (
        f"With {' to '.join(numbers)} queries, {lead} under about {' to '.join(ends)}"
        f"{', depending on the system,' * (len(ends) > 1)} would be missed more than one time in"
        " five."
    )


def _queries(plan: Plan, difference: float, level: float) -> str:
    n = int(power.queries_needed(difference, plan.deviation, level))
    return f"{n:,}" if n < power.MOST else f"more than {power.MOST:,}"


def _named(difference: float) -> str:
    return f"{difference:.6g}".removeprefix("0")


def _found(least: float) -> str:
    return rounded_up(least) if least <= LARGEST else "none that is possible"


def rounded_up(value: float) -> str:
    """Rounded up: what is written would be found."""
    return plain(math.ceil(value * 1000 - 1e-6) / 1000)
