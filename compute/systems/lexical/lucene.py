"""Uses Lucene through Anserini's commands: writes a collection, indexes it, searches, reads the
run. Anserini's run files have columns separated by spaces, and ties are broken by document id. So
Lucene gets padded serial numbers in the byte order of the ids: ids may contain anything, and the
run is the same as with the ids."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray
from pyarrow import csv

from compute.base import json_files, parquet_files, scratch
from compute.base.errors import Unavailable
from compute.base.settings import Settings
from compute.systems.lexical import anserini
from compute.systems.neural import encoding
from compute.systems.searcher import Progress, Request, Span, no_hits

# These are imported only for types, since the catalogue of systems must not load pandas.
if TYPE_CHECKING:
    from pandas import DataFrame

CLAUSES = 1024
"""Maximum number of distinct terms in a query of Lucene."""
INDEX, PIECES = "lucene", "pieces"
"""Subfolders of an index: that of Lucene's index, and that of its pieces."""
_COUNTS = ("documents", "indexed", "empty")
_FILE = 10_000
"""Number of documents in one file of a collection."""
_TERM = re.compile(
    # First characters that Lucene indexes singly (Chinese, kana, signs such as emoji), then words.
    r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]|[^\x00-\x7f\w\s]"
    r"|[^\W_\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]+"
)
"""A pattern that has at least as many matches in a text as Lucene finds terms."""


def serials(file: pq.ParquetFile, folder: Path | None) -> NDArray[np.int64]:
    """Return the serial number of each document of the file. If `folder` is given, write the id of
    each number to `ids.parquet` there."""
    ids = file.read(columns=["doc_id"])["doc_id"].cast(pa.large_string()).combine_chunks()
    order = pc.call_function("sort_indices", [ids])
    if folder:
        pq.write_table(pa.table({"doc_id": ids.take(order)}), folder / "ids.parquet")
    numbers = np.empty(len(ids), np.int64)
    numbers[order.to_numpy()] = np.arange(len(ids))
    return numbers


def serial(number: int) -> str:
    """Return a serial number in the form passed to Anserini."""
    return f"{number:012}"


def write_collection(
    documents: Path,
    collection: Path,
    folder: Path | None,
    record: Callable[[str, str], Mapping[str, str]],
    progress: Progress,
    span: Span | None = None,
) -> int:
    """Write the documents, or a span of them, as Anserini's JsonCollection; returns their number.
    `record` turns title and text into fields; for `folder` see `serials`."""
    file = parquet_files.opened(documents)
    numbers = serials(file, folder)
    start, end = span or (0, len(numbers))
    texts = zip(numbers[start:end], encoding.records(file, start), strict=False)
    done = 0
    # Anserini processes each file in one thread.
    for number in range(-(-(end - start) // _FILE)):
        with (collection / f"{number:06}.jsonl").open("w", encoding="utf-8") as lines:
            for own, (title, text) in islice(texts, _FILE):
                lines.write(json.dumps({"id": serial(own)} | dict(record(title, text))) + "\n")
                done += 1
        progress(done, end - start, "documents written")
    return done


def index(
    collection: Path,
    folder: Path,
    total: int,
    options: Sequence[str],
    settings: Settings,
    progress: Progress,
    name: str = INDEX,
) -> dict[str, Any]:
    """Make Lucene's index in the subfolder `name` of `folder`; returns the numbers of documents,
    indexed and empty ones. `options` give the class of the collection and the indexing options.
    Raises Unavailable if Anserini does not report `total` documents."""
    counts: dict[str, int] = {}

    def watch(line: str) -> None:
        """Read counts and progress from a line of the log."""
        if counter := re.search(r" - (indexed|empty): +([\d,]+)$", line):
            counts[counter[1]] = int(counter[2].replace(",", ""))
        elif done := re.search(r"([\d,]+) documents indexed", line):
            progress(int(done[1].replace(",", "")), total, "documents indexed")

    arguments = ["-input", str(collection), "-index", str(folder / name), *options]
    arguments += ["-generator", "DefaultLuceneDocumentGenerator"]
    # The buffer must fit even into a small heap.
    arguments += ["-memoryBuffer", "256", "-threads", str(settings.threads)]
    anserini.run("io.anserini.index.IndexCollection", arguments, settings, watch=watch)
    indexed, empty = counts.get("indexed", 0), counts.get("empty", 0)
    if indexed + empty != total:
        raise Unavailable(f"Anserini indexed {indexed + empty} of {total} documents: run it again")
    return dict(zip(_COUNTS, (total, indexed, empty), strict=True))


def index_piece(
    collection: Path,
    folder: Path,
    span: Span,
    options: Sequence[str],
    settings: Settings,
    progress: Progress,
) -> None:
    """Index a collection of the documents of a span as a piece of the index in `folder`."""
    first, last = span
    name = f"{PIECES}/{first:012}"
    facts = index(collection, folder, last - first, options, settings, progress, name)
    # This file is written last: its existence shows that the piece is complete.
    (folder / f"{name}.json").write_text(json.dumps({"first": first, "last": last, **facts}))


def pieces(folder: Path) -> list[dict[str, int]]:
    """Return the pieces in an index's folder: first, last, and the counts of `index`."""
    notes = sorted(folder.glob(f"{PIECES}/*.json"))
    return [json_files.read(note) for note in notes]


def gaps(folder: Path, total: int) -> list[Span]:
    """Return the spans of documents that are in no piece."""
    ends = [0, *(piece["last"] for piece in pieces(folder))]
    starts = [*(piece["first"] for piece in pieces(folder)), total]
    return [(end, start) for end, start in zip(ends, starts, strict=True) if end < start]


def merge(folder: Path, settings: Settings) -> dict[str, Any]:
    """Merge the pieces into the index in `folder/lucene` and remove them; returns its counts."""
    found = pieces(folder)
    sources = [folder / PIECES / f"{piece['first']:012}" for piece in found]
    anserini.merge(sources, folder / INDEX, settings)
    gone = folder / f"{PIECES}.gone"
    (folder / PIECES).rename(gone)
    shutil.rmtree(gone)
    return {name: sum(piece[name] for piece in found) for name in _COUNTS}


def one_line(text: str, limit: int) -> str:
    """Return `text` as a line for Anserini's TSV reader, truncated after `limit` distinct words."""
    seen: set[str] = set()
    for term in _TERM.finditer(text):
        seen.add(term.group().lower())
        if len(seen) > limit:
            text = text[: term.start()]
            break
    return re.sub(r"[\x00-\x20]+", " ", text).strip()


def search(
    folder: Path, request: Request, texts: Sequence[str], options: Sequence[str]
) -> DataFrame:
    """Search the queries: query_id, doc_id, score (4 decimals; Anserini separates ties by
    0.000001). Each of `texts` is one line without tabs; an empty one has no hits."""
    lines = [f"{serial}\t{text}\n" for serial, text in enumerate(texts) if text]
    if not lines:
        return no_hits()
    with scratch.folder(request.settings.home, "lucene-") as own:
        topics = own / anserini.TOPICS
        topics.write_text("".join(lines), "utf-8", "replace", "\n")
        run = _search(folder, topics, len(lines), request, options)
        return _hits(run, folder, request.queries["query_id"].to_numpy())


def _search(
    folder: Path, topics: Path, total: int, request: Request, options: Sequence[str]
) -> Path:
    """Run Anserini's search; returns the run file."""
    run = topics.with_name("run.txt")

    def watch(line: str) -> None:
        if done := re.search(r"(\d+) queries processed", line):
            request.progress(int(done[1]), total, "queries")

    arguments = ["-index", str(folder / "lucene"), "-topics", topics.name, "-output", str(run)]
    arguments += ["-topicReader", "TsvString", "-hits", str(request.depth)]
    arguments += ["-threads", str(request.settings.threads), *options]
    main = "io.anserini.search.SearchCollection"
    anserini.run(main, arguments, request.settings, watch=watch, folder=topics.parent)
    if not run.exists():
        raise Unavailable(f"Anserini searched {folder} but wrote no run: remove it and run again")
    return run


def _hits(run: Path, folder: Path, query_ids: np.ndarray) -> DataFrame:
    """Read a run file."""
    if not run.stat().st_size:
        return no_hits()
    columns = {"query": pa.int64(), "q0": pa.string(), "doc": pa.int64()}
    columns |= {"rank": pa.int32(), "score": pa.float64(), "tag": pa.string()}
    table = csv.read_csv(
        run,
        read_options=csv.ReadOptions(column_names=list(columns)),
        parse_options=csv.ParseOptions(delimiter=" ", quote_char=False),
        convert_options=csv.ConvertOptions(
            column_types=columns, include_columns=["query", "doc", "score"]
        ),
    )
    return _named(table, folder, query_ids)


def search_singly(
    folder: Path, request: Request, texts: Sequence[str], options: Sequence[str]
) -> DataFrame:
    """Search as `search` does, one query at a time, for options that only a session supports."""
    asked = [(serial, text) for serial, text in enumerate(texts) if text]
    if not asked:
        return no_hits()
    tables = []
    with anserini.session(folder / "lucene", options, request.settings) as session:
        for done, (serial, text) in enumerate(asked, 1):
            hits = session.hits(text, request.depth)
            docs = pa.array([int(doc) for doc, _ in hits], pa.int64())
            scores = pa.array([score for _, score in hits], pa.float64())
            serials = pa.array([serial] * len(hits), pa.int64())
            tables.append(pa.table({"query": serials, "doc": docs, "score": scores}))
            if done % 100 == 0:
                request.progress(done, len(asked), "queries")
    return _named(pa.concat_tables(tables), folder, request.queries["query_id"].to_numpy())


def _named(table: pa.Table, folder: Path, query_ids: np.ndarray) -> DataFrame:
    """Replace the serial numbers in `query` and `doc` by ids."""
    query, doc, score = (table[name].to_numpy() for name in ("query", "doc", "score"))
    return encoding.hits(folder, query_ids[query], doc, score)
