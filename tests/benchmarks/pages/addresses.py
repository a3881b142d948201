"""Addresses of every page, varied over what a home has stored."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle, islice
from random import Random
from typing import Any
from urllib.parse import urlencode

from compute.corpora.overlap import UNITS
from compute.judgements.tasks import tasks
from compute.reading.database import Reading
from compute.store.store import Store
from compute.views.leaderboard.cells import COMPUTED, DIFFERENCE, PUBLISHED

Address = tuple[str, str]
"""A page's name, empty for the first one, and its query string."""

MEASURES = ("nDCG@10", "R@100", "AP@100", "RR@10", "P@10", "Success@5", "Hole@10")
_QUERIES = "select query_id from queries where dataset = ? order by hash(query_id) limit 20"


@dataclass(frozen=True)
class Draw:
    """What one address is made from."""

    pick: Callable[[Sequence[Any]], Any]
    dataset: str
    a: str
    b: str
    measure: str
    query: str
    tasks: Sequence[str]


Picked = Mapping[str, str | list[str]]


def _leaderboard(draw: Draw) -> Picked:
    numbers = draw.pick((COMPUTED, COMPUTED, DIFFERENCE, PUBLISHED))
    measure = draw.measure if numbers == COMPUTED else "nDCG@10"
    return {"numbers": numbers, "measure": measure, "view": draw.pick(("Heatmap", "Table"))}


def _dataset(draw: Draw) -> Picked:
    show = draw.pick(("Overview", "Systems", "Queries", "Judgements", "Documents"))
    return {"dataset": draw.dataset, "measure": draw.measure, "show": show}


def _compare(draw: Draw) -> Picked:
    name = draw.pick((draw.dataset, draw.dataset, draw.dataset, "All datasets"))
    return {"dataset": name, "a": draw.a, "b": draw.b, "measure": draw.measure}


def _query(draw: Draw) -> Picked:
    chosen = {"query": draw.query, "systems": [draw.a, draw.b], "measure": draw.measure}
    return {"dataset": draw.dataset, **chosen}


def _map(draw: Draw) -> Picked:
    chosen = {"system": draw.a, "other": draw.b, "measure": draw.measure}
    return {"dataset": draw.dataset, **chosen}


def _overlap(draw: Draw) -> Picked:
    return {"view": draw.pick(("Heatmap", "Graph", "Domain shift")), "unit": draw.pick([*UNITS])}


def _annotate(draw: Draw) -> Picked:
    return draw.pick([{}, {"view": "new"}, *({"about": task} for task in draw.tasks)])


def _data(draw: Draw) -> Picked:
    run = {"show": "Runs", "dataset": draw.dataset, "system": draw.a}
    return draw.pick(({"show": "Datasets"}, {"show": "Runs"}, run, {"show": "Import"}))


_OF: Mapping[str, Callable[[Draw], Picked]] = {
    "leaderboard": _leaderboard,
    "dataset": _dataset,
    "compare": _compare,
    "query": _query,
    "map": _map,
    "overlap": _overlap,
    "lengths": lambda draw: {"dataset": draw.dataset, "k": draw.pick(("10", "5", "1"))},
    "holes": lambda draw: {"dataset": draw.dataset, "measure": draw.pick(("nDCG@10", "P@10"))},
    "efficiency": lambda draw: {"dataset": draw.dataset, "measure": draw.measure},
    "annotate": _annotate,
    "jobs": lambda _: {},
    "data": _data,
    "about": lambda _: {},
}
PAGES = tuple(_OF)


class Addresses:
    """Draws addresses; the same ones for the same home and seed."""

    def __init__(self, store: Store, reading: Reading, seed: int = 1) -> None:
        self._random = Random(seed)
        self._cursor = reading.cursor()
        self._systems: dict[str, list[str]] = {}
        for part in store.parts("hits"):
            self._systems.setdefault(part.dataset, []).append(part.system)
        self._queries = {part.dataset: part.rows for part in store.parts("queries")}
        self._tasks = [task.id for task in tasks.tasks(store)]

    def of(self, page: str, number: int) -> list[Address]:
        """So many addresses of a page; datasets take turns, the largest first."""
        names = sorted(self._systems, key=lambda name: -self._queries.get(name, 0))
        found = islice(cycle(names), number)
        return [(page, urlencode(_OF[page](self._draw(name)), doseq=True)) for name in found]

    def _draw(self, dataset: str) -> Draw:
        pick = self._random.choice
        a, b = self._random.sample(self._systems[dataset], 2)
        rows = self._cursor.execute(_QUERIES, [dataset]).fetchall()
        return Draw(pick, dataset, a, b, pick(MEASURES), pick(rows)[0], self._tasks)


def tour(addresses: Addresses, times: int) -> Iterator[Address]:
    """Every page in turn, so many times, each time another address."""
    drawn = {page: addresses.of(page, times) for page in PAGES}
    for number in range(times):
        for page in PAGES:
            yield drawn[page][number]
