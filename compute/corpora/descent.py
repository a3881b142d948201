"""Descent of texts: finds, among many streamed texts, those of which a text is a version or a part.

Texts are the sets of hashes of the character 5-grams of their words (`near_equal`). The similarity
of two texts is the share of the shorter text's 5-grams that the other contains, so a chunk is
similar to the document that it was cut from. For passages with one word in ten replaced it is about
.8.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from compute.corpora.near_equal import hashed, plain

LEAST = 0.5
"""Least similarity of a version or a part."""
AHEAD, TIMES = 20, 4
"""A match is clearly ahead of another if it shares at least this many 5-grams (about three words)
with the text that the other does not, and at least this many times as many as the reverse."""
SHORTEST = 60
"""Fewest 5-grams (about ten words) of a text that can be a version or part of another."""
_RATE, _SHORT = 8, 200
"""Every 8th hash is used to find candidates; every hash for texts with fewer than 200."""
_MOST = 12
"""Texts stored for each hash; boilerplate thus finds only some texts."""
_LIKELY = 0.4
"""Share of the 5-grams required by LEAST from which a candidate is checked exactly."""
_UNLIKELY = 0.2
"""Share of the 5-grams, estimated from every 8th hash, below which a candidate is not checked.
Unrelated English texts share about .12; of texts of 200 5-grams that share LEAST, .1% are below."""
_KEPT = 4
_BATCH = 2000
Hashes = NDArray[np.uint32]


class Found(NamedTuple):
    """A streamed text that shares 5-grams with a text."""

    key: str
    similarity: float
    size: int
    """Its number of 5-grams."""
    own: NDArray[np.uint8]
    """Which of the text's 5-grams it contains, as packed bits."""


class Sources:
    """Texts, and the streamed texts that are most similar to each."""

    def __init__(self, texts: Iterable[str]) -> None:
        self.hashes = [_once(hashed(text).astype(np.uint32)) for text in texts]
        self._samples = [_sample(one) for one in self.hashes]
        sizes = [len(one) for one in self._samples]
        owners = np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)
        every = np.concatenate([*self._samples, np.empty(0, np.uint32)])
        # For boilerplate, each hash keeps different texts.
        order = np.lexsort(((owners.astype(np.uint32) ^ every) * np.uint32(0x9E3779B1), every))
        every = every[order]
        few = np.arange(len(every)) - np.searchsorted(every, every) < _MOST
        self._keys, self._owners = every[few], owners[order][few]
        self._kept = np.bincount(self._owners, minlength=len(sizes))
        self.found: list[list[Found]] = [[] for _ in sizes]
        self.keys = set[str]()

    def watch(self, passing: Iterable[tuple[str, str]]) -> None:
        """Record, for each text, the most similar streamed texts (key, text)."""
        for batch in _batches(passing):
            every = [hashed(plain(text)).astype(np.uint32) for _, text in batch]
            for number, places in self._candidates(every):
                passing = _once(every[number])
                for place in self._likely(places, passing):
                    self._check(place, batch[number][0], passing)

    def _candidates(self, every: Sequence[Hashes]) -> Iterator[tuple[int, list[int]]]:
        """(number, places): streamed texts, with the texts that share enough kept hashes."""
        samples = [_once(_sample(one)) for one in every]
        asked = np.concatenate(samples)
        first = np.searchsorted(self._keys, asked)
        n = np.searchsorted(self._keys, asked, side="right") - first
        whose = np.repeat(np.repeat(np.arange(len(every)), [len(one) for one in samples]), n)
        at = np.repeat(first - (np.cumsum(n) - n), n) + np.arange(n.sum())
        pairs, shared = np.unique(whose * len(self.hashes) + self._owners[at], return_counts=True)
        number, place = pairs // len(self.hashes), pairs % len(self.hashes)
        sizes = np.array([len(one) for one in every])[number]
        own = np.array([len(one) for one in self.hashes])[place]
        # All hashes of a short text are looked up, but only some of a long text.
        rate = np.where((own < _SHORT) & (sizes >= _SHORT), _RATE, 1)
        asks = self._kept[place] * np.minimum(1, sizes / own) / rate * LEAST * _LIKELY
        likely = shared >= asks
        number, place = number[likely], place[likely]
        starts = np.flatnonzero(np.diff(number, prepend=-1))
        of_one = np.split(place, starts[1:]) if len(starts) else []
        for one, places in zip(number[starts].tolist(), of_one, strict=True):
            yield one, places.tolist()

    def _likely(self, places: list[int], passing: Hashes) -> list[int]:
        """Texts of which a streamed text has enough sampled hashes, of common ones too."""
        there = _in(np.concatenate([self._samples[place] for place in places]), passing)
        sizes = np.array([len(self._samples[place]) for place in places])
        shared = np.add.reduceat(there, np.cumsum(sizes) - sizes, dtype=np.int64)
        own = np.array([len(self.hashes[place]) for place in places])
        shares = shared / sizes * own / np.minimum(own, len(passing))
        return [one for one, share in zip(places, shares, strict=True) if share >= _UNLIKELY]

    def _check(self, place: int, key: str, passing: Hashes) -> None:
        own = self.hashes[place]
        there = _in(own, passing)
        similarity = float(there.sum() / min(len(own), len(passing)))
        if similarity >= LEAST * _LIKELY:
            found = self.found[place]
            found.append(Found(key, similarity, len(passing), np.packbits(there)))
            found.sort(key=lambda one: -int(np.bitwise_count(one.own).sum()))
            del found[_KEPT:]
            self.keys |= {key} if similarity >= LEAST else set()


def is_ahead(best: Found, other: Found) -> bool:
    """Return whether the best match is clearly ahead of another."""
    more = int(np.bitwise_count(best.own & ~other.own).sum())
    less = int(np.bitwise_count(other.own & ~best.own).sum())
    return more >= max(AHEAD, TIMES * less)


def _batches(passing: Iterable[tuple[str, str]]) -> Iterator[list[tuple[str, str]]]:
    batch: list[tuple[str, str]] = []
    for one in passing:
        batch.append(one)
        if len(batch) == _BATCH:
            yield batch
            batch = []
    if batch:
        yield batch


def _once(hashes: Hashes) -> Hashes:
    """Sorted unique values; np.unique takes five times as long."""
    found = np.sort(hashes)
    return found[np.diff(found, prepend=found[:1] ^ 1) != 0]


def _in(hashes: Hashes, sorted_ones: Hashes) -> NDArray[np.bool_]:
    """Which hashes are among sorted ones; np.isin, which sorts both, takes twice as long."""
    at = np.searchsorted(sorted_ones, hashes)
    return sorted_ones[np.minimum(at, len(sorted_ones) - 1)] == hashes


def _sample(hashes: Hashes) -> Hashes:
    return hashes if len(hashes) < _SHORT else hashes[hashes % _RATE == 0]
