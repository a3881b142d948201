"""Draws audits: tasks that mix officially judged pairs with unjudged ones, so that nobody knows
which pairs are audited. The inclusion probability of each drawn pair is stored as its size. The
strata are the official grade, the system that profits (the one that ranks the pair best) and, if an
LLM's grades are given, whether they differ from the official ones."""

from dataclasses import dataclass

import numpy as np
from pandas import DataFrame

from compute.base.errors import WrongInput
from compute.evaluate.estimates import label_errors
from compute.evaluate.estimates.frames import Counts, Frame, Values
from compute.judgements.tasks.samples import Drawn

VERSION = "audit-1"
"""Version, stored as the predictor; a change of strata or probabilities needs a new one."""
UNJUDGED = 0.25
"""Share of unjudged pairs among an audit's documents."""
_PER_STRATUM = 10
"""Mean number of drawn labels per stratum; the smaller strata of a grade are merged to reach it."""


@dataclass(frozen=True)
class Strata:
    """The officially judged pairs of a frame, and how many of each stratum are drawn."""

    labels: Values
    """(N,) Official grade, at least 0; NaN if there is none."""
    stratum: Counts
    """(N,) Number of the stratum; 0 without a label."""
    n: Counts
    """(H,) Number of pairs drawn."""

    @property
    def sizes(self) -> Counts:
        """Return the number of pairs in each stratum, (H,)."""
        return np.bincount(self.stratum[~np.isnan(self.labels)], minlength=len(self.n))

    @property
    def chances(self) -> Values:
        """Return the inclusion probability of each pair, (N,); 0 without a label."""
        chances = self.n / np.maximum(self.sizes, 1)
        return np.where(np.isnan(self.labels), 0.0, chances[self.stratum])

    def by_grade(self) -> DataFrame:
        """Return by grade: grade, n_labels, keys (labels drawn), reach (95% half-width at an error
        rate of 5%, not exceeded in four of five audits), needed (labels for a reach of 4
        points)."""
        rows = []
        for grade in np.unique(self.labels[~np.isnan(self.labels)]):
            own = np.unique(self.stratum[self.labels == grade])
            size, keys = self.sizes[own].sum(), self.n[own].sum()
            reach = float(label_errors.reach(label_errors.RATE, keys, size))
            rows.append((int(grade), size, keys, reach, label_errors.needed(size)))
        return DataFrame(rows, columns=["grade", "n_labels", "keys", "reach", "needed"])


def strata(frame: Frame, labels: DataFrame, keys: int, machine: DataFrame | None = None) -> Strata:
    """Divide the official judgements in a frame into strata and draw `keys` labels, equally many
    for each grade. `machine` has an LLM's grades, with the same columns as `labels`: query_id,
    doc_id, relevance. Raises WrongInput if nothing is judged."""
    grades = frame.grades(labels)
    there = ~np.isnan(grades)
    if not there.any():
        raise WrongInput(
            f"Nothing in the top {frame.depth} of these systems has an official judgement, so there"
            " is nothing to audit: choose other systems, or take more from the top of each list."
        )
    inside = np.where((frame.rank > 0) & (frame.rank <= frame.depth), frame.rank, frame.depth + 1)
    best = inside == inside.min(axis=1, keepdims=True)
    profits = np.where(best.sum(axis=1) > 1, len(frame.systems), best.argmax(axis=1))
    said = np.full(frame.n, np.nan) if machine is None else frame.grades(machine)
    differs = np.where(np.isnan(said), 2, said != grades)
    levels, level = np.unique(grades[there], return_inverse=True)
    of_grades = label_errors.allocated(np.bincount(level), keys, equally=True)
    stratum, n = np.zeros(frame.n, np.int64), np.zeros(0, np.int64)
    for grade, own_keys in zip(levels, of_grades, strict=True):
        own = np.flatnonzero(grades == grade)
        code = _merged(profits[own] * 3 + differs[own], max(own_keys // _PER_STRATUM, 1))
        stratum[own] = code + len(n)
        n = np.append(n, label_errors.allocated(np.bincount(code), own_keys))
    return Strata(grades, stratum, n)


def _merged(codes: Counts, most: int) -> Counts:
    """Number the groups from 0 and merge all but the largest, so that at most `most` remain."""
    _, place, counts = np.unique(codes, return_inverse=True, return_counts=True)
    order = np.argsort(np.argsort(-counts, kind="stable"), kind="stable")
    return np.minimum(order[place], most - 1)


def mixed_in(frame: Frame, judgements: DataFrame, n: int) -> tuple[Counts, int]:
    """Return the unjudged rows, and how many of them an audit of n documents includes."""
    rows = np.flatnonzero(np.isnan(frame.grades(judgements)))
    return rows, min(round(n * UNJUDGED), len(rows))


def draw(
    frame: Frame, judgements: DataFrame, n: int, seed: int, machine: DataFrame | None = None
) -> Drawn:
    """Draw an audit of n documents in random order; for `judgements` see `tasks.make`."""
    random, (others, n_others) = np.random.default_rng(seed), mixed_in(frame, judgements, n)
    plan = strata(frame, judgements[judgements["official"]], n - n_others, machine)
    chances, rows = plan.chances, [random.permutation(others)[:n_others]]
    chances[others] = n_others / max(len(others), 1)
    for number, keys in enumerate(plan.n):
        own = np.flatnonzero((plan.stratum == number) & ~np.isnan(plan.labels))
        rows.append(random.permutation(own)[:keys])
    order = random.permutation(np.concatenate(rows))
    pairs = frame.pairs.iloc[order].reset_index(drop=True).assign(size=chances[order])
    pairs["priority"] = np.arange(len(order), 0, -1.0)
    return Drawn(pairs, frame.identity, seed, VERSION, frame.systems)
