"""Near-equal texts: which of a few texts are equal or nearly equal to one of many. A text is
compared by its words in lower case with one space between them, so case, punctuation and white
space do not matter, nor do spaces in Chinese, Thai and similar scripts. The similarity of two texts
is the Jaccard similarity of their sets of character 5-grams: shared 5-grams over all that occur in
either (Broder 1997, On the resemblance and containment of documents). A text of up to five
characters is its own only 5-gram, so it matches only an equal text. The similarity is about .77 for
passages with one word in ten replaced, .3 with half of the words replaced, and .05 for unrelated
passages; one replaced word in a query of six lowers it to about .6."""

import functools
import re
import unicodedata
from collections.abc import Iterable
from typing import Any

import numpy as np

from compute.datasets import scripts

LENGTH = 5
"""Characters of a shingle."""
THRESHOLD = 0.7
"""Default threshold: texts with at least this similarity are near-equal."""
LOWEST = 0.1
"""Lowest threshold; below it nearly all texts would be candidates."""
_HASHES = 128
_MISSED = 1e-3
_ASCII = {n: chr(n).lower() if chr(n).isalnum() or chr(n) == "_" else " " for n in range(128)}
_FACTOR = np.uint64(0x9E3779B97F4A7C15)


def plain(text: str) -> str:
    """The words of a text in lower case (Unicode's case folding, after NFKC), separated by
    spaces."""
    if text.isascii():  # Most texts are ASCII, for which this takes a sixth of the time.
        return " ".join(text.translate(_ASCII).split())
    plain = scripts.segmented(unicodedata.normalize("NFKC", text).casefold())
    return " ".join(_word().findall(plain))


@functools.cache
def _word() -> re.Pattern[str]:
    return re.compile(rf"\w[\w{scripts.marks()}]*")


def bands(threshold: float) -> tuple[int, int]:
    """b bands of r hashes each: the fewest that miss a pair at the threshold s with a probability
    below 1 in 1,000, since two texts agree in no band with probability (1 - s^r)^b. The threshold
    is at least LOWEST and at most 1."""
    sizes = (size for size in range(_HASHES // 2, 0, -1))
    missed = ((size, (1 - threshold**size) ** (_HASHES // size)) for size in sizes)
    size = next(size for size, chance in missed if chance < _MISSED)
    return _HASHES // size, size


class Index:
    """Index of a few texts, which are searched for among many streamed texts. Candidates share a
    band of MinHash (datasketch), and are then checked exactly."""

    def __init__(self, texts: Iterable[str], threshold: float = THRESHOLD) -> None:
        # Imported here because it loads SciPy, which listing results does not need.
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
        """Indices of the texts that are near-equal to this one, with their similarities."""
        passing = plain(text)
        places: Any = self._lsh.query(self._signature(passing)) if passing else []
        if not places:
            return []
        shingles = _shingles(passing)
        alike = [(place, _jaccard(shingles, self._sets(self._plain[place]))) for place in places]
        return sorted(found for found in alike if found[1] >= self._threshold)

    def _signature(self, text: str) -> Any:
        self._hashes.clear()
        self._hashes.update_batch(hashed(text).tolist())
        return self._hashes


def _shingles(text: str) -> frozenset[str]:
    last = max(len(text) - LENGTH, 0)
    return frozenset(text[start : start + LENGTH] for start in range(last + 1))


def _jaccard(one: frozenset[str], other: frozenset[str]) -> float:
    shared = len(one & other)
    return shared / (len(one) + len(other) - shared)


def hashed(text: str) -> np.ndarray:
    """32 bits for each shingle, in the order of the text."""
    letters = text.ljust(LENGTH).encode("utf-32-le", "surrogatepass")
    codes = np.frombuffer(letters, np.uint32).astype(np.uint64)
    found = np.zeros(len(codes) - LENGTH + 1, np.uint64)
    for start in range(LENGTH):
        found = found * _FACTOR + codes[start : start + len(found)] + np.uint64(1)
    found ^= found >> np.uint64(29)
    return (found * _FACTOR) >> np.uint64(32)
