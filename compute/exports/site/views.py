"""The views of a site: for each page the values of its controls that the site goes over."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from compute.exports.file_names import slug
from compute.views.page import Ask, Choice, Page
from compute.views.page.walk import control

EVERY, ONE = slice(None), slice(1)
"""How many options of a control there is a view for: all, or only the one it opens with."""


@dataclass(frozen=True)
class Shown:
    """A page of the site."""

    title: str
    over: Mapping[str, slice] = field(default_factory=dict)
    """Controls that the site goes over, by their keys, in their order."""
    tool: str = ""
    """What the browser shows below it of any values, by its name in the script."""


SHOWN: Mapping[str, Shown] = {
    "overlap": Shown("Overlap", {"view": EVERY, "numbers": EVERY, "unit": EVERY}),
    "lengths": Shown("Lengths", {"dataset": EVERY}),
    "efficiency": Shown("Efficiency", {"dataset": EVERY, "measure": ONE}),
    "about": Shown("About the numbers"),
}
"""Pages of the site, by the names that links between pages have for them."""


class View(NamedTuple):
    """A page for values of the controls that the site goes over."""

    page: str
    values: Mapping[str, str]
    path: str
    """Of its file in the site."""
    words: Sequence[str]
    """Titles of the values."""


class Views:
    """All views of a site, each page's in their order, and what leads to which."""

    def __init__(self, ask: Ask, pages: Mapping[str, Page], wanted: Callable[..., bool]) -> None:
        """`wanted` says of a control's key and the values so far whether a value has a view."""
        self._wanted, self.every = wanted, list[View]()
        self._near: dict[Any, View | None] = {}
        paths: set[str] = set()
        for name, page in pages.items():
            for values, words in self._values(ask, page, SHOWN[name].over, {}):
                over = [one for key, one in values.items() if SHOWN[name].over[key] == EVERY]
                path = _free("/".join([name, *map(slug, over)]), paths)
                self.every.append(View(name, values, path, words))

    def _values(
        self, ask: Ask, page: Page, over: Mapping[str, slice], so_far: Mapping[str, str]
    ) -> Iterator[tuple[dict[str, str], list[str]]]:
        if not over:
            yield dict(so_far), []
            return
        (key, many), rest = next(iter(over.items())), dict([*over.items()][1:])
        found = control(page, ask, key, **so_far)
        if not isinstance(found, Choice):
            yield from self._values(ask, page, rest, so_far)
            return
        usual = found.value(None)
        options = [usual, *(one for one in found.options if one != usual)]
        options = [one for one in options if self._wanted(key, one, so_far)]
        for option in options[many]:
            for values, words in self._values(ask, page, rest, {**so_far, key: option}):
                yield values, [found.titles.get(option, option), *words]

    def first(self, page: str) -> View | None:
        """The view that a page opens with."""
        return self.near(page, {})

    def near(self, page: str, names: Mapping[str, Any], must: Sequence[str] = ()) -> View | None:
        """The view of a page that has most of these values, and all of those that it must."""
        over = SHOWN[page].over if page in SHOWN else {}
        asked = tuple((key, names[key], key in must) for key in over if key in names)
        if (page, asked) not in self._near:
            every = [one for one in self.every if one.page == page]
            every = [one for one in every if all(one.values.get(k) == v for k, v, m in asked if m)]
            alike = [sum(one.values.get(k) == v for k, v, _ in asked) for one in every]
            self._near[page, asked] = every[alike.index(max(alike))] if every else None
        return self._near[page, asked]


def _free(name: str, taken: set[str]) -> str:
    """A path that no other view has."""
    path, n = f"{name}.html", 1
    while path in taken:
        path, n = f"{name}-{n + 1}.html", n + 1
    taken.add(path)
    return path
