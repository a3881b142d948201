"""Generated runs and judgements with everything in them that has ever moved a score."""

import os
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from pandas import DataFrame

from compute.evaluate import holes

_LONG = os.environ.get("BEIRSCOPE_CASES", "")
CASES = settings(
    max_examples=int(_LONG or "60"),
    derandomize=True,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
# Where a case takes more than 5 ms; the long counts are the same.
SOME = settings(CASES, max_examples=int(_LONG or "15"))
# Where each case makes files or a database.
FEWER = settings(CASES, max_examples=max(CASES.max_examples // 10, 1))


def seeds(number: int, at_hand: int = 2) -> list[Any]:
    """So many numbers from 0 as parameters: two for `make test`, the others for `make test-all`."""
    later = (pytest.param(seed, marks=pytest.mark.long) for seed in range(at_hand, number))
    return [*range(at_hand), *later]


QUERIES = ("1", "01", "q10", "q9", "ü")
# In bytes "10" < "9", "Z" < "a" < "é", and U+FFFF < U+10000, which UTF-16 would turn round.
DOCUMENTS = ("9", "10", "Z", "a", "aa", "é", "z", "\uffff", "\U00010000", "q9", "1", '"x"')
# Pairs that are one number in 32 bits: 1 and 1+1e-9, 2^24 and 2^24+1, 0 and 1e-60, 1e39 and 1e300.
SCORES = (0.0, -0.0, 1e-60, 1.0, 1 + 1e-9, 0.1, -2.5, 2.0**24, 2.0**24 + 1, 1e39, 1e300, -1e39)

_scores = st.sampled_from(SCORES) | st.floats(allow_nan=False, allow_infinity=False)
_hits = st.tuples(st.sampled_from(QUERIES), st.sampled_from(DOCUMENTS), _scores)
_pairs = st.tuples(st.sampled_from(QUERIES), st.sampled_from(DOCUMENTS))
_grades = st.integers(-2, 3) | st.just(0)


@st.composite
def hits(draw: st.DrawFn) -> pd.DataFrame:
    """query_id, doc_id, score in any order; ties and duplicates are frequent, empty is possible."""
    rows = draw(st.lists(_hits, max_size=60))
    frame = pd.DataFrame(rows, columns=["query_id", "doc_id", "score"])
    return frame.astype({"query_id": "str", "doc_id": "str", "score": np.float64})


@st.composite
def judgements(draw: st.DrawFn) -> pd.DataFrame:
    """query_id, doc_id, relevance; some queries have only zeros, some have no hits."""
    grades = draw(st.dictionaries(_pairs, _grades, max_size=40))
    zeros = draw(st.sets(st.sampled_from(QUERIES), max_size=2))
    rows = [(q, d, 0 if q in zeros else grade) for (q, d), grade in grades.items()]
    frame = pd.DataFrame(rows, columns=["query_id", "doc_id", "relevance"])
    return frame.astype({"query_id": "str", "doc_id": "str", "relevance": np.int64})


def single(score: float) -> np.float32:
    with np.errstate(over="ignore"):
        return np.float32(score)


def of_32_bits(hits: pd.DataFrame) -> pd.DataFrame:
    """The hits with a score that a run file may hold: finite also in 32 bits."""
    with np.errstate(over="ignore"):
        kept = np.isfinite(hits["score"].to_numpy().astype(np.float32))
    return hits[kept].reset_index(drop=True)


def lists(hits: pd.DataFrame) -> dict[str, dict[str, float]]:
    """The hits by query as pytrec_eval takes them, in the contract's order, without duplicates."""
    scored: dict[str, dict[str, float]] = {}
    for query_id, doc_id, score in hits[["query_id", "doc_id", "score"]].itertuples(index=False):
        found = scored.setdefault(query_id, {})
        found[doc_id] = max(score, found.get(doc_id, -np.inf))
    return {
        query_id: dict(
            sorted(found.items(), key=lambda hit: (single(hit[1]), hit[0].encode()), reverse=True)
        )
        for query_id, found in scored.items()
    }


def intervals(
    lists: holes.Lists, measure: str, outside: holes.Outside = holes.NOTHING
) -> DataFrame:
    """The columns of `holes.by_kind` for every query of every system: system, query_id, …"""
    found, kinds = holes.by_kind(lists, measure, outside)
    rows = pd.MultiIndex.from_product([lists.systems, lists.queries], names=["system", "query_id"])
    return DataFrame(found).iloc[kinds].set_index(rows).reset_index()
