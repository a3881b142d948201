"""Measures from outside: pytrec_eval and ir_measures, and definitions read word by word."""

from collections.abc import Collection, Sequence

import ir_measures
import numpy as np
import pandas as pd
import pytrec_eval
from numpy.typing import ArrayLike, NDArray

from compute.evaluate.significance import Aligned, by_part

CUTS = (1, 2, 3, 5, 10)
LEVELLED = ("R", "AP", "P", "Success", "Bpref", "RR", "Rprec")
ORACLE = {"nDCG": "ndcg_cut", "R": "recall", "AP": "map_cut", "P": "P", "Success": "success"}
WHOLE = {"Bpref": "bpref", "AP": "map", "RR": "recip_rank", "nDCG": "ndcg", "Rprec": "Rprec"}
DEPTH = 10
BIASED = {"p=0.8": (0.8, None), "p=0.95,rel=1": (0.95, 1), "p=0.5,rel=2": (0.5, 2)}


def qrels(judgements: pd.DataFrame) -> dict[str, dict[str, int]]:
    return {
        str(query_id): dict(zip(part["doc_id"], part["relevance"].tolist(), strict=True))
        for query_id, part in judgements.groupby("query_id")
    }


Expected = dict[tuple[str, str], float]


def by_pytrec_eval(judged: dict, lists: dict, level: int = 1) -> Expected:
    """Values by measure and query; a query that it leaves out scores 0, as with trec_eval -c.

    From a `level` above 1 on (trec_eval -l) of the measures that ask for one.
    """
    # trec_eval reads stray memory for a query judged below 0 alone; a 0 never retrieved mends it.
    judged = {
        query: grades if max(grades.values()) >= 0 else {"never": 0} | grades
        for query, grades in judged.items()
    }
    cuts = ",".join(map(str, CUTS))
    wanted = {f"{name}.{cuts}" for name in ORACLE.values()} | {*WHOLE.values()}
    found = pytrec_eval.RelevanceEvaluator(judged, wanted, relevance_level=level).evaluate(lists)
    first = pytrec_eval.RelevanceEvaluator(judged, {"recip_rank"}, relevance_level=level)
    expected = {
        (ours, query): found.get(query, {}).get(theirs, 0.0)
        for query in judged
        for ours, theirs in WHOLE.items()
    }
    for k in CUTS:
        cut = first.evaluate({query: dict([*hits.items()][:k]) for query, hits in lists.items()})
        for query in judged:
            expected[f"RR@{k}", query] = cut.get(query, {}).get("recip_rank", 0.0)
            for ours, theirs in ORACLE.items():
                expected[f"{ours}@{k}", query] = found.get(query, {}).get(f"{theirs}_{k}", 0.0)
    if level == 1:
        return expected
    named = [(*name.partition("@"), query, value) for (name, query), value in expected.items()]
    return {
        (f"{name}(rel={level}){at}{k}", query): value
        for name, at, k, query, value in named
        if name in LEVELLED
    }


def by_exponential(judged: dict, lists: dict) -> Expected:
    """nDCG with exponential gain: trec_eval's of 2^grade - 1."""
    gains = {q: {doc: 2 ** max(g, 0) - 1 for doc, g in of.items()} for q, of in judged.items()}
    named = ((*name.partition("@"), q, v) for (name, q), v in by_pytrec_eval(gains, lists).items())
    return {
        (f"nDCG(dcg=exp-log2){at}{k}", query): value
        for name, at, k, query, value in named
        if name == "nDCG"
    }


def by_ir_measures(judged: dict, lists: dict) -> Expected:
    """Judged@k, and Hole@k as what it leaves, of the queries with hits."""
    # It breaks ties the other way round, so it is given places as scores.
    placed = {
        query: {doc_id: -place for place, doc_id in enumerate(hits)}
        for query, hits in lists.items()
    }
    measures = [ir_measures.parse_measure(f"Judged@{k}") for k in CUTS]
    expected = {}
    for query, measure, value in ir_measures.iter_calc(measures, judged, placed):
        if query in lists:
            expected[str(measure), query] = value
            expected[str(measure).replace("Judged", "Hole"), query] = 1 - value
    return expected


def by_definition(judged: dict, lists: dict) -> Expected:
    """R_cap@k, R_full@k, RBP and Hole_beir@k, read word by word."""
    anywhere = {doc_id for grades in judged.values() for doc_id in grades}
    expected = {}
    for query, grades in judged.items():
        relevant = {doc_id for doc_id, grade in grades.items() if grade > 0}
        for k in CUTS:
            top = list(lists.get(query, {}))[:k]
            found = len(relevant & set(top))
            expected[f"R_cap@{k}", query] = found / min(k, len(relevant)) if relevant else 0.0
            expected[f"R_full@{k}", query] = float(bool(relevant) and relevant <= set(top))
            if top:
                holes = [doc_id for doc_id in top if doc_id not in anywhere]
                expected[f"Hole_beir@{k}", query] = len(holes) / k
        for name, (p, rel) in BIASED.items():
            for k, cut in ((DEPTH, ""), *((k, f"@{k}") for k in CUTS)):
                known = [
                    (rank, grades[doc]) for rank, doc in ranked(lists, query, k) if doc in grades
                ]
                gained = [
                    (1 - p) * p ** (rank - 1) * (max(grade, 0) if rel is None else grade >= rel)
                    for rank, grade in known
                ]
                left = 1 - sum((1 - p) * p ** (rank - 1) for rank, _ in known)
                expected[f"RBP({name}){cut}", query] = sum(gained)
                expected[f"RBP_residual({name}){cut}", query] = left
    return expected


def ranked(lists: dict, query: str, k: int) -> list[tuple[int, str]]:
    return [*enumerate(lists.get(query, {}), start=1)][:k]


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


def as_lucene_keeps(lengths: ArrayLike) -> NDArray[np.int64]:
    """Document lengths as Lucene's one byte holds them (SmallFloat.intToByte4 and back).

    Up to 39 they are exact; above, of what exceeds 24 the first four binary digits stay.
    """
    given = np.asarray(lengths, np.int64)
    rest = np.maximum(given - 24, 0)
    digits = np.frexp(rest.astype(np.float64))[1]
    shift = np.maximum(digits - 4, 0)
    return np.where(given < 24, given, 24 + ((rest >> shift) << shift))


def aligned(scores: pd.DataFrame, systems: Sequence[str]) -> Aligned:
    """The matrix of dataset, system, query_id, value for some systems, in their order.

    Rows of other systems are ignored; a query that one of the systems has no value for is left
    out and counted. Weights are there where `dataset` has several values.
    """
    kept = scores[scores["system"].isin(list(systems)) & scores["value"].notna()]
    table = kept.pivot(index=["dataset", "query_id"], columns="system", values="value")
    table = table.reindex(columns=list(systems)).sort_index()
    whole = table.dropna()
    queries = whole.index.to_frame(index=False)
    values = np.ascontiguousarray(whole.to_numpy(dtype=np.float64).T)
    n_left_out = len(table) - len(whole)
    return Aligned(tuple(systems), queries, values, by_part(queries["dataset"]), n_left_out)
