"""Ranked lists and judgements in memory: written by hand, and generated."""

from pathlib import Path

import numpy as np
import pandas as pd
from hypothesis import settings
from hypothesis import strategies as st
from pandas import DataFrame, Series

from compute.datasets import shapes
from compute.evaluate import rbo, runs
from tests.support.worlds import CASES, DOCUMENTS, QUERIES

TOP = ["system", "query_id", "doc_id", "rank"]
PAIR = ["query_id", "doc_id"]
FEWER = settings(CASES, max_examples=CASES.max_examples // 8)


def read_trec(
    path: Path, *, any_tag: bool = False, how: shapes.How | None = None
) -> tuple[str, DataFrame]:
    """The tag of a run file, and its hits: query_id, doc_id, score."""
    tag, table = runs.read(path, any_tag=any_tag, how=how)
    found = table.select(["query_id", "doc_id", "score"]).to_pandas()
    return tag, found.astype({"query_id": "str", "doc_id": "str"})


def tops(**systems: dict[str, str]) -> DataFrame:
    """Ranked lists such as `a={"q1": "x y z"}`."""
    rows = [
        (system, query_id, doc_id, rank)
        for system, found in systems.items()
        for query_id, documents in found.items()
        for rank, doc_id in enumerate(documents.split(), start=1)
    ]
    return DataFrame(rows, columns=TOP).astype(dict.fromkeys(TOP[:3], "str"))


def judged(**grades: dict[str, int]) -> DataFrame:
    rows = [(query, doc, grade) for query, docs in grades.items() for doc, grade in docs.items()]
    frame = DataFrame(rows, columns=[*PAIR, "relevance"])
    return frame.astype(dict.fromkeys(PAIR, "str") | {"relevance": "int64"})


def overlap(a: DataFrame, b: DataFrame, *, p: float = rbo.P) -> Series:
    """RBO of two canonical runs (query_id, doc_id, rank) by query_id, 0 to 1.

    A query of one run alone has 0. Whole lists count, whatever their length.
    """
    lengths = pd.concat([run.groupby("query_id").size() for run in (a, b)], axis=1).fillna(0)
    both = a.merge(b, on=["query_id", "doc_id"], suffixes=("_a", "_b"))
    query = lengths.index.get_indexer(pd.Index(both["query_id"]))
    depth = both[["rank_a", "rank_b"]].max(axis=1).to_numpy(np.int64)
    n_a, n_b = lengths.to_numpy(np.int64).T
    return Series(rbo.of_shared(query, depth, n_a, n_b, p=p), index=lengths.index, name="rbo")


@st.composite
def ranked(draw: st.DrawFn) -> DataFrame:
    """The lists of up to four systems; any may be empty, or lack a query."""
    rows = []
    for system in "abcd"[: draw(st.integers(0, 4))]:
        for query_id in draw(st.sets(st.sampled_from(QUERIES), max_size=4)):
            found = draw(st.lists(st.sampled_from(DOCUMENTS), unique=True, max_size=12))
            rows += [(system, query_id, doc_id, place + 1) for place, doc_id in enumerate(found)]
    return DataFrame(rows, columns=TOP).astype(dict.fromkeys(TOP[:3], "str") | {"rank": "int64"})


@st.composite
def grades(draw: st.DrawFn) -> DataFrame:
    pairs = st.tuples(st.sampled_from(QUERIES), st.sampled_from(DOCUMENTS))
    found = draw(st.dictionaries(pairs, st.integers(-1, 2), max_size=25))
    frame = DataFrame([(*pair, grade) for pair, grade in found.items()])
    frame = frame if len(frame) else DataFrame(columns=range(3))
    frame.columns = [*PAIR, "relevance"]
    return frame.astype(dict.fromkeys(PAIR, "str") | {"relevance": "int64"})
