"""The grades that an assessor chooses from, each with a relevance, a name and a key."""

import re
from collections.abc import Iterable, Sequence

from compute.base.errors import WrongInput

Grades = tuple[tuple[int, str], ...]
"""Relevance and name of each grade, ascending."""

_NAMES = {
    2: ("Not relevant", "Relevant"),
    3: ("Not relevant", "Partly relevant", "Highly relevant"),
    4: ("Not relevant", "Related", "Relevant", "Highly relevant"),
}
LONGEST = 40
"""Maximum number of characters in a grade's name, which labels a button."""


def of_levels(levels: Iterable[int]) -> Grades:
    """Return the grades for a dataset whose judgements have these levels of relevance: integers
    from 0 to the highest, at least 1. Even if only relevant documents were recorded, an assessor
    must be able to reject one."""
    highest = max([1, *levels])
    names = _NAMES.get(highest + 1, [f"Grade {n}" for n in range(highest + 1)])
    return tuple(enumerate(names))


def lines(grades: Grades) -> str:
    """Return the grades as editable text, with a line such as `0 Not relevant` for each."""
    return "\n".join(f"{relevance} {name}" for relevance, name in grades)


def parsed(text: str) -> Grades:
    """Parse such lines. Raises WrongInput, which names the wrong line."""
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
    """Return the key of each grade: its number, or its position if a number has several digits."""
    numbers = [str(relevance) for relevance, _ in grades]
    if all(len(number) == 1 for number in numbers):
        return numbers
    return [str(place) for place in range(1, len(grades) + 1)]
