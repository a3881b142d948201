"""Agreement of assessors, LLM judgements and judgement sets, for the Holes page."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

from pandas import DataFrame

from compute.base.errors import BeirscopeError
from compute.base.words import counted
from compute.judgements.sets import MACHINE, OFFICIAL, PERSON
from compute.views.holes import agreement, judgement_sets, select, select_sets
from compute.views.holes.judgement_sets import Comparison
from compute.views.holes.view import OF_SETS, View, titled
from compute.views.leaderboard.bump import bump
from compute.views.page import (
    Ask,
    Beside,
    Box,
    Button,
    Choice,
    Column,
    Figure,
    Link,
    Message,
    Note,
    Passage,
    Row,
    Section,
    Step,
    Steps,
    Table,
    Text,
    Widget,
    folded,
)
from compute.views.page.holders import OPEN
from compute.views.query import select as query_select
from compute.views.shared import catalogue, next_steps

MOST = 200
"""Most query–document pairs in a table or picker."""


def way(view: View) -> Iterator[Step]:
    """Yield a link at the top of the page to unsettled disagreements."""
    pairs = view.ask(select.disagreements, dataset=view.dataset, added=False)
    if n_open := int(pairs["settled"].isna().sum()):
        said = f"{counted(n_open, 'disagreement')} to settle"
        yield Button(said, Link(names={OPEN: "kappas"}))


def sections(view: View) -> Iterator[Section]:
    """Yield agreement of assessors and LLMs, and a comparison of two judgement sets."""
    sets = view.ask(select_sets.names, dataset=view.dataset, added=False)["set"]
    kinds = sets.str.partition(":")[0].tolist()
    pairs = view.ask(select.disagreements, dataset=view.dataset, added=False)
    people, machines = (partial(one, view.ask, view.dataset) for one in (_people, _machines))
    if kinds.count(PERSON) > 1 or len(pairs):
        keys = ("kappas", "disagreements")
        yield folded(people, keys, "Agreement between assessors", ("weights",))
    if MACHINE in kinds:
        keys = ("machines", "confusions")
        yield folded(machines, keys, "Agreement of LLMs with assessors")
    if len(sets) > 1:
        keys = ("sets", "set_ranks", "set-boards", "set-pairs", "set-grades")
        head, asks = "Agreement between judgement sets", ("set", "beside", "pair")
        yield folded(partial(_sets, view), keys, head, asks)


def _asked(view: View) -> dict[str, Any]:
    """Return the parameters of questions about judgement sets."""
    choice = view.ask.counting
    asked: dict[str, Any] = {"dataset": view.dataset, "added": False, "rule": choice.rule}
    return asked | {"sources": list(choice.sources)}


def _people(ask: Ask, dataset: str) -> Steps:
    """Yield the agreement of assessors who judged the same pairs, and their disagreements,
    including those with official judgements."""
    asked: dict[str, Any] = {"dataset": dataset, "added": False}
    pairs = ask(select.disagreements, **asked)
    if not ask(select.kappas, weights="none", **asked).empty:
        yield from _kappas(ask, dataset, asked)
    elif pairs.empty:
        yield Message("No two assessors judged the same pair.")
        return
    if pairs.empty:
        yield Note(["All grades agree."])
        return
    n_open = int(pairs["settled"].isna().sum())
    yield Text(f"Disagreements: {len(pairs):,} ({n_open:,} to settle)", bold=True)
    pairs, title = pairs.head(MOST), f"Disagreements on {dataset}"
    told = pairs.assign(labels=pairs["labels"].map(agreement.given))
    look: dict[str, Any] = {"height": "auto", "of": ("dataset",)}
    yield Table("disagreements", title, told, agreement.DISAGREEMENTS, **look)
    rows = pairs.to_dict("records")
    row = rows[(yield Widget("settle", {"rows": rows})) or 0]
    yield _pair(ask, dataset, row["query_id"], row["doc_id"])


def _kappas(ask: Ask, dataset: str, asked: dict[str, Any]) -> Steps:
    """Yield the agreement of every two assessors, and of all assessors."""
    weights = yield Choice("weights", "Weights of kappa", list(agreement.WEIGHTS), width=200)
    kappas = ask(select.kappas, weights=weights, **asked)
    title, of = f"Agreement of assessors on {dataset}", ("dataset", "weights")
    yield Table("kappas", title, kappas, agreement.KAPPAS, height="auto", of=of)
    (row,) = ask(select.alpha, level="ordinal", **asked).to_dict("records")
    yield agreement.alpha_note(row, weights)


def _machines(ask: Ask, dataset: str) -> Iterator[Step]:
    """Yield the agreement between assessors and LLMs whose grades are stored."""
    found = ask(select.machines, dataset=dataset, added=False)
    if found.empty:
        yield Message("No pair was graded by both an LLM and an assessor.")
        return
    title, columns = f"Agreement of LLMs with assessors on {dataset}", agreement.MACHINE_COLUMNS
    yield Table("machines", title, found, columns, height="auto", of=("dataset",))
    yield agreement.MACHINES
    table = agreement.confusion_table(ask(select.confusions, dataset=dataset, added=False))
    title = f"Grades of LLMs and of assessors on {dataset}"
    yield Table("confusions", title, table, height="auto", of=("dataset",))
    yield Note(["Pairs graded by both, by human grade (rows) and LLM grade (columns)."])


def _pair(ask: Ask, dataset: str, query_id: str, doc_id: str) -> Box:
    """Return the query and the document of a pair, as inert text."""
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
    """Parameters of questions about both sets."""
    sets: list[str]

    @property
    def names(self) -> list[str]:
        """Titles of both sets."""
        return [judgement_sets.title(name) for name in self.sets]

    def compared(self) -> Comparison:
        """Return leaderboards by both sets. Raises WrongInput if they share too little."""
        left, right = map(self._values, self.sets)
        return judgement_sets.compared(left, right, self.view.measure)

    def _values(self, name: str) -> DataFrame:
        """Return system, query_id, value: the scores of the shown systems by one set."""
        ask, of = self.view.ask, self.view.asked | {"name": name}
        if name == OFFICIAL or name.startswith(f"{MACHINE}:"):
            return ask(select_sets.stored_values, added=False, **of)
        return ask(select_sets.values, **(self.asked | of))


def _sets(view: View) -> Steps:
    """Yield the judgement sets, and a comparison of leaderboards, pairs and grades by two sets."""
    asked = _asked(view)
    found = view.ask(select_sets.listed, **asked)
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
    """Return the two sets that the user picks: by default the official one and the last."""
    titles = {name: judgement_sets.title(name) for name in names}
    look: dict[str, Any] = {"noun": "judgement set", "titles": titles, "width": 260, "known": names}
    one = yield Choice("set", "Judgement set", names, OFFICIAL, **look)
    others = [name for name in names if name != one]
    other = yield Choice("beside", "Compare with", others, others[-1], **look)
    return [one, other]


def _boards(two: _Two, found: Comparison) -> Iterator[Step]:
    """Yield leaderboards by both sets, and the pairs of systems with different results."""
    measure, names = two.view.measure, two.names
    rows = titled(two.view.ask, judgement_sets.ranked(found))
    said = judgement_sets.verdict(found, names)
    title = f"Ranks by {measure}: {names[0]} and {names[1]}"
    legend = "Blue: ranked higher on the right; orange: ranked lower."
    drawn = partial(bump, rows, (names[0], names[1]))
    figure = Figure("set_ranks", title, drawn, legend, of=OF_SETS, finding=said)
    table = judgement_sets.board_table(rows, names, title)
    yield Beside([[figure], [table]], widths=(620, 620), gap="medium")
    yield judgement_sets.board_note(found)
    turned, titles = found.turned(), dict(zip(rows["system"], rows["title"], strict=True))
    if len(turned):
        yield Text("System pairs with a different result", bold=True)
        yield judgement_sets.turned_table(turned, names, titles)
        yield judgement_sets.TURNED


def _grades(two: _Two, rows: DataFrame) -> Steps:
    """Yield the pairs that the two sets grade differently, and the grades of one of them."""
    ask, dataset, names = two.view.ask, two.view.dataset, two.names
    yield Text("Assessor disagreement", bold=True)
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
