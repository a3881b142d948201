"""Scores a stored run side by side with pytrec_eval and ir_measures; prints times and ratios.

    python -m tests.benchmarks.score [MILLIONS OF HITS …]      (default: 7)

Each starts at the run's Parquet file and ends with per-query values, its own structures included.
The bar: at most half of pytrec_eval's time, a tenth of ir_measures'; equal values.
"""

import os
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import ir_measures
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytrec_eval

from compute.evaluate.measures import evaluate
from tests.benchmarks.side_by_side import Row, quicker, say, show
from tests.benchmarks.side_by_side import seconds as told

DEPTH = 1000
MEASURES = {"nDCG@10": "ndcg_cut_10", "R@100": "recall_100", "AP@1000": "map_cut_1000"}
Values = dict[tuple[str, str], float]


def made_up(n_queries: int, file: Path) -> pd.DataFrame:
    """Writes a run to a Parquet file, 1,000 hits a query; gives 20 judgements each, 15 found."""
    random = np.random.default_rng(seed=n_queries)
    query = np.repeat(np.arange(n_queries) + 1_000_000, DEPTH)
    # Steps of 1 to 8,000 through the corpus give each query different documents.
    doc = np.cumsum(random.integers(1, 8000, (n_queries, DEPTH)), axis=1)
    random.permuted(doc, axis=1, out=doc)
    # No two of a query are equal, so that ranks as they stand are the canonical ones.
    score = np.arange(DEPTH, 0, -1) + 0.9 * random.random((n_queries, DEPTH))
    columns = {
        "query_id": pa.array(query).cast(pa.string()),
        "doc_id": pa.array(doc.ravel()).cast(pa.string()),
        "rank": np.tile(np.arange(1, DEPTH + 1, dtype=np.int32), n_queries),
        "score": score.ravel(),
    }
    pq.write_table(pa.table(columns), file, compression="zstd")
    judged = np.sort(random.permuted(np.tile(np.arange(300), (n_queries, 1)), axis=1)[:, :15])
    found = np.take_along_axis(doc, judged, axis=1)
    missed = np.arange(9_000_000, 9_000_000 + n_queries * 5).reshape(n_queries, 5)
    frame = pd.DataFrame(
        {
            "query_id": np.repeat(np.arange(n_queries) + 1_000_000, 20),
            "doc_id": np.hstack([found, missed]).ravel(),
            "relevance": random.integers(0, 4, n_queries * 20),
        }
    )
    return frame.astype({"query_id": "str", "doc_id": "str"})


def lists(frame: pd.DataFrame, column: str) -> dict[str, dict[str, Any]]:
    columns = [frame[name].tolist() for name in ("query_id", "doc_id", column)]
    found: dict[str, dict[str, Any]] = {}
    for query_id, doc_id, value in zip(*columns, strict=True):
        found.setdefault(query_id, {})[doc_id] = value
    return found


def ours(file: Path, judgements: pd.DataFrame) -> Values:
    run = pd.read_parquet(file, columns=["query_id", "doc_id", "rank"])
    scores = evaluate(run, judgements, list(MEASURES), depth=DEPTH)
    keys = zip(scores["query_id"], scores["measure"], strict=True)
    return dict(zip(keys, scores["value"], strict=True))


def by_pytrec_eval(file: Path, judgements: pd.DataFrame) -> Values:
    run = lists(pd.read_parquet(file, columns=["query_id", "doc_id", "score"]), "score")
    oracle = pytrec_eval.RelevanceEvaluator(lists(judgements, "relevance"), set(MEASURES.values()))
    return {
        (query_id, measure): values[theirs]
        for query_id, values in oracle.evaluate(run).items()
        for measure, theirs in MEASURES.items()
    }


def by_ir_measures(file: Path, judgements: pd.DataFrame) -> Values:
    run = pd.read_parquet(file, columns=["query_id", "doc_id", "score"])
    wanted = [ir_measures.parse_measure(measure) for measure in MEASURES]
    found = ir_measures.iter_calc(wanted, judgements, run)
    return {(query_id, str(measure)): value for query_id, measure, value in found}


def seconds(
    score: Callable[[Path, pd.DataFrame], Values], file: Path, judgements: pd.DataFrame
) -> tuple[float, Values]:
    start = time.perf_counter()
    values = score(file, judgements)
    return time.perf_counter() - start, values


def warm() -> None:
    """Libraries load and threads start at a first call; none of the three is to pay for that."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "hits.parquet"
        judgements = made_up(1, file)
        for score in (ours, by_pytrec_eval, by_ir_measures):
            score(file, judgements)


def compare(n_queries: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "hits.parquet"
        judgements = made_up(n_queries, file)
        took, values = seconds(ours, file, judgements)
        for name, score, least, bar in (
            ("pytrec_eval", by_pytrec_eval, 2, "at most half of pytrec_eval's time"),
            ("ir_measures", by_ir_measures, 10, "at most a tenth of ir_measures' time"),
        ):
            theirs, expected = seconds(score, file, judgements)
            apart = max(abs(values[key] - value) for key, value in expected.items())
            show(
                Row(
                    work=f"score a stored run, {n_queries * DEPTH:,} hits ({', '.join(MEASURES)})",
                    bar=bar,
                    ours=told(took),
                    peer=f"{name} {told(theirs)}",
                    ratio=f"{quicker(theirs, took)}; values {_apart(apart)}",
                    met=took * least <= theirs and apart < 1e-9,
                )
            )


def _apart(difference: float) -> str:
    return f"at most {difference:.0e} apart" if difference else "equal"


def main(millions: Sequence[str]) -> None:
    warm()
    for size in millions or ("7",):
        compare(int(float(size) * 1_000_000) // DEPTH)
    say(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")


if __name__ == "__main__":
    main(sys.argv[1:])
