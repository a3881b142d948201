"""BM25 and its relatives, by Anserini and Lucene, from the index straight to the run file.

Anserini's run files are split at blanks and its ties broken by document id, so Lucene sees serial
numbers, padded, in the byte order of the ids: any id survives, and the run is the one that the
ids themselves would give.
"""

import json
import re
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pandas import DataFrame
from pyarrow import csv

from compute.errors import Unavailable, WrongInput
from compute.settings import Settings
from compute.systems import anserini
from compute.systems.searcher import Progress, no_hits

_CLAUSES = 1024
"""Lucene refuses queries of more distinct terms."""
_TERM = re.compile(
    # What Lucene cuts into single characters (Chinese, kana, signs such as emoji), then words.
    r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]|[^\x00-\x7f\w\s]"
    r"|[^\W_\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]+"
)
"""At least as many matches as terms."""


@dataclass(frozen=True)
class Bm25:
    """BM25 over one field, title and text joined with a blank, as Pyserini's "flat" indexes.

    Lucene's formula: Kamphuis et al., "Which BM25 do you mean?", ECIR 2020, lengths kept in one
    byte. English analyser: Lucene's standard tokenizer, possessives cut, lower case, Lucene's stop
    words, Porter stems. Of queries with more than 1,024 distinct words the first 1,024 count.
    Raises WrongInput for k1 below 0 or b outside 0 to 1.
    """

    k1: float = 0.9
    b: float = 0.4

    PARAMETERS: ClassVar[tuple[str, ...]] = ("k1", "b")
    FIELDS: ClassVar[tuple[str, ...]] = ("title + ' ' + text",)

    def __post_init__(self) -> None:
        _at_least(self, "k1", 0)
        _between(self, "b", 0, 1)

    def index_identity(self) -> dict[str, Any]:
        """Analyser and fields: `bm25` and `bm25-rm3` share an index, whatever their parameters."""
        return {
            "engine": f"Anserini {anserini.VERSION}",
            "analyser": "DefaultEnglishAnalyzer, Porter stems, Lucene's stop words",
            "fields": list(self.FIELDS),
        }

    def identity(self) -> dict[str, Any]:
        """The index and every parameter."""
        return self.index_identity() | {"ranker": type(self).__name__} | asdict(self)

    def check(self) -> None:
        """Raises Unavailable when Java or the jar is missing."""
        anserini.check()

    def index(
        self, documents: Path, folder: Path, settings: Settings, progress: Progress
    ) -> dict[str, Any]:
        """documents, indexed and empty (counts): Lucene's index in `folder/lucene`.

        A document whose indexed field `contents` is empty is left out, as in Pyserini's indexes.
        """
        for left in folder.glob("collection-*"):
            shutil.rmtree(left)
        with tempfile.TemporaryDirectory(dir=folder, prefix="collection-") as collection:
            total = _write_collection(documents, Path(collection), folder, self._record, progress)
            return _index(Path(collection), folder / "lucene", total, settings, progress)

    def search(
        self,
        folder: Path,
        queries: DataFrame,
        depth: int,
        settings: Settings,
        progress: Progress,
    ) -> DataFrame:
        """query_id, doc_id, score (4 decimals; Anserini sets ties 0.000001 apart)."""
        topics = [_one_line(text, self._limit()) for text in queries["text"].fillna("")]
        lines = [f"{serial}\t{text}\n" for serial, text in enumerate(topics) if text]
        if not lines:
            return no_hits()
        with tempfile.TemporaryDirectory(prefix="beirscope-") as scratch:
            (Path(scratch) / "topics.tsv").write_text("".join(lines), "utf-8", "replace", "\n")
            run = _search(folder, Path(scratch), depth, self._options(), settings, progress)
            return _hits(run, folder, queries["query_id"].to_numpy())

    def _limit(self) -> int:
        """Distinct words of a query that count."""
        return _CLAUSES

    def _record(self, title: str, text: str) -> dict[str, str]:
        return {"contents": f"{title} {text}"}

    def _options(self) -> list[str]:
        return ["-bm25", "-bm25.k1", str(self.k1), "-bm25.b", str(self.b)]


@dataclass(frozen=True)
class Multifield(Bm25):
    """BM25 over title and text as two fields whose scores are added with weights.

    As in Pyserini's "multifield" indexes a document without text is left out, even if it has a
    title: 42,000 documents of TREC-COVID. Of long queries the first 512 distinct words count.
    """

    contents: float = 1.0
    title: float = 1.0

    PARAMETERS: ClassVar[tuple[str, ...]] = ("k1", "b", "contents", "title")
    FIELDS: ClassVar[tuple[str, ...]] = ("text", "title")

    def __post_init__(self) -> None:
        super().__post_init__()
        _at_least(self, "contents", 0)
        _at_least(self, "title", 0)

    def _limit(self) -> int:
        return _CLAUSES // 2

    def _record(self, title: str, text: str) -> dict[str, str]:
        return {"contents": text, "title": title}

    def _options(self) -> list[str]:
        return [*super()._options(), "-fields", f"contents={self.contents}", f"title={self.title}"]


@dataclass(frozen=True)
class Rm3(Bm25):
    """BM25, its query then expanded by terms of the first documents (RM3).

    Abdul-Jaleel et al., "UMass at TREC 2004"; Anserini's version, which
    leaves out words that are not English or occur in more than a tenth of the documents.
    Raises WrongInput for counts below 1, more than 512 terms, or a weight outside 0 to 1.
    """

    fb_terms: int = 10
    fb_docs: int = 10
    original_query_weight: float = 0.5

    PARAMETERS: ClassVar[tuple[str, ...]] = (
        "k1",
        "b",
        "fb_terms",
        "fb_docs",
        "original_query_weight",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        _between(self, "fb_terms", 1, _CLAUSES // 2)
        _at_least(self, "fb_docs", 1)
        _between(self, "original_query_weight", 0, 1)

    def _limit(self) -> int:
        return _CLAUSES - self.fb_terms

    def _options(self) -> list[str]:
        return [
            *super()._options(),
            *("-rm3", "-rm3.fbTerms", str(self.fb_terms), "-rm3.fbDocs", str(self.fb_docs)),
            *("-rm3.originalQueryWeight", str(self.original_query_weight)),
        ]


def _at_least(searcher: object, parameter: str, low: float) -> None:
    """Raises WrongInput unless the parameter is `low` or more."""
    if getattr(searcher, parameter) < low:
        raise WrongInput(f"{parameter} is {getattr(searcher, parameter)}; it must be {low} or more")


def _between(searcher: object, parameter: str, low: float, high: float) -> None:
    """Raises WrongInput unless the parameter lies from `low` to `high`."""
    if not low <= getattr(searcher, parameter) <= high:
        raise WrongInput(
            f"{parameter} is {getattr(searcher, parameter)}; it must lie from {low} to {high}"
        )


def _write_collection(
    documents: Path,
    collection: Path,
    folder: Path,
    record: Callable[[str, str], dict[str, str]],
    progress: Progress,
) -> int:
    """Anserini's JsonCollection, and `ids.parquet`: the document id of each serial number."""
    file = pq.ParquetFile(documents)
    ids = file.read(columns=["doc_id"])["doc_id"].cast(pa.large_string()).combine_chunks()
    order = pc.call_function("sort_indices", [ids])
    pq.write_table(pa.table({"doc_id": ids.take(order)}), folder / "ids.parquet")
    serials = np.empty(len(ids), np.int64)
    serials[order.to_numpy()] = np.arange(len(ids))
    done = 0
    # Anserini gives each file to one thread.
    for number, batch in enumerate(file.iter_batches(10_000, columns=["title", "text"])):
        with (collection / f"{number:06}.jsonl").open("w", encoding="utf-8") as lines:
            for title, text in zip(*(column.to_pylist() for column in batch.columns), strict=True):
                line = {"id": f"{serials[done]:012}"} | record(title or "", text or "")
                lines.write(json.dumps(line) + "\n")
                done += 1
        progress(done, len(ids), "documents written")
    return done


def _index(
    collection: Path, index: Path, total: int, settings: Settings, progress: Progress
) -> dict[str, Any]:
    counts: dict[str, int] = {}

    def watch(line: str) -> None:
        if counter := re.search(r" - (indexed|empty): +([\d,]+)$", line):
            counts[counter[1]] = int(counter[2].replace(",", ""))
        elif done := re.search(r"([\d,]+) documents indexed", line):
            progress(int(done[1].replace(",", "")), total, "documents indexed")

    arguments = ["-collection", "JsonCollection", "-input", str(collection), "-index", str(index)]
    arguments += ["-generator", "DefaultLuceneDocumentGenerator", "-fields", "title"]
    # Document vectors are what RM3 reads; the buffer must fit into a small heap.
    arguments += ["-storeDocvectors", "-memoryBuffer", "256", "-threads", str(settings.threads)]
    anserini.run("io.anserini.index.IndexCollection", arguments, settings, watch=watch)
    indexed, empty = counts.get("indexed", 0), counts.get("empty", 0)
    if indexed + empty != total:
        raise Unavailable(f"Anserini indexed {indexed + empty} of {total} documents: run it again")
    return {"documents": total, "indexed": indexed, "empty": empty}


def _one_line(text: str, limit: int) -> str:
    """`text` as Anserini's TSV reader takes it, cut before its first distinct word over `limit`."""
    seen: set[str] = set()
    for term in _TERM.finditer(text):
        seen.add(term.group().lower())
        if len(seen) > limit:
            text = text[: term.start()]
            break
    return re.sub(r"[\x00-\x20]+", " ", text).strip()


def _search(
    folder: Path,
    scratch: Path,
    depth: int,
    options: list[str],
    settings: Settings,
    progress: Progress,
) -> Path:
    topics, run = scratch / "topics.tsv", scratch / "run.txt"
    total = topics.read_bytes().count(b"\n")

    def watch(line: str) -> None:
        if done := re.search(r"(\d+) queries processed", line):
            progress(int(done[1]), total, "queries")

    arguments = ["-index", str(folder / "lucene"), "-topics", str(topics), "-output", str(run)]
    arguments += ["-topicReader", "TsvString", "-hits", str(depth)]
    arguments += ["-threads", str(settings.threads), *options]
    anserini.run("io.anserini.search.SearchCollection", arguments, settings, watch=watch)
    if not run.exists():
        raise Unavailable(f"Anserini searched {folder} but wrote no run: remove it and run again")
    return run


def _hits(run: Path, folder: Path, query_ids: np.ndarray) -> DataFrame:
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
    ids = pq.ParquetFile(folder / "ids.parquet").read()["doc_id"].combine_chunks()
    return DataFrame(
        {
            "query_id": query_ids[table["query"].to_numpy()],
            "doc_id": ids.take(table["doc"].combine_chunks()).to_pandas(),
            "score": table["score"].to_numpy(),
        }
    )
