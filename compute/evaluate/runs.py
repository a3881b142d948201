"""Runs: hits ranked canonically, read from and written to TREC run files. Every number uses the
canonical ranking: without self hits if the dataset excludes them, ordered by descending 32-bit
score and then by descending doc_id bytes (trec_eval's order, as in pytrec_eval), with one rank per
document, truncated at a depth. Millions of hits are ranked by sorting numbers: a query's position
among the ids and the score form a 64-bit key. Ids are compared only if scores are equal."""

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from compute.base import parquet_files
from compute.base.errors import WrongInput
from compute.base.settings import load
from compute.base.words import shown
from compute.datasets import shapes, trec
from compute.datasets.shapes.held import RANK

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
RANKED_LINE = trec.Layout(
    _LINE.what,
    tuple((name, RANK if name == "rank" else kind) for name, kind in _LINE.columns),
)
"""Layout of a run line with the rank, which `check` and `import-run` report on; a ranking ignores
it."""
_HITS = parquet_files.schema("query_id:large_string doc_id:large_string score:double")
_LARGEST = 2**31 - 1
"""Maximum number of bytes in one piece of a column of type `string`."""
_WRITTEN = 1_000_000  # lines that are written at a time
_SLICE = 1 << 16
"""Approximate number of hits ranked together; their arrays fit into a processor's caches."""
_SIGN = np.uint32(1 << 31)
_FIRST_BYTES = np.array([256**few - 1 for few in range(9)], np.uint64)
"""Masks of a word's first bytes, by their number."""
_MIXING = np.random.default_rng(8).integers(2**63, size=4, dtype=np.uint64) * 2 + 1
"""Odd factors of a hash."""
_RANKED = pa.schema([*[*_HITS][:2], ("rank", pa.int32()), ("score", pa.float64())])

Keys = NDArray[np.uint64]


@dataclass(frozen=True)
class Run:
    """The canonical ranking of a system's hits on a dataset, with counts of irregular hits."""

    content: "pd.DataFrame | Lists"
    """The frame that `frame` returns, or the lists from which it is assembled."""
    duplicates: int = 0
    """Number of hits left out because their document has a higher rank in the same list."""
    self_hits: int = 0
    """Number of hits left out because doc_id equals query_id."""
    tied: int = 0
    """Number of kept hits with the same 32-bit score as a neighbour, ordered by doc_id."""
    below: int = 0
    """Number of hits left out because they are below the depth."""

    @property
    def frame(self) -> pd.DataFrame:
        """Return query_id, doc_id, rank (int32, from 1 without gaps) and score (float64)."""
        if isinstance(self.content, pd.DataFrame):
            return self.content
        # Columns are large, so each column of the table is freed once the frame has it.
        table = pa.Table.from_batches(self.batches(), _RANKED)
        return table.to_pandas(split_blocks=True, self_destruct=True)

    def batches(self, size: int = _SLICE) -> Iterator[pa.RecordBatch]:
        """Yield the rows of `frame` in blocks; only a few blocks are in memory at once."""
        if isinstance(self.content, pd.DataFrame):
            table = pa.Table.from_pandas(self.content, preserve_index=False)
            yield from table.to_batches(max_chunksize=size)
            return
        rows = np.arange(size)
        with ThreadPoolExecutor(1) as pool:  # the next block is made while this one is used
            ahead = pool.submit(self.content.batch, rows)
            for start in range(size, len(self.content.order), size):
                now, ahead = ahead, pool.submit(self.content.batch, rows + start)
                yield now.result()
            yield ahead.result()

    def top(self, k: int) -> pd.DataFrame:
        """Return the rows of `frame` down to rank k."""
        if isinstance(self.content, pd.DataFrame):
            return self.content[self.content["rank"] <= k]
        starts = self.content.starts
        rows = starts[:-1, None] + np.arange(k)
        return self.content.batch(rows[rows < starts[1:, None]]).to_pandas()


def canonical(hits: pd.DataFrame, *, depth: int, drop_self: bool) -> Run:
    """Rank hits (query_id, doc_id, score, in any order) as a run of at most `depth` ranks per
    query. With `drop_self`, self hits are removed before truncation. If a document occurs twice in
    a list, its higher rank is kept. Raises WrongInput for a score that is NaN or infinite."""
    table = pa.Table.from_pandas(hits[_HITS.names], schema=_HITS, preserve_index=False)
    run = ranked(table, depth=depth, drop_self=drop_self)
    return replace(run, content=run.frame)


def ranked(hits: pa.Table, *, depth: int, drop_self: bool) -> Run:
    """Rank a table from `read` as `canonical` does; the frame is assembled when needed."""
    _refuse_strange_scores(hits)
    given = hits.num_rows
    if drop_self:
        own = pc.call_function(
            "equal", [hits["query_id"].cast(hits["doc_id"].type), hits["doc_id"]]
        )
        if pc.call_function("any", [own]).as_py():  # otherwise no copy is needed
            hits = hits.filter(pc.call_function("invert", [own]))
    self_hits, given = given - hits.num_rows, hits.num_rows
    if not given:
        return Run(_RANKED.empty_table().to_pandas(), self_hits=self_hits)
    lists = Lists.of(hits)
    with ThreadPoolExecutor(load().threads) as pool:
        found = list(pool.map(partial(lists.settle, depth), *zip(*lists.slices(), strict=True)))
    filled, lengths, duplicates, tied = zip(*found, strict=True)
    content = lists.cut(filled, lengths)
    below = given - sum(duplicates) - len(content.order)
    return Run(content, sum(duplicates), self_hits, sum(tied), below)


def _refuse_strange_scores(hits: pa.Table) -> None:
    """Raise WrongInput, which names the hit, if a score is NaN or infinite."""
    for chunk in hits.to_batches():
        score = chunk["score"].to_numpy(zero_copy_only=False)
        if not np.isfinite(score).all():
            place = int(np.flatnonzero(~np.isfinite(score))[0])
            query_id, doc_id = (chunk[name][place].as_py() for name in ("query_id", "doc_id"))
            raise WrongInput(
                f"query {query_id!r}, document {doc_id!r}: the score is {score[place]}, "
                "not a finite number; fix the system or the run file"
            )


def _numbered(queries: pa.ChunkedArray) -> pa.DictionaryArray:
    """Return the ids of the queries as a dictionary array whose dictionary is sorted."""
    if not pa.types.is_dictionary(queries.type):
        queries = queries.dictionary_encode()
    whole = _whole(queries)
    order = pc.call_function("array_sort_indices", [whole.dictionary]).to_numpy()
    places = np.empty(len(order), np.int32)
    places[order] = np.arange(len(order), dtype=np.int32)
    if (places[:-1] < places[1:]).all():
        return whole
    indices = pa.array(places[whole.indices.to_numpy()])
    return pa.DictionaryArray.from_arrays(indices, whole.dictionary.take(pa.array(order)))


@dataclass(frozen=True)
class Lists:
    """Hits in any order, with the order that turns them into a run."""

    names: pa.Array
    """The sorted ids of the queries."""
    query: NDArray[np.int32]
    """Number of the hit's query, from 0; one element per hit, as in the next two fields."""
    doc_ids: pa.Array
    score: NDArray[np.float64]
    order: NDArray[np.unsignedinteger]
    """Positions of the kept hits, in the order of the run."""
    starts: NDArray[np.int64]
    """Position in `order` of the start of each query's list, and the end of the last list."""

    @classmethod
    def of(cls, hits: pa.Table) -> "Lists":
        """Make lists of unranked hits; `order` is undefined until `settle` fills it."""
        queries, n = _numbered(hits["query_id"]), hits.num_rows
        number, score = queries.indices.to_numpy(), hits["score"].to_numpy()
        order, doc_ids = np.empty(n, np.min_scalar_type(n)), _whole(hits["doc_id"])
        return cls(queries.dictionary, number, doc_ids, score, order, np.zeros(1, np.int64))

    def slices(self) -> Iterator[tuple[int, NDArray[np.int64], NDArray[np.int64]]]:
        """Yield slices of about _SLICE hits, of whole queries in order: the start of each in
        `order` if no hit is omitted, and the starts and lengths of its blocks, each of which is a
        query's adjacent hits."""
        heads = np.append(0, np.flatnonzero(self.query[1:] != self.query[:-1]) + 1)
        lengths = np.diff(heads, append=len(self.query))
        # A query's hits are usually adjacent, so there are few blocks to sort.
        blocks = np.argsort(self.query[heads], kind="stable")
        heads, lengths = heads[blocks], lengths[blocks]
        starts = np.cumsum(lengths) - lengths
        changes = np.flatnonzero(np.diff(self.query[heads])) + 1
        cuts = changes[np.flatnonzero(np.diff(starts[changes] // _SLICE, prepend=0))]
        for low, high in pairwise([0, *cuts.tolist(), len(heads)]):
            yield int(starts[low]), heads[low:high], lengths[low:high]

    def settle(
        self, depth: int, start: int, heads: NDArray[np.int64], lengths: NDArray[np.int64]
    ) -> tuple[slice, NDArray[np.int64], int, int]:
        """Rank a slice. Returns which part of the order it filled, the lengths of its lists, and
        its numbers of duplicates and tied hits."""
        ends = np.cumsum(lengths)
        chosen = np.repeat(heads - (ends - lengths), lengths) + np.arange(ends[-1])
        query, score = self.query[chosen], self.score[chosen]
        duplicates = 0
        if not _differ(query, self.doc_ids, chosen):
            once = _once(query, self.doc_ids.take(pa.array(chosen)), score)
            duplicates = len(chosen) - len(once)
            chosen, query, score = chosen[once], query[once], score[once]
        key = _key(query, score)
        order = np.argsort(key, kind="stable")
        key, order = key[order], chosen[order]
        _settle(key, order, self.doc_ids)
        rank = _places(key)
        kept = rank <= depth
        filled = slice(start, start + np.count_nonzero(kept))
        self.order[filled] = order[kept]
        lists = np.minimum(np.diff(np.flatnonzero(rank == 1), append=len(rank)), depth)
        return filled, lists, duplicates, int(_equal_neighbours(key[kept]).sum())

    def cut(self, filled: Sequence[slice], lengths: Sequence[NDArray[np.int64]]) -> "Lists":
        """Return the lists with their starts, without the gaps that omitted hits left."""
        starts, order = np.append(0, np.cumsum(np.concatenate(lengths))), self.order
        if starts[-1] < len(order):
            order = np.concatenate([order[some] for some in filled])
        return replace(self, order=order, starts=starts)

    def batch(self, rows: NDArray[np.int64]) -> pa.RecordBatch:
        """Return these rows of the run; rows beyond its end are left out."""
        rows = rows[: np.searchsorted(rows, len(self.order))]
        rank = rows - self.starts[np.searchsorted(self.starts, rows, side="right") - 1] + 1
        order = self.order[rows]
        query_ids = self.names.take(pa.array(self.query[order])).cast(pa.large_string())
        doc_ids = self.doc_ids.take(pa.array(order)).cast(pa.large_string())
        columns = [query_ids, doc_ids, pa.array(rank, pa.int32()), pa.array(self.score[order])]
        return pa.record_batch(columns, schema=_RANKED)


def _differ(query: NDArray[np.int32], doc_ids: pa.Array, chosen: NDArray[np.int64]) -> bool:
    """Return whether these hits certainly have different pairs of query and document. Hashes of the
    length and the first and last eight bytes of the document's id are compared, not whole ids."""
    _, places, text = doc_ids.buffers()
    if text is None or text.size < 8:
        return False
    width = np.int64 if pa.types.is_large_string(doc_ids.type) else np.int32
    ends = np.frombuffer(places, width)[doc_ids.offset :]
    starts, ends = ends[chosen], ends[1:][chosen]
    eight = np.ndarray(text.size - 7, "<u8", text, strides=(1,))

    def bytes_from(at: NDArray[np.signedinteger]) -> Keys:
        low = np.clip(at, 0, len(eight) - 1)
        return eight[low] >> (np.maximum(at - low, 0) * 8).astype(np.uint64)

    few = np.minimum(ends - starts, 8)
    first = bytes_from(starts) & _FIRST_BYTES[few]
    last = np.where(few == 8, bytes_from(ends - 8), np.uint64(0))
    columns = (first, last, ends - starts, query)
    mixed = [part.astype(np.uint64) * factor for part, factor in zip(columns, _MIXING, strict=True)]
    pair = np.sort(mixed[0] + mixed[1] + mixed[2] + mixed[3])
    return bool((pair[1:] != pair[:-1]).all())


def _once(query: NDArray[np.int32], doc_ids: pa.Array, score: NDArray[np.float64]) -> NDArray:
    """Return the positions of the hits, with only the best hit of each query and document."""
    codes = doc_ids.dictionary_encode().indices.to_numpy()
    pair = (query.astype(np.uint64) << np.uint64(32)) | codes.astype(np.uint64)
    order = np.lexsort((-score, pair))
    first = np.append(True, pair[order][1:] != pair[order][:-1])
    return np.sort(order[first])


def _key(query: NDArray[np.int32], score: NDArray[np.float64]) -> Keys:
    """Return sort keys: the query's number in the upper 32 bits, and the bits of the score in the
    lower ones, changed so that larger scores come first."""
    with np.errstate(over="ignore"):  # scores beyond 32 bits become infinite, as in C
        single = score.astype(np.float32)
    single += np.float32(0)  # turns -0 into 0
    bits = single.view(np.uint32)
    # Positive floats have the order of their bits, negative ones the reverse.
    np.bitwise_xor(bits, ~_SIGN, out=bits, where=bits < _SIGN)
    return (query.astype(np.uint64) << np.uint64(32)) | bits


def _settle(key: Keys, order: NDArray[np.int64], doc_ids: pa.Array) -> None:
    """Sort the positions of hits with equal keys by descending doc_id, in place."""
    places = np.flatnonzero(_equal_neighbours(key))
    if len(places):
        tied = pa.table({"key": key[places], "doc_id": doc_ids.take(pa.array(order[places]))})
        rule = pc.SortOptions([("key", "ascending"), ("doc_id", "descending")])
        settled = pc.call_function("sort_indices", [tied], rule).to_numpy()
        order[places] = order[places][settled]


def _places(key: Keys) -> NDArray[np.int64]:
    """Return the rank of each sorted key in its query's list, from 1."""
    starts = np.append(0, np.flatnonzero((key[1:] ^ key[:-1]) >> np.uint64(32)) + 1)
    return np.arange(1, len(key) + 1) - np.repeat(starts, np.diff(starts, append=len(key)))


def _equal_neighbours(key: Keys) -> NDArray[np.bool_]:
    """Return a mask of the sorted keys that equal the previous or the next one."""
    same = np.append(key[1:] == key[:-1], [False] * bool(len(key)))
    return same | np.roll(same, 1)


def read(
    path: Path, *, any_tag: bool = False, ranks: bool = False, how: shapes.How | None = None
) -> tuple[str, pa.Table]:
    """Read a run file's tag and its hits in file order: query_id (a dictionary), doc_id, score. The
    file has TREC's lines or another format of `shapes`, which may have no tag or rank. As in
    trec_eval, the rank column is ignored; with `ranks` it is read unchanged (rank, a dictionary of
    bytes). Lines with different tags, or without a tag, are refused. With `any_tag` they are read
    as one run under the first tag, unless several tags share a hit, which means several runs.
    Raises Missing or WrongInput, with file and line."""
    held = shapes.held(path, how)
    table = held.as_run() if held else trec.read_columns(path, line_of(path, ranks=ranks))
    tagged = "tag" in table.column_names
    left = {"tag", "line"} | ({"rank"} if not ranks else set())
    names = [name for name in table.column_names if name not in left]
    tags = table["tag"].unique().cast(pa.string()).to_pylist() if tagged else []
    several = len(tags) > 1 and _shared(table)
    if several or (len(tags) != 1 and not any_tag and (tagged or held is None)):
        told = f"{len(tags)} tags ({', '.join(map(shown, tags[:3]))})" if tags else "no tag"
        ways = ["give each run its own file"] * bool(tags)
        ways += ["name them as one run (--system NAME)"] * (not several)
        raise WrongInput(f"{path}: {told} where a run has one; {', or '.join(ways)}")
    # Ranking needs each column in one piece; the old pieces are freed column by column.
    table, whole = table.select(names), {}
    for name in table.column_names:
        pa.default_memory_pool().release_unused()
        whole[name] = (_numbered if name == "query_id" else _whole)(table[name])
        table = table.drop_columns(name)
    return next(iter(tags), ""), pa.table(whole)


def line_of(path: Path, *, ranks: bool) -> trec.Layout:
    """Return the layout of a run file's lines, without a tag if its first line has none."""
    layout = RANKED_LINE if ranks else _LINE
    lines = [line.split() for line in trec.lines(path) if line.strip() and line[0] != "#"][:1]
    if lines and len(lines[0]) == 5 and trec.reads_as_number(lines[0][4]):
        return replace(layout, columns=layout.columns[:-1])
    return layout


def _shared(table: pa.Table) -> bool:
    """Return whether several tags share a hit."""
    table, pair = table.unify_dictionaries(), ["query_id", "doc_id"]
    tagged = table.group_by([*pair, "tag"]).aggregate([])
    return tagged.num_rows > tagged.group_by(pair).aggregate([]).num_rows


def _whole(column: pa.ChunkedArray) -> pa.Array:
    """Return the column as one piece, without a copy if it already is."""
    if column.num_chunks == 1:
        return column.chunk(0)
    if pa.types.is_dictionary(column.type):
        column = column.unify_dictionaries()
    elif pa.types.is_string(column.type) and column.nbytes > _LARGEST:
        column = column.cast(pa.large_string())
    return column.combine_chunks()


def write_trec(run: pd.DataFrame, tag: str, path: Path) -> None:
    """Write query_id, doc_id, rank, score as a run file; `.gz` or `.zst` in the name compresses it.
    Scores are 32-bit floats with the fewest digits that give the same value when read, so a reader
    that compares them in 64 bits sees the same ties and the same order. A score too large for 32
    bits is written as 1e+39. Raises WrongInput for an id or tag that is not allowed in a file of
    space-separated columns."""
    for names in (run["query_id"], run["doc_id"], pd.Series([tag], dtype="str")):
        trec.refuse_blanks(names.astype("str"), path)
    with pa.output_stream(str(path), compression="detect") as file:
        for start in range(0, len(run), _WRITTEN):
            file.write(_text(run.iloc[start : start + _WRITTEN], tag).encode())


def _text(run: pd.DataFrame, tag: str) -> str:
    """Return the lines of a run file."""
    with np.errstate(over="ignore"):
        single = run["score"].to_numpy(np.float64).astype(np.float32)
    table = pa.Table.from_pandas(run[["query_id", "doc_id", "rank"]], preserve_index=False)
    query_id, doc_id, rank, score = (
        column.cast(pa.string()).combine_chunks()
        for column in (*table.columns, pa.chunked_array([single]))
    )
    if np.isinf(single).any():
        beyond = pa.array(np.where(single > 0, "1e+39", "-1e+39"))
        score = pc.call_function("if_else", [pa.array(np.isinf(single)), beyond, score])
    columns = [query_id, "Q0", doc_id, rank, score, f"{tag}\n"]
    lines = pc.call_function("binary_join_element_wise", [*columns, " "])
    whole = pa.ListArray.from_arrays([0, len(lines)], lines)
    return pc.call_function("binary_join", [whole, ""])[0].as_py()
