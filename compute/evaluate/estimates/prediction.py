"""Predicts the grade of a pair from its ranks in the runs and from the grades so far. The model is
a linear mixed model of fused ranks, the logarithm of each system's rank under a ridge penalty, and
an effect of the query that is shrunk towards 0 (the best linear unbiased prediction; Henderson
1975, Biometrics 31). The amount of shrinkage maximises the likelihood. Estimates are unbiased even
with poor predictions, since the sample corrects them, but good predictions need smaller samples."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import special

from compute.evaluate.estimates.frames import Counts, Frame, Values

VERSION = "ranks-1"
"""Version stored with judgements drawn by a prediction; a new formula gets a new version."""
_RIDGE = 20.0
"""Residual variance over the variance of a system's coefficient, before it is multiplied by one of
_FACTORS."""
_TRUST = 4.5
"""Scale of an LLM's grades; by it they are shrunk a twentieth as much as a system's ranks, since
they predict the grade itself."""
_FACTORS = (0.25, 1.0, 4.0, 16.0)
_QUERIES = (2.0, 8.0, 32.0, 1e6)
"""Residual variance over the variance of query effects: with this many judgements, a query's own
mean counts half."""
_LEAST = 1e-9
_CURVE, _PULL, _STEPS = np.array([-2.0, 4.0]), 0.1, 8
"""The nearly straight curve towards which the fit is pulled, the weight of that pull, and the
number of Newton's steps."""


def features(frame: Frame, machine: Values | None = None) -> Values:
    """Return the features of each pair, (N, 4 + S): the constant 1, three standardised forms of
    fused ranks, and minus the logarithm of each system's rank. An LLM's grades (N,), NaN without a
    grade, add two columns: the standardised grade, and whether there is one. Their weight is fitted
    to human grades, once for all systems."""
    rank = frame.rank
    absent = 2 * max(int(rank.max(initial=1)), frame.depth)
    fused = [np.where(rank > 0, 1 / (c + rank), 0).sum(axis=1) for c in (60, 10)]
    main = np.column_stack([*fused, np.log(fused[0])])
    own = -np.log(np.where(rank > 0, rank, absent))
    main, own = main - main.mean(axis=0), own - own.mean(axis=0)
    main = main / np.maximum(main.std(axis=0), _LEAST)
    own = own / max(np.sqrt((own**2).mean()), _LEAST)
    found = np.column_stack([np.ones(frame.n), main, own])
    return found if machine is None else np.column_stack([found, _said(machine)])


def _said(machine: Values) -> Values:
    """Return the two standardised columns of an LLM's grades, (N, 2)."""
    given = ~np.isnan(machine)
    # The grade of an LLM that always gives the same one carries no information.
    middle, width = (machine[given].mean(), machine[given].std()) if given.any() else (0.0, 0.0)
    grade = np.where(given, machine - middle, 0.0) / max(float(width), _LEAST)
    there = (given - given.mean()) / max(float(given.std()), _LEAST)
    return _TRUST * np.column_stack([grade * (width > _LEAST), there])


@dataclass(frozen=True)
class Fit:
    """A model fitted to n judged rows, with a prediction of each row from the n - 1 others."""

    coefficients: Values
    """(F, L) Coefficient of each feature."""
    effects: Values
    """(Q, L) Effect of each query."""
    curve: Values
    """(2, L) Intercept and slope of the logistic curve from linear predictions to shares."""
    others: Values
    """(n, L) Prediction of each row from the other rows."""

    def predicted(self, given: Values, query: Counts) -> Values:
        """Predict shares, (N, L), from features (N, F) and the numbers of the queries (N,)."""
        return _share(given @ self.coefficients + self.effects[query], self.curve)


@dataclass(frozen=True)
class Sums:
    """Judged rows, with the sums that give the likelihood for every amount of shrinkage."""

    given: Values
    """(n, F) Features."""
    query: Counts
    """(n,) Number of the row's query."""
    wanted: Values
    """(n, L) Shares to be predicted, from 0 to 1."""
    n_queries: int

    @cached_property
    def counts(self) -> Values:
        return np.bincount(self.query, minlength=self.n_queries).astype(np.float64)

    @cached_property
    def by_query(self) -> Values:
        """Return the sums of features and shares by query, (Q, F + L)."""
        both = np.column_stack([self.given, self.wanted])
        order = np.argsort(self.query, kind="stable")
        asked, starts = np.unique(self.query[order], return_index=True)
        found = np.zeros((self.n_queries, both.shape[1]))
        found[asked] = np.add.reduceat(both[order], starts, axis=0)
        return found

    @cached_property
    def products(self) -> Values:
        """Return all products of features and shares, summed over the rows."""
        both = np.column_stack([self.given, self.wanted])
        return both.T @ both


def fit(given: Values, query: Counts, wanted: Values, n_queries: int) -> Fit:
    """Fit the model to n rows: features (n, F), query (n,), and L shares from 0 to 1 (n, L). All L
    shares use the shrinkage with the highest likelihood for the first share."""
    sums = Sums(given, query, wanted, n_queries)
    shrunk, inverse = _likeliest(sums)
    n_features, factor = given.shape[1], 1 / (sums.counts + shrunk)
    x, y = sums.by_query[:, :n_features], sums.by_query[:, n_features:]
    products = sums.products - (sums.by_query * factor[:, None]).T @ sums.by_query
    coefficients = inverse @ products[:n_features, n_features:]
    effects = factor[:, None] * (y - x @ coefficients)
    # The prediction from the other rows follows from the row's influence on its own prediction.
    away = given - (factor[:, None] * x)[query]
    own = factor[query] + ((away @ inverse) * away).sum(axis=1)
    residuals = wanted - given @ coefficients - effects[query]
    others = wanted - residuals / np.maximum(1 - own, 0.05)[:, None]
    curve = np.column_stack([_logistic(*both) for both in zip(others.T, wanted.T, strict=True)])
    return Fit(coefficients, effects, curve, _share(others, curve))


def _share(linear: Values, curve: Values) -> Values:
    """Turn linear predictions into shares by the logistic curve."""
    return special.expit(curve[0] + curve[1] * linear)


def _logistic(linear: Values, wanted: Values) -> Values:
    """Fit the curve (2,) by Newton's method, pulled slightly towards `_CURVE` (Platt 1999)."""
    given, found = np.column_stack([np.ones(len(linear)), linear]), _CURVE
    for _ in range(_STEPS):
        share = special.expit(given @ found)
        slope = given.T @ (wanted - share) - _PULL * (found - _CURVE)
        bend = (given * (share * (1 - share))[:, None]).T @ given + _PULL * np.eye(2)
        found = found + np.linalg.solve(bend, slope)
    return found


def _likeliest(sums: Sums) -> tuple[float, Values]:
    """Return the likeliest shrinkage of query effects, and the inverse for the coefficients."""
    n_features, n = sums.given.shape[1], len(sums.query)
    best = (-np.inf, 0.0, np.zeros((0, 0)))
    for shrunk in _QUERIES:
        factor = 1 / (sums.counts + shrunk)
        products = sums.products - (sums.by_query * factor[:, None]).T @ sums.by_query
        for strength in _FACTORS:
            ridge = np.full(n_features, _RIDGE * strength)
            ridge[:4] = 1e-6, 1.0, 1.0, 1.0
            inner = products[:n_features, :n_features] + np.diag(ridge)
            root = np.linalg.cholesky(inner)
            explained = np.linalg.solve(root, products[:n_features, n_features])
            left = max(products[n_features, n_features] - explained @ explained, _LEAST)
            log = -n / 2 * np.log(left) - np.log1p(sums.counts / shrunk).sum() / 2
            log += np.log(ridge).sum() / 2 - np.log(np.diag(root)).sum()
            if log > best[0]:
                best = (log, shrunk, inner)
    return best[1], np.linalg.inv(best[2]).astype(np.float64)
