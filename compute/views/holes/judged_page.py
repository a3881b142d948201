"""The sections of the page Holes about who judged: agreement, machines and judgement sets."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

from pandas import DataFrame

from compute.base.errors import BeirscopeError
from compute.base.words import counted
from compute.judgements.sets import MACHINE, OFFICIAL
from compute.views.holes import agreement, judgement_sets, select, select_sets
from compute.views.holes.judgement_sets import Comparison
from compute.views.holes.view import OF_SETS, View, titled
from compute.views.leaderboard.bump import bump
from compute.views.page import (
    Ask,
    Beside,
    Box,
    Choice,
    Column,
    Figure,
    Heading,
    Note,
    Passage,
    Prose,
    Row,
    Section,
    Step,
    Steps,
    Table,
    Text,
    Widget,
)
from compute.views.query import select as query_select
from compute.views.shared import catalogue, next_steps

MOST = 200
"""Pairs of a query and a document that a table and a picker show."""
_ANCHOR = "agreement"
"""The place on the page."""


def way(view: View) -> Iterator[Step]:
    """At the top of the page, a way down to the disagreements that wait to be settled."""
    pairs = view.ask(select.disagreements, dataset=view.dataset, added=False)
    if n_open := int(pairs["settled"].isna().sum()):
        said = f"{counted(n_open, 'disagreement')} between people to settle"
        yield Prose(f"[{said}](#{_ANCHOR})")


def sections(view: View) -> Iterator[Section]:
    """How far people agree, and machines with people; two judgement sets side by side."""
    people, machines = (partial(one, view.ask, view.dataset) for one in (_people, _machines))
    yield Section(people, ("kappas", "disagreements"), asks=("weights",))
    yield Section(machines, ("machines", "confusions"))
    sets = ("sets", "set_ranks", "set-boards", "set-pairs", "set-grades")
    yield Section(partial(_sets, view), sets, asks=("set", "beside", "pair"))


def _people(ask: Ask, dataset: str) -> Steps:
    """How far people who judged the same pairs agree, and what they disagree on."""
    asked: dict[str, Any] = {"dataset": dataset, "added": False}
    if ask(select.kappas, weights="none", **asked).empty:
        return
    yield Heading("How far people agree", anchor=_ANCHOR)
    weights = yield Choice("weights", "Weights of kappa", list(agreement.WEIGHTS), width=200)
    kappas = ask(select.kappas, weights=weights, **asked)
    title, of = f"Agreement of people on {dataset}", ("dataset", "weights")
    yield Table("kappas", title, kappas, agreement.KAPPAS, height="auto", of=of)
    (row,) = ask(select.alpha, level="ordinal", **asked).to_dict("records")
    yield agreement.alpha_note(row, weights)
    pairs = ask(select.disagreements, **asked)
    if pairs.empty:
        yield Note(["Nobody disagrees."])
        return
    n_open = int(pairs["settled"].isna().sum())
    yield Text(f"Disagreements: {len(pairs):,}, not settled yet: {n_open:,}", bold=True)
    pairs, title = pairs.head(MOST), f"Disagreements on {dataset}"
    told, columns = (
        pairs.assign(labels=pairs["labels"].map(agreement.given)),
        agreement.DISAGREEMENTS,
    )
    yield Table("disagreements", title, told, columns, height="auto", of=("dataset",))
    rows = pairs.to_dict("records")
    row = rows[(yield Widget("settle", {"rows": rows})) or 0]
    yield _pair(ask, dataset, row["query_id"], row["doc_id"])


def _machines(ask: Ask, dataset: str) -> Iterator[Step]:
    """How far machines whose grades are stored agree with people."""
    found = ask(select.machines, dataset=dataset, added=False)
    if found.empty:
        return
    yield Heading("How far machines agree with people", anchor="machines")
    title, columns = f"Agreement of machines with people on {dataset}", agreement.MACHINE_COLUMNS
    yield Table("machines", title, found, columns, height="auto", of=("dataset",))
    yield agreement.MACHINES
    table = agreement.confusion_table(ask(select.confusions, dataset=dataset, added=False))
    title = f"Grades of machines and of people on {dataset}"
    yield Table("confusions", title, table, height="auto", of=("dataset",))
    yield Note(["Pairs that both graded, by people's grade (rows) and the machine's (columns)."])


def _pair(ask: Ask, dataset: str, query_id: str, doc_id: str) -> Box:
    """The query and the document of a pair, as text that cannot act."""
    record = next_steps.record(ask(catalogue.facts, dataset=dataset))
    asked = ask(catalogue.asked, dataset=dataset, query_ids=[query_id], added=False)
    found = ask(query_select.documents, collection=record.collection, doc_ids=[doc_id])
    words = next((word for word in asked["text"] if isinstance(word, str)), "")
    query = Passage(words or f"Query {query_id}")
    if found.empty:
        return Box([query, Text(next_steps.without_texts(record))], width=760)
    (document,) = found.to_dict("records")
    shown = Passage(document["title"], document["text"], words)
    return Box([query, shown], height=380, width=760)


@dataclass(frozen=True)
class _Two:
    """Two judgement sets, side by side."""

    view: View
    asked: dict[str, Any]
    """Parameters of questions about sets."""
    sets: list[str]

    @property
    def names(self) -> list[str]:
        """What both are called."""
        return [judgement_sets.title(name) for name in self.sets]

    def compared(self) -> Comparison:
        """The boards by both. Raises WrongInput where they share too little."""
        left, right = map(self._values, self.sets)
        return judgement_sets.compared(left, right, self.view.measure)

    def _values(self, name: str) -> DataFrame:
        ask, of = self.view.ask, self.view.asked | {"name": name}
        if name == OFFICIAL or name.startswith(f"{MACHINE}:"):
            return ask(select_sets.stored_values, added=False, **of)
        return ask(select_sets.values, **(self.asked | of))


def _sets(view: View) -> Steps:
    """The sets that there are, and the boards, the pairs and the grades by two of them."""
    choice = view.ask.counting
    asked: dict[str, Any] = {"dataset": view.dataset, "added": False}
    asked |= {"rule": choice.rule, "sources": list(choice.sources)}
    found = view.ask(select_sets.listed, **asked)
    if len(found) < 2:
        return
    yield Heading("Does the order depend on who judged?", anchor="sets")
    rows = found.assign(set=found["set"].map(judgement_sets.title))
    title, columns = f"Judgement sets of {view.dataset}", judgement_sets.COLUMNS
    yield Table("sets", title, rows, columns, height="auto", of=("dataset",))
    yield judgement_sets.LISTED
    two = _Two(view, asked, (yield Row(partial(_picked, found["set"].tolist()))))
    grades = view.ask(select_sets.grades, beside=two.sets, **asked)
    yield Note([judgement_sets.grade_line(grades, two.names)])
    if grades.dropna().empty:
        return
    try:
        compared = two.compared()
    except BeirscopeError as error:
        yield Note([str(error)])
    else:
        yield from _boards(two, compared)
    yield from _grades(two, judgement_sets.differing(grades))


def _picked(names: list[str]) -> Steps:
    """Two of the sets, at first the official one and the last: a machine, where one graded."""
    titles = {name: judgement_sets.title(name) for name in names}
    look: dict[str, Any] = {"noun": "judgement set", "titles": titles, "width": 260, "known": names}
    one = yield Choice("set", "Judgement set", names, OFFICIAL, **look)
    others = [name for name in names if name != one]
    other = yield Choice("beside", "Beside", others, others[-1], **look)
    return [one, other]


def _boards(two: _Two, found: Comparison) -> Iterator[Step]:
    """The boards by both sets, and the pairs of systems that turn."""
    measure, names = two.view.measure, two.names
    rows = titled(two.view.ask, judgement_sets.ranked(found))
    yield Text(judgement_sets.verdict(found, names))
    title = f"Ranks by {measure}, by {names[0]} and by {names[1]}"
    legend = "Blue: ranked higher at the right; orange: lower."
    figure = Figure(
        "set_ranks", title, partial(bump, rows, (names[0], names[1])), legend, of=OF_SETS
    )
    table = judgement_sets.board_table(rows, names, title)
    yield Beside([[figure], [table]], widths=(620, 620), gap="medium")
    yield judgement_sets.board_note(found)
    turned, titles = found.turned(), dict(zip(rows["system"], rows["title"], strict=True))
    if len(turned):
        yield Text("Pairs of systems that turn", bold=True)
        yield judgement_sets.turned_table(turned, names, titles)
        yield judgement_sets.TURNED


def _grades(two: _Two, rows: DataFrame) -> Steps:
    """The grades of pairs of a query and a document, where both sets judged and differ."""
    ask, dataset, names = two.view.ask, two.view.dataset, two.names
    yield Text("Grades that differ", bold=True)
    if rows.empty:
        return
    title = f"Pairs that {names[0]} and {names[1]} grade differently"
    columns = [Column("Query", "query_id"), Column("Document", "doc_id")]
    columns += [Column(name, side) for name, side in zip(names, ("left", "right"), strict=True)]
    look: dict[str, Any] = {"most": MOST, "height": 38 + 35 * min(len(rows), 8)}
    yield Table("set-grades", title, rows, columns, of=("dataset", "set", "beside"), **look)
    pairs = rows.head(MOST)[["query_id", "doc_id"]].itertuples(index=False)
    told = {f"{query} {document}": (query, document) for query, document in pairs}
    noun = "pair of a query and a document"
    chosen = yield Choice("pair", "Query and document", list(told), noun=noun, width=340)
    query_id, doc_id = told[chosen]
    of_pair = ask(select_sets.of_pair, query_id=query_id, doc_id=doc_id, **two.asked)
    yield Text(judgement_sets.of_pair(of_pair))
    yield _pair(ask, dataset, query_id, doc_id)
