"""The views of a site: each page for the control values that the site covers."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any, NamedTuple

from compute.exports.file_names import slug
from compute.exports.pages import TITLES
from compute.views.leaderboard.cells import COMPUTED, PUBLISHED
from compute.views.page import Ask, Choice, Page
from compute.views.page.walk import control

MADE = "made"
"""Name of the provenance page of a dataset, which only a site has."""
EVERY, ONE, ALONE = "every", "one", "alone"
"""Which options of a control have a view: all of them; only the default; or all, but options other
than the default only while all controls except the dataset have their defaults."""


@dataclass(frozen=True)
class Shown:
    """A page of the site."""

    over: Mapping[str, str | tuple[str, ...]] = field(default_factory=dict)
    """Controls that the site covers, by key, with covered options: EVERY, ONE, ALONE, or a list."""
    tool: str = ""
    """Name, in the script, of the tool that the browser shows below the page for other values."""


_OF_DATASETS = {"dataset": EVERY, "measure": ONE}
_SHOWN: Mapping[str, Shown] = {
    "leaderboard": Shown(
        {
            "numbers": (COMPUTED, PUBLISHED),
            "table": EVERY,
            "measure": EVERY,
            "view": EVERY,
        }
    ),
    "dataset": Shown({"dataset": EVERY, "measure": EVERY, "show": ALONE}),
    "compare": Shown({"dataset": EVERY, "measure": EVERY}, "pairs"),
    "query": Shown(_OF_DATASETS, "lists"),
    "overlap": Shown({"view": EVERY, "numbers": EVERY, "unit": EVERY}),
    "lengths": Shown({"dataset": EVERY}),
    "about": Shown(),
    MADE: Shown({"dataset": EVERY}),
}
"""Pages that differ from the default, which is every dataset with the default measure."""


def shown(page: str) -> Shown:
    """Return which views of a page the site has."""
    return _SHOWN.get(page, Shown(_OF_DATASETS))


class View(NamedTuple):
    """A page with covered values of its controls."""

    page: str
    values: Mapping[str, str]
    path: str
    """Path of its file within the site."""
    words: Sequence[str]
    """Titles of the values."""

    @property
    def title(self) -> str:
        """Return the title of its page."""
        return {MADE: "How these numbers were made", **TITLES}.get(
            self.page, self.page.capitalize()
        )


class Views:
    """All views of a site, page by page, and the search for the view to which a link leads."""

    def __init__(self, ask: Ask, pages: Mapping[str, Page], wanted: Callable[..., bool]) -> None:
        """Find all views. `wanted` decides whether a value has a view, from the control's key, the
        value and the values of earlier controls."""
        self._ask, self._wanted, self.every = ask, wanted, list[View]()
        self._near: dict[Any, View | None] = {}
        paths: set[str] = set()
        for name, page in pages.items():
            over = shown(name).over
            for values, words in self._values(page, over, {}, usual=True):
                parts = [slug(one) for key, one in values.items() if over[key] != ONE]
                path = _free("/".join([name, *parts]) if self.every else "index", paths)
                self.every.append(View(name, values, path, words))

    def _values(
        self, page: Page, over: Mapping[str, Any], so_far: Mapping[str, str], *, usual: bool
    ) -> Iterator[tuple[dict[str, str], list[str]]]:
        """Yield the covered values of the controls, and their titles. `usual` says that all values
        so far, except the dataset, are defaults."""
        if not over:
            yield dict(so_far), []
            return
        (key, how), *rest = over.items()
        found = control(page, self._ask, key, **so_far)
        if not isinstance(found, Choice) or found.disabled:
            yield from self._values(page, dict(rest), so_far, usual=usual)
            return
        options = list(dict.fromkeys([found.value(None), *found.options]))
        options = options if isinstance(how, str) else list(how)
        options = [one for one in options if self._wanted(key, one, so_far)]
        for option in options[:1] if how == ONE or (how == ALONE and not usual) else options:
            own, so = {**so_far, key: option}, usual and (key == "dataset" or option == options[0])
            for values, words in self._values(page, dict(rest), own, usual=so):
                yield values, [found.titles.get(option, option), *words]

    def near(self, page: str, names: Mapping[str, Any], must: Sequence[str] = ()) -> View | None:
        """Return a page's view that has all values of the keys `must`, and the most values of
        `names`; without `names`, the view with which it opens."""
        over = shown(page).over
        asked = tuple((key, str(names[key]), key in must) for key in over if key in names)
        if (page, asked) not in self._near:
            every = [one for one in self.every if one.page == page]
            every = [one for one in every if all(one.values.get(k) == v for k, v, m in asked if m)]
            alike = [sum(one.values.get(k) == v for k, v, _ in asked) for one in every]
            self._near[page, asked] = every[alike.index(max(alike))] if every else None
        return self._near[page, asked]


def _free(name: str, taken: set[str]) -> str:
    """Return a path that no other view has."""
    numbered = (f"{name}{f'-{n}' * (n > 1)}.html" for n in count(1))
    path = next(one for one in numbered if one not in taken)
    taken.add(path)
    return path
