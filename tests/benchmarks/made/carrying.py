"""Carrying judgements to a new version of a large collection: seconds, memory, and what is wrong.

    python -m tests.benchmarks.made.carrying 1000000 50000

So many documents of 100 words, drawn as Zipf has them; so many are judged, one for each query. In
the new version the ids are permuted and one word in ten is replaced in every document: the worst
case, since no text is equal. Prints processor seconds (user + sys), the peak of the memory, and the
judgements that were carried, rightly and wrongly.
"""

import random
import resource
import sys
import time
from collections.abc import Iterator
from functools import cache

import numpy as np

from compute.corpora import same_documents

_WORDS, _LENGTH, _EDITED = 50_000, 100, 0.1


@cache
def _vocabulary() -> list[str]:
    draw = random.Random(0)
    return ["".join(draw.choices("etaoinshrdlucm", k=draw.randint(2, 10))) for _ in range(_WORDS)]


def _texts(n: int, edited: float) -> Iterator[str]:
    """The same texts each time, with a share of the words replaced by others."""
    words = np.array(_vocabulary(), object)
    chances = 1 / np.arange(1, _WORDS + 1)
    ends = np.cumsum(chances / chances.sum())
    for first in range(0, n, 5000):
        size = min(5000, n - first), _LENGTH
        drawn = np.searchsorted(ends, np.random.default_rng(first).random(size))
        changes = np.random.default_rng(n + first)
        others = changes.integers(0, _WORDS, size)
        drawn = np.where(changes.random(size) < edited, others, np.minimum(drawn, _WORDS - 1))
        yield from map(" ".join, words[drawn])


def main(n: int, judged: int) -> None:
    """Carry, and print the figures."""
    ids = np.random.default_rng(1).permutation(n)
    start = time.process_time()
    made = sum(len(text) for text in _texts(n, _EDITED))
    making = time.process_time() - start
    found = same_documents.matches(
        lambda: ((f"d{number}", text) for number, text in enumerate(_texts(n, 0))),
        lambda: ((f"d{ids[number]}", text) for number, text in enumerate(_texts(n, _EDITED))),
        {f"d{number}": number for number in range(0, n, max(1, n // judged))},
    )
    passes = time.process_time() - start - making
    wrong = sum(ids[int(one.old[1:])] != int(one.new[1:]) for one in found.found)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    sys.stdout.write(
        f"{n:,} documents of {made / n:.0f} characters: {passes:,.0f} s, of which {4 * making:,.0f}"
        f" to make the texts four times; peak {peak:,.0f} MB; carried {len(found.found):,} of"
        f" {len(range(0, n, max(1, n // judged))):,}, wrong {wrong:,}\n"
    )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:3]))
