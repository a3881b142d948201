"""Is a candidate at most a margin worse than a baseline, on each of several groups of queries?

A group is a dataset or a named subset of its queries. A difference is the candidate's value minus
the baseline's, with the sign reversed if lower values are better: below 0, the candidate is worse.

**One group.** With a margin m above 0, the candidate is *not worse* if the lower end of Student's
95% interval of its mean difference lies above -m. This is the one-sided t-test of "the true
difference is -m or less" at 2.5%, half the level of the two-sided interval (ICH E9, 1998, sections
3.3.2 and 5.5; Piaggio et al. 2012, JAMA 308, 2594-2604). The candidate is *worse* if the upper end
lies below -m, the t-test of "-m or more", also at 2.5%. Otherwise the verdict is *undecided*.

**Several groups.** The candidate is not worse if it is not worse on every group, each tested at the
level of a single group: the intersection-union test (Berger 1982, Technometrics 24, 295-300). No
correction is needed: the verdict is wrong only if it is wrong on the group on which the candidate
truly loses, which has a probability of 2.5%. The candidate is worse if it is worse on any group.
For *worse*, errors would add up, so the p-values are corrected for the number of groups by Holm's
method (1979, Scandinavian Journal of Statistics 6, 65-70). So an interval below -m may not be
enough.

**The best of several versions.** The baseline with the best mean was selected for that mean, so the
candidate is compared with all versions. Its difference from the best true mean is the least of its
differences (Edwards and Hsu 1983, JASA 78, 965-971). So each end of the interval is the least of
the versions' ends. The level of the upper ends is divided by the number of versions and, in the
K-th nightly comparison, by K (K + 1): alpha spending (Tian and Ramdas 2021, Statistical Methods in
Medical Research 30, 976-993). So the probability of a wrong *worse* is 2.5% over all nights
together, and that of a wrong *not worse* is 2.5% in each night.

**An anchor** is an earlier version with a margin for the sum of all losses since then; it adds
groups. **Equivalent within the margin** means not worse, with an upper end below m (Schuirmann
1987, Journal of Pharmacokinetics and Biopharmaceutics 15, 657-680).

**Not comparable.** If a candidate has no hit for more than a tenth of the queries that the baseline
answers, its run has failed there, and it is neither worse nor not worse.

The intervals refer to queries like these. They cannot show a loss on queries so rare that hardly
any is among these; `tests.benchmarks.simulations.gate` measures this and the other error rates.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from pandas import DataFrame, Series
from scipy import special

from compute.evaluate import baseline, power
from compute.evaluate.distributions import Runs
from compute.evaluate.families import design_effect
from compute.evaluate.sign_flips import LEVEL
from compute.evaluate.significance import Values, student
from compute.evaluate.tolerance import above

NOT_WORSE, WORSE, UNDECIDED = "not worse", "worse", "undecided"
NOT_COMPARABLE = "not comparable"
MOST_UNANSWERED = 0.1
MEANS = ("baseline", "candidate")
HOLES = ("holes_baseline", "holes_candidate")
ENDS = ("least", "most")
COLUMNS = ("part", *MEANS, *ENDS, *HOLES)
"""Columns of a group, which has a row for each query: the part of the dataset, both values (absent
if the measure has none), the least and the largest difference in the joint possible range (absent
if unknown), and the unjudged share of both lists (absent for an empty list). Optional columns:
`family`, the query's family within its part; `baseline run 1` and so on, the value of each of
several runs; MARGIN, the group's own margin. A group that is compared with the best of several
versions has rows for each VERSION, and the number of such comparisons so far in NIGHT."""
OF_RUN = " run "
MARGIN, VERSION, NIGHT = "margin", "version", "night"


def decide(
    groups: Mapping[str, DataFrame], margin: float, sign: int = 1, *, any_answered: bool = False
) -> DataFrame:
    """Decide on each of `groups`, tables with COLUMNS by group name; returns a row per group.

    group; n (queries for which both have a value; parts count equally in all means); differing
    (queries with different values); baseline, candidate, difference (means); low, high (Student's
    95% interval); p (of being worse, by Holm's method); verdict; queries_needed (see `needed`);
    holes_baseline, holes_candidate; least, most (the mean differences if all holes were judged as
    badly, or as well, as possible for the candidate); at_least, at_most (the verdicts in these
    cases).

    families, design_effect: for a group with `family`, the number of families, which the interval,
    the verdict and queries_needed then refer to. answered: queries that the baseline answers;
    unanswered: those of them that the candidate does not. If there are too many, there is no test,
    unless `any_answered`. margin; equivalent: whether the two are equivalent within it. versions:
    their number; version: the one with the least difference, to which all numbers except the
    interval, p and verdicts refer. `sign` is -1 if a lower value is better. A group with a single
    query is undecided.
    """
    named = [(name, own) for name, rows in groups.items() for own in _by_version(rows, margin)]
    names, every = (list(of) for of in zip(*named, strict=True))
    gaps = [sign * (rows["candidate"] - rows["baseline"]) for rows in every]
    found = _decided(every, gaps, names)
    frames = [every[at] for at in found["frame"]]
    both = [rows.dropna(subset=list(MEANS)) for rows in frames]
    for name in MEANS:
        found[name] = [_mean(rows, name) for rows in both]
    for name in HOLES:
        found[name] = [_mean(rows, name) for rows in frames]
    for end in ENDS:
        there = np.array([rows[end].notna().all() for rows in groups.values()])
        at = [rows[end].fillna(gap) for rows, gap in zip(every, gaps, strict=True)]
        extreme = _decided(every, at, names)
        found[end] = extreme["difference"].where(there)
        found[f"at_{end}"] = extreme["verdict"].where(there)
    found["queries_needed"] = needed(found)
    by_family = Series(["family" in rows for rows in frames])
    found["families"] = found["units"].where(by_family).astype("Int64")
    found["design_effect"] = design_effect(found["error"], found["alone"]).where(by_family)
    there = [rows[[*HOLES]].notna().to_numpy() for rows in frames]
    found["answered"] = [int(both[:, 0].sum()) for both in there]
    found["unanswered"] = [int((both[:, 0] > both[:, 1]).sum()) for both in there]
    found["version"] = [rows[VERSION].iloc[0] for rows in frames]
    failed = found["unanswered"] > (1 if any_answered else MOST_UNANSWERED) * found["answered"]
    found[[*_TESTED]] = found[[*_TESTED]].mask(failed)
    found["verdict"] = found["verdict"].mask(failed, NOT_COMPARABLE)
    found["equivalent"] = (found["verdict"] == NOT_WORSE) & above(found[MARGIN], found["high"])
    shown = (*_SHOWN, *_OF_FAMILIES) if by_family.any() else _SHOWN
    return found.assign(group=list(groups))[list(shown)]


_TESTED = ("low", "high", "p", "queries_needed", "at_least", "at_most")
_SHOWN = (
    *("group", "n", "differing", *MEANS, "difference", "low", "high", "p", "verdict"),
    *("queries_needed", *HOLES, *ENDS, "at_least", "at_most"),
    *("answered", "unanswered", "margin", "equivalent", "versions", "version"),
)
_OF_FAMILIES = ("families", "design_effect")


def overall(verdicts: Sequence[str]) -> str:
    """Return WORSE if any group is worse, else NOT_COMPARABLE if any is not comparable, NOT_WORSE
    if all are not worse, else UNDECIDED."""
    for one in (WORSE, NOT_COMPARABLE):
        if one in verdicts:
            return one
    return NOT_WORSE if all(one == NOT_WORSE for one in verdicts) else UNDECIDED


def tested(found: DataFrame, margin: ArrayLike, share: ArrayLike = 1.0) -> DataFrame:
    """Add low, high and p to rows of `baseline.differences`. p is the p-value for *worse*,
    corrected only for the `share` of LEVEL that the upper end has; it is below LEVEL / 2 if `high`
    is below -margin. For a single query, the interval is absent and p is 1."""
    freedom, part = found["freedom"], np.asarray(share)
    low, _ = student(found["difference"], found["error"], freedom)
    _, high = student(found["difference"], found["error"], freedom, LEVEL * part)
    behind, error = (found["difference"] + np.asarray(margin)).to_numpy(), found["error"].to_numpy()
    flat = np.copysign(np.inf, behind)
    t = np.divide(behind, error, out=flat, where=error > 0)
    p = np.nan_to_num(special.stdtr(freedom.where(freedom > 0), t), nan=1)
    return found.assign(low=low, high=high, p=p / part)


def verdicts(
    low: ArrayLike, high: ArrayLike, p: ArrayLike, margin: ArrayLike
) -> NDArray[np.object_]:
    """Return the verdict of each group; `p` is corrected for their number."""
    behind = -np.asarray(margin)
    choices = [above(low, behind), above(behind, high) & (np.asarray(p) <= LEVEL / 2)]
    return np.select(choices, [NOT_WORSE, WORSE], UNDECIDED).astype(object)


def needed(found: DataFrame) -> Series:
    """Return, for each group, how many queries like these are needed to call an equally good
    candidate not worse with a probability of 80%. The number is absent if fewer than `power.FEWEST`
    queries differ, if runs affect the difference, and for several versions."""
    # More queries would not reduce the variance between runs.
    few = (found["differing"] < power.FEWEST) | found["moved"] | found["versions"].notna()
    deviation = found["error"] * np.sqrt(found["units"])
    units = power.queries_needed(found["margin"], deviation.where(~few, 0), LEVEL)
    queries = np.ceil(units * (found["n"] / found["units"]))
    return Series(queries, found.index).astype("Int64").mask(few)


def share(versions: ArrayLike, night: ArrayLike) -> Values:
    """Return the share of LEVEL for the upper end of the difference from each of several versions;
    1 in night 0, which means a single baseline."""
    return 1 / (np.asarray(versions) * np.maximum(np.multiply(night, np.add(night, 1)), 1))


def _by_version(rows: DataFrame, margin: float) -> list[DataFrame]:
    """Split a group into a table for each version, with the usual margin unless it has its own."""
    usual = {MARGIN: margin, NIGHT: 0, VERSION: ""}
    rows = rows.assign(**{name: of for name, of in usual.items() if name not in rows})
    return [own.reset_index(drop=True) for _, own in rows.groupby(VERSION, sort=False)]


def _decided(
    frames: Sequence[DataFrame], gaps: Sequence[Series], names: Sequence[str]
) -> DataFrame:
    """Return a decided row for each group. `names` has the group of each of `frames`, which are its
    versions; the column frame has the position of the version with the least difference."""
    rows = [_difference(gap, frame) for gap, frame in zip(gaps, frames, strict=True)]
    found = pd.concat(rows, ignore_index=True)
    for name in (MARGIN, NIGHT):
        found[name] = [frame[name].iloc[0] for frame in frames]
    of = Series(names)
    n = of.groupby(of).transform("size")
    found["versions"] = n.astype("Int64").where(found[NIGHT] > 0)
    found["share"] = share(n, found[NIGHT])
    found = _over_runs(tested(found, found[MARGIN], found["share"]), frames)
    groups = found.groupby(of, sort=False)
    least = groups["difference"].idxmin()
    whole = found.loc[least].assign(frame=least.to_numpy()).reset_index(drop=True)
    for name in ("low", "high", "p"):
        whole[name] = groups[name].agg(lambda of: of.min(skipna=False)).to_numpy()
    whole["p"] = baseline.holm(whole["p"].to_numpy())
    decided = verdicts(whole["low"], whole["high"], whole["p"], whole[MARGIN])
    return whole.assign(verdict=decided)


def _over_runs(found: DataFrame, frames: Sequence[DataFrame]) -> DataFrame:
    """Replace the interval and p of groups with several runs by those over queries and runs;
    `moved` says whether runs affect the difference."""
    found = found.assign(moved=False)
    for row, frame in enumerate(frames):
        if not any(OF_RUN in str(name) for name in frame):
            continue
        runs = Runs.over([_by_run(frame, name) for name in MEANS])
        runs = runs.pairs(np.array([1]), np.array([0]))
        of = ("difference", "error", "freedom", "margin", "share")
        mean, error, freedom, margin, part = (float(found[name].iloc[row]) for name in of)
        if not runs.some[0]:
            continue
        (below,), (beyond,) = (runs.half([error], freedom, [LEVEL * of]) for of in (1, part))
        (p,) = runs.chance([mean + margin], [error], [freedom])
        p = np.nan_to_num(p / 2 if mean + margin < 0 else 1 - p / 2, nan=1) / part
        found.loc[row, ["low", "high", "p"]] = mean - below, mean + beyond, p
        found.loc[row, "moved"] = True
    return found


def _by_run(frame: DataFrame, side: str) -> list[Values]:
    """Return the mean of each run over the queries with both values, by part."""
    own = [str(name) for name in frame if str(name).startswith(f"{side}{OF_RUN}")]
    both = frame.dropna(subset=list(MEANS))
    means = [part[own].mean().dropna() for _, part in both.groupby("part")]
    return [of.to_numpy() / len(means) for of in means]


def _difference(gaps: Series, frame: DataFrame) -> DataFrame:
    """Return the row of `baseline.differences` for these differences of queries."""
    parts = [own for _, own in gaps.groupby(frame["part"])]
    beside = [np.stack([np.zeros(len(own)), own]) for own in parts]
    codes = None
    if "family" in frame:
        codes = pd.factorize(frame["family"][np.concatenate([own.index for own in parts])])[0]
    return baseline.differences(beside, 0, codes).iloc[1:]


def _mean(rows: DataFrame, column: str) -> float:
    """Return the mean over the parts of a column's mean on each part."""
    return float(rows.groupby("part")[column].mean().mean())
