"""How one cost grows with one thing: seconds of processors at several sizes, and the exponent."""

import resource
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from tests.benchmarks.side_by_side import say

HEAD = (
    "cost",
    "grows with",
    "sizes",
    "seconds of processors",
    "exponent",
    "last step",
    "by design",
)


@dataclass(frozen=True)
class Line:
    """Seconds of processors by size; an exponent of 1 is linear growth."""

    cost: str
    by: str
    """What grows: queries, systems, documents …"""
    sizes: tuple[int, ...]
    seconds: tuple[float, ...]
    design: float = 1
    """The exponent by how the work is defined: 2 where every two are compared."""

    @property
    def exponent(self) -> float:
        """The slope of least squares through the logarithms. Of three sizes it is a rough one."""
        return _slope(self.sizes, self.seconds)

    @property
    def last_step(self) -> float:
        """The slope between the two largest sizes, where fixed costs count least."""
        return _slope(self.sizes[-2:], self.seconds[-2:])

    def cells(self) -> tuple[str, ...]:
        """The row of the table, in the order of HEAD."""
        sizes = ", ".join(f"{size:,}" for size in self.sizes)
        taken = ", ".join(f"{second:.3g}" for second in self.seconds)
        slopes = map(digits, (self.exponent, self.last_step))
        return (self.cost, self.by, sizes, taken, *slopes, f"{self.design:g}")


def _slope(sizes: Sequence[float], seconds: Sequence[float]) -> float:
    # The clock of processors ticks in milliseconds.
    slope, _ = np.polyfit(np.log(sizes), np.log(np.maximum(seconds, 1e-3)), 1)
    return float(slope)


def processors() -> float:
    """Seconds that this process and its ended children have used so far, of user and system."""
    used = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(own.ru_utime + own.ru_stime for own in used)


def least(work: Callable[[], object], tries: int = 3) -> float:
    """The fewest seconds of processors that some tries of it took."""
    taken = []
    for _ in range(tries):
        start = processors()
        work()
        taken.append(processors() - start)
    return min(taken)


def grown(
    cost: str, by: str, sizes: Sequence[int], work: Callable[[int], float], design: float = 1
) -> Line:
    """The line of a work that tells its seconds, each size in turn."""
    line = Line(cost, by, tuple(sizes), tuple(work(size) for size in sizes), design)
    say(" | ".join(line.cells()))
    return line


def digits(exponent: float) -> str:
    """Two digits, with a true minus."""
    return f"{exponent:.2f}".replace("-", "−")


def markdown(lines: Sequence[Line]) -> str:
    """The table, all of a cost together."""
    costs = list(dict.fromkeys(line.cost for line in lines))
    together = sorted(lines, key=lambda line: costs.index(line.cost))
    rows = [HEAD, ["---"] * len(HEAD), *(line.cells() for line in together)]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)
