"""What the Lengths page reads: worked by hand, and against NumPy on the lengths themselves."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory, mkdtemp

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from duckdb import DuckDBPyConnection
from hypothesis import given, settings
from hypothesis import strategies as st
from pandas import DataFrame

from compute.base.scratch_database import scratch
from compute.views.lengths import select as queries
from tests.support.worlds import CASES

HOMES = TemporaryDirectory()
Rows = Sequence[tuple[str, str, str, int, int, int]]
COUNTS = pa.schema(
    [
        *((name, pa.string()) for name in ("dataset", "system", "of")),
        *((name, pa.int64()) for name in ("level", "n_words", "count")),
    ]
)
DATASETS = pa.schema(
    [
        *((name, pa.string()) for name in ("name", "title", "collection")),
        ("parts", pa.list_(pa.string())),
        *((name, pa.float64()) for name in ("document_words", "query_words")),
    ]
)
LISTED = pa.schema(
    [
        *((name, pa.string()) for name in ("kind", "dataset", "system", "provenance")),
        *((name, pa.string()) for name in ("id", "path")),
        ("rows", pa.int64()),
    ],
)


def world(
    rows: Rows, forums: dict[str, list[str]] | None = None, into: DuckDBPyConnection | None = None
) -> DuckDBPyConnection:
    """The tables that the queries ask, holding these rows of `length_counts`, also as files."""
    cursor = into or scratch()
    home = Path(mkdtemp(dir=HOMES.name))
    cursor.execute("set file_search_path = $home", {"home": str(home)})
    names: list[str] = list(dict.fromkeys([*(forums or {}), *(row[0] for row in rows)]))
    about = '{"empty_texts": 1, "hits_without_length": 2}'
    runs = {(row[0], row[1]): f"{number}.parquet" for number, row in enumerate(rows)}
    for run, path in runs.items():
        own = [row for row in rows if row[:2] == run]
        columns = {name: [row[at] for row in own] for at, name in enumerate(COUNTS.names)}
        pq.write_table(pa.table(columns, COUNTS), home / path)
    tables = {
        "length_counts": (COUNTS, rows),
        "datasets": (
            DATASETS,
            [(name, name.upper(), name, (forums or {}).get(name, []), 10, 5) for name in names],
        ),
        "parts": (
            LISTED,
            [("length_counts", *run, about, path, path, 1) for run, path in runs.items()],
        ),
    }
    for name, (schema, values) in tables.items():
        records = [dict(zip(schema.names, row, strict=True)) for row in values]
        cursor.execute(f"drop table if exists {name}")
        cursor.from_arrow(pa.Table.from_pylist(records, schema)).create(name)
    return cursor


LIST = """
insert into parts by name
select $kind as kind, 'toy' as dataset, $system as system, $about as provenance
"""


def of(frame: DataFrame, group: str, system: str = "") -> pd.Series:
    """The one row of a group."""
    found = frame[(frame["of"] == group) & (frame["system"] == system)]
    assert len(found) == 1
    return found.iloc[0]


TOY = [
    ("toy", "", "corpus", 0, 0, 1),
    ("toy", "", "corpus", 0, 10, 2),
    ("toy", "", "corpus", 0, 600, 1),
    ("toy", "", "queries", 0, 2, 1),
    ("toy", "", "judged", -2, 10, 1),
    ("toy", "", "judged", 0, 600, 1),
    ("toy", "", "judged", 1, 10, 3),
    ("toy", "", "judged", 2, 600, 1),
    ("toy", "bm25", "top", 1, 10, 2),
    ("toy", "bm25", "top", 2, 600, 1),
    ("toy", "bm25", "top", 10, 0, 1),
]


def test_groups_worked_by_hand() -> None:
    frame = queries.summaries(world(TOY), ["toy"], 10)
    corpus = of(frame, "corpus")
    assert (corpus["n"], corpus["mean"], corpus["longest"]) == (4, 155, 600)
    # The sorted lengths are 0 10 10 600: the first quartile lies at place 0.75 of 0 to 3.
    assert (corpus["p25"], corpus["p50"], corpus["p75"]) == (7.5, 10, 157.5)
    assert of(frame, "relevant")["n"] == 4
    judged = frame[frame["of"] == "judged"].set_index("relevance")["n"]
    assert judged.to_dict() == {"-2": 1, "0": 1, "1": 3, "2": 1}
    assert of(frame, "top", "bm25")["n"] == 4


def test_k_takes_the_first_ranks_alone() -> None:
    cursor = world(TOY)
    top = [of(queries.summaries(cursor, ["toy"], k), "top", "bm25")["n"] for k in (1, 2, 9, 10)]
    assert top == [2, 3, 3, 4]
    counts = queries.histogram(cursor, ["toy"], 1)
    assert counts[counts["of"] == "top"][["n_words", "count"]].to_numpy().tolist() == [[10, 2]]


def test_a_cut_counts_longer_documents_as_that_long() -> None:
    corpus = of(queries.summaries(world(TOY), ["toy"], 10, cut=512), "corpus")
    assert (corpus["longest"], corpus["mean"]) == (512, (0 + 10 + 10 + 512) / 4)


def test_parts_are_pooled_and_a_run_needs_all_of_them() -> None:
    rows = [
        ("f/a", "", "corpus", 0, 1, 1),
        ("f/b", "", "corpus", 0, 9, 3),
        ("f/a", "whole", "top", 1, 1, 1),
        ("f/b", "whole", "top", 1, 9, 1),
        ("f/a", "partly", "top", 1, 1, 1),
    ]
    cursor = world(rows, {"f": ["f/a", "f/b"]})
    frame = queries.summaries(cursor, ["f/a", "f/b"], 10)
    # The pooled median; the mean of the parts' medians would be 5.
    assert of(frame, "corpus")["p50"] == 9
    assert set(frame["system"]) == {"", "whole"}
    medians = queries.medians(cursor, 10)
    assert list(medians["dataset"].unique()) == ["f"]
    assert of(medians, "top", "whole")["median"] == 5
    assert set(queries.medians(cursor, 10, dataset="f/a")["system"]) == {"", "whole", "partly"}


def test_parts_stand_alone_until_all_are_counted() -> None:
    cursor = world([("f/a", "", "corpus", 0, 1, 1)], {"f": ["f/a", "f/b"]})
    assert list(queries.medians(cursor, 10)["dataset"]) == ["f/a"]


def test_averages_worked_by_hand() -> None:
    cursor = world(TOY)
    about = '{"queries_of_all_splits": {"queries": 5, "words": 3.5}}'
    cursor.execute(LIST, {"kind": "queries", "system": "", "about": about})
    (row,) = queries.averages(cursor).to_dict("records")
    assert (row["n_documents"], row["document_words"], row["empty_texts"]) == (4, 155, 1)
    assert (row["query_words"], row["all_query_words"]) == (2, 3.5)
    assert (row["printed_document_words"], row["printed_query_words"]) == (10, 5)


def test_the_catalogue_tells_what_is_counted() -> None:
    cursor = world(TOY)
    for kind, system in (("top", "new"), ("lengths", "")):
        cursor.execute(LIST, {"kind": kind, "system": system, "about": "{}"})
    row = queries.catalogue(cursor).iloc[0]
    assert row["is_counted"] and row["has_documents"]
    assert (row["n_runs"], row["n_counted"], row["n_left_out"]) == (1, 1, 2 * 2)


def test_two_systems_query_by_query() -> None:
    cursor = world([])
    cursor.execute(
        """
        insert into datasets values ('toy/dev', 'Toy', 'toy', []::text[], null, null);
        create table lengths as from (values
            ('toy', 'd1', 3), ('toy', 'd2', 5), ('toy', 'd3', 900), ('other', 'd1', 77)
        ) as t(dataset, doc_id, n_words);
        create table top as from (values
            ('toy/dev', 'a', 'q1', 'd1', 1), ('toy/dev', 'a', 'q1', 'd2', 2),
            ('toy/dev', 'b', 'q1', 'd3', 1), ('toy/dev', 'b', 'q1', 'unknown', 2),
            ('toy/dev', 'a', 'q2', 'd1', 1), ('other', 'b', 'q2', 'd1', 1)
        ) as t(dataset, system, query_id, doc_id, rank);
        """
    )
    # q2 is answered by one system alone.
    assert queries.head_to_head(cursor, ["toy/dev"], "a", "b", 10).to_numpy().tolist() == [
        ["toy/dev", "q1", 4.0, 900.0]
    ]
    assert queries.head_to_head(cursor, ["toy/dev"], "a", "b", 1, cut=512)[
        ["words_a", "words_b"]
    ].to_numpy().tolist() == [[3, 512]]


def test_the_interval_of_a_median_is_over_queries() -> None:
    rows = [("toy", system, "top", 1, 1, 1) for system in ("a", "b")]
    cursor = world([("toy", "", "corpus", 0, 1, 1), *rows])
    cursor.execute(
        """
        create table lengths as from (values ('toy', 'd1', 3), ('toy', 'd2', 5), ('toy', 'd3', 900))
            as t(dataset, doc_id, n_words);
        create table top as from (values
            ('toy', 'a', 'q1', 'd1', 1), ('toy', 'a', 'q1', 'd2', 2), ('toy', 'a', 'q2', 'd3', 1),
            ('toy', 'a', 'q2', 'd3', 11), ('toy', 'b', 'q1', 'd1', 1), ('toy', 'b', 'q1', 'd2', 2)
        ) as t(dataset, system, query_id, doc_id, rank);
        """
    )
    # Drawn are q1 twice, both, or q2 twice; of system b one query only has documents.
    assert queries.intervals(cursor, 10).to_json(orient="values") == (
        '[["toy","a",4.0,900.0],["toy","b",null,null]]'
    )
    assert queries.intervals(cursor, 10, cut=512, system="a")["high"].tolist() == [512]


DATABASE = scratch()
_lengths = st.integers(0, 30) | st.integers(0, 3000)


# Each case asks the database: a quarter of them says enough.
@pytest.mark.long
@settings(CASES, max_examples=max(CASES.max_examples // 4, 1))
@given(
    corpus=st.lists(_lengths, min_size=1, max_size=40),
    retrieved=st.lists(st.tuples(st.integers(1, 10), _lengths), min_size=1, max_size=40),
    k=st.sampled_from([1, 3, 5, 10]),
    cut=st.none() | st.just(512),
)
def test_quantiles_and_means_are_those_of_the_lengths_themselves(
    corpus: list[int], retrieved: list[tuple[int, int]], k: int, cut: int | None
) -> None:
    raw = [("corpus", "", 0, n) for n in corpus]
    raw += [("top", "s", rank, n) for rank, n in retrieved]
    raw = DataFrame(raw, columns=["of", "system", "level", "n_words"])
    counted = Counter(("toy", s, g, level, n) for g, s, level, n in raw.itertuples(index=False))
    cursor = world([(*group, count) for group, count in counted.items()], into=DATABASE)
    found = queries.summaries(cursor, ["toy"], k, cut)
    middles = queries.medians(cursor, k, cut)
    for group, of_group in raw[raw["level"] <= k].groupby("of"):
        words = of_group["n_words"].clip(upper=cut).to_numpy()
        row = found[found["of"] == group].iloc[0]
        exact = np.quantile(words, [0.05, 0.25, 0.5, 0.75, 0.95])
        assert row[["p5", "p25", "p50", "p75", "p95"]].tolist() == pytest.approx(exact, abs=1e-9)
        assert (row["n"], row["longest"]) == (len(words), words.max())
        assert row["mean"] == pytest.approx(words.mean())
        median = middles.loc[middles["of"] == group, "median"].item()
        assert median == np.median(words)
