"""Computes the agreement of assessors who judged the same pairs, and lists the pairs on which they
disagree. Every interval comes from a percentile bootstrap over the pairs (a query with a document),
with a fixed seed. Kappa and alpha are 1 for people who always agree and 0 for agreement by chance.
If all labels are the same grade, chance explains everything, and neither is defined. Only blind
labels are compared: those given on the Query page, with systems and ranks in view, are left out."""

from collections.abc import Callable, Collection, Mapping
from itertools import combinations

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas import DataFrame

from compute.base.errors import WrongInput
from compute.judgements import ADJUDICATION, HUMAN, IN_VIEW, PERSON, Choice, labels, resolve

DRAWS = 2_000
SEED = 20_240_601
PAIR = ["dataset", "query_id", "doc_id"]

Array = NDArray[np.float64]
Draw = Callable[[Array], Array]

WEIGHTS: Mapping[str, Callable[[Array], Array]] = {
    "none": lambda apart: np.where(apart > 0, 1.0, 0.0),
    "linear": lambda apart: apart,
    "quadratic": lambda apart: apart**2,
}
"""Weights of a disagreement by the distance of the two grades, for Cohen's kappa."""
OFFICIAL_ONES = "official judgement"
LEVELS = ("ordinal", "nominal", "interval")
"""Scales of grades for Krippendorff's alpha."""


def kappas(rows: DataFrame, weights: str = "none", sources: Collection[str] = HUMAN) -> DataFrame:
    """Compute Cohen's kappa for every two people with shared pairs, most pairs first: person,
    other, n_pairs, same (share of pairs with the same grade), kappa, low, high (95% CI). `rows` are
    added judgements; adjudications do not count. Cohen 1960, weighted as in Cohen 1968. Raises
    WrongInput for unknown weights."""
    if weights not in WEIGHTS:
        raise WrongInput(f"no weights {weights!r}; known: {', '.join(WEIGHTS)}")
    given = _by_person(rows, sources)
    found = [
        (person, other, *_kappa(given[person], given[other], WEIGHTS[weights]))
        for person, other in combinations(given, 2)
    ]
    columns = ["person", "other", "n_pairs", "same", "kappa", "low", "high"]
    frame = DataFrame([row for row in found if row[2]], columns=columns)
    return frame.sort_values("n_pairs", ascending=False, kind="stable", ignore_index=True)


def alpha(
    rows: DataFrame, level: str = "ordinal", sources: Collection[str] = HUMAN
) -> dict[str, float]:
    """Compute Krippendorff's alpha of all people: n_pairs, n_people, n_labels, alpha, low, high
    (95% CI). Pairs with a single label say nothing about agreement and are left out. Krippendorff
    2004, Content Analysis, chapter 11. Raises WrongInput for an unknown level."""
    if level not in LEVELS:
        raise WrongInput(f"no level {level!r}; known: {', '.join(LEVELS)}")
    return _alpha_of(_by_person(rows, sources).to_numpy(np.float64), level)


def with_machine(people: DataFrame, machine: DataFrame) -> dict[str, float]:
    """Compute the agreement of an LLM with the human judgements on the pairs that both graded, with
    equal weights. Both frames have query_id, doc_id and relevance, each pair once. Returns n_pairs;
    same (share of pairs with the same grade); people_relevant and machine_relevant (shares of
    grades above 0, on which kappa depends); and kappa, weighted (kappa by squared distance) and
    alpha (ordinal), each with _low and _high (95% CI). Without shared pairs, everything except
    n_pairs is nan."""
    both = _both(people, machine)
    found: dict[str, float] = {
        "n_pairs": len(both),
        "same": float((both["people"] == both["machine"]).mean()),
        "people_relevant": float((both["people"] > 0).mean()),
        "machine_relevant": float((both["machine"] > 0).mean()),
    }
    for name, weights in (("kappa", "none"), ("weighted", "quadratic")):
        _, _, *values = _kappa(both["people"], both["machine"], WEIGHTS[weights])
        found |= dict(zip((name, f"{name}_low", f"{name}_high"), values, strict=True))
    of_all = _alpha_of(both[["people", "machine"]].to_numpy(np.float64), "ordinal")
    return found | {f"alpha{end}": of_all[key] for key, end in _ALPHA.items()}


def confusion(people: DataFrame, machine: DataFrame) -> DataFrame:
    """Count the pairs that both graded by their two grades: people, machine (grades), n_pairs."""
    both = _both(people, machine)
    counts = both.groupby(["people", "machine"]).size()
    return counts.rename("n_pairs").reset_index()


def blind(rows: DataFrame, sources: Collection[str] = HUMAN) -> DataFrame:
    """Return the majority grade of each pair judged blind by people: query_id, doc_id,
    relevance."""
    found = resolve(rows[rows["task"] != IN_VIEW], Choice("majority", tuple(sources)))
    return found[["query_id", "doc_id", "relevance"]]


_ALPHA = {"alpha": "", "low": "_low", "high": "_high"}


def _both(people: DataFrame, machine: DataFrame) -> DataFrame:
    """Return the two grades of each pair that both graded: people, machine."""
    pair = ["query_id", "doc_id"]
    found = people[[*pair, "relevance"]].merge(machine[[*pair, "relevance"]], on=pair)
    return DataFrame({"people": found["relevance_x"], "machine": found["relevance_y"]})


def _alpha_of(given: Array, level: str) -> dict[str, float]:
    """Compute `alpha` from grades [pair, person], NaN if a person gave none."""
    given = given[(~np.isnan(given)).sum(axis=1) > 1]
    there = ~np.isnan(given)
    grades = np.unique(given[there])
    profiles, counts = np.unique(
        (given[:, :, None] == grades).sum(axis=1).reshape(len(given), len(grades)),
        axis=0,
        return_counts=True,
    )
    coincidences = _coincidences(profiles.astype(np.float64))
    value, low, high = _interval(
        counts, lambda drawn: _alpha(np.tensordot(drawn, coincidences, 1), grades, level)
    )
    n_people, n_labels = int(there.any(axis=0).sum()), int(there.sum())
    facts = {"n_pairs": len(given), "n_people": n_people, "n_labels": n_labels}
    return {**facts, "alpha": value, "low": low, "high": high}


def disagreements(rows: DataFrame, sources: Collection[str] = HUMAN) -> DataFrame:
    """Return the pairs to which people gave different grades: dataset, query_id, doc_id, labels
    (grade by person), apart (highest minus lowest grade), settled (the grade of the newest
    adjudication; absent without one). Unsettled pairs come first, then those with the largest
    difference."""
    if rows.empty:
        return DataFrame(columns=[*PAIR, "labels", "apart", "settled"])
    standing = _blind(rows, [*sources, ADJUDICATION])
    is_settled = standing["source"] == ADJUDICATION
    settled = standing[is_settled].groupby(PAIR)["relevance"].last().rename("settled")
    given = standing[~is_settled].astype({"relevance": np.int64})
    apart = given.groupby(PAIR)["relevance"].agg(lambda grades: grades.max() - grades.min())
    apart = apart[apart > 0].rename("apart").reset_index()
    by_pair: dict[tuple[str, ...], dict[str, int]] = {}
    for *pair, person, grade in given[[*PAIR, "person", "relevance"]].itertuples(index=False):
        by_pair.setdefault(tuple(pair), {})[person] = int(grade)
    pairs = apart[PAIR].itertuples(index=False, name=None)
    found = apart.join(settled.astype("Int64"), on=PAIR)
    found["labels"] = pd.Series([by_pair[pair] for pair in pairs], found.index, dtype=object)
    found["is_settled"] = found["settled"].notna()
    order = ["is_settled", "apart", *PAIR]
    found = found.sort_values(order, ascending=[True, False, True, True, True], ignore_index=True)
    return found[[*PAIR, "labels", "apart", "settled"]]


def beside_official(rows: DataFrame, official: DataFrame) -> DataFrame:
    """Return added judgements, followed by the official ones of the same pairs under the name
    OFFICIAL_ONES. `official` has query_id, doc_id, relevance. Only an audit can make the two
    differ: other tasks ask for pairs without an official judgement."""
    own = rows[PAIR].drop_duplicates().merge(official, on=PAIR[1:])
    own = own.assign(person=OFFICIAL_ONES, source=PERSON, task="", time="")
    return pd.concat([rows, own.astype({"relevance": "Int64"})], ignore_index=True)


def _blind(rows: DataFrame, sources: Collection[str]) -> DataFrame:
    """Return the current rows of blind judgements."""
    return labels(rows[rows["task"] != IN_VIEW], sources)


def _by_person(rows: DataFrame, sources: Collection[str]) -> DataFrame:
    """Return the current grades, with a row per pair and a column per person; NaN if none."""
    standing = _blind(rows, [source for source in sources if source != ADJUDICATION])
    standing = standing.astype({"relevance": np.float64})
    return standing.pivot_table("relevance", PAIR, "person", sort=True, observed=True)


def _kappa(
    left: pd.Series, right: pd.Series, weight: Callable[[Array], Array]
) -> tuple[int, float, float, float, float]:
    """Return the number of shared pairs, the share of equal grades, and kappa with its interval."""
    both = left.notna() & right.notna()
    if not both.any():
        return 0, np.nan, np.nan, np.nan, np.nan
    grades, places = np.unique([left[both], right[both]], return_inverse=True)
    first, second = places.reshape(2, -1)
    n = len(grades)
    table = np.bincount(first * n + second, minlength=n * n)
    apart = weight(np.abs(grades[:, None] - grades))
    same = float((first == second).mean())
    return int(both.sum()), same, *_interval(table, lambda drawn: kappa_of(drawn, apart))


def kappa_of(tables: Array, apart: Array) -> Array:
    """Return 1 - observed / expected disagreement of contingency tables [draw, cell]; `apart` is
    the weight of each cell."""
    n = len(apart)
    share = (tables / tables.sum(axis=1, keepdims=True)).reshape(-1, n, n)
    expected = share.sum(axis=2)[:, :, None] * share.sum(axis=1)[:, None, :]
    return _less_than_chance((share * apart).sum(axis=(1, 2)), (expected * apart).sum(axis=(1, 2)))


def _coincidences(profiles: Array) -> Array:
    """Return what a pair adds to the coincidences of grades, by its labels [profile, grade]."""
    both = profiles[:, :, None] * profiles[:, None, :]
    both -= profiles[:, :, None] * np.eye(profiles.shape[1])
    return both / (profiles.sum(axis=1) - 1)[:, None, None]


def _alpha(coincidences: Array, grades: Array, level: str) -> Array:
    """Return 1 - observed / expected disagreement of coincidences [draw, grade, grade]."""
    totals = coincidences.sum(axis=2)
    apart = _apart(totals, grades, level)
    number = totals.sum(axis=1)
    observed = (coincidences * apart).sum(axis=(1, 2))
    expected = (totals[:, :, None] * totals[:, None, :] * apart).sum(axis=(1, 2)) / (number - 1)
    return _less_than_chance(observed, expected)


def _apart(totals: Array, grades: Array, level: str) -> Array:
    """Return squared distances of grades, by bootstrap draw if they depend on frequencies."""
    if level == "nominal":
        return 1 - np.eye(len(grades))[None]
    if level == "interval":
        return ((grades[:, None] - grades) ** 2)[None]
    # The distance counts half of the labels of both grades and all labels between them.
    middle = np.cumsum(totals, axis=1) - totals / 2
    return (middle[:, :, None] - middle[:, None, :]) ** 2


def _less_than_chance(observed: Array, expected: Array) -> Array:
    """Return 1 - observed / expected; nan if nothing is expected."""
    absent = np.full(len(observed), np.nan)
    return 1 - np.divide(observed, expected, out=absent, where=expected > 0)


def _interval(counts: NDArray[np.int64], statistic: Draw) -> tuple[float, float, float]:
    """Return a statistic of the counts of kinds of pairs, with its 95% interval."""
    number = int(counts.sum())
    if not number:
        return np.nan, np.nan, np.nan
    value = float(statistic(counts[None].astype(np.float64))[0])
    drawn = np.random.default_rng(SEED).multinomial(number, counts / number, DRAWS)
    spread = statistic(drawn.astype(np.float64))
    spread = spread[~np.isnan(spread)]
    if number < 2 or np.isnan(value):
        return value, np.nan, np.nan
    low, high = np.quantile(spread, [0.025, 0.975])
    return value, float(low), float(high)
