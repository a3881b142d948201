"""Does the ranking of systems survive errors in the labels? Simulates scores under such errors. In
each draw, every label that was not audited is wrong with an error rate that is plausible for its
stratum after the audit (`label_errors.rates`). A wrong label gets another grade with the frequency
at which the audit found that grade instead. Audited labels are known. So the probability of an
order flip includes two uncertainties: the rates, and which labels are wrong. Labels outside the
frame do not change."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from pandas import DataFrame

from compute.evaluate import tolerance
from compute.evaluate.estimates import label_errors
from compute.evaluate.estimates.frames import Counts, Frame, Values
from compute.evaluate.holes.bounds import measured, scored
from compute.evaluate.sign_flips import LEVEL
from compute.evaluate.top_lists import HOLE, Lists

DRAWS = 1_000


@dataclass(frozen=True)
class Audited:
    """Labels of a frame, some of which were judged a second time."""

    frame: Frame
    labels: Values
    """(N,) Grade of each label, at least 0; NaN if there is no label."""
    second: Values
    """(N,) Grade by the second assessor; NaN if there is none."""
    stratum: Counts
    """(N,) Number of the label's stratum; all labels of a stratum have the same grade."""
    judgements: DataFrame
    """query_id, doc_id, relevance: all labels, including those outside the frame."""
    grades: tuple[int, ...]
    """Possible grades."""

    @cached_property
    def levels(self) -> Values:
        """Return all grades from 0, ascending, (G,)."""
        given = self.judgements["relevance"].to_numpy(np.float64)
        seen = self.second[~np.isnan(self.second)]
        return np.unique(np.concatenate([[0.0], np.array(self.grades, float), given, seen]).clip(0))

    def scores(self, grades: Values, measure: str) -> Values:
        """Return each system's mean score, (S,), under the grades (N,), NaN for unjudged pairs.
        Raises WrongInput as `measured` does."""
        held, n_queries = ~np.isnan(grades), len(self.frame.queries)
        gains = np.append(np.where(held, grades, HOLE), 0).astype(np.int32)[self.frame.places]
        counted = [
            np.bincount(self.frame.query[held & (grades >= level)], minlength=n_queries)
            for level in self.levels[1:]
        ]
        judged = self._outside + np.stack(counted, axis=1)
        filled = self.frame.places < self.frame.n
        document, levels = np.where(filled, self.frame.places, -1), self.levels[1:].astype(np.int64)
        names = self.frame.systems, self.frame.queries
        lists = Lists(
            *names, document.astype(np.int32), gains, filled, judged, levels, judged[:, 0]
        )
        return scored(*measured(lists, measure)).mean(axis=1)

    @cached_property
    def _outside(self) -> Counts:
        """Return the number of labels outside the frame that reach each level, (Q, L)."""
        return self.frame.outside(self.judgements, self.levels[1:]).astype(np.int64)

    def drawn(self, measure: str, draws: int = DRAWS) -> Values:
        """Return the systems' scores under simulated label errors, (draws, S)."""
        random = np.random.default_rng(label_errors.SEED)
        labelled, seen = ~np.isnan(self.labels), ~np.isnan(self.second)
        rates, others = self._rates(draws, random), np.cumsum(self._others(), axis=1)
        grade = np.searchsorted(self.levels, np.nan_to_num(self.labels))
        found = np.empty((draws, len(self.frame.systems)))
        for row, rate in enumerate(rates):
            chance, which = random.random((2, self.frame.n))
            other = self.levels[(which[:, None] >= others[grade]).sum(axis=1)]
            drawn = np.where(chance < rate[self.stratum], other, self.labels)
            drawn = np.where(seen, self.second, np.where(labelled, drawn, np.nan))
            found[row] = self.scores(drawn, measure)
        return found

    def _rates(self, draws: int, random: np.random.Generator) -> Values:
        """Draw the strata's error rates, (draws, H); strata of a grade share a distribution."""
        seen, n_strata = ~np.isnan(self.second), int(self.stratum.max()) + 1
        wrong = seen & (self.second != self.labels)
        n, found = (np.bincount(self.stratum[some], minlength=n_strata) for some in (seen, wrong))
        rates = np.zeros((draws, n_strata))
        for grade in np.unique(self.labels[~np.isnan(self.labels)]):
            own = np.unique(self.stratum[self.labels == grade])
            rates[:, own] = label_errors.rates(n[own], found[own], draws, random)
        return rates

    def _others(self) -> Values:
        """Return the probability that a wrong label of one grade should have another grade, (G, G):
        from the audit's counts, plus one pseudo-count spread evenly over the other grades."""
        seen = ~np.isnan(self.second)
        first, second = (
            np.searchsorted(self.levels, one[seen]) for one in (self.labels, self.second)
        )
        found = np.full((len(self.levels), len(self.levels)), 1 / (len(self.levels) - 1))
        np.add.at(found, (first, second), 1)
        np.fill_diagonal(found, 0)
        return found / found.sum(axis=1, keepdims=True)


def survival(audited: Audited, measure: str, draws: int = DRAWS) -> tuple[DataFrame, DataFrame]:
    """Return two frames. For systems: system, score, low, high, rank, rank_low, rank_high, best
    first. For pairs: a, b, difference, flip (the probability that b is ahead of a), likeliest flips
    first. Scores use the labels as they are; intervals contain 95% of the draws. Tied pairs have
    NaN as flip."""
    now, drawn = audited.scores(audited.labels, measure), audited.drawn(measure, draws)
    order, tails = np.argsort(-now, kind="stable"), [LEVEL / 2, 1 - LEVEL / 2]
    names = np.array(audited.frame.systems)[order]
    low, high = np.quantile(drawn, tails, axis=0)[:, order]
    ranks = tolerance.ranks_by_row(drawn)
    best, worst = np.quantile(ranks, tails, axis=0, method="nearest")[:, order].astype(int)
    systems = DataFrame({"system": names, "score": now[order], "low": low, "high": high})
    systems["rank"] = tolerance.ranks(systems["score"]).astype(int)
    systems = systems.assign(rank_low=best, rank_high=worst)
    a, b = (order[place] for place in np.triu_indices(len(now), 1))
    pairs = DataFrame({"a": np.array(audited.frame.systems)[a]})
    pairs["b"], pairs["difference"] = np.array(audited.frame.systems)[b], now[a] - now[b]
    pairs["flip"] = tolerance.above(drawn[:, b], drawn[:, a]).mean(axis=0)
    pairs.loc[tolerance.equal(pairs["difference"], 0), "flip"] = np.nan
    return systems, pairs.sort_values("flip", ascending=False, ignore_index=True)
