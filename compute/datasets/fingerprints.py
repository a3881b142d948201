"""Fingerprints of a dataset: SHA-256 over its parsed records, in file order. A folder and an
archive of the same data have the same fingerprint, because line ends, spacing and the order of keys
do not matter: each record is hashed as a canonical JSON array and a line feed."""

import hashlib
import json
from collections.abc import Iterable, Iterator

from pandas import DataFrame

from compute.datasets import scripts
from compute.datasets.records import Document

_canonical = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


class Fingerprint:
    """A SHA-256 over records that are streamed."""

    def __init__(self) -> None:
        self._hash = hashlib.sha256()

    def add(self, *record: str | int) -> None:
        """Add one record."""
        self._hash.update(_canonical(record).encode("utf-8") + b"\n")

    def hexdigest(self) -> str:
        """Return 64 hexadecimal digits over all records so far."""
        return self._hash.hexdigest()


class CorpusCount:
    """The result of one pass over a corpus: fingerprint, size, and judged ids that are missing."""

    def __init__(self, judged: Iterable[str] = ()) -> None:
        self.n_documents = 0
        self.missing: set[str] = set(judged)
        """Judged ids that no document has had so far."""
        self.n_segmented = 0
        """Documents whose words were segmented by dictionaries."""
        self.n_other = 0
        """These documents, and all others in which `written` finds other words."""
        self._fingerprint = Fingerprint()

    def watch(self, documents: Iterable[Document]) -> Iterator[Document]:
        """Yield the same documents, and count each one as it passes; none is stored."""
        for document in documents:
            self.n_documents += 1
            self.missing.discard(document.doc_id)
            self._fingerprint.add(*document)
            text = f"{document.title} {document.text}"
            if scripts.is_other(text):
                self.n_other += 1
                self.n_segmented += scripts.segmented(text) != text
            yield document

    @property
    def fingerprint(self) -> str:
        """The fingerprint of the corpus so far. It is marked if words were segmented, since that
        changes the word counts."""
        return self._fingerprint.hexdigest() + " segmented" * bool(self.n_segmented)


def queries_fingerprint(queries: DataFrame) -> str:
    """Return the fingerprint of queries (query_id, text) in order; absent texts count as null."""
    return _frame_fingerprint(queries, ["query_id", "text"])


def judgements_fingerprint(judgements: DataFrame) -> str:
    """Return the fingerprint of judgements in order, with their subtopics if there are any."""
    if "subtopic" in judgements:
        return _frame_fingerprint(judgements, ["query_id", "doc_id", "subtopic", "relevance"])
    return _frame_fingerprint(judgements, ["query_id", "doc_id", "relevance"])


def _frame_fingerprint(frame: DataFrame, columns: list[str]) -> str:
    fingerprint = Fingerprint()
    plain = frame[columns].astype(object)
    for record in plain.where(plain.notna(), None).itertuples(index=False, name=None):
        fingerprint.add(*record)
    return fingerprint.hexdigest()
