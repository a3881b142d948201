"""Carrying judgements to a new version of a large collection: seconds, memory, and what is wrong.

    python -m tests.benchmarks.made.carrying 1000000 50000

So many documents of 100 words, drawn as Zipf has them; so many are judged, one for each query. In
the new version the ids are permuted and one word in ten is replaced in every document: the worst
case, since no text is equal. Prints seconds, the peak of the memory, and the judgements that were
carried, rightly and wrongly.
"""

import random
import resource
import sys
import time
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from compute.corpora import same_documents

_WORDS, _LENGTH, _EDITED = 50_000, 100, 0.1


@cache
def _vocabulary() -> list[str]:
    draw = random.Random(0)
    return ["".join(draw.choices("etaoinshrdlucm", k=draw.randint(2, 10))) for _ in range(_WORDS)]


def _texts(n: int, edited: float) -> Iterator[str]:
    """Texts of which a share of the words is replaced by others."""
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
    wanted = {f"d{number}": number for number in range(0, n, max(1, n // judged))}
    with TemporaryDirectory() as folder:
        old, new = Path(folder, "old"), Path(folder, "new")
        for path, edited in ((old, 0), (new, _EDITED)):
            with path.open("w", encoding="ascii") as lines:
                lines.writelines(f"{text}\n" for text in _texts(n, edited))
        start, clock = time.process_time(), time.monotonic()
        found = same_documents.matches(
            lambda: _read(old, range(n)), lambda: _read(new, ids.tolist()), wanted
        )
        took, passed = time.process_time() - start, time.monotonic() - clock
        length = new.stat().st_size / n
    wrong = sum(ids[int(one.old[1:])] != int(one.new[1:]) for one in found.found)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    sys.stdout.write(
        f"{n:,} documents of {length:.0f} characters: {passed:,.0f} s ({took:,.0f} s of processor);"
        f" peak {peak:,.0f} MB; carried {len(found.found):,} of {len(wanted):,}, wrong {wrong:,}\n"
    )


def _read(path: Path, numbers: Sequence[int]) -> Iterator[tuple[str, str]]:
    with path.open(encoding="ascii") as lines:
        for number, line in zip(numbers, lines, strict=True):
            yield f"d{number}", line.rstrip()


if __name__ == "__main__":
    main(*map(int, sys.argv[1:3]))
