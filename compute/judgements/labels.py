"""Sources of added judgements, and the rules that combine several of them into one relevance."""

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from pandas import DataFrame, Series

from compute.base.errors import WrongInput

PAIR = ["dataset", "query_id", "doc_id"]
PERSON = "person"
ADJUDICATION = "adjudication"
IMPORT = "import"
MODEL = "model"
WITHDRAWN = "withdrawn"
"""The values of the column `source`."""
SOURCES: Mapping[str, str] = {
    PERSON: "people here",
    ADJUDICATION: "settled disagreements",
    IMPORT: "imported files",
    MODEL: "language models",
}
"""Sources that may count, with their names on pages; WITHDRAWN is not one of them."""
HUMAN = (PERSON, ADJUDICATION)
"""Sources that count by default."""
IN_VIEW = "query-page"
"""Task of judgements on the Query page, which are not blind: systems and ranks are visible."""


@dataclass(frozen=True)
class Rule:
    """A row in the table of rules."""

    name: str
    text: str
    """Description of the rule on pages."""
    choose: Callable[[Sequence[int]], int]
    """Function that combines grades, in their order, into one."""


def _majority(grades: Sequence[int]) -> int:
    """Return the most frequent grade, the lowest one in a tie."""
    votes = Counter(grades)
    return min(votes, key=lambda grade: (-votes[grade], grade))


def _mean(grades: Sequence[int]) -> int:
    # Integers are used, so that halves do not depend on floating point.
    """Return the mean grade, rounded to the nearest integer; halves are rounded down."""
    return math.ceil((2 * sum(grades) - len(grades)) / (2 * len(grades)))


RULES: Mapping[str, Rule] = {
    rule.name: rule
    for rule in (
        Rule("majority", "the grade most people gave, the lower one in a tie", _majority),
        Rule(
            "latest",
            "the last grade given; grades from files count as earlier than those given here",
            lambda grades: grades[-1],
        ),
        Rule("lowest", "the lowest grade", min),
        Rule("highest", "the highest grade", max),
        Rule("mean", "the mean of the grades, rounded; a half goes to the lower", _mean),
    )
}


@dataclass(frozen=True)
class Choice:
    """Which added judgements count, and by which rule several on a pair are combined."""

    rule: str = "majority"
    sources: tuple[str, ...] = HUMAN

    def __post_init__(self) -> None:
        """Raise WrongInput for an unknown rule or source."""
        if self.rule not in RULES:
            raise WrongInput(f"no rule {self.rule!r}; known: {', '.join(RULES)}")
        for source in self.sources:
            if source not in SOURCES:
                raise WrongInput(f"no source {source!r}; known: {', '.join(SOURCES)}")
        # Equal choices have their sources in the same order.
        object.__setattr__(self, "sources", tuple(s for s in SOURCES if s in self.sources))


def labels(rows: DataFrame, sources: Collection[str] = HUMAN) -> DataFrame:
    """Return the current rows of added judgements: each person's newest on each pair, and
    separately the newest adjudication.

    `rows` are in the order of their ids; the newest is the last by `place_in_order`, and in a tie
    the one with the highest id. A row without relevance withdraws its person's label. A row with
    the source WITHDRAWN withdraws all of the person's earlier judgements of the pair, whatever
    sources count. Rows in `taken_back` do not count at all. Unsure judgements count like the
    others. Judgements on the Query page (task IN_VIEW) are not blind: they count only if the person
    has no blind label for the pair, and a withdrawal there withdraws no blind label.
    """
    return _standing(rows, sources)[0]


def place_in_order(time: str, imported: str | None) -> tuple[bool, str]:
    """Return the sort key of an added judgement, oldest first; ties keep the order of ids.
    Judgements made here count in the order of ids, whatever their clock. Imported ones (with a time
    in `imported`) come before these, in the order of their times, so an old file undoes nothing. A
    time after the import counts as the time of the import, so that no file wins forever."""
    return imported is None, "" if imported is None else min(time, imported)


_Said = tuple[Hashable, str | None, str | None, bool]
"""Fields of a row: (dataset, query, document and person), its entry, the entry that it withdraws,
and whether it was imported."""


def taken_back(said: Sequence[_Said]) -> set[int]:
    """Return the indices of rows that another row withdraws by entry, and of the withdrawing rows.
    Neither counts, as if they had never been saved. Both must belong to the same person and pair,
    and an imported row cannot withdraw a judgement made here."""
    entries = {(whose, entry): place for place, (whose, entry, _, _) in enumerate(said) if entry}
    places: set[int] = set()
    for place, (whose, _, back, imported) in enumerate(said):
        old = entries.get((whose, back)) if back else None
        if old is not None and (said[old][3] or not imported):
            places |= {old, place}
    return places


def resolve(rows: DataFrame, choice: Choice | None = None) -> DataFrame:
    """Return one label per pair: dataset, query_id, doc_id, relevance (int64), sorted by these. The
    newest adjudication takes precedence; otherwise the rule combines the people's labels."""
    choice = choice or Choice()
    _, grades = _standing(rows, choice.sources)
    rule = RULES[choice.rule].choose
    found = sorted(
        # Most pairs have a single label, which needs no rule.
        (*pair, settled[-1] if settled else judged[0] if len(judged) == 1 else rule(judged))
        for pair, (judged, settled) in grades.items()
    )
    frame = DataFrame(found, columns=[*PAIR, "relevance"])
    return frame.astype(dict.fromkeys(PAIR, "str") | {"relevance": np.int64})


_Pair = tuple[str, str, str]
_SETTLED, _BLIND, _SEEN = "settled", "blind", "seen"
"""A person can have one current judgement each: adjudication, blind label, label in view."""


def _standing(
    rows: DataFrame, sources: Collection[str]
) -> tuple[DataFrame, dict[_Pair, tuple[list[int], list[int]]]]:
    """Return the current rows, and the grades of people and of adjudications for each pair."""
    # With few rows, as after each judgement, plain loops take a hundredth of pandas' time.
    pairs = list(zip(*(rows[name].tolist() for name in PAIR), strict=True))
    people, kinds = rows["person"].tolist(), rows["source"].tolist()
    tasks = rows["task"].tolist()
    order = _order(rows, list(zip(pairs, people, strict=True)))
    newest: dict[tuple[_Pair, str], dict[str, int]] = defaultdict(dict)
    for place in order:
        said, kind = newest[pairs[place], people[place]], kinds[place]
        slot = _SETTLED if kind == ADJUDICATION else _SEEN if tasks[place] == IN_VIEW else _BLIND
        if kind == WITHDRAWN:
            for taken in (_SEEN,) if slot == _SEEN else tuple(said):
                said.pop(taken, None)
        elif kind in sources:
            said[slot] = place
    given, absent = rows["relevance"].tolist(), rows["relevance"].isna().tolist()
    places: set[int] = set()
    for found in newest.values():
        there = {slot: place for slot, place in found.items() if not absent[place]}
        places |= {p for slot, p in there.items() if slot != _SEEN or _BLIND not in there}
    standing = [place for place in order if place in places]
    grades: dict[_Pair, tuple[list[int], list[int]]] = defaultdict(lambda: ([], []))
    for place in standing:
        grades[pairs[place]][kinds[place] == ADJUDICATION].append(int(given[place]))
    return rows.iloc[standing].reset_index(drop=True), grades


def _order(rows: DataFrame, whose: Sequence[Hashable]) -> list[int]:
    """Return the indices of the rows that count, in the order in which they count."""
    imported, entries, backs = (listed(rows[name]) for name in ("imported", "entry", "takes_back"))
    brought = [came is not None for came in imported]
    told = list(zip(whose, entries, backs, brought, strict=True))
    gone = taken_back(told) if any(backs) else set()
    keys = list(map(place_in_order, rows["time"].tolist(), imported))
    return sorted((place for place in range(len(rows)) if place not in gone), key=keys.__getitem__)


def listed(column: Series) -> list[Any]:
    """Return a column as a list with None for absent values."""
    values, absent = column.tolist(), column.isna().tolist()
    return [None if gone else value for value, gone in zip(values, absent, strict=True)]
