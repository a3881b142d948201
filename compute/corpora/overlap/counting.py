"""Counting words: a corpus of any size into parts, in little memory.

DuckDB reads the documents, groups and sorts on disk what does not fit; the counts that it ends
with are written straight into the part.
"""

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from duckdb import DuckDBPyConnection

from compute.base import scratch, scratch_database
from compute.base.errors import WrongInput
from compute.base.result_identity import fingerprint
from compute.base.settings import Settings
from compute.corpora.overlap.tokens import KINDS, UNITS, tokeniser
from compute.corpora.word_pieces import word_pieces
from compute.store import provenance
from compute.store.freshness import of_terms
from compute.store.loading import Bench, Loaded, Progress, quiet
from compute.store.store import Part, Store

MEMORY = "600MB"
"""What DuckDB may hold; the rest goes to its files. The process needs about 200 MB besides."""
SLICE_WORDS = 50_000_000
"""Words counted at a time: more different pairs than theirs would not fit into MEMORY."""
MERGED = 10_000_000
"""Counts of slices merged at a time."""
THREADS = 4
"""Each holds some of MEMORY: with more there would be too little for each."""
BATCH = 100_000
"""Terms read at a time."""

Slice = dict[str, Any]
"""file of documents, and the first and last row of it."""

_TERMS = pa.schema([("n", pa.int32()), ("term", pa.string()), ("count", pa.int64())])

_SIZE = "select count(*), coalesce(sum(n_words), 0)::bigint from read_parquet($file)"
_UNIGRAMS = """
select 1 as n, term, count(*) as count
from (
    select unnest(regexp_extract_all(lower(title || ' ' || text), '[\\p{L}\\p{N}_]+')) as term
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
        select regexp_extract_all(lower(title || ' ' || text), '[\\p{L}\\p{N}_]+') as words
        from read_parquet($file, file_row_number = true)
        where file_row_number between $first and $last
    )
)
group by term
"""
_COUNTED = {"unigrams": _UNIGRAMS, "bigrams": _BIGRAMS}
# The tokeniser never looks across these blanks: each piece of text between them is cut up once,
# however often it occurs.
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
insert into counted
select any_value(n), term, sum(count)
from read_parquet($files) where hash between $first and $last
group by term
"""
_SORTED = "select n, term, count from counted order by n, count desc, term"


def names(documents: Part) -> dict[str, str]:
    """What the counts of these documents are called, by kind; nothing is read."""
    return {
        kind: fingerprint(kind, [documents.fingerprint], tokeniser=tokeniser(kind))
        for kind in KINDS
    }


def current(store: Store, collection: str) -> bool:
    """Whether the words of what is stored of a collection are counted."""
    documents = store.part("documents", collection)
    if documents is None:
        return False
    return all(store.done(kind, collection, "", name) for kind, name in names(documents).items())


def tokens_of(store: Store, collection: str) -> dict[str, int]:
    """How many of each unit a counted corpus has."""
    parts = (store.part(kind, collection) for kind in KINDS)
    units = [part.provenance["units"] for part in parts if part]
    return {name: about["tokens"] for found in units for name, about in found.items()}


def count(bench: Bench, loaded: Loaded, *, again: bool = False) -> bool:
    """Count the uni- and bigrams and the word pieces of a corpus, and publish them.

    Whether there was anything to do. Raises WrongInput where there are no documents.
    """
    dataset, documents, lengths = loaded.dataset, loaded.documents, loaded.lengths
    if documents is None or lengths is None:
        raise WrongInput(f"{dataset.name} has no documents whose words could be counted")
    called = names(documents)
    if not again and current(bench.store, dataset.collection):
        return False
    job = bench.job or f"overlap {dataset.collection}"
    with bench.store.publishing(job) as publication:
        for kind in KINDS:
            start = time.perf_counter()
            with counted(kind, documents.path, bench.settings, bench.progress) as connection:
                about = provenance.record(
                    ["overlap", dataset.name],
                    time.perf_counter() - start,
                    tokeniser=tokeniser(kind),
                    documents=documents.rows,
                    units=_totals(connection, kind),
                    inputs=of_terms(lengths),
                )
                publication.add(
                    kind,
                    connection.sql(_SORTED).to_arrow_reader(BATCH),
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
    units: Sequence[str] = ("unigrams", "bigrams"),
) -> Iterator[DuckDBPyConnection]:
    """A database with the counts of one kind of a file of documents: `counted`, n, term, count."""
    with closing(scratch_database.scratch(now, memory=MEMORY, threads=THREADS)) as connection:
        connection.execute("set preserve_insertion_order = false")
        # Without the bar there is no share to ask for.
        connection.execute("set enable_progress_bar = true")
        connection.execute("set enable_progress_bar_print = false")
        connection.from_arrow(_TERMS.empty_table()).create("counted")
        slices = _slices(connection, str(documents), slice_words)
        watched = partial(_watched, progress, connection)
        if kind == "wordpieces":
            _count_pieces(connection, slices, watched)
        else:
            for name in units:
                watched_unit = partial(watched, f"% of the {name}")
                _count_words(connection, _COUNTED[name], slices, watched_unit, now)
        yield connection


def _slices(connection: DuckDBPyConnection, file: str, words: int) -> list[Slice]:
    """The documents in stretches of about so many words."""
    ((rows, total),) = connection.execute(_SIZE, {"file": file}).fetchall()
    step = max(rows * words // max(total, words), 1)
    starts = range(0, max(rows, 1), step)
    return [{"file": file, "first": start, "last": start + step - 1} for start in starts]


def _count_words(
    connection: DuckDBPyConnection,
    query: str,
    slices: Sequence[Slice],
    watched: Callable[[int, int], AbstractContextManager[None]],
    now: Settings,
) -> None:
    """Add the terms that the query counts; of several slices the counts are merged on disk."""
    if len(slices) == 1:
        with watched(0, 1):
            connection.sql(query, params=slices[0]).insert_into("counted")
        return
    with scratch.folder(now.home, "counting-") as folder:
        files, rows = [], 0
        for number, part in enumerate(slices):
            with watched(number, len(slices) + 1):
                files.append(f"{folder}/{number}.parquet")
                hashed = connection.sql(query, params=part).project(_HASHED).order("hash")
                hashed.write_parquet(files[-1], compression="zstd")
                rows += pq.read_metadata(files[-1]).num_rows
        with watched(len(slices), len(slices) + 1):
            step = max(HASHES * MERGED // max(rows, MERGED), 1)
            for first in range(0, HASHES, step):
                about = {"files": files, "first": first, "last": first + step - 1}
                connection.execute(_MERGED, about)


def _count_pieces(
    connection: DuckDBPyConnection,
    slices: Sequence[Slice],
    watched: Callable[[str, int, int], AbstractContextManager[None]],
) -> None:
    pieces = word_pieces()
    counts = np.zeros(pieces.get_vocab_size(), dtype=np.int64)
    for number, part in enumerate(slices):
        with watched("% of the word pieces", number, len(slices)):
            for batch in connection.sql(_CHUNKS, params=part).to_arrow_reader(BATCH):
                chunks = batch["term"].to_pylist()
                found = pieces.encode_batch_fast(chunks, add_special_tokens=False)
                ids = [np.array(one.ids, dtype=np.int64) for one in found]
                times = np.repeat(batch["count"].to_numpy(), [len(one) for one in ids])
                np.add.at(counts, np.concatenate(ids), times)
    used = np.flatnonzero(counts)
    terms = [pieces.id_to_token(int(place)) for place in used]
    columns = [np.ones(len(used), np.int32), pa.array(terms, pa.string()), counts[used]]
    connection.from_arrow(pa.table(columns, schema=_TERMS)).insert_into("counted")


@contextmanager
def _watched(
    progress: Progress, connection: DuckDBPyConnection, unit: str, done: int, of: int
) -> Iterator[None]:
    """Tell in hundredths how far the query at work is, after `done` of so many queries."""
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
    """Of each unit of a kind: its different terms and all of them."""
    rows = connection.execute("select n, count(*), sum(count)::bigint from counted group by n")
    found = {n: (terms, tokens) for n, terms, tokens in rows.fetchall()}
    return {
        name: dict(zip(("terms", "tokens"), found.get(unit.n, (0, 0)), strict=True))
        for name, unit in UNITS.items()
        if unit.kind == kind
    }
