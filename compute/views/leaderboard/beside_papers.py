"""Further analyses of published scores: averages, in-domain against zero-shot, and languages."""

from collections.abc import Iterator
from functools import partial

from pandas import DataFrame

from compute.datasets import published
from compute.views.leaderboard import domain_shift, languages
from compute.views.leaderboard import domain_shift_figure as figures
from compute.views.leaderboard.board import TRAINED_ON, Board
from compute.views.leaderboard.cells import PUBLISHED
from compute.views.leaderboard.controls import OF, View
from compute.views.page import (
    Column,
    Figure,
    Legends,
    Message,
    Note,
    Step,
    Table,
    folded,
)
from compute.views.shared import theme as looks

_WHY = (
    "The paper's AVERAGE covers every row of its table, including MS MARCO, on which most"
    " systems were trained. The average here covers only zero-shot datasets, on which all"
    " ranked systems have a score."
)


def sections(view: View) -> Iterator[Step]:
    """Yield the folded sections that apply to these scores."""
    parts = {
        "averages-printed": ("Published averages", partial(_averages, view)),
        "in-domain": ("In-domain against zero-shot", partial(_in_domain, view)),
        "languages": (
            "Polish against English",
            partial(languages.section, view.ask, view.board.measure),
        ),
    }
    own = published.averages()
    if view.of.kind != PUBLISHED or view.of.source not in set(own["source"]):
        del parts["averages-printed"]
    if view.of.imported:
        del parts["in-domain"]
    for key, (label, inside) in parts.items():
        yield folded(inside, [key], label)


def _averages(view: View) -> Iterator[Step]:
    """Yield a table of the paper's AVERAGE, the mean of all its rows, and this page's average."""
    source, own = view.of.source, published.averages()
    cells = published.results()
    means = cells[cells["source"] == source].groupby("system")["value"].mean()
    rows = own[own["source"] == source].set_index("system")
    averages = view.board.systems.set_index("system")["average"]
    rows = rows.assign(all=means, here=averages).reset_index()
    rows = rows.assign(title=rows["system"].map(view.titles).fillna(rows["printed"]))
    written = {"format": lambda value: looks.plain(value)}
    columns = [
        Column("System", "title"),
        Column("Published AVERAGE", "value", **written),
        Column("Mean of all its rows", "all", **written),
        Column("Zero-shot average here", "here", **written),
    ]
    yield Table("averages-printed", f"Averages of {source}", rows, columns, width=640)
    yield Note([_WHY])


def marks(board: Board, families: dict[str, str], baseline: str) -> DataFrame:
    """Return a row per system with a value on MS MARCO and an average, as
    `domain_shift_figure.panel` takes them: `dataset` is the system, `domain` its family,
    `similarity` the score on MS MARCO, and `gain` the average minus the baseline's. Systems not
    trained on MS MARCO are `left_out` of the correlation."""
    own = board.cells[board.cells["dataset"].isin(TRAINED_ON[:1])]
    rows = own.merge(board.systems[["system", "title", "average"]], on="system")
    rows = rows[rows["average"].notna()]
    base = board.systems.set_index("system")["average"].get(baseline, 0.0)
    return DataFrame(
        {
            "dataset": rows["system"],
            "title": rows["title"],
            "domain": rows["system"].map(families).fillna("imported"),
            "similarity": rows["value"],
            "gain": rows["average"] - base,
            "left_out": ~rows["in_domain"],
        }
    )


def _in_domain(view: View) -> Iterator[Step]:
    """Yield a figure of zero-shot averages against scores on MS MARCO."""
    board, systems = view.board, view.board.systems
    families = dict(zip(systems["system"], systems["family"], strict=True))
    found = marks(board, families, view.baseline)
    if len(found) < 2:
        yield Message(
            f"Fewer than two systems have {board.measure} on MS MARCO and a zero-shot average here."
        )
        return
    baseline = view.titles.get(view.baseline, view.baseline)
    axes = f"{board.measure} on MS MARCO", f"zero-shot average minus {baseline}'s"
    legend = partial(figures.legend, found["domain"], kinds=looks.FAMILIES)
    yield Legends(legend)
    look = {"axes": axes, "spans": domain_shift.ranges(found), "sign": board.sign}
    drawn = partial(figures.panel, found, title=view.origin, kinds=looks.FAMILIES, **look)
    title = f"Zero-shot average against {board.measure} on MS MARCO"
    yield Figure("in-domain", title, drawn, legend, width="content", of=("baseline", *OF))
    yield Note(
        [
            "Further right: better on MS MARCO, on which most systems were trained."
            " Further up: better on datasets on which no system was trained.",
            "Open marks: not trained on MS MARCO, left out of ρ.",
            f"Zero-shot average: over {len(board.averaged)} datasets.",
        ]
    )
