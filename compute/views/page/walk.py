"""A page without a browser: all its parts for given values, or one figure or table."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from compute.base.errors import Missing, WrongInput
from compute.views.page.ask import Ask
from compute.views.page.controls import Asked, Choice, Control, Many, Offered
from compute.views.page.holders import (
    OPEN,
    Above,
    Beside,
    Box,
    Group,
    Inside,
    Into,
    Live,
    Page,
    Recalled,
    Remember,
    Row,
    Section,
    Slot,
    Step,
    Wait,
    Window,
)
from compute.views.page.parts import Figure, Heading, Message, Part, Table

FREE = (
    *("dataset", "system", "systems", "query", "document", "from", "a", "b", "pair", "about"),
    OPEN,
)
"""Keys that an address may have although no control has them."""


def parts(page: Page, ask: Ask, **chosen: Any) -> list[Part]:
    """Return the parts of a page for these values, in screen order, including collapsed ones.
    Raises Missing for an unknown value and WrongInput for a key without a control."""
    walk = Walk(chosen)
    shown: list[Any] = []
    for _ in (steps := walk.run(lambda: page(ask), shown)):
        pass
    walk.check(steps)
    return list(flat(shown))


def prepare(page: Page, ask: Ask, **chosen: Any) -> None:
    """Ask for everything that a page shows for these values before an expander is opened."""
    for _ in Walk(chosen, folded=False).run(lambda: page(ask), []):
        pass


def control(page: Page, ask: Ask, key: str, **chosen: Any) -> Control | None:
    """Return a page's control with this key, or None; sections are not searched."""
    walk = Walk(chosen, " ")  # no section holds this key, so all sections are skipped
    for _ in walk.run(lambda: page(ask), []):
        if key in walk.controls:
            break
    return walk.controls.get(key)


class Found(NamedTuple):
    """A figure or table, with the controls that precede it."""

    part: Figure | Table
    values: Mapping[str, Any]
    """Value of each control by key."""
    titles: Mapping[str, Mapping[str, str]]
    """Titles of the options by control, for controls that have titles."""


def find(page: Page, ask: Ask, key: str, **chosen: Any) -> Found:
    """Return a figure or table of a page; sections without it do not run. Steps after it run only
    while a key may belong to one of their controls. Raises Missing for an unknown value or a part
    not shown for these values, and WrongInput for a key without a control."""
    walk, messages = Walk(chosen, key), []
    steps = walk.run(lambda: page(ask), [])
    for part in steps:
        if isinstance(part, Message):
            messages.append(part.text)
        elif isinstance(part, Figure | Table):
            if part.key == key:
                found = Found(part, dict(walk.shown), dict(walk.titles))
                walk.check(steps)
                return found
            walk.held.append(part.key)
    walk.check(steps)
    there = f"; it can have {', '.join(walk.held)}" if walk.held else ""
    raise Missing(" ".join([f"the page has no {key!r} for these choices{there}.", *messages]))


def every(page: Page, ask: Ask, **chosen: Any) -> Iterator[Found]:
    """Yield the figures and tables of a page for these values. Raises Missing for an unknown value
    and WrongInput for a key without a control."""
    walk = Walk(chosen)
    for part in (steps := walk.run(lambda: page(ask), [])):
        if isinstance(part, Figure | Table):
            yield Found(part, dict(walk.shown), dict(walk.titles))
    walk.check(steps)


def flat(shown: Sequence[Any]) -> Iterator[Any]:
    """Yield the items of a walk in order, flattening nested lists."""
    for one in shown:
        if isinstance(one, list):
            yield from flat(one)
        else:
            yield one


class Walk:
    """A run of a page, which yields parts as they are made and collects them in screen order."""

    def __init__(self, chosen: Mapping[str, Any], key: str = "", *, folded: bool = True) -> None:
        self._chosen, self._key, self._opens = chosen, key, folded
        self.controls: dict[str, Control] = {}
        self.asked: dict[str, Any] = {}
        self.shown: dict[str, Any] = {}
        self.titles: dict[str, Mapping[str, str]] = {}
        self.held: list[str] = []
        """Keys of other figures and tables that a search saw, also in skipped sections."""
        self._passed_over: list[str] = []

    @property
    def _lost(self) -> list[str]:
        """Keys of chosen values that no control has so far."""
        return sorted(self._chosen.keys() - self.asked.keys() - {*self._passed_over, *FREE})

    def run(self, inside: Inside, shown: list[Any], above: list[Any] | None = None) -> Iterator:
        """Run steps, adding their parts to `shown` and those of `Above` to `above`; the generator
        returns the result of the steps."""
        if not callable(inside):
            for step in inside:
                yield from self._step(step, shown, above)
            return None
        steps: Any = inside()
        value = None
        while True:
            try:
                step = steps.send(value)
            except StopIteration as end:
                return end.value
            value = yield from self._step(step, shown, above)

    def check(self, rest: Iterator) -> None:
        """Run `rest` until every chosen key has a control; raise WrongInput if one has none."""
        # The search is over, so all further sections are skipped.
        self._key = self._key and " "
        while self._lost and next(rest, None):
            pass
        if lost := self._lost:
            there = ", ".join([*self.asked, *self._passed_over])
            raise WrongInput(
                f"no control {', '.join(lost)} for these choices; the page has: {there}"
            )

    def _step(self, step: Step, shown: list[Any], above: list[Any] | None) -> Iterator:
        """Run one step and return its result, yielding parts; a control's result is its value."""
        if isinstance(step, Control):
            if isinstance(step, Choice | Many):
                self.titles[step.key] = step.titles
            self.asked[step.key] = value = step.value(self._chosen.get(step.key))
            if not isinstance(step, Asked | Offered):
                self.controls[step.key], self.shown[step.key] = step, value
            return value
        walked = _WALKED.get(type(step))
        if walked is not None:
            return (yield from walked(self, step, shown, above))
        shown.append(step)
        yield step
        return None

    def _plain(self, step: Any, shown: list[Any], above: list[Any] | None) -> Iterator:
        return (yield from self.run(step.inside, shown, above))

    def _row(self, step: Row, shown: list[Any], above: list[Any] | None) -> Iterator:
        shown.append(over := [])
        return (yield from self.run(step.inside, shown, over))

    def _above(self, step: Above, shown: list[Any], above: list[Any] | None) -> Iterator:
        return (yield from self.run(step.inside, shown if above is None else above))

    def _section(self, step: Section, shown: list[Any], above: list[Any] | None) -> Iterator:
        """Run a section, or note its keys if it does not hold the part that is searched."""
        if (self._key and self._key not in step.holds) or step.folded > self._opens:
            self._passed_over += step.asks
            self.held += step.holds
            return None
        if step.heading:
            yield from self._step(Heading(step.heading), shown, above)
        return (yield from self.run(step.inside, shown, above))

    def _beside(self, step: Beside, shown: list[Any], above: list[Any] | None) -> Iterator:
        for column in step.columns:
            yield from self.run(column, shown, above)

    def _slot(self, step: Slot, shown: list[Any], above: list[Any] | None) -> Iterator:
        """Reserve a place in the order of parts, which `_into` fills."""
        place: list[Any] = []
        shown.append(place)
        return place, step.replaced, above
        yield  # never reached; makes this a generator

    def _into(self, step: Into, shown: list[Any], above: list[Any] | None) -> Iterator:
        place, replaced, over = step.slot
        if replaced:
            place.clear()
        if callable(step.step):
            return (yield from self.run(step.step, place, over))
        return (yield from self._step(step.step, place, over))

    def _wait(self, step: Wait, shown: list[Any], above: list[Any] | None) -> Iterator:
        return step.work()
        yield  # never reached; makes this a generator

    def _nothing(self, step: Step, shown: list[Any], above: list[Any] | None) -> Iterator:
        yield from ()


_WALKED: Mapping[type, Callable[..., Iterator]] = {
    Row: Walk._row,
    Above: Walk._above,
    Section: Walk._section,
    Beside: Walk._beside,
    Group: Walk._plain,
    Box: Walk._plain,
    Live: Walk._plain,
    Slot: Walk._slot,
    Into: Walk._into,
    Wait: Walk._wait,
    Remember: Walk._nothing,
    Window: Walk._plain,
    Recalled: Walk._nothing,
}
