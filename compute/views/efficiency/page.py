"""The Efficiency page: what does quality cost in time and space?"""

import shlex
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

from pandas import DataFrame

from compute.base.words import counted
from compute.datasets import published
from compute.evaluate.measures import better
from compute.views.efficiency import (
    augmented_table,
    panels,
    pareto,
    printed_tradeoff,
    select,
    tables,
)
from compute.views.leaderboard import select as leaderboard_select
from compute.views.page import (
    Ask,
    Beside,
    Figure,
    Legends,
    Message,
    Note,
    Row,
    Step,
    Steps,
    Switch,
    Table,
    folded,
    offers,
)
from compute.views.shared import catalogue

EVERY = "mean over datasets"
"""Option in the picker of datasets for all datasets that the shown systems share."""
MOST_NAMED = 8
"""Most datasets that a caption names; if there are more, it gives their number."""
_OF = ("dataset", "systems", "measure")
AGAIN = "python -m compute run SYSTEM DATASET --again"


class View(NamedTuple):
    """Values of the controls, and the rows shown."""

    rows: DataFrame
    """Rows of `pareto.points` with title and family."""
    datasets: list[str]
    """Titles of the datasets that the rows cover."""
    measure: str
    latency: str
    """Column of costs in the first panel."""


def page(ask: Ask) -> Steps:
    """Yield the page's controls and parts in screen order."""
    costs = ask(select.costs)
    if costs.empty:
        yield Message(f"No run has been measured yet. {why_none()}")
        yield from _published(ask, DataFrame(), [])
        return
    dataset, measure, systems, slow = yield Row(partial(_controls, ask, costs))
    view = _view(ask, costs, dataset, measure, systems, slow=slow)
    if view is None:
        yield Message(
            "No dataset has measurements of all these systems. Choose fewer systems or one dataset."
        )
    else:
        yield from _panels(view)
        yield from _costs(view)
    yield Note(list(_unmeasured(ask)))
    published_costs = partial(_published, ask, costs, view.datasets if view else [])
    yield folded(published_costs, ("printed-costs",), "Published costs")
    yield from augmented_table.section(ask)


def _controls(ask: Ask, costs: DataFrame) -> Steps:
    options = [EVERY, *dict.fromkeys(costs["dataset"])]
    how: dict[str, Any] = {"default": usual(costs), "recalls": (), "advice": lambda _: why_none()}
    dataset = yield offers.dataset(ask, options, "dataset with measured runs", 240, **how)
    measure = yield offers.measure(ask)
    known = list(dict.fromkeys(costs["system"]))
    systems = yield from offers.systems(ask, known, "system with measured runs")
    slow = yield Switch("slow", "p95 latency (instead of median)")
    return dataset, measure, systems, slow


def why_none() -> str:
    """Say why runs have no costs, and how to measure them."""
    return (
        f"Costs are measured when a search runs here, so imported runs have none. {AGAIN}"
        " measures them; it needs the texts (python -m compute add-texts)."
    )


def usual(costs: DataFrame) -> str:
    """Return EVERY if some dataset has all systems, else the dataset with the most systems."""
    n_systems = costs.groupby("dataset", sort=False)["system"].nunique()
    every = n_systems.max() == costs["system"].nunique()
    return EVERY if every else str(n_systems.idxmax())


def _view(
    ask: Ask, costs: DataFrame, dataset: str, measure: str, systems: Sequence[str], *, slow: bool
) -> View | None:
    """Return the rows of the shown systems; None if they share no dataset."""
    means = ask(leaderboard_select.means, measure=measure)
    found = pareto.points(costs, means, systems, "" if dataset == EVERY else dataset)
    if found.rows.empty:
        return None
    rows = found.rows.merge(ask(catalogue.systems), on="system", how="left")
    rows["title"] = rows["title"].fillna(rows["system"])
    titles = dict(zip(costs["dataset"], costs["title"], strict=True))
    latency = "latency_p95_ms" if slow else "latency_p50_ms"
    return View(rows, [titles[name] for name in found.datasets], measure, latency)


def _panels(view: View) -> Iterator[Step]:
    """Yield figures of quality against latency, and against index size."""
    legend = partial(panels.legend, view.rows)
    yield Legends(legend)
    figures = [
        Figure(
            cost,
            f"{view.measure} of systems against {pareto.COSTS[cost]}",
            partial(panels.panel, view.rows, cost, view.measure),
            legend,
            width="content",
            of=_OF,
            narrow=True,
        )
        for cost in (view.latency, "index_bytes")
    ]
    yield Beside([[figure] for figure in figures], widths=(panels.WIDTH, panels.WIDTH))
    end = "up" if better(view.measure) > 0 else "down"
    yield Note(
        [
            f"{_over(view)} Further {end} is better; further left is cheaper. The step line"
            " joins Pareto-optimal systems.",
            _machines(view.rows),
            _busy(view.rows),
            "Latency: warm, one query at a time, 100 hits, the same queries for each system.",
            *_left_out(view.rows, view.latency),
        ]
    )


def _over(view: View) -> str:
    """Say which datasets the values cover."""
    if len(view.datasets) == 1:
        return f"On {view.datasets[0]}."
    named = f": {', '.join(view.datasets)}" if len(view.datasets) <= MOST_NAMED else ""
    n = len(view.rows)
    who = "the shown system has" if n == 1 else f"all {n} shown systems have"
    return f"Means over the {len(view.datasets)} datasets that {who}{named}."


def _machines(rows: DataFrame) -> str:
    machines = panels.order(rows)
    if len(machines) == 1:
        return f"Measured on {machines[0]}."
    return (
        f"Measured on different hardware (not comparable): filled marks {machines[0]}, open marks"
        f" {', '.join(machines[1:])}; each has its own line."
    )


def _busy(rows: DataFrame) -> str:
    """Warn if other processes were running on the machine."""
    load = rows["load"].max()
    if not load > 2 * float(rows["cores"].min() if "cores" in rows else 1):
        return ""
    return f"The machine was busy (up to {load:.0f} processes competed for a processor)."


def _left_out(rows: DataFrame, latency: str) -> Iterator[str]:
    """Name the systems missing from each panel."""
    for cost, name in ((latency, "latency"), ("index_bytes", "index size")):
        lacking = rows.loc[rows[cost].isna(), "title"]
        if len(lacking):
            yield f"Without {name}: {', '.join(lacking)}."


def _costs(view: View) -> Iterator[Step]:
    """Yield a table of every cost of the shown systems."""
    rows = tables.ordered(view.rows, view.measure)
    columns = tables.columns(rows, view.measure)
    yield Table("costs", "Costs of systems", rows, columns, of=_OF)
    yield Note(
        [
            "Batch throughput: all queries of the split in one batch, with start-up of model/JVM.",
            "–: not measured.",
            "Memory: peak over all indexing and search processes.",
            "Fusions are charged the sum of their components.",
        ]
    )


def _unmeasured(ask: Ask) -> Iterator[str]:
    """Say how many stored runs have no costs, with the command that measures one."""
    lacking = ask(select.unmeasured)
    if lacking.empty:
        return
    yield (f"Not measured (run before costs were recorded): {counted(len(lacking), 'stored run')}.")
    first = lacking.iloc[0]
    again = f"run {shlex.quote(first['system'])} {first['dataset']} --again"
    yield f"To measure one, rerun it: python -m compute {again}."


def _published(ask: Ask, costs: DataFrame, titles: Sequence[str]) -> Iterator[Step]:
    """Yield the papers' table with costs measured here, on the datasets of these titles."""
    own = costs[costs["title"].isin(titles)] if len(titles) else DataFrame()
    rows = tables.beside_print(published.efficiency(), own, ask(catalogue.systems))
    look: dict[str, Any] = {"of": _OF, "source": "BEIR and stored runs"}
    yield Table("printed-costs", "Published and measured costs", rows, tables.BESIDE_PRINT, **look)
    yield Note(
        [
            "Compare only the order of systems: the papers searched 1 million documents of"
            " DBPedia on other hardware.",
            "Rank: by zero-shot performance. Dim.: vector dimensions. Ours: on the datasets above.",
            "BEIR v4's Table 3 is quoted from a secondary source; another source reports"
            " different latencies for some systems.",
            "–: not reported or not measured.",
        ]
    )
    drawn = partial(printed_tradeoff.section, ask)
    label = "Published quality, latency and index size"
    keys = [f"printed-{cost}" for cost in printed_tradeoff.COSTS]
    yield folded(drawn, keys, label, asks=("paper",))
