"""Grades: the choices of an assessor, each with a relevance and a name, one key per grade."""

import re
from collections.abc import Iterable, Sequence

from compute.base.errors import WrongInput

Grades = tuple[tuple[int, str], ...]
"""Relevance and name, ascending."""

_NAMES = {
    2: ("Not relevant", "Relevant"),
    3: ("Not relevant", "Partly relevant", "Highly relevant"),
    4: ("Not relevant", "Related", "Relevant", "Highly relevant"),
}
LONGEST = 40
"""Most characters of a grade's name, which labels a button."""


def of_levels(levels: Iterable[int]) -> Grades:
    """The grades of a dataset whose judgements have these levels of relevance.

    Integers from 0 to the highest, at least 1: even if only relevant documents were recorded, an
    assessor must be able to reject one.
    """
    highest = max([1, *levels])
    names = _NAMES.get(highest + 1, [f"Grade {n}" for n in range(highest + 1)])
    return tuple(enumerate(names))


def lines(grades: Grades) -> str:
    """The grades as editable text, a line such as `0 Not relevant` each."""
    return "\n".join(f"{relevance} {name}" for relevance, name in grades)


def parsed(text: str) -> Grades:
    """The grades in such lines. Raises WrongInput, naming the line that is wrong."""
    found: dict[int, str] = {}
    for line in filter(None, map(str.strip, text.splitlines())):
        match = re.fullmatch(r"([-−]?\d{1,4})[\s.:=]+(\S.*)", line)
        if match is None or len(match[2]) > LONGEST:
            raise WrongInput(
                f"grade {line!r}: write a whole number and a name of at most {LONGEST} letters,"
                " such as 1 Relevant"
            )
        relevance = int(match[1].replace("−", "-"))
        if relevance in found:
            raise WrongInput(f"two grades have the number {relevance}: keep one")
        found[relevance] = match[2]
    if not 2 <= len(found) <= 9:
        raise WrongInput("an assessor needs two to nine grades: write one per line")
    return tuple(sorted(found.items()))


def keys(grades: Sequence[tuple[int, str]]) -> list[str]:
    """The key of each grade: its number, or its index from 1 if one has no key."""
    numbers = [str(relevance) for relevance, _ in grades]
    if all(len(number) == 1 for number in numbers):
        return numbers
    return [str(place) for place in range(1, len(grades) + 1)]
