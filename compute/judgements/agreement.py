"""Agreement of assessors who judged the same pairs, and the pairs on which they disagree.

Every interval is a percentile bootstrap over the pairs (a query with a document), seeded. Kappa and
alpha are 1 for people who always agree and 0 for agreement by chance; if all labels are the same
grade, chance explains everything, and neither is defined. Only blind labels are compared: those
given on the Query page, with systems and ranks in view, are left out.
"""

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
"""Disagreement weight of two grades by their distance, for Cohen's kappa."""
OFFICIAL_ONES = "official judgement"
LEVELS = ("ordinal", "nominal", "interval")
"""Scale of grades for Krippendorff's alpha: ordinal, nominal or interval."""


def kappas(rows: DataFrame, weights: str = "none", sources: Collection[str] = HUMAN) -> DataFrame:
    """Cohen's kappa for each two people with shared pairs, most pairs first. person, other,
    n_pairs, same (share of pairs with the same grade), kappa, low, high (95% CI). `rows` are added
    judgements; adjudications count for neither. Cohen 1960, weighted as Cohen 1968. Raises
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
    """Krippendorff's alpha of all people: n_pairs, n_people, n_labels, alpha, low, high (95% CI).
    Pairs with only one label say nothing about agreement and are left out. Krippendorff 2004,
    Content Analysis, chapter 11. Raises WrongInput for an unknown level."""
    if level not in LEVELS:
        raise WrongInput(f"no level {level!r}; known: {', '.join(LEVELS)}")
    return _alpha_of(_by_person(rows, sources).to_numpy(np.float64), level)


def with_machine(people: DataFrame, machine: DataFrame) -> dict[str, float]:
    """Agreement of an LLM with the human judgements on the pairs that both graded, with equal
    weights.

    Both: query_id, doc_id, relevance, a pair once. n_pairs, same (share with the same grade),
    people_relevant and machine_relevant (base rates: share of a grade above 0, which kappa depends
    on), and kappa, weighted (kappa by squared distance) and alpha (ordinal), each with _low and
    _high (95% CI). Everything except n_pairs is absent (nan) without such pairs.
    """
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
    """people, machine (grades), n_pairs: pairs graded by both, counted by the two grades."""
    both = _both(people, machine)
    counts = both.groupby(["people", "machine"]).size()
    return counts.rename("n_pairs").reset_index()


def blind(rows: DataFrame, sources: Collection[str] = HUMAN) -> DataFrame:
    """A grade for each pair that people judged blind: query_id, doc_id, relevance; by majority."""
    found = resolve(rows[rows["task"] != IN_VIEW], Choice("majority", tuple(sources)))
    return found[["query_id", "doc_id", "relevance"]]


_ALPHA = {"alpha": "", "low": "_low", "high": "_high"}


def _both(people: DataFrame, machine: DataFrame) -> DataFrame:
    """people, machine: the grades of the pairs that both graded."""
    pair = ["query_id", "doc_id"]
    found = people[[*pair, "relevance"]].merge(machine[[*pair, "relevance"]], on=pair)
    return DataFrame({"people": found["relevance_x"], "machine": found["relevance_y"]})


def _alpha_of(given: Array, level: str) -> dict[str, float]:
    """`alpha` of grades [pair, person], NaN if a person gave none."""
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
    """The pairs to which people gave different grades, the largest difference first.

    dataset, query_id, doc_id, labels (grade by person), apart (highest less lowest), settled (the
    grade of the newest adjudication; absent if there is none). Unsettled pairs come first.
    """
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
    """Added judgements, and the official judgements of the same pairs under the name OFFICIAL_ONES.

    `official`: query_id, doc_id, relevance. An audit makes them differ: other tasks ask for pairs
    without an official judgement.
    """
    own = rows[PAIR].drop_duplicates().merge(official, on=PAIR[1:])
    own = own.assign(person=OFFICIAL_ONES, source=PERSON, task="", time="")
    return pd.concat([rows, own.astype({"relevance": "Int64"})], ignore_index=True)


def _blind(rows: DataFrame, sources: Collection[str]) -> DataFrame:
    """The current rows of blind judgements."""
    return labels(rows[rows["task"] != IN_VIEW], sources)


def _by_person(rows: DataFrame, sources: Collection[str]) -> DataFrame:
    """The current grades: a row per pair, a column per person, NaN if there is none."""
    standing = _blind(rows, [source for source in sources if source != ADJUDICATION])
    standing = standing.astype({"relevance": np.float64})
    return standing.pivot_table("relevance", PAIR, "person", sort=True, observed=True)


def _kappa(
    left: pd.Series, right: pd.Series, weight: Callable[[Array], Array]
) -> tuple[int, float, float, float, float]:
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
    """1 - observed over expected disagreement, of tables [draw, cell]."""
    n = len(apart)
    share = (tables / tables.sum(axis=1, keepdims=True)).reshape(-1, n, n)
    expected = share.sum(axis=2)[:, :, None] * share.sum(axis=1)[:, None, :]
    return _less_than_chance((share * apart).sum(axis=(1, 2)), (expected * apart).sum(axis=(1, 2)))


def _coincidences(profiles: Array) -> Array:
    """Contribution of a pair to the coincidences of grades, by its labels [profile, grade]."""
    both = profiles[:, :, None] * profiles[:, None, :]
    both -= profiles[:, :, None] * np.eye(profiles.shape[1])
    return both / (profiles.sum(axis=1) - 1)[:, None, None]


def _alpha(coincidences: Array, grades: Array, level: str) -> Array:
    """1 - observed over expected disagreement, of coincidences [draw, grade, grade]."""
    totals = coincidences.sum(axis=2)
    apart = _apart(totals, grades, level)
    number = totals.sum(axis=1)
    observed = (coincidences * apart).sum(axis=(1, 2))
    expected = (totals[:, :, None] * totals[:, None, :] * apart).sum(axis=(1, 2)) / (number - 1)
    return _less_than_chance(observed, expected)


def _apart(totals: Array, grades: Array, level: str) -> Array:
    """The squared difference of two grades, by bootstrap draw if it depends on grade
    frequencies."""
    if level == "nominal":
        return 1 - np.eye(len(grades))[None]
    if level == "interval":
        return ((grades[:, None] - grades) ** 2)[None]
    # Half of either end and everything between, which is the distance of mid-ranks.
    middle = np.cumsum(totals, axis=1) - totals / 2
    return (middle[:, :, None] - middle[:, None, :]) ** 2


def _less_than_chance(observed: Array, expected: Array) -> Array:
    absent = np.full(len(observed), np.nan)
    return 1 - np.divide(observed, expected, out=absent, where=expected > 0)


def _interval(counts: NDArray[np.int64], statistic: Draw) -> tuple[float, float, float]:
    """The statistic from counts of kinds of pairs, with the bounds of its 95% interval."""
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
