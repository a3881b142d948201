"""A page as a generator: what is asked, shown, left out and found without a browser."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, cast

import plotly.graph_objects as go
import pytest
from pandas import DataFrame

from compute.base.errors import Missing, WrongInput
from compute.judgements import Choice as Judgements
from compute.store.store import Part as Stored
from compute.store.store import Store
from compute.views.page import (
    Above,
    Ask,
    Asked,
    Beside,
    Box,
    Choice,
    Few,
    Figure,
    Found,
    Heading,
    Into,
    Live,
    Many,
    Message,
    Note,
    Number,
    Passage,
    Remember,
    Row,
    Section,
    Slot,
    Step,
    Steps,
    Switch,
    Table,
    Text,
    Wait,
    find,
    folded,
    parts,
)
from compute.views.page.walk import control
from compute.views.shared.query_slices import Kind


class Nothing:
    """An `Ask` on nothing."""

    kind: Kind | None = None

    def __call__(
        self, query: Callable[..., DataFrame], *, added: bool | None = None, **parameters: Any
    ) -> DataFrame:
        return query(**parameters)

    choice = None
    counting = Judgements()

    @property
    def store(self) -> Store:
        raise AssertionError("nobody asked for tasks")

    def later(self, query: Callable[..., DataFrame], **parameters: Any) -> Callable[[], DataFrame]:
        return partial(query, **parameters)

    def only(self, kind: Kind) -> Ask:
        return self

    def with_versions(self, names: Sequence[str]) -> Ask:
        return self

    def whole(self) -> Ask:
        return self

    def parts(self) -> Sequence[Stored]:
        return []

    def versions(self, datasets: Sequence[str] | None = None) -> Sequence[Stored]:
        return []

    def measures(self) -> list[str]:
        return ["nDCG@10"]


def drawn(theme: str) -> go.Figure:
    return go.Figure(layout={"title": theme})


def never(theme: str) -> go.Figure:
    raise AssertionError("nobody asked for this figure")


def controls() -> Steps:
    dataset = yield Choice("dataset", "Dataset", ["one", "two"], noun="dataset")
    if dataset == "two":
        yield Above([Text("Two is small.")])
    systems = yield Many("systems", "Systems", ["bm25", "minilm"], noun="system")
    slow = yield Switch("slow", "Slow")
    return dataset, systems, slow


def secret(ran: list[str]) -> Iterator[Step]:
    ran.append("secret")
    yield Table("rows", "Rows", DataFrame({"a": [1]}))


def page(ran: list[str], ask: Ask) -> Steps:
    place = yield Slot(replaced=True)
    yield Into(place, Heading("before"))
    dataset, systems, slow = yield Row(controls)
    yield Figure("first", f"{dataset} {systems} {slow}", drawn)
    yield Beside([[Figure("left", "Left", never)], [Note(["A fact."])]])
    yield Section(partial(secret, ran), holds=("rows",), heading="Secret")
    yield folded(partial(secret, ran), ("lazy",), "More")
    found = yield Wait("Counting…", lambda: 7)
    yield Into(place, Heading(f"after {found}"))
    ran.append("end")


def asks_above(ask: Ask) -> Steps:
    """A page whose controls stand in a slot; it reads a name without a control."""
    named = yield Asked("dataset")
    place = yield Slot()
    yield Text(f"on {named}")
    dataset = yield Into(place, controls)
    yield Figure("first", str(dataset), drawn)


def test_steps_stand_in_a_slot_and_names_without_a_control_are_no_values() -> None:
    given = {"systems": ["minilm"], "dataset": "two"}
    assert [shown(part) for part in parts(asks_above, Nothing(), **given)] == [
        *("Two is small.", "on two", "first"),
    ]

    def bare(ask: Ask) -> Steps:
        yield Asked("dataset")
        yield Figure("first", "", drawn)

    assert find(bare, Nothing(), "first", dataset="two").values == {}


def shown(part: object) -> str:
    return getattr(part, "text", "") or getattr(part, "key", "") or type(part).__name__


def test_parts_stand_in_the_order_of_the_screen() -> None:
    found = parts(partial(page, []), Nothing(), dataset="two")
    # Above the row of controls stands what is said about them; a slot shows what came last.
    assert [shown(part) for part in found] == [
        *("after 7", "Two is small.", "first", "left", "Note", "Secret", "rows", "More", "rows"),
    ]


def test_controls_take_the_values_of_an_address() -> None:
    usual = cast(Figure, find(partial(page, []), Nothing(), "first").part)
    assert usual.title == "one [] False"
    given = {"dataset": ["two"], "systems": ["minilm", "bm25"], "slow": "true"}
    found = find(partial(page, []), Nothing(), "first", **given)
    assert cast(Figure, found.part).title == "two ['minilm', 'bm25'] True"
    assert found.values == {"dataset": "two", "systems": ["minilm", "bm25"], "slow": True}


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("rrf(a,b), b", ["rrf(a,b)", "b"]),
        (["b", "a", "b"], ["b", "a"]),
        (None, ["a"]),
        ("", []),
    ],
)
def test_few_options_are_named_one_by_one_or_between_commas(given: object, shown: object) -> None:
    few = Few("systems", known=["a", "b", "rrf(a,b)"], usual=[["c"], ["a"]], noun="run")
    assert few.value(given) == shown
    with pytest.raises(Missing, match="No run here is called c"):
        few.value("a,c")


def test_a_search_computes_no_more_than_the_part_asked_for() -> None:
    ran: list[str] = []
    found = find(partial(page, ran), Nothing(), "first")
    assert isinstance(found, Found)
    assert ran == []
    find(partial(page, ran), Nothing(), "rows")
    assert ran == ["secret"]


def test_unknown_names_are_refused_with_the_next_step() -> None:
    with pytest.raises(Missing, match=r"No dataset here is called tow\. Did you mean two"):
        parts(partial(page, []), Nothing(), dataset="tow")
    with pytest.raises(Missing, match="No system here is called bm52"):
        parts(partial(page, []), Nothing(), systems=["bm25", "bm52"])
    with pytest.raises(WrongInput, match="no control nope for these choices; the page has: dat"):
        parts(partial(page, []), Nothing(), nope="1")
    with pytest.raises(WrongInput, match="no control nope"):
        find(partial(page, []), Nothing(), "first", nope="1")
    with pytest.raises(WrongInput, match="Difference is not a number: 'x'"):
        Number("find", "Difference").value("x")
    for wrong in ("0", "1.5", "-1", "nan", "inf"):
        with pytest.raises(WrongInput, match=f"Difference is not between 0.001 and 1: {wrong}"):
            Number("find", "Difference").value(wrong)


def test_an_address_may_have_keys_of_controls_behind_the_part_that_is_searched() -> None:
    ran: list[str] = []

    def page(ask: Ask) -> Steps:
        yield Figure("first", "First", drawn)
        yield Section(partial(secret, ran), holds=("rows",), asks=("by", "slow"))
        yield Text("More.")
        yield Switch("last")
        ran.append("end")

    find(page, Nothing(), "first", by="x")
    assert ran == [], "it ends where every key is known"
    find(page, Nothing(), "first", slow="x", last=True)
    with pytest.raises(WrongInput, match=r"no control nope for .* the page has: last, by, slow"):
        find(page, Nothing(), "first", nope="1")
    assert ran == ["end", "end"], "no section runs"


def test_a_part_that_is_not_shown_is_told_with_the_pages_own_reason() -> None:
    def empty(ask: Ask) -> Iterator[Step]:
        yield Message("Nothing is stored yet: python -m compute admin demo.")

    with pytest.raises(Missing, match=r"the page has no 'cells' .*Nothing is stored yet"):
        find(empty, Nothing(), "cells")
    with pytest.raises(
        Missing, match=r"the page has no 'cells' for these choices; it can have .*rows"
    ):
        find(partial(page, []), Nothing(), "cells")


def test_a_note_shows_what_fits_and_keeps_the_rest_behind_its_mark() -> None:
    long = " ".join(["word"] * 28)
    note = Note(["On SciFact.", "", f"{long}.", "Last of all."])
    assert (note.shown, note.behind()) == (f"On SciFact. {long}.", "Last of all.")
    told = Note(["Fact."], of_matrix="Click a cell.")
    assert (told.shown, told.narrow().shown) == ("Fact. Click a cell.", "Fact.")
    assert Note(["A dot."], of_lists=["In brackets."]).narrow().shown == "In brackets."


def test_a_frame_is_walked_and_what_other_pages_start_with_is_no_part() -> None:
    def page(ask: Ask) -> Iterator[Step]:
        yield Remember(["bm25", "minilm"])
        yield Box([Passage("<b>1</b>"), Text("inside")], height=90)

    assert parts(page, Nothing()) == [Passage("<b>1</b>"), Text("inside")]


def test_a_control_is_found_without_what_sections_hold() -> None:
    def page(ask: Ask) -> Steps:
        dataset, _, _ = yield from controls()
        yield Section(lambda: iter([Figure("one", "One", never)]), ("one",))
        if dataset == "two":
            yield Choice("unit", "Words", ["bigrams"])

    ask = cast(Ask, Nothing())
    found = control(page, ask, "dataset")
    assert isinstance(found, Choice) and list(found.options) == ["one", "two"]
    assert control(page, ask, "unit") is None
    assert control(page, ask, "unit", dataset="two") is not None


def test_what_a_live_part_returns_is_sent_to_the_steps_behind_it() -> None:
    def counted() -> Steps:
        yield Text("drawn anew")
        return 7

    def live(ask: Ask) -> Steps:
        found = yield Live(counted)
        yield Text(f"{found} at first")

    assert [shown(part) for part in parts(live, Nothing())] == ["drawn anew", "7 at first"]


def test_an_address_may_name_what_a_control_does_not_offer_now() -> None:
    control = Choice("beside", "Beside", ["two", "three"], "three", known=["one", "two", "three"])
    assert control.value("two") == "two" and control.value("one") == "three"
    with pytest.raises(Missing, match=r"No beside here is called four"):
        control.value("four")
