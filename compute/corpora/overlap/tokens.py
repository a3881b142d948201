"""What counts as a word: the tokenisers, by name and version, and the units of comparison."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from compute.corpora.word_pieces import vocabulary


@dataclass(frozen=True)
class Unit:
    """Something that corpora are compared by, and the part that has its counts."""

    name: str
    kind: str
    n: int
    """Neighbours in one term."""


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


def tokeniser(kind: str) -> dict[str, Any]:
    """What makes the terms of a kind of counts: recorded, and part of its identity.

    Words: title, a space and text; lower-cased character by character (Unicode's simple mapping:
    no rule for a final sigma); then the longest runs of letters, numbers and underscores.
    Marks are neither, so a letter with a separate accent ends a word. A bigram is two words that
    follow each other in a document, whatever stands between them, title and text included.
    Word pieces: BERT's uncased WordPiece over the same text, without special tokens, uncut.
    """
    if kind == "ngrams":
        return {"name": "unicode-words", "version": 1, "pattern": r"[\p{L}\p{N}_]+", "lower": True}
    return {"name": "bert-base-uncased", "version": 1, "vocabulary": vocabulary()}
