"""Scores of a sampled task three ways: by people's sample, by a machine, by both."""

from pandas import DataFrame
from pandas.io.formats.style import Styler

from compute.base.words import counted
from compute.evaluate import significance
from compute.evaluate.estimates.intervals import Estimates
from compute.evaluate.sign_flips import LEVEL
from compute.views.holes.intervals import styled

WAYS = ("people", "corrected")
_NAMED = 3
"""Pairs that a sentence names."""


def systems(people: Estimates, machine: Estimates, both: Estimates) -> DataFrame:
    """system, machine (its grades alone, taken for the truth), then of people and of corrected
    (the sample corrects a prediction that knows the machine's grades): the estimate and its 95%
    interval, people, people_low, people_high and so on; absent while the sample is too small."""
    rows = DataFrame({"system": people.systems, "machine": machine.means})
    for name, way in zip(WAYS, (people, both), strict=True):
        scores = way.scores()[["mean", "low", "high"]]
        rows[[name, f"{name}_low", f"{name}_high"]] = scores if way.enough else float("nan")
    return rows


def by_machine_alone(machine: Estimates, both: Estimates) -> DataFrame:
    """a, b (systems, the machine's better one first): significant by the machine's grades alone.

    By maxT over all pairs and the queries' values, of both alike; the test of the corrected values
    holds the sample's noise. All that the machine finds while the sample is too small.
    """
    found, sure = _significant(machine), _significant(both) if both.enough else set()
    alone = sorted(found - sure)
    return DataFrame([(both.systems[a], both.systems[b]) for a, b in alone], columns=["a", "b"])


def _significant(of: Estimates) -> set[tuple[int, int]]:
    """Places of the better and the worse of each pair."""
    if len(of.systems) < 2 or of.by_query.shape[1] < 2:
        return set()
    tested = significance.pairs(of.by_query)
    tested = tested[tested["p_adjusted"] <= LEVEL]
    turned = tested["difference"] < 0
    better, worse = tested["a"].where(~turned, tested["b"]), tested["b"].where(~turned, tested["a"])
    return set(zip(better, worse, strict=True))


def table(rows: DataFrame, measure: str) -> Styler:
    """`rows`: as `systems`, with title."""
    told = DataFrame({"System": rows["title"], f"{measure}, machine alone": rows["machine"]})
    for name, head in zip(WAYS, ("People alone", "Corrected"), strict=True):
        told[head] = rows[name]
        told[f"{head}: low"], told[f"{head}: high"] = rows[f"{name}_low"], rows[f"{name}_high"]
    return styled(told, list(told.columns[1:]), [])


def said(alone: DataFrame, machine: str, titles: dict[str, str]) -> str:
    """Which pairs the machine alone would call significant."""
    if alone.empty:
        return f"No pair is significant by {machine} alone."
    pairs = list(zip(alone["a"].map(titles), alone["b"].map(titles), strict=True))
    named = ", ".join(f"{better} over {worse}" for better, worse in pairs[:_NAMED])
    more = f" and {len(pairs) - _NAMED:,} more" * (len(pairs) > _NAMED)
    return (
        f"{counted(len(pairs), 'pair')} would be significant by {machine} alone, and"
        f" {'is' if len(pairs) == 1 else 'are'} not once corrected: {named}{more}."
    )


NOTES = (
    "No other number counts the machine's grades.",
    "How to read this: people alone is the estimate above. The machine alone takes its grades for"
    " the truth and has no interval, since nothing in it says how often it errs. Corrected predicts"
    " each grade from ranks and from what the machine said, weighs the machine by how well it"
    " agreed with people's other judgements, once for all systems, and corrects the prediction by"
    " people's sample: in simulations its intervals held as often as those of people alone, and"
    " were narrower where the machine helped. Significant is 5% for all pairs together, by a"
    " randomisation test over the queries.",
)
"""A line, and the rest."""
