"""BM25 and its relatives, by Anserini and Lucene."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

from compute.base import parquet_files
from compute.base.settings import Settings
from compute.corpora import word_pieces
from compute.systems.lexical import anserini, lucene
from compute.systems.searcher import Ask, Limited, Progress, Request, Span, limited

# These are imported only for types, since the catalogue of systems must not load pandas.
if TYPE_CHECKING:
    from pandas import DataFrame

ANALYSERS = {
    "en": "DefaultEnglishAnalyzer, Porter stems, Lucene's stop words",
    "pl": "MorfologikAnalyzer, all lemmas of its Polish dictionary, no stop words",
}
"""Analysers by language; other languages use the English one."""
_TERMS_OF_A_WORD = {"en": 1, "pl": 2}
"""Number of terms that a word may need within Lucene's limit; a Polish word has 1.2 on average."""


@dataclass(frozen=True)
class Bm25(Limited):
    """BM25 over one field, title and text joined with a space, like Pyserini's "flat" indexes.

    The formula is Lucene's (Kamphuis et al., "Which BM25 do you mean?", ECIR 2020), with document
    lengths stored in one byte. The English analyser has Lucene's standard tokenizer, removal of
    possessives, lower case, Lucene's stop words and Porter stems. Only the first 1,024 distinct
    words of a query count. A Polish dataset has Lucene's Polish analyser, with all of Morfologik's
    lemmas for each word and without stop words; words that are not in its dictionary are unchanged,
    including capitals. Since a Polish word may have several terms, only 512 words count. Raises
    WrongInput for k1 below 0 or b outside 0 to 1.
    """

    k1: float = limited(0.9, 0)
    b: float = limited(0.4, 0, 1)
    language: str = field(default="en", kw_only=True)
    """Language of the analyser: en or pl."""

    PARAMETERS: ClassVar[tuple[str, ...]] = ("k1", "b")
    FIELDS: ClassVar[tuple[str, ...]] = ("title + ' ' + text",)
    EXTRA_FIELDS: ClassVar[tuple[str, ...]] = ("title",)
    """Fields that Lucene stores besides `contents`."""

    def index_identity(self) -> dict[str, Any]:
        """Return analyser and fields; `bm25` and `bm25-rm3` share an index for any parameters."""
        return {
            "engine": f"Anserini {anserini.VERSION}",
            "analyser": self._analyser(),
            "fields": list(self.FIELDS),
        }

    def identity(self) -> dict[str, Any]:
        """Return the index and every parameter; the analyser determines the language."""
        values = asdict(self)
        del values["language"]
        return self.index_identity() | {"ranker": type(self).__name__} | values

    def for_language(self, language: str) -> Self:
        """Return the same system with the analyser of a language, or else the English one."""
        return replace(self, language=language if language in ANALYSERS else "en")

    def check(self) -> None:
        """Raise Unavailable if Java or the jar is not installed."""
        anserini.check()

    def index(
        self, documents: Path, folder: Path, settings: Settings, progress: Progress
    ) -> dict[str, Any]:
        """Make Lucene's index in `folder/lucene`; returns the numbers of documents, indexed and
        empty ones. A document whose field `contents` is empty is left out, as in Pyserini."""
        for left in (*folder.glob("collection-*"), *folder.glob("*.gone")):
            shutil.rmtree(left)
        if lucene.pieces(folder):
            return self._merged(documents, folder, settings, progress)
        with tempfile.TemporaryDirectory(dir=folder, prefix="collection-") as name:
            collection, record = Path(name), self._record
            total = lucene.write_collection(documents, collection, folder, record, progress)
            return lucene.index(collection, folder, total, self._indexing(), settings, progress)

    def piece_documents(self, settings: Settings) -> int:
        """Return the number of documents per piece, many times the number for an encoder."""
        return settings.shard_documents_of_words

    def piece_identity(self) -> dict[str, Any]:
        """Return the identity of the index."""
        return self.index_identity()

    def make_piece(
        self, documents: Path, span: Span, folder: Path, settings: Settings, progress: Progress
    ) -> None:
        """Make a Lucene index of these documents, with serial numbers of the complete index."""
        with tempfile.TemporaryDirectory(dir=folder, prefix="collection-") as name:
            collection = Path(name)
            lucene.write_collection(documents, collection, None, self._record, progress, span)
            options = self._indexing()
            lucene.index_piece(collection, folder, span, options, settings, progress)

    def _merged(
        self, documents: Path, folder: Path, settings: Settings, progress: Progress
    ) -> dict[str, Any]:
        """Make the missing pieces of the index and merge all; returns the counts of `index`."""
        total = len(lucene.serials(parquet_files.opened(documents), folder))
        for span in lucene.gaps(folder, total):
            self.make_piece(documents, span, folder, settings, progress)
        return lucene.merge(folder, settings)

    def _indexing(self) -> list[str]:
        """Return Anserini's options for indexing a corpus."""
        # RM3 needs document vectors.
        options = ["-collection", "JsonCollection", "-storeDocvectors"]
        return [*options, "-fields", *self.EXTRA_FIELDS, *self._analysis()]

    def search(self, folder: Path, request: Request) -> DataFrame:
        """Search: query_id, doc_id, score (4 decimals; Anserini separates ties by 0.000001)."""
        texts = [self._query(text) for text in request.texts]
        options = [*self._options(), *self._analysis()]
        return lucene.search(folder, request, texts, options)

    @contextmanager
    def session(self, folder: Path, settings: Settings) -> Iterator[Ask]:
        """Open a function that answers a query as `search` does, for timing only."""
        options = [*self._options(), *self._analysis()]
        with anserini.session(folder / "lucene", options, settings) as ask:
            yield lambda text, depth: ask(self._query(text), depth)

    def _query(self, text: str) -> str:
        """Return the query as one line, truncated to Lucene's limit."""
        return lucene.one_line(text, self._limit() // _TERMS_OF_A_WORD[self.language])

    def _limit(self) -> int:
        """Return the maximum number of distinct terms in a query."""
        return lucene.CLAUSES

    def _analyser(self) -> str:
        return ANALYSERS[self.language]

    def _analysis(self) -> list[str]:
        """Return Anserini's options for the analyser."""
        return [] if self.language == "en" else ["-language", self.language]

    def _record(self, title: str, text: str) -> dict[str, str]:
        """Return the fields of a document."""
        return {"contents": f"{title} {text}"}

    def _options(self) -> list[str]:
        """Return Anserini's options for the ranking."""
        return ["-bm25", "-bm25.k1", str(self.k1), "-bm25.b", str(self.b)]


@dataclass(frozen=True)
class Multifield(Bm25):
    """BM25 over title and text as two fields whose scores are added with weights. As in Pyserini's
    "multifield" indexes, a document without text is left out even if it has a title: 42,000
    documents of TREC-COVID. Only the first 512 distinct words of a query count."""

    contents: float = limited(1.0, 0)
    title: float = limited(1.0, 0)

    PARAMETERS: ClassVar[tuple[str, ...]] = ("k1", "b", "contents", "title")
    FIELDS: ClassVar[tuple[str, ...]] = ("text", "title")

    def _limit(self) -> int:
        return lucene.CLAUSES // 2

    def _record(self, title: str, text: str) -> dict[str, str]:
        return {"contents": text, "title": title}

    def _options(self) -> list[str]:
        return [*super()._options(), "-fields", f"contents={self.contents}", f"title={self.title}"]


@dataclass(frozen=True)
class Rm3(Bm25):
    """BM25 with its query expanded by terms of the first documents (RM3). Abdul-Jaleel et al.,
    "UMass at TREC 2004", in Anserini's version, which leaves out words that are not English or
    occur in more than a tenth of the documents; in Polish it accepts any word. Raises WrongInput
    for counts below 1, more than 512 terms, or a weight outside 0 to 1."""

    fb_terms: int = limited(10, 1, lucene.CLAUSES // 2)
    fb_docs: int = limited(10, 1)
    original_query_weight: float = limited(0.5, 0, 1)

    PARAMETERS: ClassVar[tuple[str, ...]] = (
        "k1",
        "b",
        "fb_terms",
        "fb_docs",
        "original_query_weight",
    )

    def _limit(self) -> int:
        return lucene.CLAUSES - self.fb_terms

    def _options(self) -> list[str]:
        return [
            *super()._options(),
            *("-rm3", "-rm3.fbTerms", str(self.fb_terms), "-rm3.fbDocs", str(self.fb_docs)),
            *("-rm3.originalQueryWeight", str(self.original_query_weight)),
            # Anserini's filter of terms accepts only English letters.
            *([] if self.language == "en" else ["-rm3.noTermFilter"]),
        ]


@dataclass(frozen=True)
class BestFields(Bm25):
    """BM25 over title and text, like Elasticsearch's multi_match of type best_fields. A document's
    score is its better field's score plus `tie_breaker` times the other field's (a dis-max query);
    each field has a weight and its own statistics. No document is left out, since Lucene's
    `contents` is a marker that no query matches. BEIR's code uses Elasticsearch with k1=1.2,
    b=0.75, a tie breaker of 0.5, and the analyser `english`, which is also used here."""

    k1: float = limited(1.2, 0)
    b: float = limited(0.75, 0, 1)
    title: float = limited(1.0, 0)
    text: float = limited(1.0, 0)
    tie_breaker: float = limited(0.5, 0, 1)

    PARAMETERS: ClassVar[tuple[str, ...]] = ("k1", "b", "title", "text", "tie_breaker")
    FIELDS: ClassVar[tuple[str, ...]] = ("title", "text")
    EXTRA_FIELDS: ClassVar[tuple[str, ...]] = ("title", "text")

    def index_identity(self) -> dict[str, Any]:
        """Return the analyser and fields, and that documents without text are included."""
        return super().index_identity() | {"left_out": "none"}

    def search(self, folder: Path, request: Request) -> DataFrame:
        """Search the queries: query_id, doc_id, score. At the cut-off, ties go to the first ids."""
        texts = [self._query(text) for text in request.texts]
        options = [*self._options(), *self._analysis()]
        return lucene.search_singly(folder, request, texts, options)

    def _record(self, title: str, text: str) -> dict[str, str]:
        return {"contents": "-", "title": title, "text": text}

    def _options(self) -> list[str]:
        fields = ["-fields", f"title={self.title}", f"text={self.text}"]
        return [*super()._options(), *fields, "-disMax", str(self.tie_breaker)]


@dataclass(frozen=True)
class WordPiece(Bm25):
    """BM25 over the word pieces of bert-base-uncased, of title and text joined with a space. As in
    Anserini's "flat-wp" indexes, there are no stop words and no stems, and pieces are separated by
    spaces. Only the first 1,024 distinct pieces of a query count. Languages other than English use
    the same vocabulary."""

    def check(self) -> None:
        """Raise Unavailable if Java, the jar or the vocabulary is not installed."""
        super().check()
        word_pieces.check()

    def for_language(self, language: str) -> Self:
        """Return the same system, since the vocabulary is the same for all languages."""
        return self

    def _query(self, text: str) -> str:
        """Return the query's word pieces, truncated to Lucene's limit of distinct terms."""
        seen: set[str] = set()
        kept: list[str] = []
        for piece in _pieces()(text):
            seen.add(piece)
            if len(seen) > self._limit():
                break
            kept.append(piece)
        return " ".join(kept)

    def _record(self, title: str, text: str) -> dict[str, str]:
        return {"contents": " ".join(_pieces()(f"{title} {text}"))}

    def _analyser(self) -> str:
        return f"bert-base-uncased, word pieces {word_pieces.vocabulary()}"

    def _analysis(self) -> list[str]:
        return ["-pretokenized"]


@cache
def _pieces() -> Callable[[str], list[str]]:
    """Return a function from a text to its word pieces."""
    tokeniser = word_pieces.word_pieces()
    return lambda text: tokeniser.encode(text, add_special_tokens=False).tokens
