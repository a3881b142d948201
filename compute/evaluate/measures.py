"""Measures by their ir_measures names; a run held against judgements gives scores per query.

A measure is one string, `nDCG@10`: a name of `FORMULAS` and the rank it cuts at; `AP`, without
one, goes to the depth that the run was kept to. pytrec_eval is the oracle of all that trec_eval
defines. Throughout: a document without a judgement for the
query is not relevant, relevance above 0 is relevant, below 0 is judged with gain 0, and a query
without a relevant document scores 0.
"""

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from compute.base.errors import WrongInput
from compute.base.words import shown
from compute.reading.database import scratch

MEASURES = (
    "nDCG@10",
    "R@100",
    "R_cap@100",
    "AP@100",
    "RR@10",
    "P@10",
    "Success@5",
    "Success@20",
    "nDCG@100",
    "R@1000",
    "Judged@10",
    "Hole@10",
    "Hole_beir@10",
)
"""What is scored when nothing else is asked."""

WHOLE = 2**31
"""The rank that a measure without a cut cuts at: below every list that is kept."""

Values = NDArray[np.float64]
Counts = NDArray[np.int64]

_RETRIEVED = """
select number, count(*) as hits
from run join queries using (query_id)
where rank <= $shallow
group by number
"""
_JUDGED = """
select number, rank, relevance
from run join judgements using (query_id, doc_id)
where rank <= $deep
order by number, rank
"""
_KNOWN = """
select number, rank
from run join queries using (query_id)
where rank <= $shallow and doc_id in (select doc_id from judgements)
"""


@dataclass(frozen=True)
class Places:
    """Places in ranked lists, in the order of the lists, and the relevance of what stands there."""

    query: Counts
    """Number of the query, from 0."""
    rank: Counts
    """From 1."""
    relevance: Counts

    def where(self, chosen: NDArray[np.bool_]) -> "Places":
        return Places(self.query[chosen], self.rank[chosen], self.relevance[chosen])

    def top(self, k: int) -> "Places":
        return self.where(self.rank <= k)

    def relevant(self) -> "Places":
        return self.where(self.relevance > 0)

    def running(self, counted: NDArray[np.bool_]) -> Counts:
        """At each place, how many of its own list were counted so far, itself included."""
        total = np.cumsum(counted)
        starts = np.searchsorted(self.query, self.query)
        return total - (total - counted)[starts]


@dataclass(frozen=True)
class Held:
    """A run held against the judgements of n queries; arrays by query have n elements."""

    retrieved: Counts
    """Hits by query down to the deepest cut of a measure that asks (Judged, Hole)."""
    judged: Places
    """Where the run has documents that are judged for their query."""
    ideal: Places
    """The judged documents in the best order: by query, relevance descending."""
    known: Places
    """Where the run has documents that are judged for any query, down to the same cut."""

    def total(self, places: Places, weights: Values | None = None) -> Values:
        """The sum of the weights, or the number of places, by query."""
        return np.bincount(places.query, weights, len(self.retrieved)).astype(np.float64)

    def relevant(self) -> Values:
        """Relevant documents by query, retrieved or not."""
        return self.total(self.ideal.relevant())


def ndcg(held: Held, k: int) -> Values:
    """Discounted cumulative gain over that of the best order; linear gain, discount log2(1+rank).

    Järvelin and Kekäläinen 2002 as trec_eval's `ndcg_cut` has it; without a cut its `ndcg`.
    """

    def dcg(places: Places) -> Values:
        top = places.top(k).relevant()
        return held.total(top, top.relevance / np.log2(top.rank + 1))

    return _ratio(dcg(held.judged), dcg(held.ideal))


def recall(held: Held, k: int) -> Values:
    """Relevant documents in the top k over all relevant ones (trec_eval's `recall`)."""
    return _ratio(held.total(held.judged.top(k).relevant()), held.relevant())


def capped_recall(held: Held, k: int) -> Values:
    """Relevant documents in the top k over as many as fit there: min(k, relevant).

    Thakur et al. 2021 (BEIR), for collections with more than k relevant documents per query.
    """
    return _ratio(held.total(held.judged.top(k).relevant()), np.minimum(held.relevant(), k))


def full_recall(held: Held, k: int) -> Values:
    """1 when every relevant document is in the top k, else 0; 0 for a query without one."""
    relevant = held.relevant()
    found = held.total(held.judged.top(k).relevant())
    return ((found == relevant) & (relevant > 0)).astype(np.float64)


def average_precision(held: Held, k: int) -> Values:
    """Precision at each relevant document of the top k, summed, over all relevant documents.

    trec_eval's `map_cut`, and without a cut its `map`.
    """
    top = held.judged.top(k).relevant()
    found = top.running(top.relevance > 0)
    return _ratio(held.total(top, found / top.rank), held.relevant())


def reciprocal_rank(held: Held, k: int) -> Values:
    """1 over the rank of the first relevant document, 0 when none is in the top k.

    trec_eval's `recip_rank` of the list cut at k.
    """
    top = held.judged.top(k).relevant()
    first = top.where(top.running(top.relevance > 0) == 1)
    return held.total(first, 1 / first.rank)


def precision(held: Held, k: int) -> Values:
    """Relevant documents in the top k over k, however short the list (trec_eval's `P`)."""
    return held.total(held.judged.top(k).relevant()) / k


def success(held: Held, k: int) -> Values:
    """1 when a relevant document is in the top k (trec_eval's `success`; papers: Accuracy@k)."""
    return np.minimum(held.total(held.judged.top(k).relevant()), 1)


def rank_biased_precision(held: Held, k: int, p: float, rel: int | None = None) -> Values:
    """The gains of the top k, each times (1 - p) p^(rank - 1), summed.

    Moffat and Zobel 2008. As in ir_measures the gain is the relevance, so that grades above 1
    can sum to more than 1; with `rel` it is 1 for relevance from `rel` on, else 0.
    """
    top = held.judged.top(k).relevant()
    gain = top.relevance if rel is None else top.relevance >= rel
    return held.total(top, gain * _persistence(top, p))


def rank_biased_residual(held: Held, k: int, p: float, rel: int | None = None) -> Values:
    """How much rank-biased precision would grow if all that is not known gained 1.

    The weight (1 - p) p^(rank - 1) of every rank that holds no judged document of the top k:
    unjudged ones, ranks that the list does not fill, and all ranks below k (Moffat and Zobel
    2008). It is the same whatever `rel` is.
    """
    top = held.judged.top(k)
    return np.maximum(1 - held.total(top, _persistence(top, p)), 0.0)


def _persistence(places: Places, p: float) -> Values:
    """The chance that a reader who goes on with probability p stops at each place."""
    return (1 - p) * np.power(p, places.rank - 1.0)


def bpref(held: Held, _k: int) -> Values:
    """How seldom documents judged 0 stand above relevant ones, over the whole list kept.

    Buckley and Voorhees 2004 as trec_eval has it: unjudged documents, and those judged below 0,
    are passed over; 1 - min(above, R) / min(N, R) summed over the relevant documents retrieved,
    over R (R relevant documents, N judged 0).
    """
    relevant, nonrelevant = held.relevant(), held.total(held.ideal.where(held.ideal.relevance == 0))
    above = held.judged.running(held.judged.relevance == 0)
    chosen = held.judged.relevance > 0
    top, above = held.judged.where(chosen), above[chosen]
    lost = np.minimum(above, relevant[top.query])
    worst = np.minimum(relevant, nonrelevant)[top.query]
    return _ratio(held.total(top, 1 - _ratio(lost, worst)), relevant)


def judged(held: Held, k: int) -> Values:
    """Share of the top k that is judged for the query; short lists divide by their length."""
    return _ratio(held.total(held.judged.top(k)), np.minimum(held.retrieved, k))


def hole(held: Held, k: int) -> Values:
    """Share of the top k without a judgement for that query; short lists divide by their length."""
    filled = np.minimum(held.retrieved, k)
    return _ratio(filled - held.total(held.judged.top(k)), filled)


def hole_beir(held: Held, k: int) -> Values:
    """Hits in the top k without a judgement for any query, over k, however short the list.

    The definition of BEIR's own code: a document judged for another query is no hole, and empty
    ranks are none.
    """
    return (np.minimum(held.retrieved, k) - held.total(held.known.top(k))) / k


@dataclass(frozen=True)
class Formula:
    """A row of the table of measures."""

    name: str
    values: Callable[..., Values]
    """Of a run held against judgements and the cut; p and rel besides, where it has them."""
    label: str
    """What pages call it; `{k}` is the cut."""
    cut: bool = True
    """Its measures are written with a rank to cut at, `nDCG@10`."""
    whole: bool = False
    """They may be written without one, `AP`: then they go to the depth that is kept."""
    persistent: bool = False
    """They name a persistence, `RBP(p=0.8)@10`, and may name the least relevance that counts,
    `RBP(p=0.8,rel=2)@10`."""
    answered_only: bool = False
    """A query without hits has no value, rather than 0."""
    across: bool = False
    """It counts what is judged for any query, so that judgements of other queries move it."""
    better: int = 1
    """1 where a higher value is better, -1 where a lower one is."""


FORMULAS = {
    formula.name: formula
    for formula in (
        Formula("nDCG", ndcg, "nDCG@{k}", whole=True),
        Formula("R", recall, "Recall@{k}"),
        Formula("R_cap", capped_recall, "Capped recall@{k}"),
        Formula("R_full", full_recall, "Full recall@{k} (every relevant one in the top {k})"),
        Formula("AP", average_precision, "Average precision@{k}", whole=True),
        Formula("RR", reciprocal_rank, "Reciprocal rank@{k}", whole=True),
        Formula("P", precision, "Precision@{k}"),
        Formula("Success", success, "Success@{k} (any relevant in the top {k})"),
        Formula(
            "RBP", rank_biased_precision, "Rank-biased precision@{k}", whole=True, persistent=True
        ),
        Formula(
            "RBP_residual",
            rank_biased_residual,
            "Residual of rank-biased precision@{k}",
            whole=True,
            persistent=True,
        ),
        Formula("Bpref", bpref, "Bpref", cut=False),
        Formula("Judged", judged, "Judged@{k}", answered_only=True),
        Formula("Hole", hole, "Hole@{k} (unjudged for the query)", answered_only=True, better=-1),
        Formula(
            "Hole_beir",
            hole_beir,
            "Hole@{k} as BEIR's code",
            answered_only=True,
            across=True,
            better=-1,
        ),
    )
}


@dataclass(frozen=True)
class Measure:
    """A formula, the rank it cuts at and its parameters; `str` gives the measure's name back."""

    formula: Formula
    k: int | None
    """None: to the depth that is kept."""
    p: float | None = None
    rel: int | None = None

    def __str__(self) -> str:
        return f"{self.formula.name}{self._given}" + ("" if self.k is None else f"@{self.k}")

    @property
    def parameters(self) -> dict[str, float]:
        """p and rel, those that the name has."""
        given = {"p": self.p, "rel": self.rel}
        return {name: value for name, value in given.items() if value is not None}

    @property
    def _given(self) -> str:
        words = ",".join(f"{name}={value}" for name, value in self.parameters.items())
        return f"({words})" if words else ""

    @property
    def label(self) -> str:
        """What pages call it."""
        words = self.formula.label
        if self.k is None:
            words = words.replace("@{k}", "")
        return f"{words.format(k=self.k)} {self._given}".rstrip()

    def values(self, held: Held) -> Values:
        """The value of each query; NaN where it has none."""
        absent = self.formula.answered_only & (held.retrieved == 0)
        given = self.formula.values(held, self.k or WHOLE, **self.parameters)
        return np.where(absent, np.nan, given)


_NAME = re.compile(
    r"(?P<name>[A-Za-z_]+)"
    r"(?:\(p=(?P<p>0\.\d{0,3}[1-9])(?:,rel=(?P<rel>[1-9]\d{0,8}))?\))?"
    r"(?:@(?P<k>[1-9]\d{0,8}))?"
)
_CALLED = {
    "map": "AP",
    "mrr": "RR",
    "recall": "R",
    "precision": "P",
    "accuracy": "Success",
    "hit": "Success",
}
"""Other names that the field has, in small letters."""


def parse(measure: str) -> Measure:
    """The measure of a name such as `nDCG@10`, any k from 1. Raises WrongInput with the known."""
    found = _parsed(measure)
    if found is None:
        raise WrongInput(f"no measure {shown(measure)}{_meant(measure)}; known: {known()}")
    return found


def is_measure(name: str) -> bool:
    """Whether `parse` takes a name."""
    return _parsed(name) is not None


def _parsed(measure: str) -> Measure | None:
    match = _NAME.fullmatch(measure)
    formula = FORMULAS.get(match["name"]) if match else None
    if match is None or formula is None or formula.persistent != bool(match["p"]):
        return None
    if formula.cut != bool(match["k"]) and not (formula.whole and not match["k"]):
        return None
    k, rel = (int(match[name]) if match[name] else None for name in ("k", "rel"))
    return Measure(formula, k, float(match["p"]) if match["p"] else None, rel)


def _meant(measure: str) -> str:
    """How a measure is written that has another name, or is in other letters, elsewhere."""
    called = {name.lower(): name for name in FORMULAS} | _CALLED
    name, at, k = measure.partition("@")
    meant = f"{called.get(name.lower())}{at}{k}"
    return f" (here it is {meant})" if _parsed(meant) else ""


def known() -> str:
    """Every measure there is and how it is written, in words."""
    names = [
        f"{name}{'(p=0.8)' * row.persistent}{'@k' * row.cut}" for name, row in FORMULAS.items()
    ]
    whole = ", ".join(name for name, row in FORMULAS.items() if row.whole)
    return (
        f"{', '.join(names)}; k is any rank from 1 on, as in P@5; without @k, {whole} go to the"
        " depth that the run was kept to"
    )


def better(measure: str) -> int:
    """1 where a higher value of the measure is better, -1 where a lower one is.

    What is best, won, or on a front is told by this alone. Raises WrongInput for an unknown one.
    """
    return parse(measure).formula.better


def label(measure: str) -> str:
    """The measure's name on pages. Raises WrongInput for an unknown measure."""
    return parse(measure).label


def evaluate(
    run: pd.DataFrame,
    judgements: pd.DataFrame,
    measures: Sequence[str] = MEASURES,
    *,
    depth: int,
) -> pd.DataFrame:
    """Per-query scores of a canonical run: query_id, measure, value (float64).

    `run` has query_id, doc_id, rank and was kept to `depth` ranks: measures that cut deeper are
    absent, R@1000 of a run kept to 100, and those without a cut go to `depth`.
    `judgements` has query_id, doc_id, relevance, a pair once. Every query with a judgement has a
    row per measure, 0 if the run does not answer it; Judged@k and Hole@k are absent there.
    Queries without a judgement are not evaluated. Raises WrongInput for an unknown measure.
    """
    wanted = [parse(measure) for measure in dict.fromkeys(measures)]
    wanted = [measure for measure in wanted if (measure.k or 1) <= depth]
    deep, shallow = cuts(wanted, depth)
    numbers, queries = pd.factorize(judgements["query_id"], sort=True)
    held = _held(run, judgements.assign(number=numbers), deep=deep, shallow=shallow)
    columns = {str(measure): measure.values(held) for measure in wanted}
    wide = pd.DataFrame(columns, index=pd.Index(queries, name="query_id", dtype="str"))
    long = wide.melt(var_name="measure", ignore_index=False).dropna(subset="value").reset_index()
    return long.astype({"measure": "str", "value": np.float64})


def cuts(measures: Sequence[Measure], depth: int) -> tuple[int, int]:
    """How deep relevance is asked for, and how deep mere hits are (by Judged and Hole)."""
    deep = max((measure.k or depth for measure in measures), default=0)
    shallow = max((m.k or 0 for m in measures if m.formula.answered_only), default=0)
    return deep, shallow


def means(scores: pd.DataFrame, answered: Collection[str]) -> pd.DataFrame:
    """Means of per-query scores: measure, value, value_returned, n_queries, n_unanswered.

    `value` is over every query that has the measure; `value_returned` over those `answered`, as
    BEIR's code averages. n_unanswered counts the evaluated queries that are not answered.
    """
    returned = scores[scores["query_id"].isin(list(answered))]
    frame = scores.groupby("measure", sort=False)["value"].agg(value="mean", n_queries="count")
    frame["value_returned"] = returned.groupby("measure")["value"].mean()
    evaluated = scores["query_id"].nunique()
    frame["n_unanswered"] = evaluated - returned["query_id"].nunique()
    columns = ["measure", "value", "value_returned", "n_queries", "n_unanswered"]
    return frame.reset_index()[columns]


def _held(run: pd.DataFrame, judgements: pd.DataFrame, *, deep: int, shallow: int) -> Held:
    """Joins the run's top `deep` with judgements whose queries are numbered."""
    queries = judgements[["query_id", "number"]].drop_duplicates()
    with scratch() as database:
        database.register("run", _arrow(run[["query_id", "doc_id", "rank"]]))
        database.register("judgements", _arrow(judgements))
        database.register("queries", _arrow(queries))
        found = database.sql(_JUDGED, params={"deep": deep}).fetchnumpy()
        answers = database.sql(_RETRIEVED, params={"shallow": shallow}).fetchnumpy()
        seen = database.sql(_KNOWN, params={"shallow": shallow}).fetchnumpy()
    retrieved = np.zeros(len(queries), np.int64)
    retrieved[answers["number"]] = answers["hits"]
    return Held(
        retrieved=retrieved,
        judged=Places(found["number"], found["rank"], found["relevance"]),
        ideal=ideal(judgements),
        known=Places(seen["number"], seen["rank"], np.zeros(len(seen["rank"]), np.int64)),
    )


def _arrow(frame: pd.DataFrame) -> pa.Table:
    ids = [(name, pa.large_string()) for name in ("query_id", "doc_id") if name in frame]
    rest = [(name, pa.int64()) for name in frame if name not in ("query_id", "doc_id")]
    return pa.Table.from_pandas(frame, schema=pa.schema(ids + rest), preserve_index=False)


def ideal(judgements: pd.DataFrame) -> Places:
    """The judgements (number of the query, relevance) in the best order of each query."""
    best = judgements.sort_values(["number", "relevance"], ascending=[True, False])
    number = best["number"].to_numpy(np.int64)
    rank = np.arange(len(best)) - np.searchsorted(number, number) + 1
    return Places(number, rank, best["relevance"].to_numpy(np.int64))


def _ratio(part: NDArray, whole: NDArray) -> Values:
    """part / whole, 0 where whole is 0."""
    return np.divide(part, whole, out=np.zeros(len(part)), where=np.asarray(whole) > 0)
