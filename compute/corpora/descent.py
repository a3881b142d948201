"""Descent of texts: finds, among many streamed texts, those of which a text is a version or a part.

Texts are the sets of hashes of the character 5-grams of their words (`near_equal`). The similarity
of two texts is the share of the shorter text's 5-grams that the other contains, so a chunk is
similar to the document that it was cut from. For passages with one word in ten replaced it is about
.8.
"""

import itertools
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
_MOST = 48
"""Texts stored for each hash; boilerplate thus finds only some texts."""
_LIKELY = 0.4
"""Share of the 5-grams required by LEAST from which a candidate is checked exactly."""
_KEPT = 4
_BATCH = 1000
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
        keys = [_sample(one) for one in self.hashes]
        owners = np.repeat(np.arange(len(keys), dtype=np.int32), [len(one) for one in keys])
        every = np.concatenate([*keys, np.empty(0, np.uint32)])
        # For boilerplate, each hash keeps different texts.
        order = np.lexsort(((owners.astype(np.uint32) ^ every) * np.uint32(0x9E3779B1), every))
        every, owners = every[order], owners[order]
        few = np.arange(len(every)) - np.searchsorted(every, every) < _MOST
        self._keys, self._owners = every[few], owners[few]
        self._asks = np.bincount(self._owners, minlength=len(keys)) * LEAST * _LIKELY
        self.found: list[list[Found]] = [[] for _ in keys]
        self._sizes = np.array([len(one) for one in self.hashes])
        self.keys = set[str]()

    def watch(self, passing: Iterable[tuple[str, str]]) -> None:
        """Record, for each text, the most similar streamed texts (key, text)."""
        for batch in _batches(passing):
            every = [hashed(plain(text)).astype(np.uint32) for _, text in batch]
            for number, place in self._candidates(every):
                self._check(place, batch[number][0], _once(every[number]))

    def _candidates(self, every: Sequence[Hashes]) -> Iterator[tuple[int, int]]:
        """(number, place): streamed texts that share enough stored hashes with a text."""
        samples = [_once(_sample(one)) for one in every]
        asked = np.concatenate(samples)
        first = np.searchsorted(self._keys, asked)
        n = np.searchsorted(self._keys, asked, side="right") - first
        ends = np.cumsum(n)
        # 32 bits: most of the time goes into memory.
        skipped = np.repeat((first - (ends - n)).astype(np.int32), n)
        found = self._owners[skipped + np.arange(len(skipped), dtype=np.int32)]
        bounds = np.append(0, ends)[np.cumsum([0, *map(len, samples)])].tolist()
        # One streamed text at a time: its few thousand texts fit into the processor's cache.
        for number, (start, end) in enumerate(itertools.pairwise(bounds)):
            for place in self._likely(found[start:end], len(every[number])):
                yield number, place

    def _likely(self, places: NDArray[np.int32], size: int) -> list[int]:
        """Texts of which a streamed text of that many hashes shares enough; `places` has each as
        often as a hash is shared."""
        places.sort()
        starts = np.flatnonzero(np.diff(places, prepend=-1))
        shared, places = np.diff(starts, append=len(places)), places[starts]
        own = self._sizes[places]
        # All hashes of a short text are looked up, but only some of a long text.
        rate = np.where((own < _SHORT) & (size >= _SHORT), _RATE, 1)
        return places[shared * rate >= self._asks[places] * np.minimum(1, size / own)].tolist()

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
