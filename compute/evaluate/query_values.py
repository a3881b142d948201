"""The definition of each measure: the value of each query of a run, given judgements. Tests compare
everything that trec_eval defines with pytrec_eval. A document without a judgement for the query is
not relevant; a relevance above 0 is relevant; a relevance below 0 is judged and has gain 0; a query
without a relevant document scores 0. If a measure has a different lowest relevant grade, or
exponential gain, `Measure.worth` has already converted the relevance."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from re import fullmatch

import numpy as np
from numpy.typing import NDArray

from compute.evaluate.subtopics import Diversity

Values = NDArray[np.float64]
Counts = NDArray[np.int64]
ELSEWHERE = (
    "infAP, IPrec@0.1, and nDCG, AP, P, R and Rprec of condensed lists, as in"
    " nDCG(judged_only=True)@10, are computed by ir_measures"
)
_NAMES = ("infAP", "IPrec")
"""Compat is not supported, since it depends on the number of hits and on scores below 0."""
_CONDENSED = ("nDCG", "AP", "P", "R", "Rprec")


@dataclass(frozen=True)
class Places:
    """Positions in ranked lists, in list order, with the relevance at each."""

    query: Counts
    """Number of the query, from 0."""
    rank: Counts
    """Rank, from 1."""
    relevance: Counts

    def where(self, chosen: NDArray[np.bool_]) -> "Places":
        return Places(self.query[chosen], self.rank[chosen], self.relevance[chosen])

    def top(self, k: int) -> "Places":
        return self.where(self.rank <= k)

    def relevant(self) -> "Places":
        return self.where(self.relevance > 0)

    def running(self, counted: NDArray[np.bool_]) -> Counts:
        """Return the number of `counted` positions in the list up to and including each one."""
        total = np.cumsum(counted)
        starts = np.searchsorted(self.query, self.query)
        return total - (total - counted)[starts]


@dataclass(frozen=True)
class Held:
    """A run with the judgements of n queries; arrays by query have n elements."""

    retrieved: Counts
    """Number of hits by query, down to the deepest cut-off that needs it (Judged, Hole)."""
    judged: Places
    """Positions at which the run has documents judged for their query."""
    ideal: Places
    """Judged documents in the ideal order: by query, then by descending relevance."""
    known: Places
    """Positions of documents judged for any query, down to the same cut-off."""
    diversity: Diversity | None = None
    """Subtopics covered at each position; None if the judgements have no subtopics."""

    def worth(self, gains: Callable[[Counts], Counts]) -> "Held":
        """Convert relevance by `gains`, which must not fall as relevance rises."""
        both = [replace(of, relevance=gains(of.relevance)) for of in (self.judged, self.ideal)]
        return replace(self, judged=both[0], ideal=both[1])

    def total(self, places: Places, weights: Values | None = None) -> Values:
        """Return the sum of the weights by query; without weights, the number of positions."""
        return np.bincount(places.query, weights, len(self.retrieved)).astype(np.float64)

    def relevant(self) -> Values:
        """Return the number of relevant documents by query, retrieved or not."""
        return self.total(self.ideal.relevant())


def ndcg(held: Held, k: int) -> Values:
    """Discounted cumulative gain over that of the ideal order, with linear gain and the discount
    log2(1 + rank). Järvelin and Kekäläinen 2002 as in trec_eval's `ndcg_cut`; without a cut-off,
    its `ndcg`."""

    def dcg(places: Places) -> Values:
        top = places.top(k).relevant()
        return held.total(top, top.relevance / np.log2(top.rank + 1))

    return _ratio(dcg(held.judged), dcg(held.ideal))


def recall(held: Held, k: int) -> Values:
    """Relevant documents in the top k over all relevant documents (trec_eval's `recall`)."""
    return _ratio(held.total(held.judged.top(k).relevant()), held.relevant())


def capped_recall(held: Held, k: int) -> Values:
    """Relevant documents in the top k over the maximum possible number: min(k, relevant). Thakur et
    al. 2021 (BEIR), for collections with more than k relevant documents per query."""
    return _ratio(held.total(held.judged.top(k).relevant()), np.minimum(held.relevant(), k))


def full_recall(held: Held, k: int) -> Values:
    """1 if every relevant document is in the top k, else 0; also 0 for a query without one."""
    relevant = held.relevant()
    found = held.total(held.judged.top(k).relevant())
    return ((found == relevant) & (relevant > 0)).astype(np.float64)


def average_precision(held: Held, k: int) -> Values:
    """The sum of the precision at each relevant document in the top k, over all relevant documents.
    trec_eval's `map_cut`; without a cut-off, its `map`."""
    top = held.judged.top(k).relevant()
    found = top.running(top.relevance > 0)
    return _ratio(held.total(top, found / top.rank), held.relevant())


def reciprocal_rank(held: Held, k: int) -> Values:
    """1 over the rank of the first relevant document; 0 if none is in the top k. trec_eval's
    `recip_rank` of the list truncated at k."""
    top = held.judged.top(k).relevant()
    first = top.where(top.running(top.relevance > 0) == 1)
    return held.total(first, 1 / first.rank)


def precision(held: Held, k: int) -> Values:
    """Relevant documents in the top k over k, however short the list is (trec_eval's `P`)."""
    return held.total(held.judged.top(k).relevant()) / k


def success(held: Held, k: int) -> Values:
    """1 if a relevant document is in the top k, else 0 (trec_eval's `success`; also Accuracy@k)."""
    return np.minimum(held.total(held.judged.top(k).relevant()), 1)


def r_precision(held: Held, _k: int) -> Values:
    """Relevant documents in the top R over R, for R relevant documents (trec_eval's `Rprec`)."""
    relevant, found = held.relevant(), held.judged.relevant()
    return _ratio(held.total(found.where(found.rank <= relevant[found.query])), relevant)


def expected_reciprocal_rank(held: Held, k: int) -> Values:
    """The expected value of 1 over the rank at which a reader stops, with 0 for a reader who does
    not stop in the top k. Chapelle et al. 2009 as in gdeval: a document of relevance g, at most 4,
    stops the reader with probability (2^g - 1) / 16."""
    top, found = held.judged.top(k).relevant(), np.zeros((2, len(held.retrieved)))
    stops = (np.exp2(np.minimum(top.relevance, 4)) - 1) / 16
    for rank in np.unique(top.rank):
        stopped = (1 - found[1]) * held.total(top, np.where(top.rank == rank, stops, 0.0))
        found += stopped / rank, stopped
    return found[0]


def rank_biased_precision(held: Held, k: int, p: float) -> Values:
    """The sum of the gains in the top k, each times (1 - p) p^(rank - 1). Moffat and Zobel 2008. As
    in ir_measures, the gain is the relevance, so grades above 1 can sum to more than 1; with `rel`,
    the gain is 1 for a relevance of at least `rel`, else 0."""
    top = held.judged.top(k).relevant()
    return held.total(top, top.relevance * _persistence(top, p))


def rank_biased_residual(held: Held, k: int, p: float) -> Values:
    """The increase of rank-biased precision if every unknown document had gain 1: the sum of the
    weights (1 - p) p^(rank - 1) of all ranks without a judged document. These are the ranks of
    unjudged documents, ranks that the list does not fill, and all ranks below the top k (Moffat and
    Zobel 2008). It does not depend on `rel`."""
    top = held.judged.top(k)
    return np.maximum(1 - held.total(top, _persistence(top, p)), 0.0)


def _persistence(places: Places, p: float) -> Values:
    """Return the weight of each position if a reader continues with probability p."""
    return (1 - p) * np.power(p, places.rank - 1.0)


def bpref(held: Held, _k: int) -> Values:
    """How rarely documents judged 0 rank above relevant ones, in the whole stored list. Buckley and
    Voorhees 2004 as in trec_eval: with R relevant documents and N judged 0, the sum of 1 -
    min(above, R) / min(N, R) over the relevant documents retrieved, divided by R. Unjudged
    documents, and those judged below 0, are skipped."""
    relevant, nonrelevant = held.relevant(), held.total(held.ideal.where(held.ideal.relevance == 0))
    above = held.judged.running(held.judged.relevance == 0)
    chosen = held.judged.relevance > 0
    top, above = held.judged.where(chosen), above[chosen]
    lost = np.minimum(above, relevant[top.query])
    worst = np.minimum(relevant, nonrelevant)[top.query]
    return _ratio(held.total(top, 1 - _ratio(lost, worst)), relevant)


def judged(held: Held, k: int) -> Values:
    """The share of the top k, or of a shorter list, that is judged for the query."""
    return _ratio(held.total(held.judged.top(k)), np.minimum(held.retrieved, k))


def hole(held: Held, k: int) -> Values:
    """The share of the top k, or of a shorter list, that is unjudged for the query."""
    filled = np.minimum(held.retrieved, k)
    return _ratio(filled - held.total(held.judged.top(k)), filled)


def hole_beir(held: Held, k: int) -> Values:
    """Hits in the top k without a judgement for any query, over k, however short the list is. The
    definition of BEIR's own code: a document judged for another query is not a hole, and neither is
    an empty rank."""
    return (np.minimum(held.retrieved, k) - held.total(held.known.top(k))) / k


def alpha_ndcg(held: Held, k: int) -> Values:
    """Discounted gain of new subtopics, divided by that of the ideal list; absent without
    subtopics.

    Clarke et al. 2008, as in ndeval: the gain of a document is 1 for each subtopic that it covers,
    halved (alpha = 0.5) for each better rank that already covers it, and divided by log2(1 + rank).
    At each rank, the ideal list has the document with the largest gain; among ties, the one with
    the last id. Tied scores of a run are also ranked by descending id, as for all measures; ndeval
    ranks them by ascending id.
    """
    if (found := held.diversity) is None:
        return np.full(len(held.retrieved), np.nan)
    n = len(held.retrieved)
    return _ratio(found.run.alpha_dcg(k, n), found.ideal.alpha_dcg(k, n))


def subtopic_recall(held: Held, k: int) -> Values:
    """Subtopics covered by the top k over those covered by any judged document; absent without
    subtopics. Zhai et al. 2003, ndeval's `strec`."""
    if (found := held.diversity) is None:
        return np.full(len(held.retrieved), np.nan)
    n = len(held.retrieved)
    return _ratio(found.run.subtopics(k, n), found.every.subtopics(1, n))


def _ratio(part: NDArray, whole: NDArray) -> Values:
    """Return part / whole, or 0 if the whole is 0."""
    return np.divide(part, whole, out=np.zeros(len(part)), where=np.asarray(whole) > 0)


@lru_cache(256)
def by_ir_measures(name: str) -> Callable[[Held, int], Values] | None:
    """Return a function from a run with judgements to the value of each query, computed by
    ir_measures; None if ir_measures does not compute the measure or spells it in another way. Such
    measures use only ranks and relevance, so each query becomes a list of its judged documents at
    their ranks, with unjudged ones in between."""
    if not fullmatch(r"[A-Za-z]{1,8}(\([A-Za-z0-9_=,]{1,40}\))?(@[0-9.]{1,9})?", name):
        return None
    try:
        import ir_measures

        measure = ir_measures.parse_measure(name)
        known = measure.NAME in (_CONDENSED if measure.params.get("judged_only") else _NAMES)
    except (ImportError, NameError, ValueError, AssertionError, SyntaxError, TypeError, KeyError):
        return None
    if not known or str(measure) != name:
        return None

    def computed(held: Held, k: int) -> Values:
        qrels = _judgements(held)
        found = np.zeros(len(held.retrieved))
        for one in ir_measures.iter_calc([measure], qrels, _run(held.judged.top(k))):
            found[int(one.query_id)] = one.value
        return found

    return computed


def _judgements(held: Held) -> dict[str, dict[str, int]]:
    """Return the qrels by query: `3` is the document at rank 3, `u1` one that is not listed."""
    qrels: dict[str, dict[str, int]] = defaultdict(dict)
    listed = Counter()
    for query, rank, relevance in _rows(held.judged):
        qrels[str(query)][str(rank)] = relevance
        listed[query, relevance] += 1
    for query, place, relevance in _rows(held.ideal):
        if listed[query, relevance]:
            listed[query, relevance] -= 1
        else:
            qrels[str(query)][f"u{place}"] = relevance
    return qrels


def _run(judged: Places) -> dict[str, dict[str, float]]:
    """Return the run by query: each document under its name in `_judgements`, with the negative
    rank as its score. Documents below the last judged one are left out."""
    last: dict[int, int] = {}
    for query, rank, _ in _rows(judged):
        last[query] = max(last.get(query, 0), rank)
    return {
        str(query): {str(rank): -float(rank) for rank in range(1, deep + 1)}
        for query, deep in last.items()
    }


def _rows(places: Places) -> Iterator[tuple[int, int, int]]:
    """Iterate over query number, rank and relevance."""
    return zip(places.query.tolist(), places.rank.tolist(), places.relevance.tolist(), strict=True)
