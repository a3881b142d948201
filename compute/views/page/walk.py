"""A page without a browser: its parts for given values, or a single figure or table."""

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
"""Keys that an address may have although no control shows them."""


def parts(page: Page, ask: Ask, **chosen: Any) -> list[Part]:
    """Parts of a page for these values, in screen order, including collapsed ones.

    Raises Missing for an unknown value, WrongInput for a key without a control.
    """
    walk = Walk(chosen)
    shown: list[Any] = []
    for _ in (steps := walk.run(lambda: page(ask), shown)):
        pass
    walk.check(steps)
    return list(flat(shown))


def control(page: Page, ask: Ask, key: str, **chosen: Any) -> Control | None:
    """A control of a page outside its sections; None if there is none for these values."""
    walk = Walk(chosen, " ")  # no section has such a part, so all sections are skipped
    for _ in walk.run(lambda: page(ask), []):
        if key in walk.controls:
            break
    return walk.controls.get(key)


class Found(NamedTuple):
    """A figure or table, with the controls before it."""

    part: Figure | Table
    values: Mapping[str, Any]
    """Value of each control by its key."""
    titles: Mapping[str, Mapping[str, str]]
    """Titles of the options of each control that has titles."""


def find(page: Page, ask: Ask, key: str, **chosen: Any) -> Found:
    """A figure or table of a page; sections without it do not run. Later steps run only if a key
    may belong to one of their controls. Raises Missing for an unknown value or a part that is not
    shown for these values, WrongInput for a key without a control."""
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
    """Figures and tables of a page for these values, one by one.

    Raises Missing for an unknown value, WrongInput for a key without a control.
    """
    walk = Walk(chosen)
    for part in (steps := walk.run(lambda: page(ask), [])):
        if isinstance(part, Figure | Table):
            yield Found(part, dict(walk.shown), dict(walk.titles))
    walk.check(steps)


def flat(shown: Sequence[Any]) -> Iterator[Any]:
    """Items of a walk in order, with nested lists flattened."""
    for one in shown:
        if isinstance(one, list):
            yield from flat(one)
        else:
            yield one


class Walk:
    """A run of a page: yields parts as they are made, and lists them in screen order."""

    def __init__(self, chosen: Mapping[str, Any], key: str = "") -> None:
        self._chosen, self._key = chosen, key
        self.controls: dict[str, Control] = {}
        self.asked: dict[str, Any] = {}
        self.shown: dict[str, Any] = {}
        self.titles: dict[str, Mapping[str, str]] = {}
        self.held: list[str] = []
        """Keys of other figures and tables seen by a search, also in skipped sections."""
        self._passed_over: list[str] = []

    @property
    def _lost(self) -> list[str]:
        return sorted(self._chosen.keys() - self.asked.keys() - {*self._passed_over, *FREE})

    def run(self, inside: Inside, shown: list[Any], above: list[Any] | None = None) -> Iterator:
        """Run steps; the generator returns their result."""
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
        """Raise WrongInput for a key without a control; the `rest` runs while one is left."""
        # The search is over: all further sections are skipped.
        self._key = self._key and " "
        while self._lost and next(rest, None):
            pass
        if lost := self._lost:
            there = ", ".join([*self.asked, *self._passed_over])
            raise WrongInput(
                f"no control {', '.join(lost)} for these choices; the page has: {there}"
            )

    def _step(self, step: Step, shown: list[Any], above: list[Any] | None) -> Iterator:
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
        if self._key and self._key not in step.holds:
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
        place: list[Any] = []
        shown.append(place)
        return place, step.replaced, above
        yield  # a generator like the others

    def _into(self, step: Into, shown: list[Any], above: list[Any] | None) -> Iterator:
        place, replaced, over = step.slot
        if replaced:
            place.clear()
        if callable(step.step):
            return (yield from self.run(step.step, place, over))
        return (yield from self._step(step.step, place, over))

    def _wait(self, step: Wait, shown: list[Any], above: list[Any] | None) -> Iterator:
        return step.work()
        yield  # a generator like the others

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
