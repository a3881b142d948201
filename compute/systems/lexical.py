"""BM25 and its relatives, by Anserini and Lucene, from the index straight to the run file."""

import shutil
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, ClassVar

from pandas import DataFrame

from compute.errors import WrongInput
from compute.settings import Settings
from compute.systems import anserini, lucene
from compute.systems.searcher import Progress


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
        with tempfile.TemporaryDirectory(dir=folder, prefix="collection-") as name:
            collection = Path(name)
            total = lucene.write_collection(documents, collection, folder, self._record, progress)
            # Document vectors are what RM3 reads.
            options = ["-collection", "JsonCollection", "-fields", "title", "-storeDocvectors"]
            return lucene.index(collection, folder, total, options, settings, progress)

    def search(
        self,
        folder: Path,
        queries: DataFrame,
        depth: int,
        settings: Settings,
        progress: Progress,
    ) -> DataFrame:
        """query_id, doc_id, score (4 decimals; Anserini sets ties 0.000001 apart)."""
        texts = [lucene.one_line(text, self._limit()) for text in queries["text"].fillna("")]
        query_ids, options = queries["query_id"], self._options()
        return lucene.search(folder, query_ids, texts, depth, options, settings, progress)

    def _limit(self) -> int:
        """Distinct words of a query that count."""
        return lucene.CLAUSES

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
        return lucene.CLAUSES // 2

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
        _between(self, "fb_terms", 1, lucene.CLAUSES // 2)
        _at_least(self, "fb_docs", 1)
        _between(self, "original_query_weight", 0, 1)

    def _limit(self) -> int:
        return lucene.CLAUSES - self.fb_terms

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
