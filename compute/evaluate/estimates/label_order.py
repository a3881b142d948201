"""Does the ranking of systems survive errors in the labels? Scores under labels with such errors.

Every label that was not audited is drawn again, at a rate that the audit leaves possible for its
stratum (`label_errors.rates`), and with another grade as often as the audit found that grade
instead; what was audited is known. So chances of a flip hold both the rates' uncertainty and that
of which labels are wrong. Labels outside the frame stay as they are.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from pandas import DataFrame

from compute.evaluate import tolerance
from compute.evaluate.estimates import label_errors
from compute.evaluate.estimates.frames import Counts, Frame, Values
from compute.evaluate.holes.bounds import measured, ratio
from compute.evaluate.sign_flips import LEVEL
from compute.evaluate.top_lists import HOLE, Lists

DRAWS = 1_000


@dataclass(frozen=True)
class Audited:
    """Labels of a frame, some of which were judged a second time."""

    frame: Frame
    labels: Values
    """(N,) Grades of at least 0; NaN without a label."""
    second: Values
    """(N,) Grades of the second assessor; NaN without one."""
    stratum: Counts
    """(N,) Stratum numbers; labels of a stratum have the same grade."""
    judgements: DataFrame
    """query_id, doc_id, relevance: all labels, including those outside the frame."""
    grades: tuple[int, ...]
    """Possible grades."""

    @cached_property
    def levels(self) -> Values:
        """(G,) All grades from 0, ascending."""
        given = self.judgements["relevance"].to_numpy(np.float64)
        seen = self.second[~np.isnan(self.second)]
        return np.unique(np.concatenate([[0.0], np.array(self.grades, float), given, seen]).clip(0))

    def scores(self, grades: Values, measure: str) -> Values:
        """(S,) Means by grades (N,) (NaN: none). Raises WrongInput like `measured`."""
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
        seen, gain = measured(lists, measure)
        best = gain.reach(seen.depth, seen.judged) @ seen.steps
        found = gain.found(seen.gain)
        return ratio(found, np.broadcast_to(best, found.shape)).mean(axis=1)

    @cached_property
    def _outside(self) -> Counts:
        """(Q, L) Labels outside the frame."""
        return self.frame.outside(self.judgements, self.levels[1:]).astype(np.int64)

    def drawn(self, measure: str, draws: int = DRAWS) -> Values:
        """(draws, S) Scores under labels with errors."""
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
        """(draws, H) Error rates; strata of the same grade share a distribution."""
        seen, n_strata = ~np.isnan(self.second), int(self.stratum.max()) + 1
        wrong = seen & (self.second != self.labels)
        n, found = (np.bincount(self.stratum[some], minlength=n_strata) for some in (seen, wrong))
        rates = np.zeros((draws, n_strata))
        for grade in np.unique(self.labels[~np.isnan(self.labels)]):
            own = np.unique(self.stratum[self.labels == grade])
            rates[:, own] = label_errors.rates(n[own], found[own], draws, random)
        return rates

    def _others(self) -> Values:
        """(G, G) Probability that a wrong label of each grade has each other grade, from one
        pseudo-count shared by all grades and the audit's counts."""
        seen = ~np.isnan(self.second)
        first, second = (
            np.searchsorted(self.levels, one[seen]) for one in (self.labels, self.second)
        )
        found = np.full((len(self.levels), len(self.levels)), 1 / (len(self.levels) - 1))
        np.add.at(found, (first, second), 1)
        np.fill_diagonal(found, 0)
        return found / found.sum(axis=1, keepdims=True)


def survival(audited: Audited, measure: str, draws: int = DRAWS) -> tuple[DataFrame, DataFrame]:
    """Of systems: system, score, low, high, rank, rank_low, rank_high, best first; of pairs: a,
    b, difference, flip (the chance that b is ahead of a), the likeliest first.

    Scores are by the labels; intervals contain 95% of the draws. Tied systems have no order.
    """
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
