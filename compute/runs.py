"""Runs: hits ranked once, canonically; TREC run files in and out.

The canonical ranking feeds every number: self hits out where the dataset says so, score as a
32-bit float descending, then doc_id descending by its bytes (trec_eval's order, as pytrec_eval
compares it), one place per document, cut at a depth.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from compute import trec
from compute.errors import WrongInput
from compute.reading import scratch

_NAMES = pa.dictionary(pa.int32(), pa.string())
_LINE = trec.Layout(
    "run line",
    (
        ("query_id", _NAMES),
        ("Q0", None),
        ("doc_id", pa.string()),
        ("rank", None),
        ("score", pa.float64()),
        ("tag", _NAMES),
    ),
)
_HITS = pa.schema(
    [("query_id", pa.large_string()), ("doc_id", pa.large_string()), ("score", pa.float64())]
)
_WRITTEN = 1_000_000  # lines at a time
_DISTINCT = "select count(distinct hash(query_id, doc_id)) from hits"
_ONCE = """
select query_id, doc_id, max(score) as score, max(single) as single
from hits group by query_id, doc_id
"""
_RANKED = """
select query_id, doc_id, rank::integer as rank, score, single
from (
    select *, row_number() over (
        partition by query_id order by single desc, doc_id desc) as rank
    from hits)
where rank <= $depth
order by query_id, rank
"""


@dataclass(frozen=True)
class Run:
    """The canonical ranking of one system's hits on one dataset, and what ranking them met."""

    frame: pd.DataFrame
    """query_id, doc_id, rank (int32, from 1 without gaps), score (float64), in that order."""
    duplicates: int = 0
    """Hits left out because their document stands higher in the same list."""
    self_hits: int = 0
    """Hits left out because doc_id equals query_id."""
    tied: int = 0
    """Hits kept whose score equals a neighbour's as a 32-bit float: their order is the rule's."""


def canonical(hits: pd.DataFrame, *, depth: int, drop_self: bool) -> Run:
    """Hits (query_id, doc_id, score, in any order) as a run of at most `depth` ranks per query.

    Self hits go before anything is cut; of a document twice in a list the higher place stays.
    Raises WrongInput for a score that is NaN or infinite.
    """
    table = _arrow(hits)
    if drop_self:
        table = table.filter(pc.field("query_id") != pc.field("doc_id"))
    self_hits, given = len(hits) - table.num_rows, table.num_rows
    with scratch() as database:
        database.register("hits", table)
        (distinct,) = database.sql(_DISTINCT).fetchall()[0]
        if distinct < given:
            table = database.sql(_ONCE).to_arrow_table()
            database.register("hits", table)
        ranked = database.sql(_RANKED, params={"depth": depth}).to_arrow_table().to_pandas()
    tied = _tied(ranked["rank"].to_numpy(), ranked["single"].to_numpy())
    frame = ranked.drop(columns="single")
    return Run(frame, duplicates=given - table.num_rows, self_hits=self_hits, tied=tied)


def _arrow(hits: pd.DataFrame) -> pa.Table:
    """The hits with `single`, the score as the oracle compares it."""
    score = hits["score"].to_numpy(np.float64)
    if not np.isfinite(score).all():
        wrong = hits[~np.isfinite(score)].iloc[0]
        raise WrongInput(
            f"query {wrong['query_id']!r}, document {wrong['doc_id']!r}: the score is "
            f"{wrong['score']}, not a finite number; mend the system or the run file"
        )
    table = pa.Table.from_pandas(hits[_HITS.names], schema=_HITS, preserve_index=False)
    with np.errstate(over="ignore"):  # beyond 32 bits: larger than all others, as in C
        return table.append_column("single", pa.array(score.astype(np.float32)))


def _tied(rank: np.ndarray, single: np.ndarray) -> int:
    same = (rank[1:] > 1) & (single[1:] == single[:-1])
    return int((np.append(same, False) | np.insert(same, 0, False)).sum())


def read_trec(path: Path, *, any_tag: bool = False) -> tuple[str, pd.DataFrame]:
    """A run file's tag and its hits: query_id, doc_id, score; duplicates and order as they stand.

    The rank column is ignored, as trec_eval does. Lines of several tags are refused, since they
    are several runs; with `any_tag` they are read as one, under the first. Raises Missing or
    WrongInput, with file and line.
    """
    table = trec.read_columns(path, _LINE)
    tags = table["tag"].cast(pa.string()).unique().to_pylist()
    if len(tags) > 1 and not any_tag:
        raise WrongInput(
            f"{path}: {len(tags)} tags ({', '.join(tags[:3])}, …) where a run has one; "
            "give each run a file of its own"
        )
    return tags[0], table.drop_columns("tag").cast(_HITS).to_pandas()


def write_trec(run: pd.DataFrame, tag: str, path: Path) -> None:
    """Write query_id, doc_id, rank, score as a run file; `.gz` or `.zst` in the name packs it.

    Scores are written as 32-bit floats, so that a reader that compares them in 64 bits sees the
    same ties and with them the same order. Raises WrongInput for an id or tag that a file of
    columns between blanks cannot hold.
    """
    for names in (run["query_id"], run["doc_id"], pd.Series([tag], dtype="str")):
        trec.refuse_blanks(names.astype("str"), path)
    with pa.output_stream(str(path), compression="detect") as file:
        for start in range(0, len(run), _WRITTEN):
            file.write(_text(run.iloc[start : start + _WRITTEN], tag).encode())


def _text(run: pd.DataFrame, tag: str) -> str:
    limit = float(np.finfo(np.float32).max)
    score = run["score"].clip(-limit, limit).to_numpy(np.float32)
    table = pa.Table.from_pandas(run[["query_id", "doc_id", "rank"]], preserve_index=False)
    query_id, doc_id, rank, score = (
        column.cast(pa.string()).combine_chunks()
        for column in (*table.columns, pa.chunked_array([score]))
    )
    columns = [query_id, "Q0", doc_id, rank, score, f"{tag}\n"]
    lines = pc.call_function("binary_join_element_wise", [*columns, " "])
    whole = pa.ListArray.from_arrays([0, len(lines)], lines)
    return pc.call_function("binary_join", [whole, ""])[0].as_py()
