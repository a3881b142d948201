"""BEIR's published trade-off: zero-shot quality against latency and index size."""

from functools import partial

from pandas import DataFrame

from compute.datasets import published
from compute.views.efficiency import panels, pareto
from compute.views.leaderboard import board, cells
from compute.views.leaderboard import select as leaderboard_select
from compute.views.page import Ask, Beside, Choice, Figure, Legends, Note, Steps
from compute.views.shared import catalogue

PAPERS = ("BEIR v4", "BEIR v1")
COSTS = ("latency_p50_ms", "index_bytes")
"""Columns of `panels.COSTS` that the papers report."""
MEASURE = "nDCG@10"
_MACHINES = {True: "GPU (Tesla V100)", False: "CPU (Xeon 8168, 8 cores)"}


def rows(ask: Ask, paper: str) -> DataFrame:
    """Return the systems of a paper's Table 3 with the zero-shot average of Table 2, for
    `panels.panel`. Latency is the GPU's if reported, else the CPU's."""
    figures = ask(leaderboard_select.published, source=f"{paper}, Table 2", measure=MEASURE)
    named = ask(catalogue.datasets), ask(catalogue.systems)
    averages = board.board(cells.printed(figures), *named, MEASURE).systems
    costs = published.efficiency()
    costs = costs[costs["source"].str.startswith(f"{paper} Table 3")]
    found = costs.merge(averages[["system", "title", "family", "average"]], on="system")
    on_gpu = found["gpu_ms_per_query"].notna()
    found = found.assign(
        value=found["average"],
        latency_p50_ms=found["gpu_ms_per_query"].fillna(found["cpu_ms_per_query"]),
        index_bytes=found["index_gb"] * 1e9,
        hardware=on_gpu.map(_MACHINES),
        load=0.0,
    )
    unknown = set(panels.COSTS) - set(COSTS)
    return found.assign(**dict.fromkeys(unknown, float("nan"))).dropna(subset=["value"])


def section(ask: Ask) -> Steps:
    """Yield a picker of the paper, and a panel for each cost."""
    paper = yield Choice("paper", "Paper", PAPERS, noun="paper", width=160)
    found = rows(ask, paper)
    yield Legends(partial(panels.legend, found))
    panels_ = []
    for cost in COSTS:
        # An index has the same size on both machines.
        shown = found.assign(hardware="") if cost == "index_bytes" else found
        drawn = partial(panels.panel, shown, cost, MEASURE)
        title = f"{paper}: zero-shot average against {pareto.COSTS[cost]}"
        look = {"width": "content", "of": ("paper",), "narrow": True}
        panels_.append(
            Figure(f"printed-{cost}", title, drawn, partial(panels.legend, shown), **look)
        )
    yield Beside([[panel] for panel in panels_], widths=(panels.WIDTH, panels.WIDTH))
    lacking = found.loc[found["index_bytes"].isna(), "title"]
    yield Note(
        [
            "Further up is better, further left is cheaper.",
            f"{MEASURE}: zero-shot average of {paper}, Table 2. Costs: Table 3, per query on 1"
            " million documents of DBPedia.",
            "Latency: on a GPU if reported, else on the CPU; the two are not comparable,"
            " so each has its own line.",
            *([f"Without index size: {', '.join(lacking)}."] if len(lacking) else []),
        ]
    )
