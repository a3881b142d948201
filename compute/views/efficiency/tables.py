"""Tables of costs: on the page, in exports, and next to published figures."""

from pandas import DataFrame

from compute.evaluate.measures import better
from compute.evaluate.tolerance import order
from compute.views.efficiency.panels import COSTS, milliseconds, number, size
from compute.views.page import Column
from compute.views.shared import theme as looks


def ordered(rows: DataFrame, measure: str) -> DataFrame:
    """Return rows of `pareto.points` with the best value first."""
    return rows.iloc[order(better(measure) * rows["value"], rows["system"])]


def columns(rows: DataFrame, measure: str) -> list[Column]:
    """Return columns for system, value, each cost that at least one row has, and hardware."""
    costs = [
        Column(name[:1].upper() + name[1:], field, write, unit)
        for field, (name, write, unit) in COSTS.items()
    ]
    value = Column(measure, "value", lambda value: looks.plain(value, 4))
    measured = [one for one in costs if rows[one.field].notna().any()]
    return [Column("System", "title"), value, *measured, Column("Measured on", "hardware")]


def beside_print(printed: DataFrame, costs: DataFrame, named: DataFrame) -> DataFrame:
    """Return the papers' efficiency tables with measurements made here, measured systems first.
    `printed`: from `published.efficiency`. `costs`: rows of `efficiency.select.costs`, averaged
    over datasets. `named`: system and title."""
    titles = dict(zip(named["system"], named["title"], strict=True))
    fields = ["latency_p50_ms", "index_bytes"]
    means = costs.groupby("system")[fields].mean() if len(costs) else DataFrame(columns=fields)
    rows = printed.merge(means, left_on="system", right_index=True, how="left")
    rows = rows.assign(
        system=[titles.get(name, name) for name in rows["system"]],
        index_printed=rows["index_gb"] * 1e9,
        source=[source.partition(" (")[0] for source in rows["source"]],
    )
    return rows.sort_values("index_bytes", key=lambda n: n.isna(), kind="stable")


BESIDE_PRINT = (
    Column("System", "system"),
    Column("Rank", "rank", number),
    Column("Dim.", "dimensions", number),
    Column("Documents", "documents", "{:,.0f}".format),
    Column("CPU, a query", "cpu_ms_per_query", milliseconds, "ms"),
    Column("GPU, a query", "gpu_ms_per_query", milliseconds, "ms"),
    Column("Index", "index_printed", size, "bytes"),
    Column("Latency here", "latency_p50_ms", milliseconds, "ms"),
    Column("Index here", "index_bytes", size, "bytes"),
    Column("Printed in", "source"),
)
