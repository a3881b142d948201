"""Descent of texts: among many streamed texts, find those of which a given text is a version or a
part. A text is represented by the hashes of the character 5-grams of its words (`near_equal`). The
similarity of two texts is the share of the shorter text's 5-grams that the other contains, so a
chunk is similar to the document from which it was cut. For passages with one word in ten replaced,
it is about .8."""

import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from compute.corpora.near_equal import hashed, plain

LEAST = 0.5
"""Minimum similarity of a version or a part."""
AHEAD, TIMES = 20, 4
"""A match is clearly ahead of another if at least AHEAD 5-grams of the text (about three words) are
only in the match, and at least TIMES as many as are only in the other."""
SHORTEST = 60
"""A text needs at least this many 5-grams (about ten words) to be a version or part of another."""
_RATE, _SHORT = 8, 200
"""Candidates are found by every 8th hash, or by every hash of a text with fewer than 200."""
_MOST = 48
"""Maximum number of texts stored for a hash, so that boilerplate finds only some texts."""
_LIKELY = 0.4
"""A candidate is checked exactly if it shares this part of the 5-grams that LEAST requires."""
_KEPT = 4
_BATCH = 1000
Hashes = NDArray[np.uint32]


class Found(NamedTuple):
    """A streamed text that shares 5-grams with a given text."""

    key: str
    similarity: float
    size: int
    """Number of 5-grams of the streamed text."""
    own: NDArray[np.uint8]
    """Packed bits: which of the given text's 5-grams it contains."""


class Sources:
    """The given texts, and the streamed texts that are most similar to each of them."""

    def __init__(self, texts: Iterable[str]) -> None:
        self.hashes = [_once(hashed(text).astype(np.uint32)) for text in texts]
        keys = [_sample(one) for one in self.hashes]
        owners = np.repeat(np.arange(len(keys), dtype=np.int32), [len(one) for one in keys])
        every = np.concatenate([*keys, np.empty(0, np.uint32)])
        # Texts are shuffled by hash, so that each hash of boilerplate keeps other texts.
        order = np.lexsort(((owners.astype(np.uint32) ^ every) * np.uint32(0x9E3779B1), every))
        every, owners = every[order], owners[order]
        few = np.arange(len(every)) - np.searchsorted(every, every) < _MOST
        self._keys, self._owners = every[few], owners[few]
        self._asks = np.bincount(self._owners, minlength=len(keys)) * LEAST * _LIKELY
        self.found: list[list[Found]] = [[] for _ in keys]
        self._sizes = np.array([len(one) for one in self.hashes])
        self.keys = set[str]()

    def watch(self, passing: Iterable[tuple[str, str]]) -> None:
        """Record the most similar of the streamed texts (key, text) for each given text."""
        texts = iter(passing)
        while batch := list(itertools.islice(texts, _BATCH)):
            every = [hashed(plain(text)).astype(np.uint32) for _, text in batch]
            for number, place in self._candidates(every):
                self._check(place, batch[number][0], _once(every[number]))

    def _candidates(self, every: Sequence[Hashes]) -> Iterator[tuple[int, int]]:
        """Yield (number, place): a streamed text that shares enough hashes with a given text."""
        samples = [_once(_sample(one)) for one in every]
        asked = np.concatenate(samples)
        first = np.searchsorted(self._keys, asked)
        n = np.searchsorted(self._keys, asked, side="right") - first
        ends = np.cumsum(n)
        # 32 bits are enough, and memory takes most of the time.
        skipped = np.repeat((first - (ends - n)).astype(np.int32), n)
        found = self._owners[skipped + np.arange(len(skipped), dtype=np.int32)]
        bounds = np.append(0, ends)[np.cumsum([0, *map(len, samples)])].tolist()
        # The few thousand texts found by one streamed text fit into the processor's cache.
        for number, (start, end) in enumerate(itertools.pairwise(bounds)):
            for place in self._likely(found[start:end], len(every[number])):
                yield number, place

    def _likely(self, places: NDArray[np.int32], size: int) -> list[int]:
        """Return the given texts of which a streamed text with `size` hashes shares enough;
        `places` has each text once per shared hash."""
        places.sort()
        starts = np.flatnonzero(np.diff(places, prepend=-1))
        shared, places = np.diff(starts, append=len(places)), places[starts]
        own = self._sizes[places]
        # A long streamed text was looked up by a sample of its hashes, which finds only a sample of
        # a short text's hashes.
        rate = np.where((own < _SHORT) & (size >= _SHORT), _RATE, 1)
        return places[shared * rate >= self._asks[places] * np.minimum(1, size / own)].tolist()

    def _check(self, place: int, key: str, passing: Hashes) -> None:
        """Compute the exact similarity of a candidate, and record it if it is high enough."""
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
    """Return whether the best match of a text is clearly ahead of another."""
    more = int(np.bitwise_count(best.own & ~other.own).sum())
    less = int(np.bitwise_count(other.own & ~best.own).sum())
    return more >= max(AHEAD, TIMES * less)


def _once(hashes: Hashes) -> Hashes:
    """Return the sorted unique values; np.unique takes five times as long."""
    found = np.sort(hashes)
    return found[np.diff(found, prepend=found[:1] ^ 1) != 0]


def _in(hashes: Hashes, sorted_ones: Hashes) -> NDArray[np.bool_]:
    """Return which hashes are among sorted ones; np.isin, which sorts both, takes twice as long."""
    at = np.searchsorted(sorted_ones, hashes)
    return sorted_ones[np.minimum(at, len(sorted_ones) - 1)] == hashes


def _sample(hashes: Hashes) -> Hashes:
    """Return every 8th hash by value, or all hashes of a short text."""
    return hashes if len(hashes) < _SHORT else hashes[hashes % _RATE == 0]
