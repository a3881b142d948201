"""Is a candidate at most a margin worse than a baseline, on each of several groups of queries?

A group is a dataset, or any of its queries under a name. Differences are the candidate's value less
the baseline's, the other way round where a lower value is better: below 0 the candidate is worse.

**One group.** With a margin m above 0, the candidate is not worse where the lower end of Student's
95% interval of its mean difference lies above -m. That is the one-sided t-test of "the true
difference is -m or less" at 2.5%, half the level of the two-sided interval (ICH E9, 1998, sections
3.3.2 and 5.5; Piaggio et al. 2012, JAMA 308, 2594-2604). It is worse where the upper end lies below
-m: the t-test of "-m or more", at 2.5% as well. Else it is undecided.

**Several groups.** The candidate is not worse where it is so on every group, each at the level of
one alone: the intersection-union test (Berger 1982, Technometrics 24, 295-300). To call it not
worse wrongly, the group that it truly loses on must be called so wrongly, which has a chance of
2.5%; nothing has to be corrected. It is worse where some group is, and there errors would add up:
the p-values of that test are corrected for the number of groups by Holm's method (1979,
Scandinavian Journal of Statistics 6, 65-70). So an interval that lies below -m may not be enough.

**The best of several versions.** The one with the best mean was selected by it, so the candidate is
compared with all. Its difference from the best true mean is its least (Edwards and Hsu 1983, JASA
78, 965-971). So the lower end is the least lower end; the upper end is the least upper end, each at
the level divided by the number of versions and, in the K-th such night, by K (K + 1): alpha
spending (Tian and Ramdas 2021, Statistical Methods in Medical Research 30, 976-993). So *worse* is
wrong in any of all nights with a chance of 2.5%, *not worse* in each night.

**An anchor** is an earlier version with a margin for the sum of all losses since: more groups.
**Equivalent within the margin**: not worse, and the upper end lies below m (Schuirmann 1987,
Journal of Pharmacokinetics and Biopharmaceutics 15, 657-680).

**Not comparable.** A candidate without a hit for more than a tenth of the queries that the baseline
answers has failed to run there, and is neither worse nor not worse.

The intervals refer to queries like these. A loss on so few queries that none, or hardly one, is
among these shows in no interval; `tests.benchmarks.simulations.gate` has how often, and the error
rates else.
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
"""Columns of a group, a row for each query: the part of the dataset, both values (absent if a
measure has none), the least and the largest difference in the joint possible range (absent if
unknown), and the unjudged share of both lists (absent for an empty one). If families are declared,
also `family`: the query's family, by part; and `baseline run 1` and so on, the value of each of
several runs. A group with an own margin has it in MARGIN. One to be compared with the best of
several versions has rows for each VERSION, and in NIGHT the number of such comparisons so far."""
OF_RUN = " run "
MARGIN, VERSION, NIGHT = "margin", "version", "night"


def decide(
    groups: Mapping[str, DataFrame], margin: float, sign: int = 1, *, any_answered: bool = False
) -> DataFrame:
    """A row for each of `groups`, which are tables with COLUMNS by name.

    group, n (queries that both have a value for; parts count equally in all means), differing
    (those with another value), baseline, candidate, difference, low, high (Student's 95% interval),
    p (of being worse, by Holm's method), verdict, queries_needed (`needed`), holes_baseline,
    holes_candidate, and the same decision were all holes judged as badly, or as well, as they can
    be for the candidate: least, most (the mean differences), at_least, at_most (the verdicts).
    families: their number, by which the interval and the verdict are, and design_effect, where a
    group has `family`; absent elsewhere. queries_needed is then of queries in families like these.
    answered: queries that the baseline answers; unanswered: of these those that the candidate does
    not. Where these are too many there is no test, unless `any_answered`.
    margin; equivalent: whether it is so within the margin; versions: their number, and version: the
    one with the best mean, of which all numbers but the interval, p and verdicts are.
    `sign` is -1 if a lower value is better. A single query has no interval: it is undecided.
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
    """WORSE if any group is, else NOT_COMPARABLE if any is; NOT_WORSE if all are."""
    for one in (WORSE, NOT_COMPARABLE):
        if one in verdicts:
            return one
    return NOT_WORSE if all(one == NOT_WORSE for one in verdicts) else UNDECIDED


def tested(found: DataFrame, margin: ArrayLike, share: ArrayLike = 1.0) -> DataFrame:
    """Rows of `baseline.differences` with low, high, and p of being worse, corrected only for the
    `share` of LEVEL that the upper end has.

    Absent for a single query, p 1. p is below half of LEVEL where `high` is below -margin.
    """
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
    """Verdicts by group; `p` is corrected for their number."""
    behind = -np.asarray(margin)
    choices = [above(low, behind), above(behind, high) & (np.asarray(p) <= LEVEL / 2)]
    return np.select(choices, [NOT_WORSE, WORSE], UNDECIDED).astype(object)


def needed(found: DataFrame) -> Series:
    """Number of queries like these with which an equally good candidate is called not worse with
    80% probability, for one dataset; absent if fewer than `power.FEWEST` queries differ, and for
    several versions."""
    # More queries would not narrow what runs add.
    few = (found["differing"] < power.FEWEST) | found["moved"] | found["versions"].notna()
    deviation = found["error"] * np.sqrt(found["units"])
    units = power.queries_needed(found["margin"], deviation.where(~few, 0), LEVEL)
    queries = np.ceil(units * (found["n"] / found["units"]))
    return Series(queries, found.index).astype("Int64").mask(few)


def share(versions: ArrayLike, night: ArrayLike) -> Values:
    """The share of LEVEL for the upper end of each difference from so many versions; 1 in night 0,
    with a single baseline."""
    return 1 / (np.asarray(versions) * np.maximum(np.multiply(night, np.add(night, 1)), 1))


def _by_version(rows: DataFrame, margin: float) -> list[DataFrame]:
    usual = {MARGIN: margin, NIGHT: 0, VERSION: ""}
    rows = rows.assign(**{name: of for name, of in usual.items() if name not in rows})
    return [own.reset_index(drop=True) for _, own in rows.groupby(VERSION, sort=False)]


def _decided(
    frames: Sequence[DataFrame], gaps: Sequence[Series], names: Sequence[str]
) -> DataFrame:
    """A row for each group: `names` has that of each of the frames, which are its versions. frame:
    the place of the one with the least difference."""
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
    """Rows of `tested`, of groups with several runs over queries and runs; `moved`: whether these
    move the difference."""
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
    """The mean of each run on the queries of both systems, by part."""
    own = [str(name) for name in frame if str(name).startswith(f"{side}{OF_RUN}")]
    both = frame.dropna(subset=list(MEANS))
    means = [part[own].mean().dropna() for _, part in both.groupby("part")]
    return [of.to_numpy() / len(means) for of in means]


def _difference(gaps: Series, frame: DataFrame) -> DataFrame:
    """A row of `baseline.differences`."""
    parts = [own for _, own in gaps.groupby(frame["part"])]
    beside = [np.stack([np.zeros(len(own)), own]) for own in parts]
    codes = None
    if "family" in frame:
        codes = pd.factorize(frame["family"][np.concatenate([own.index for own in parts])])[0]
    return baseline.differences(beside, 0, codes).iloc[1:]


def _mean(rows: DataFrame, column: str) -> float:
    return float(rows.groupby("part")[column].mean().mean())
