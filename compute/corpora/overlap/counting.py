"""Counts the words of a corpus of any size in little memory, and stores the counts as parts. DuckDB
reads the documents, and groups and sorts on disk if necessary; the counts are written directly into
the part. A large corpus is counted slice by slice, here or by several workers. The counts of a
slice are sorted by hash, so that they can be merged one range of hashes at a time."""

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from duckdb import DuckDBPyConnection, DuckDBPyRelation
from duckdb.func import PythonUDFType
from duckdb.sqltypes import VARCHAR

from compute.base import scratch, scratch_database
from compute.base.errors import WrongInput
from compute.base.result_identity import fingerprint
from compute.base.settings import Settings
from compute.corpora.overlap.tokens import (
    KINDS,
    MARKED_WORD,
    UNITS,
    UNKNOWN,
    WORD,
    of_every_script,
    tokeniser_record,
)
from compute.corpora.word_pieces import word_pieces
from compute.datasets import scripts
from compute.store import provenance
from compute.store.freshness import by_kind
from compute.store.loading import Bench, Loaded, Progress, quiet
from compute.store.store import Part, Store

MEMORY = 600
"""DuckDB's limit in MB, beyond which it uses the disk. The process needs about 200 MB more."""
SORTED = 10_000_000
"""Number of terms sorted at a time; a billion at once needed 2 GB of memory and 40 GB of disk."""
SAMPLE = 100_000
"""Number of terms drawn to divide all terms into ranges of about the same size."""
SLICE_WORDS = 25_000_000
"""Number of words counted at a time; bigrams of twice as many did not fit into MEMORY."""
MERGED = 1_000_000
"""Number of counts merged at a time; ten times as many took 50% longer for 30 million counts."""
THREADS = 4
"""Maximum number of threads, since they share MEMORY and each needs enough of it."""
BATCH = 100_000
"""Number of terms read at a time."""

Slice = dict[str, Any]
"""A file of documents, with the first and last row of the slice."""

_TERMS = pa.schema([("n", pa.int32()), ("term", pa.string()), ("count", pa.int64())])

_SIZE = "select count(*), coalesce(sum(n_words), 0)::bigint from read_parquet($file)"
_UNIGRAMS = """
select 1 as n, term, count(*) as count
from (
    select unnest(words_of(title || ' ' || text)) as term
    from read_parquet($file, file_row_number = true)
    where file_row_number between $first and $last
)
group by term
"""
_BIGRAMS = """
select 2 as n, term, count(*) as count
from (
    select unnest(list_transform(
        list_zip(words[:-2], words[2:]), lambda pair: pair[1] || ' ' || pair[2]
    )) as term
    from (
        select words_of(title || ' ' || text) as words
        from read_parquet($file, file_row_number = true)
        where file_row_number between $first and $last
    )
)
group by term
"""
_WORDS = {"unigrams": _UNIGRAMS, "bigrams": _BIGRAMS}
# The tokeniser never looks across these spaces, so each distinct piece is tokenised once.
_CHUNKS = """
select term, count(*) as count
from (
    select unnest(string_split(translate(title || ' ' || text, e'\\n\\r\\t', '   '), ' ')) as term
    from read_parquet($file, file_row_number = true)
    where file_row_number between $first and $last
)
where term != ''
group by term
"""
_HASHED = "(hash(term) >> 56)::utinyint as hash, *"
HASHES = 256
_MERGED = """
select any_value(n) as n, term, sum(count)::bigint as count
from read_parquet($files) where hash between $first and $last
group by term
order by count desc, term
"""
_MARKS = f"""
select count, term
from (select * from counted using sample reservoir({SAMPLE} rows) repeatable (1))
where n = $n
order by count desc, term
"""
_RANGE = """
select n, term, count from counted
where n = $n and count between $least and $most and {}
order by count desc, term
"""
_WITHIN = "(count < $most or term >= $first) and (count > $least or term < $end)"
# The same if both counts are equal: DuckDB then skips the blocks of a file without these terms.
_TERMS_WITHIN = "term >= $first and term < $end"


@dataclass(frozen=True)
class Pieces:
    """Counts of all documents of a corpus, with one file per slice, as `Counting` writes them."""

    folder: Path
    number: int
    """Number of shards that were counted separately, one after the other or in parallel."""
    seconds: float
    """Total number of seconds, for all kinds."""

    @property
    def record(self) -> dict[str, Any]:
        """Return the provenance entries of these counts."""
        return {"shards": self.number, "shard_seconds": round(self.seconds, 3)}


@dataclass(frozen=True)
class Counting:
    """Counting the words of a corpus as work that several workers can divide by documents."""

    documents: Part

    def piece_documents(self, settings: Settings) -> int:
        """Return the number of documents per worker's slice."""
        return settings.shard_documents_of_words

    def piece_identity(self) -> dict[str, Any]:
        """Return the identity of the tokenisers and of the hash by which terms are sorted. Only
        counts for which both are equal can be merged."""
        tokenisers = {kind: tokeniser_record(kind, self.documents) for kind in KINDS}
        return {"counts": tokenisers, "hash": f"DuckDB {duckdb.__version__}"}

    def make_piece(
        self,
        documents: Path,
        span: tuple[int, int],
        folder: Path,
        settings: Settings,
        progress: Progress,
    ) -> None:
        """Count every unit for the documents of a span, whose end is excluded."""
        size = span[1] - span[0]

        def told(number: int, done: int, total: int, unit: str) -> None:
            # Each unit has an equal share of the progress.
            progress(size * (total * number + done) // (total * len(UNITS)), size, "documents")

        with _database(settings, of_every_script(self.documents)) as connection:
            slices = _slices(connection, str(documents), SLICE_WORDS, span)
            for number, unit in enumerate(UNITS):
                watched = partial(_watched, partial(told, number), connection, unit)
                _write_slices(connection, unit, slices, folder, watched)


def fingerprints(documents: Part) -> dict[str, str]:
    """Return the fingerprints of the counts of these documents, by kind, without counting."""
    return {
        kind: fingerprint(
            kind, [documents.fingerprint], tokeniser=tokeniser_record(kind, documents)
        )
        for kind in KINDS
    }


def current(store: Store, collection: str) -> bool:
    """Return whether the words of a stored corpus are counted."""
    documents = store.part("documents", collection)
    if documents is None:
        return False
    return all(
        store.done(kind, collection, "", name) for kind, name in fingerprints(documents).items()
    )


def tokens_of(store: Store, collection: str) -> dict[str, int]:
    """Return the number of tokens of each unit in a counted corpus."""
    parts = (store.part(kind, collection) for kind in KINDS)
    units = [part.provenance["units"] for part in parts if part]
    return {name: about["tokens"] for found in units for name, about in found.items()}


def count(
    bench: Bench, loaded: Loaded, *, again: bool = False, pieces: Pieces | None = None
) -> bool:
    """Count the unigrams, bigrams and word pieces of a corpus, and publish the counts. If `pieces`
    are given, their counts are merged instead. Returns whether there was work to do. Raises
    WrongInput if there are no documents."""
    dataset, documents, lengths = loaded.dataset, loaded.documents, loaded.lengths
    if documents is None or lengths is None:
        raise WrongInput(f"{dataset.name} has no documents whose words could be counted")
    called = fingerprints(documents)
    if not again and current(bench.store, dataset.collection):
        return False
    job = bench.job or f"overlap {dataset.collection}"
    how = {"every": of_every_script(documents), "pieces": pieces.folder if pieces else None}
    counts = partial(counted, now=bench.settings, progress=bench.progress, **how)
    with bench.store.publishing(job) as publication:
        for kind in KINDS:
            start = time.perf_counter()
            with counts(kind, documents.path) as connection:
                about = provenance.record(
                    ["overlap", "compute", dataset.name],
                    time.perf_counter() - start,
                    tokeniser=tokeniser_record(kind, documents),
                    documents=documents.rows,
                    units=_totals(connection, kind),
                    inputs=by_kind(lengths),
                    **(pieces.record if pieces else {}),
                )
                publication.add(
                    kind,
                    pa.RecordBatchReader.from_batches(_TERMS, in_order(connection)),
                    dataset=dataset.collection,
                    fingerprint=called[kind],
                    provenance=about,
                )
    return True


@contextmanager
def counted(
    kind: str,
    documents: Path,
    now: Settings,
    progress: Progress = quiet,
    slice_words: int = SLICE_WORDS,
    units: Sequence[str] = (),
    pieces: Path | None = None,
    every: bool = False,
) -> Iterator[DuckDBPyConnection]:
    """Open a database with the view `counted`: counts of one kind for a file of documents (n,
    term, count). It covers all units of the kind, or only `units`. If `pieces` has the counts of
    all documents by slice, no document is read. With `every`, words of every script are counted."""
    # Of a table in memory, 3 MB per million terms stay there even when its content is on disk.
    with _database(now, every) as connection, scratch.folder(now.home, "counting-") as folder:
        for unit in units or [name for name, unit in UNITS.items() if unit.kind == kind]:
            watched = partial(_watched, progress, connection, f"% of the {unit}")
            if pieces is None:
                slices = _slices(connection, str(documents), slice_words)
                _count(connection, unit, slices, watched, folder)
            else:
                with watched(0, 1):
                    _merge(connection, sorted(pieces.glob(f"{unit}-*.parquet")), folder, unit)
        merged = sorted(map(str, folder.glob("counted-*")))
        connection.read_parquet(merged).create_view("counted")
        yield connection


def in_order(connection: DuckDBPyConnection, at_once: int = SORTED) -> Iterator[pa.RecordBatch]:
    """Read the view `counted` by n, falling count and term, about `at_once` terms at a time."""
    sizes = "select n, count(*) from counted group by n order by n"
    for n, size in connection.execute(sizes).fetchall():
        marks = connection.execute(_MARKS, {"n": n}).fetchall() if size > at_once else []
        marks = marks[:: max(len(marks) * at_once // size, 1)][1:]
        ends = [(np.iinfo(np.int64).max, ""), *marks, (0, "")]
        for (most, first), (least, end) in pairwise(ends):
            about = {"n": n, "most": most, "first": first, "least": least, "end": end}
            within = _TERMS_WITHIN if most == least else _WITHIN
            terms = connection.sql(_RANGE.format(within), params=about)
            yield from terms.to_arrow_reader(BATCH)


@contextmanager
def _database(now: Settings, every: bool) -> Iterator[DuckDBPyConnection]:
    """Open a database with the tokenising functions; with `every`, for every script."""
    with closing(
        scratch_database.scratch(now, memory=f"{MEMORY}MB", threads=THREADS)
    ) as connection:
        connection.execute("set preserve_insertion_order = false")
        # DuckDB reports progress only with its progress bar enabled.
        connection.execute("set enable_progress_bar = true")
        connection.execute("set enable_progress_bar_print = false")
        connection.create_function(
            "written", _written, [VARCHAR], VARCHAR, type=PythonUDFType.ARROW
        )
        text, word = ("written(text)", MARKED_WORD) if every else ("text", WORD)
        found = f"regexp_extract_all(lower({text}), '{word}')"
        connection.execute(f"create macro words_of(text) as {found}")
        kept = f"term != '{UNKNOWN}'" if every else "true"
        connection.execute(f"create macro is_piece(term) as {kept}")
        yield connection


def _written(texts: pa.ChunkedArray) -> pa.Array:
    return pa.array([scripts.written(text) for text in texts.to_pylist()], pa.string())


def _slices(
    connection: DuckDBPyConnection, file: str, words: int, span: tuple[int, int] | None = None
) -> list[Slice]:
    """Divide the documents, or those of a span, into slices of about this many words."""
    ((rows, total),) = connection.execute(_SIZE, {"file": file}).fetchall()
    first, end = span or (0, max(rows, 1))
    step = max(rows * words // max(total, words), 1)
    starts = range(first, end, step)
    return [{"file": file, "first": at, "last": min(at + step, end) - 1} for at in starts]


Watched = Callable[[int, int], AbstractContextManager[None]]
"""Context manager that reports a query's progress, given the numbers of finished and all ones."""


def _count(
    connection: DuckDBPyConnection, unit: str, slices: list[Slice], watched: Watched, folder: Path
) -> None:
    """Count the terms of a unit into files of a folder, as `_merge` does."""
    number = len(slices)
    if number == 1:
        with watched(0, 1):
            _terms(connection, unit, slices[0]).write_parquet(str(folder / f"counted-{unit}"))
        return
    files = _write_slices(connection, unit, slices, folder, lambda at, of: watched(at, of + 1))
    with watched(number, number + 1):
        _merge(connection, files, folder, unit)


def _write_slices(
    connection: DuckDBPyConnection,
    unit: str,
    slices: Sequence[Slice],
    folder: Path,
    watched: Watched,
) -> list[Path]:
    """Count the terms of a unit into one file per slice: hash, n, term, count."""
    files = []
    for number, part in enumerate(slices):
        with watched(number, len(slices)):
            files.append(folder / f"{unit}-{part['first']:012}.parquet")
            hashed = _terms(connection, unit, part).project(_HASHED).order("hash")
            hashed.write_parquet(str(files[-1]), compression="zstd")
    return files


def _merge(connection: DuckDBPyConnection, files: Sequence[Path], folder: Path, unit: str) -> None:
    """Add up the counts of slices, one range of hashes at a time, each into a file of its own."""
    rows = sum(pq.read_metadata(file).num_rows for file in files)
    step = max(HASHES * MERGED // max(rows, MERGED), 1)
    for first in range(0, HASHES, step):
        about = {"files": list(map(str, files)), "first": first, "last": first + step - 1}
        file = str(folder / f"counted-{unit}-{first:03}")
        connection.sql(_MERGED, params=about).write_parquet(file)


def _terms(connection: DuckDBPyConnection, unit: str, part: Slice) -> DuckDBPyRelation:
    """Count the terms of a unit in the documents of a slice: n, term, count."""
    if unit in _WORDS:
        return connection.sql(_WORDS[unit], params=part)
    return connection.from_arrow(_pieces(connection, part)).filter("is_piece(term)")


def _pieces(connection: DuckDBPyConnection, part: Slice) -> pa.Table:
    """Count the word pieces in the documents of a slice."""
    pieces = word_pieces()
    counts = np.zeros(pieces.get_vocab_size(), dtype=np.int64)
    for batch in connection.sql(_CHUNKS, params=part).to_arrow_reader(BATCH):
        found = pieces.encode_batch_fast(batch["term"].to_pylist(), add_special_tokens=False)
        ids = [np.array(one.ids, dtype=np.int64) for one in found]
        times = np.repeat(batch["count"].to_numpy(), [len(one) for one in ids])
        np.add.at(counts, np.concatenate(ids), times)
    used = np.flatnonzero(counts)
    terms = [pieces.id_to_token(int(place)) for place in used]
    columns = [np.ones(len(used), np.int32), pa.array(terms, pa.string()), counts[used]]
    return pa.table(columns, schema=_TERMS)


@contextmanager
def _watched(
    progress: Progress, connection: DuckDBPyConnection, unit: str, done: int, of: int
) -> Iterator[None]:
    """Report the progress of a query in hundredths, after `done` of `of` queries."""
    progress(100 * done // of, 100, unit)
    end = threading.Event()

    def watch() -> None:
        while not end.wait(0.5):
            share = min(max(connection.query_progress(), 0), 100)
            progress(int((100 * done + share) / of), 100, unit)

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield
    finally:
        end.set()
        thread.join()


def _totals(connection: DuckDBPyConnection, kind: str) -> dict[str, Any]:
    """Return the numbers of distinct terms and of all tokens, for each unit of a kind."""
    rows = connection.execute("select n, count(*), sum(count)::bigint from counted group by n")
    found = {n: (terms, tokens) for n, terms, tokens in rows.fetchall()}
    return {
        name: dict(zip(("terms", "tokens"), found.get(unit.n, (0, 0)), strict=True))
        for name, unit in UNITS.items()
        if unit.kind == kind
    }
