"""Fingerprints of a dataset: SHA-256 over its parsed records in file order.

Folder and archive of the same data agree, because line ends, spacing and key order of the files do
not matter; a record is hashed as a canonical JSON array and a line feed."""

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
        """64 hexadecimal digits over all records so far."""
        return self._hash.hexdigest()


class CorpusCount:
    """Result of one pass over a corpus: fingerprint, size, and the judged ids that are missing."""

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
        """The same documents, counted while they are streamed; none is stored."""
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
        """The corpus fingerprint so far; different word lengths give a different one."""
        return self._fingerprint.hexdigest() + " segmented" * bool(self.n_segmented)


def queries_fingerprint(queries: DataFrame) -> str:
    """Fingerprint of `query_id, text` rows in order; an absent text counts as null."""
    return _frame_fingerprint(queries, ["query_id", "text"])


def judgements_fingerprint(judgements: DataFrame) -> str:
    """Fingerprint of `query_id, doc_id, relevance` rows in order, and of `subtopic`, if present."""
    if "subtopic" in judgements:
        return _frame_fingerprint(judgements, ["query_id", "doc_id", "subtopic", "relevance"])
    return _frame_fingerprint(judgements, ["query_id", "doc_id", "relevance"])


def _frame_fingerprint(frame: DataFrame, columns: list[str]) -> str:
    fingerprint = Fingerprint()
    plain = frame[columns].astype(object)
    for record in plain.where(plain.notna(), None).itertuples(index=False, name=None):
        fingerprint.add(*record)
    return fingerprint.hexdigest()
