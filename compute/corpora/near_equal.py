"""Near-equal texts: finds which of a few texts are equal or nearly equal to one of many. Texts are
compared by their words in lower case with one space between them, so case, punctuation and white
space do not matter, nor do spaces in Chinese, Thai and similar scripts. The similarity of two texts
is the Jaccard similarity of their sets of character 5-grams: shared 5-grams over all that occur in
either (Broder 1997, On the resemblance and containment of documents). A text of up to five
characters is a single 5-gram, so it matches only an equal text. The similarity is about .77 for
passages with one word in ten replaced, .3 with half of the words replaced, and .05 for unrelated
passages. One replaced word in a query of six lowers it to about .6."""

import functools
import re
import unicodedata
from collections.abc import Iterable
from typing import Any

import numpy as np

from compute.datasets import scripts

LENGTH = 5
"""Number of characters in a shingle."""
THRESHOLD = 0.7
"""Default threshold: texts with at least this similarity are near-equal."""
LOWEST = 0.1
"""Lowest allowed threshold; below it, nearly all texts would be candidates."""
_HASHES = 128
_MISSED = 1e-3
_ASCII = {n: chr(n).lower() if chr(n).isalnum() or chr(n) == "_" else " " for n in range(128)}
_FACTOR = np.uint64(0x9E3779B97F4A7C15)


def plain(text: str) -> str:
    """Return a text's words, separated by spaces: NFKC, then Unicode's case folding."""
    if text.isascii():  # Most texts are ASCII, for which this takes a sixth of the time.
        return " ".join(text.translate(_ASCII).split())
    plain = scripts.segmented(unicodedata.normalize("NFKC", text).casefold())
    return " ".join(_word().findall(plain))


@functools.cache
def _word() -> re.Pattern[str]:
    """Return the pattern of a word, compiled once."""
    return re.compile(rf"\w[\w{scripts.marks()}]*")


def bands(threshold: float) -> tuple[int, int]:
    """Return the number of bands b and of hashes per band r: the largest r with which a pair at the
    threshold s is missed with a probability below 1 in 1,000. Two texts agree in no band with
    probability (1 - s^r)^b. The threshold is from LOWEST to 1."""
    sizes = (size for size in range(_HASHES // 2, 0, -1))
    missed = ((size, (1 - threshold**size) ** (_HASHES // size)) for size in sizes)
    size = next(size for size, chance in missed if chance < _MISSED)
    return _HASHES // size, size


class Index:
    """An index of a few texts that are searched for among many streamed texts. Candidates share a
    band of MinHash (datasketch) and are then checked exactly."""

    def __init__(self, texts: Iterable[str], threshold: float = THRESHOLD) -> None:
        # This is imported here because it loads SciPy, which is not needed to list results.
        from datasketch import MinHash, MinHashLSH

        self._threshold = threshold
        self._plain = [plain(text) for text in texts]
        self._sets = functools.lru_cache(maxsize=4096)(_shingles)
        number, size = bands(threshold)
        self._hashes = MinHash(number * size, hashfunc=int)
        self._lsh = MinHashLSH(num_perm=number * size, params=(number, size))
        for place, text in enumerate(self._plain):
            if text:
                self._lsh.insert(place, self._signature(text).copy())

    def matches(self, text: str) -> list[tuple[int, float]]:
        """Return the indices of the texts near-equal to this one, with their similarities."""
        passing = plain(text)
        places: Any = self._lsh.query(self._signature(passing)) if passing else []
        if not places:
            return []
        shingles = _shingles(passing)
        alike = [(place, _jaccard(shingles, self._sets(self._plain[place]))) for place in places]
        return sorted(found for found in alike if found[1] >= self._threshold)

    def _signature(self, text: str) -> Any:
        """Return the MinHash of a text; the object is reused."""
        self._hashes.clear()
        self._hashes.update_batch(hashed(text).tolist())
        return self._hashes


def _shingles(text: str) -> frozenset[str]:
    """Return the character 5-grams of a text."""
    last = max(len(text) - LENGTH, 0)
    return frozenset(text[start : start + LENGTH] for start in range(last + 1))


def _jaccard(one: frozenset[str], other: frozenset[str]) -> float:
    shared = len(one & other)
    return shared / (len(one) + len(other) - shared)


def hashed(text: str) -> np.ndarray:
    """Return a 32-bit hash of each shingle, in the order of the text."""
    letters = text.ljust(LENGTH).encode("utf-32-le", "surrogatepass")
    codes = np.frombuffer(letters, np.uint32).astype(np.uint64)
    found = np.zeros(len(codes) - LENGTH + 1, np.uint64)
    for start in range(LENGTH):
        found = found * _FACTOR + codes[start : start + len(found)] + np.uint64(1)
    found ^= found >> np.uint64(29)
    return (found * _FACTOR) >> np.uint64(32)
