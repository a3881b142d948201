"""Stems of English words, as made by Lucene's English analyser."""

import re
from functools import lru_cache
from threading import Lock

import snowballstemmer

_PORTER, _ONE_AT_A_TIME = snowballstemmer.stemmer("porter"), Lock()
"""The stemmer keeps the word that it stems in itself, so two sessions must not share it at once."""
_LATER = re.compile(r"(.*?)(ibl|(?<!a)bl|log)(y|ies|i)")
_SYLLABLE = re.compile(r"[aeiouy]+[^aeiouy]+")


@lru_cache(2**17)
def stem(word: str) -> str:
    """Return the stem of a lower-case word; a word with letters other than a to z is its own stem.
    The stemmer is Porter's (1980) with the additions of Lucene's filter: words of two letters are
    unchanged; after a syllable -bli becomes -ble (assembly) and -logi becomes -log (etiology)."""
    if len(word) < 3 or not (word.isascii() and word.isalpha()):
        return word
    later = _LATER.fullmatch(word)
    syllables = len(_SYLLABLE.findall(later[1])) if later else 0
    if later and later[2] == "ibl" and syllables > 1:
        return later[1]
    if later and syllables:
        return f"{later[1]}{later[2]}"
    with _ONE_AT_A_TIME:
        return _PORTER.stemWord(word)
