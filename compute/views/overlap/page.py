"""The Overlap page: how similar are corpora, and does it matter to a system?"""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any, NamedTuple

from pandas import DataFrame

from compute.corpora import similarity_matrix
from compute.corpora.overlap import FLOORS as _FLOORS
from compute.corpora.overlap import UNITS
from compute.datasets import DATASETS, published
from compute.views.overlap import domain_shift_page, heatmap, leakage_page, select
from compute.views.overlap import graph as graphs
from compute.views.overlap import words as pair_words
from compute.views.overlap.heatmap import COMPUTED, NUMBERS, ORDERS, PUBLISHED
from compute.views.page import (
    Above,
    Ask,
    Asked,
    Beside,
    Choice,
    Column,
    Figure,
    Legends,
    Link,
    Message,
    Note,
    Offered,
    Pick,
    Row,
    Section,
    Slide,
    Step,
    Steps,
    Switch,
    Table,
    Widget,
    folded,
    offers,
)
from compute.views.shared.theme import DOMAINS, Legend, plain

HEATMAP, GRAPH, SHIFT = VIEWS = ("Heatmap", "Graph", "Domain shift")
FLOORS = {f"above {floor * 1e6:g} per million" if floor else "none": floor for floor in _FLOORS}
"""Relative frequencies above which words count, by label."""
COMMAND = "python -m compute overlap compute"
EVERY = "every corpus"
_ORDERS = {ORDERS[0]: "similarity (clustered)", ORDERS[1]: "domain"}
_SHIFT = "Do gains over the baseline fall with a corpus's distance from the training corpus?"
THRESHOLD, THRESHOLDS = 0.45, {"bigrams": 0.15}
"""Similarity from which on the graph's lines are solid, and that of units with other values."""
SEPARATOR = ","
"""Separator of two corpora in the address; names of corpora do not contain it."""
_SIMILARITY = Column("Similarity", "similarity", plain, width=72)
_PAIR = (Column("Corpus", "dataset"), Column("Other", "other"), _SIMILARITY)
_ALL = (Column("Corpus", "other"), _SIMILARITY)
_NEAREST = (
    Column("Corpus", "dataset"),
    Column("Nearest", "other"),
    _SIMILARITY,
    Column("2nd nearest", "second"),
    Column("Its similarity", "second_similarity", plain, "Similarity", width=84),
)


class View(NamedTuple):
    """Values of the controls, and the pairs of corpora."""

    ask: Ask
    numbers: str
    unit: str
    floor: float
    order: str
    least: float
    """Similarity from which on lines of the graph are solid."""
    left_out: list[str]
    """Datasets that correlations exclude."""
    pairs: DataFrame
    """dataset, other, similarity."""
    counted: DataFrame
    """dataset, title, domain and sizes of the corpora."""

    @property
    def titles(self) -> dict[str, str]:
        """Title of each collection by name."""
        return dict(zip(self.counted["dataset"], self.counted["title"], strict=True))


def page(ask: Ask) -> Steps:
    """Yield the page's controls and parts in screen order."""
    shown = yield Choice("view", "View", VIEWS, HEATMAP, noun="view", side_by_side=True)
    view: View = yield Row(partial(_controls, ask, shown))
    if shown == SHIFT:
        yield Note([_SHIFT])
        yield from domain_shift_page.both(ask, view.pairs, view.counted, view.unit, view.left_out)
        yield folded(partial(leakage_page.section, ask), (), leakage_page.HEADING)
        return
    square = similarity_matrix.matrix(view.pairs)
    if view.numbers == COMPUTED:
        yield Widget("count", {"counted": view.counted, "compared": set(square.index)})
    if len(square) < 2:
        yield Message(too_few(view.counted, view.unit))
    elif shown == GRAPH:
        yield from _graph(view, square)
        yield from _about(view)
    else:
        yield from _heatmap(view, square)


def _controls(ask: Ask, shown: str) -> Steps:
    numbers = COMPUTED
    if shown != SHIFT:
        numbers = yield from _numbers(ask)
    unit, floor, order, least, left_out = "word pieces", published.OVERLAP_FLOOR, ORDERS[0], 0.0, []
    if numbers == COMPUTED:
        unit = yield Choice("unit", "N-gram order", list(UNITS), noun="kind of words", width=150)
        name = yield Choice(
            "floor", "Minimum frequency", list(FLOORS), noun="frequency bound", width=190
        )
        floor = FLOORS[name]
    if shown == HEATMAP:
        look: dict[str, Any] = {"noun": "order", "titles": _ORDERS, "width": 200}
        order = yield Choice("order", "Sort by", ORDERS, **look)
    if shown == GRAPH:
        usual = THRESHOLDS.get(unit, THRESHOLD)
        least = yield Slide("lines", "Similarity threshold", default=usual)
    if shown == SHIFT:
        left_out = yield domain_shift_page.left_out(ask)
    pairs, counted = _pairs(ask, numbers, unit, floor)
    return View(ask, numbers, unit, floor, order, least, left_out, pairs, counted)


def _numbers(ask: Ask) -> Steps:
    """Yield a picker of published or computed similarities. Computed is the default if the user has
    counted or stored a corpus, or if the address has a value that only computed ones have."""
    asked = []
    for key in ("unit", "floor", "pair"):
        asked += yield Asked(key, many=True)
    usual = COMPUTED if asked or _has_own(ask) else PUBLISHED
    noun = "kind of numbers"
    return (yield Choice("numbers", "Similarities", NUMBERS, usual, noun=noun, width=150))


def _has_own(ask: Ask) -> bool:
    """Return true if a corpus was counted here, or the user's own corpus is stored."""
    return any(
        (part.kind in ("ngrams", "wordpieces") and not part.shipped)
        or (part.kind == "documents" and part.dataset not in DATASETS)
        for part in ask.parts()
    )


def _pairs(ask: Ask, numbers: str, unit: str, floor: float) -> tuple[DataFrame, DataFrame]:
    """Return the fields `pairs` and `counted` of `View`."""
    if numbers == PUBLISHED:
        return ask(select.in_print, source=published.OVERLAP), heatmap.collections_in_print()
    found = ask(select.vocabularies).fillna({"domain": "Other"})
    return ask(select.similarities, unit=unit, floor=floor), found[found["unit"] == unit]


def too_few(counted: DataFrame, unit: str) -> str:
    """Say which counts a comparison lacks, and name the command that makes them."""
    number = counted["dataset"].nunique()
    has = "No corpus has" if not number else "Only one corpus has"
    need = "two are needed" if not number else "another one is needed"
    return f"{has} its {unit} counted; {need} for a comparison. Count them with {COMMAND} DATASET…."


def _heatmap(view: View, square: DataFrame) -> Steps:
    """Yield the triangle and a table of pairs; a click opens a pair whose words are counted."""
    square = square.loc[names := _order(view, square), names]
    rows = view.pairs.sort_values("similarity", ascending=False, kind="stable")
    titles = view.titles
    shown = {
        SEPARATOR.join(sorted((one, other))): f"{titles[one]} and {titles[other]}"
        for one, other in zip(rows["dataset"], rows["other"], strict=True)
    }
    named = yield Asked("pair")
    yield Above([Offered("pair", options=list(shown), noun="pair of corpora")])
    chosen = named if named in shown else next(iter(shown))
    pair = tuple(chosen.split(SEPARATOR))
    triangle = Figure(
        "pairs",
        "Vocabulary overlap of every pair of corpora",
        partial(heatmap.heatmap, square, titles, unit=view.unit, chosen=pair),
        opens=lambda *of: Link(names={"numbers": view.numbers, "pair": SEPARATOR.join(sorted(of))}),
        width="content",
        of=("floor", "order", "unit"),
        finding=_most_similar(rows, titles),
    )
    beside = heatmap.height(len(square))
    table = _table(view, rows, list(shown), chosen, beside)
    yield Beside([[triangle], [table]], widths=(heatmap.WIDTH, 440))
    opens = heatmap.OPENS if view.numbers == COMPUTED else heatmap.NOT_PRINTED
    yield Note([heatmap.HOW_TO_READ], of_matrix=opens)
    yield from _about(view)
    if view.numbers == COMPUTED:
        words = partial(_pair, view, chosen, shown)
        yield Section(words, holds=[f"words_{side}" for side in pair_words.SIDES], heading="A pair")


def _most_similar(rows: DataFrame, titles: Mapping[str, str]) -> str:
    first = rows.iloc[0]
    pair, value = (titles[first[side]] for side in ("dataset", "other")), first["similarity"]
    return f"Most similar: {' and '.join(pair)} ({plain(value)})."


def _order(view: View, square: DataFrame) -> list[str]:
    """Return the corpora in the chosen order."""
    if view.order == ORDERS[0]:
        return similarity_matrix.by_likeness(square)
    domains = dict(zip(view.counted["dataset"], view.counted["domain"], strict=True))
    return similarity_matrix.by_domain(square, domains, DOMAINS)


def _table(view: View, rows: DataFrame, pairs: list[str], chosen: str, beside: int) -> Table:
    table = rows.replace({"dataset": view.titles, "other": view.titles}).round({"similarity": 4})
    return Table(
        "pair_rows",
        "Similarity of pairs of corpora",
        table,
        opens=Link(names={"numbers": view.numbers}, carried=("pair",)),
        carried=[[pair] for pair in pairs],
        selected=pairs.index(chosen),
        columns=_PAIR,
        height=min(38 + 35 * len(table), max(beside, 318)),
        of=("floor", "order", "unit"),
    )


def _pair(view: View, chosen: str, shown: dict[str, str]) -> Steps:
    """Yield the words that a pair shares most, and those most specific to each corpus."""
    yield Pick("pair", "Pair of corpora", shown)
    one, _, other = chosen.partition(SEPARATOR)
    function_words = yield Switch("function_words", "Include function words")
    asked = {"dataset": one, "other": other, "unit": view.unit, "function_words": function_words}
    rows = view.ask(select.words_of_pair, **asked)
    names = view.titles[one], view.titles[other]
    legend = partial(pair_words.legend, names)
    yield Legends(legend)
    yield Beside(
        list(_sides(rows, names, legend)), widths=(pair_words.WIDTH,) * len(pair_words.SIDES)
    )
    yield Note(
        [
            f"Per million {view.unit} of each corpus. Shared: the smaller of the two frequencies.",
            "More frequent: sorted by contribution to the Jensen–Shannon divergence.",
            "Function words are left out." * (not function_words),
            heatmap.cut(view.counted[view.counted["dataset"].isin([one, other])]),
        ]
    )


def _sides(rows: DataFrame, names: tuple[str, str], legend: Legend) -> Iterator[list[Step]]:
    """Yield a column for each side in `select.words_of_pair`."""
    for side, head in pair_words.heads(names).items():
        drawn = partial(pair_words.words, rows[rows["side"] == side], names)
        figure = Figure(
            f"words_{side}",
            head,
            drawn,
            legend,
            width="content",
            of=("pair", "function_words", "unit"),
            narrow=True,
        )
        yield [figure]


def _graph(view: View, square: DataFrame) -> Steps:
    """Yield the force-directed graph, and the accuracy of its distances."""
    points = similarity_matrix.layout(square)
    figure = Figure(
        "graph",
        "Vocabulary overlap: similar corpora are close together",
        partial(graphs.graph, square, points, view.counted, least=view.least, unit=view.unit),
        graphs.legend(square, view.least),
        opens=Link(carried=("node",)),
        width="content",
        of=("floor", "lines", "unit"),
        narrow=True,
    )
    neighbours = partial(_neighbours, square, view.titles)
    yield Beside([[figure], neighbours], widths=(graphs.WIDTH, 488))
    facts = graphs.note(similarity_matrix.faithfulness(square, points))
    yield Note([graphs.HOW_TO_READ, *facts])


def _neighbours(square: DataFrame, titles: dict[str, str]) -> Steps:
    """Yield the two nearest neighbours of every corpus, or all neighbours of the chosen one."""
    names = [EVERY, *map(str, square.index)]
    look: dict[str, Any] = {"noun": "corpus", "width": 300, "titles": titles}
    name = yield Choice("node", "Neighbours of", names, **look)
    table, title = graphs.neighbours(square, titles), "The nearest corpora"
    if name != EVERY:
        table = graphs.all_neighbours(square, titles, name)
        title = f"Neighbours of {titles.get(name, name)}"
    yield Table(
        "neighbours",
        title,
        table,
        columns=_NEAREST if name == EVERY else _ALL,
        height=38 + 35 * min(len(table), 13),
        of=("floor", "node", "unit"),
    )


def _about(view: View) -> Steps:
    """Yield counts and omissions of computed values, or the source of published values."""
    if view.numbers == PUBLISHED:
        yield Note(heatmap.PRINTED)
        return
    yield Note(heatmap.caption(view.counted, view.unit, view.floor))
    yield Note([offers.segmented(view.ask, *view.counted["dataset"])])
