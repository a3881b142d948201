"""Scores of a sampled task in three ways: by the human sample, by an LLM, and by both."""

from collections.abc import Mapping

import numpy as np
from pandas import DataFrame

from compute.base.words import counted, several
from compute.evaluate import significance
from compute.evaluate.estimates.frames import Flags, Frame, Values
from compute.evaluate.estimates.intervals import Estimates
from compute.evaluate.sign_flips import LEVEL
from compute.judgements import machine_errors
from compute.views.holes.intervals import ENDS
from compute.views.holes.view import OF_SAMPLE
from compute.views.page import Column, Note, Table
from compute.views.shared import theme as looks

WAYS = ("people", "corrected")
_TOP = 3
"""Top ranks that form their own group."""
_NAMED = 3
"""Most pairs that a sentence names."""


def systems(people: DataFrame, machine: Estimates, both: DataFrame) -> DataFrame:
    """Return system, machine (the score by its grades, taken as truth), then the estimates people
    and corrected (a prediction from the LLM's grades, corrected by the sample), each with its 95%
    interval (people_low, people_high and so on), absent while the sample is too small. `people` and
    `both`: from `sampled.systems`."""
    rows = DataFrame({"system": machine.systems, "machine": machine.means})
    for name, way in zip(WAYS, (people, both), strict=True):
        columns = ["system", name, f"{name}_low", f"{name}_high"]
        told = way[["system", "estimate", "estimate_low", "estimate_high"]]
        rows = rows.merge(told.set_axis(columns, axis=1), on="system")
    return rows


def by_machine_alone(machine: Estimates, both: Estimates) -> DataFrame:
    """Return a, b (systems, the better one by the LLM first) of pairs that are significant only by
    the LLM's grades. Both tests are maxT over all pairs of per-query values. The test of corrected
    values includes sampling noise, and skipped documents must not be able to flip the pair. A
    sample that is too small corrects nothing, so all pairs significant by the LLM are listed."""
    found, sure = _significant(machine), _significant(both) if both.enough else set()
    alone = sorted(found - sure)
    return DataFrame([(both.systems[a], both.systems[b]) for a, b in alone], columns=["a", "b"])


def _significant(of: Estimates) -> set[tuple[int, int]]:
    """Return the indices of the better and the worse system of each significant pair."""
    if len(of.systems) < 2 or of.by_query.shape[1] < 2:
        return set()
    tested = significance.pairs(of.by_query)
    a, b = tested["a"], tested["b"]
    # Skipped documents could change the difference by this much.
    least, most = tested["difference"] + of.low[a, b], tested["difference"] + of.high[a, b]
    tested = tested[(tested["p_adjusted"] <= LEVEL) & ((least > 0) | (most < 0))]
    turned = tested["difference"] < 0
    better, worse = tested["a"].where(~turned, tested["b"]), tested["b"].where(~turned, tested["a"])
    return set(zip(better, worse, strict=True))


def errors(
    frame: Frame,
    grades: tuple[Values, Values],
    weights: Values,
    titles: Mapping[str, str],
    words: Values,
) -> tuple[DataFrame, dict[str, float]]:
    """Return `machine_errors.by_group` and `kappas` of the pairs graded by people and the LLM.
    `grades`: (N,) of people, and of the LLM; `words`: (N,) of the documents; NaN if unknown."""
    both = ~np.isnan(grades[0]) & ~np.isnan(grades[1]) & (weights > 0)
    rank, weights = frame.rank[both], weights[both]
    inside = (rank > 0) & (rank <= frame.depth)
    best = np.where(inside, rank, frame.depth + 1).min(axis=1)
    groups = {"all": np.ones(both.sum(), bool)}
    groups |= {f"best rank 1 to {_TOP}": best <= _TOP, f"best rank over {_TOP}": best > _TOP}
    groups |= {f"found by {titles[one]}": inside[:, i] for i, one in enumerate(frame.systems)}
    groups |= _by_length(words[both])
    people, machine = grades[0][both], grades[1][both]
    if not both.any():
        return machine_errors.by_group(people, machine, weights, {}), {}
    return (
        machine_errors.by_group(people, machine, weights, groups),
        machine_errors.kappas(people, machine, weights),
    )


def _by_length(words: Values) -> dict[str, Flags]:
    """Divide the pairs into thirds by document length, where known."""
    if np.isnan(words).all():
        return {}
    low, high = np.nanquantile(words, [1 / 3, 2 / 3])
    return {
        f"up to {low:,.0f} words": words <= low,
        "between": (words > low) & (words <= high),
        f"over {high:,.0f} words": words > high,
    }


def _off(off: float, low: float, high: float) -> str:
    value, *ends = (looks.signed(one, 2) for one in (off, low, high))
    return f"{value} ({' to '.join(ends)})"


ERRORS = (
    Column("Documents", "group"),
    Column("Pairs graded by both", "n_pairs"),
    Column("Relevant: human", "relevant", "{:.0%}".format),
    Column("Relevant: LLM", "said_relevant", "{:.0%}".format),
    Column("Too high", "too_high", "{:.0%}".format),
    Column("Too low", "too_low", "{:.0%}".format),
    Column("Grade error (95% CI)", ("off", "off_low", "off_high"), _off),
)
"""Columns of the table of `errors`."""


def error_note(kappas: Mapping[str, float]) -> Note:
    """State the agreement over all pairs, and how to read the table."""
    told = [
        f"{name} {looks.plain(kappas[key], 2)}"
        f" ({looks.between(kappas[f'{key}_low'], kappas[f'{key}_high'], 2)})"
        for name, key in (("Kappa", "kappa"), ("weighted kappa", "weighted"))
    ]
    return Note(
        [
            f"{', '.join(told)} (95% CI, bootstrap).",
            "Weighted by inverse inclusion probability: numbers describe the whole population.",
            "Grade error: mean of LLM − human, with Hájek's 95% CI.",
            f"Groups of fewer than {machine_errors.FEWEST} pairs are left out.",
        ]
    )


def table(rows: DataFrame, measure: str) -> Table:
    """Return the scores in three ways as a table; `rows`: from `systems`, with title."""
    heads = [(f"{measure}, LLM only", "machine")]
    for name, head in zip(WAYS, ("Human only", "Corrected"), strict=True):
        heads += [(head, name), *((f"{head}: {end}", f"{name}_{end}") for end in ENDS)]
    columns = [Column("System", "title"), *(Column(h, name, looks.plain) for h, name in heads)]
    title = f"{measure} by assessors, LLM and both"
    return Table("three-ways", title, rows, columns, of=(*OF_SAMPLE, "machine"))


def said(
    alone: DataFrame, machine: str, titles: Mapping[str, str], *, corrected: bool = True
) -> str:
    """Name the pairs significant only by the LLM's grades; `corrected`: the sample suffices."""
    if alone.empty and corrected:
        return f"No pair is significant only by {machine} without correction."
    if alone.empty:
        return f"No pair would be significant by {machine} without correction."
    pairs = (alone["a"].map(titles) + " over " + alone["b"].map(titles)).tolist()
    named = several(pairs, _NAMED)
    told = f"{counted(len(pairs), 'pair')} would be significant by {machine} without correction"
    if not corrected:
        return f"{told}: {named}. The sample is still too small for a correction."
    return f"{told}, but not with it: {named}."


NOTE = Note(
    [
        "Human only: the estimate above. LLM only: the LLM's grades, taken as truth; no interval.",
        "Corrected: grades predicted from ranks and the LLM, corrected by the human sample.",
        "Significant: randomisation test over queries, at the 5% level for all pairs together.",
        "No other number uses the LLM's grades.",
    ]
)
"""Note below `table`."""
