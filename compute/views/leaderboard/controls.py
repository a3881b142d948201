"""Controls of the Leaderboard, whose options depend on each other, and the selected board."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from pandas import DataFrame

from compute.base.words import several
from compute.datasets import published
from compute.views.leaderboard import board as leaderboard
from compute.views.leaderboard import cells, select
from compute.views.leaderboard.board import Board
from compute.views.leaderboard.cells import COMPUTED, DIFFERENCE, NUMBERS, PUBLISHED
from compute.views.leaderboard.heatmap import COLOURS, MOST_WITH_NUMBERS, TITLES
from compute.views.page import (
    Above,
    Ask,
    Asked,
    Choice,
    Group,
    Into,
    Link,
    Many,
    Message,
    Note,
    Offered,
    Row,
    Slot,
    Step,
    Steps,
    Switch,
    offers,
)
from compute.views.shared import catalogue, standings
from compute.views.shared.theme import FAMILIES

HEATMAP, TABLE = VIEWS = ("Heatmap", "Table")
FILTERS = (
    *("queries", "task", "domain", "group", "family"),
    *("returned", "weighted", "shared", "systems"),
)
"""Keys of the controls in the popover."""
OF = (*FILTERS[1:], "measure")
"""Keys of the controls on which all figures and tables of the page depend."""
_FILTERS = {"group": "Dataset group"}
_OF_ALL = "Published scores cover all queries. For query groups, choose Scores: Computed."


class Filter(NamedTuple):
    """Values of the controls in the popover."""

    ask: Ask
    """The store, reading only the chosen query group."""
    wanted: dict[str, list[str]]
    """Chosen values by column of the datasets; an empty list means all."""
    families: list[str]
    returned: bool
    """True for means over only the queries for which a run has results."""
    weights: dict[str, str]
    """The key of the weights by dataset; empty unless queries are to be weighted."""
    shared: bool
    """True to show only datasets on which all shown systems have scores."""
    place: Any
    """Slot for the picker of systems, whose options the board provides."""


class Numbers(NamedTuple):
    """The chosen scores."""

    kind: str
    """One of `cells.NUMBERS`."""
    source: str
    """The published table; unused if `kind` is Computed."""
    measure: str
    filter: Filter
    places: tuple[Any, Any, Any]
    """Slots for the controls of view, colour and baseline."""

    @property
    def tested(self) -> bool:
        """True if tests of per-query scores match the means: all queries, each counted once."""
        return self.kind == COMPUTED and not self.filter.returned and not self.filter.weights

    @property
    def imported(self) -> bool:
        """True for a published table that was imported, not shipped."""
        return self.kind == PUBLISHED and self.source.startswith(published.IMPORTED)


class View(NamedTuple):
    """Values of the controls, and the board that they select."""

    ask: Ask
    of: Numbers
    board: Board
    printed: DataFrame
    """Cells of the published table."""
    ours: DataFrame
    """Cells of stored runs on the chosen datasets, with each query counted once."""
    named: tuple[DataFrame, DataFrame]
    """Titles of datasets, and titles of systems."""
    baseline: str
    picked: list[str]
    """The systems to show."""
    shape: str
    """One of VIEWS."""
    colour: str

    @property
    def titles(self) -> dict[str, str]:
        """Short titles of systems by name."""
        return leaderboard.short_titles(self.board.systems)

    @property
    def origin(self) -> str:
        """Where the scores come from, for captions."""
        kind = self.ask.kind.title if self.ask.kind else ""
        of, on = self.of, self.board.datasets.set_index("dataset")["title"]
        by = [f"{on[name]} ({key})" for name, key in of.filter.weights.items() if name in on]
        about: dict[str, Any] = {"returned": of.filter.returned, "kind": kind}
        return cells.origin(of.kind, of.source, **about, weighted=several(by, 3))

    @property
    def tests(self) -> dict[str, Any]:
        """Parameters of `select_marks.against`; it corrects over all systems, shown or not."""
        return {
            "measure": self.board.measure,
            "datasets": self.board.datasets["dataset"].tolist(),
            "systems": self.board.systems["system"].tolist(),
            "baseline": self.baseline,
        }

    def run(self, dataset: str, system: str) -> Link | None:
        """Return a link from a cell to its run, or without a run to the system's card; None for the
        row of averages and for a dataset that only an imported table names."""
        if not dataset or dataset not in set(self.named[0]["dataset"]):
            return None
        if not ((self.ours["dataset"] == dataset) & (self.ours["system"] == system)).any():
            return Link(names={catalogue.CARD: cells.run_of(dataset, system)["system"]})
        measure = self.of.measure
        known = {"measure": measure} if measure in self.ask.measures() else {}
        names = cells.run_of(dataset, system) | known
        return Link("dataset", names, keeps=("dataset", "system"))


def controls(ask: Ask) -> Steps:
    """Yield the controls and return the `View`, or None if no cell is left to show."""
    tables, datasets, systems = map(
        ask, (select.published_tables, catalogue.datasets, catalogue.systems)
    )
    of: Numbers = yield Row(partial(_numbers, ask, tables, datasets))
    ask, chosen, gaps = of.filter.ask, of.filter, of.kind == DIFFERENCE
    printed = cells.printed(ask(select.published, source=of.source, measure=of.measure))
    ours = computed(ask, of.measure, chosen._replace(weights={}))
    weighted = computed(ask, of.measure, chosen)
    shown = cells.of_datasets(cells.cells(of.kind, printed, weighted), datasets, chosen.wanted)
    bare = ask(catalogue.unjudged)["dataset"].tolist() if of.kind == COMPUTED else []
    if shown.empty:
        yield from _nothing(bare, in_common(0, printed) if gaps else "")
        return None
    yield Note([f"Without judgements: {', '.join(bare)}." * bool(bare)])
    baseline = yield from _baseline(ask, of, [*dict.fromkeys(shown["system"])])
    shown = yield from _filtered(shown, systems, chosen, baseline)
    # An imported table does not say which of its datasets are zero-shot, so all count.
    counted = datasets.assign(zero_shot=False) if of.imported else datasets
    board = leaderboard.board(shown, counted, systems, of.measure)
    names, on = board.systems["system"].tolist(), board.datasets["dataset"].tolist()
    with_versions = on if of.kind == COMPUTED else ()
    noun = "system of these scores"
    picked = yield Into(chosen.place, partial(offers.systems, ask, names, noun, with_versions))
    usual = TABLE if len(picked) > MOST_WITH_NUMBERS else HEATMAP
    view = yield Into(of.places[0], Choice("view", "View", VIEWS, usual, width=120, of_matrix=True))
    look: dict[str, Any] = {"titles": TITLES, "disabled": gaps or view != HEATMAP}
    colours = Choice("colour", "Colour by", COLOURS, of_matrix=True, **look)
    colour = yield Into(of.places[1], colours)
    ours = cells.of_datasets(ours, datasets, chosen.wanted)
    return View(ask, of, board, printed, ours, (datasets, systems), baseline, picked, view, colour)


def _nothing(bare: Sequence[str], none: str) -> Iterator[Step]:
    """Say why no cell is shown. `bare`: datasets with unjudged runs. `none`: a further reason."""
    if bare:
        yield from offers.unjudged(bare[0])
    else:
        nothing = "Nothing matches these choices. To compute runs: python -m compute admin demo"
        yield Message(f"{nothing} {none}".strip())


def _numbers(ask: Ask, tables: DataFrame, datasets: DataFrame) -> Steps:
    """Yield the controls of scores, and return `Numbers`."""
    sources = published.sources(tables)
    known = {"numbers": (NUMBERS, "kind of scores"), "table": (sources, "printed table")}
    known |= {"colour": (COLOURS, "colour"), "view": (VIEWS, "view")}
    yield Above([Offered(key, options=names, noun=noun) for key, (names, noun) in known.items()])
    place_of_view = yield Slot(width=120)
    usual = COMPUTED if (yield Asked(offers.KIND, many=True)) else PUBLISHED
    called = {"titles": {DIFFERENCE: "Computed − published"}}
    kind = yield Choice("numbers", "Scores", NUMBERS, usual, width=190, **called)
    look: dict[str, Any] = {"titles": cells.table_titles(tables), "disabled": kind == COMPUTED}
    source = yield Choice("table", "Source table", sources, width=270, **look)
    offered = cells.measures(kind, ask(select.measures), tables, source) or ask.measures()
    noun = "measure of these scores"
    measure = yield Choice("measure", "Measure", offered, "nDCG@10", noun=noun, width=150)
    place_of_colour, place_of_baseline = (yield Slot(width=190)), (yield Slot(width=190))
    chosen = yield from _filter(ask, datasets, kind)
    places = place_of_view, place_of_colour, place_of_baseline
    return Numbers(kind, source, measure, chosen, places)


def _filter(ask: Ask, datasets: DataFrame, numbers: str) -> Steps:
    """Yield the popover of filters, labelled with the number of active ones; return a `Filter`."""
    choices = {column: sorted(set(datasets[column])) for column in ("task", "domain", "group")}
    given = []
    for key in FILTERS:
        given += [key] * ((yield Asked(key, many=True)) not in ([], [""]))
    families = Offered("family", options=FAMILIES, noun="family of systems")
    columns = choices.items()
    yield Above([*(Offered(name, options=names, noun=name) for name, names in columns), families])
    label = f"Filter ({len(given)})" if given else "Filter"
    return (yield Group(label, partial(_filters, ask, choices, numbers)))


def _filters(ask: Ask, choices: Mapping[str, Sequence[str]], numbers: str) -> Steps:
    """Yield the controls inside the popover, and return their `Filter`."""
    place, wanted = (yield Slot()), {}
    ask = yield from offers.query_group_of_all(ask, "" if numbers == COMPUTED else _OF_ALL)
    for column, values in choices.items():
        wanted[column] = yield Many(column, _FILTERS.get(column, column.capitalize()), values)
    families = yield Many("family", "System type", list(FAMILIES))
    returned = yield Switch("returned", "Average over returned queries only (as in BEIR's code)")
    weights = offers.weights(ask) if numbers == COMPUTED and not returned else {}
    keys = ", ".join(sorted({*weights.values()}))
    if weights and not (yield Switch("weighted", f"Weight queries by {keys}, where given")):
        weights = {}
    shared = yield Switch("shared", "Only datasets covered by all systems")
    return Filter(ask, wanted, families, returned, weights, shared, place)


def computed(ask: Ask, measure: str, of: Filter, added: bool | None = None) -> DataFrame:
    """Return cells of stored runs, weighted on the datasets in `of.weights`; `added`: see `Ask`."""
    means = ask(select.means, measure=measure, added=added)
    if of.weights:
        by = ask(standings.by_weight, datasets=[*of.weights], measure=measure, added=added)
        means = cells.by_weight(means, by)
    column = "value_returned" if of.returned else "value"
    return cells.computed(means, ask(select.holes), ask(catalogue.trained_pairs), column)


def _baseline(ask: Ask, of: Numbers, names: list[str]) -> Steps:
    look: dict[str, Any] = {"titles": offers.system_titles(ask), "disabled": of.kind == DIFFERENCE}
    usual = cells.baseline(names)
    control = Choice("baseline", "Baseline", names, usual, noun="system", **look)
    return (yield Into(of.places[2], control))


def _filtered(shown: DataFrame, systems: DataFrame, chosen: Filter, baseline: str) -> Steps:
    """Keep the cells of the chosen families, and if chosen only on datasets that all share."""
    left = cells.of_families(shown, systems, chosen.families, baseline)
    if not chosen.shared:
        return left
    whole = cells.of_all(left)
    if whole.empty:
        yield Message("No dataset has a score of every shown system: all datasets are shown.")
    return left if whole.empty else whole


def in_common(n_shown: int, printed: DataFrame) -> str:
    """Say how many systems of a published table have differences, that is, computed scores."""
    number = printed["system"].nunique()
    are = "is" if n_shown == 1 else "are"
    return f"{n_shown or 'None'} of this table's {number} systems {are} computed here."
