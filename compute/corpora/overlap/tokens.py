"""Tokenisers with their names and versions, and the units by which corpora are compared."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from compute.corpora.word_pieces import vocabulary
from compute.store.store import Part


@dataclass(frozen=True)
class Unit:
    """A unit by which corpora are compared, and the kind of part that holds its counts."""

    name: str
    kind: str
    n: int
    """Number of consecutive words in a term."""


UNITS: Mapping[str, Unit] = MappingProxyType(
    {
        unit.name: unit
        for unit in (
            Unit("unigrams", "ngrams", 1),
            Unit("bigrams", "ngrams", 2),
            Unit("word pieces", "wordpieces", 1),
        )
    }
)
KINDS = tuple(dict.fromkeys(unit.kind for unit in UNITS.values()))


SHARE = 0.01
"""Share of documents with other scripts above which words of every script are recognised."""
WORD, MARKED_WORD = r"[\p{L}\p{N}_]+", r"[\p{L}\p{N}_][\p{L}\p{N}\p{M}_]*"
UNKNOWN = "[UNK]"
"""Word piece that stands for everything outside the vocabulary."""


def of_every_script(documents: Part) -> bool:
    """Return whether over SHARE of documents have combining marks or scripts without spaces."""
    return documents.provenance.get("words", {}).get("other", 0) > SHARE * documents.rows


def tokeniser_record(kind: str, documents: Part) -> dict[str, Any]:
    """Return the description of the tokeniser for a kind of counts, which is recorded and part of
    the counts' identity.

    Words: title, a space and text are lower-cased character by character (Unicode's simple mapping,
    without a rule for a final sigma); words are then the longest runs of letters, numbers and
    underscores. A combining mark is none of these, so a letter with a separate accent ends a word.
    A bigram is two consecutive words of a document, whatever separates them, even across title and
    text. With `of_every_script`, words are in NFC and keep their marks, scripts without spaces are
    split by ICU's dictionaries (`scripts.segmented`), and UNKNOWN is not a piece. Word pieces:
    BERT's uncased WordPiece over the same text, without special tokens or truncation.
    """
    every = of_every_script(documents)
    if kind != "ngrams":
        about = {"name": "bert-base-uncased", "version": 1 + every, "vocabulary": vocabulary()}
        return about | ({"without": UNKNOWN} if every else {})
    about = {"name": "unicode-words", "version": 1 + every, "pattern": WORD, "lower": True}
    segmenter = documents.provenance.get("words", {}).get("segmenter")
    more = {"pattern": MARKED_WORD, "form": "NFC", "segmenter": segmenter}
    return about | (more if every else {})
