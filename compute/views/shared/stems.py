"""Stems of English words, as Lucene's English analyser cuts them."""

import re
from functools import lru_cache

import snowballstemmer

_PORTER = snowballstemmer.stemmer("porter")
_LATER = re.compile(r"(.*?)(ibl|(?<!a)bl|log)(y|ies|i)")
_SYLLABLE = re.compile(r"[aeiouy]+[^aeiouy]+")


@lru_cache(2**17)
def stem(word: str) -> str:
    """The stem of a word in small letters; of one with other letters than a to z the word itself.

    Porter (1980) with what Lucene's filter has beyond the paper: words of two letters stay, and
    -bli becomes -ble and -logi -log where a syllable is before it, as in assembly and etiology.
    """
    if len(word) < 3 or not (word.isascii() and word.isalpha()):
        return word
    later = _LATER.fullmatch(word)
    syllables = len(_SYLLABLE.findall(later[1])) if later else 0
    if later and later[2] == "ibl" and syllables > 1:
        return later[1]
    return f"{later[1]}{later[2]}" if later and syllables else _PORTER.stemWord(word)
