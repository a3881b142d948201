"""The efficiency command, which prints measured or published costs of runs."""

from collections.abc import Mapping

from pandas import DataFrame

from compute.base import printable
from compute.base.errors import Missing, WrongInput
from compute.base.words import near
from compute.commands import options
from compute.commands.opening import open_whole
from compute.datasets import published as in_print
from compute.reading import database
from compute.recompute.efficiency import MEASURED
from compute.views.efficiency import pareto
from compute.views.efficiency import select as efficiency_select


def efficiency(
    *,
    dataset: options.OnlyDataset = "",
    system: options.OnlySystem = "",
    measure: str = "",
    published: options.Published = False,
    json: options.Json = False,
) -> int:
    """Print costs of runs: index size, throughput, latency, memory and hardware.

    Args:
        measure: only this cost, such as index_bytes
    """
    bench, chosen = open_whole(), {"dataset": dataset, "system": system}
    if published:
        rows = _chosen(in_print.efficiency().assign(dataset=""), chosen)
        return printable.show(rows.drop(columns="dataset"), json)
    rows = efficiency_select.costs(database.open_version(bench.store).cursor())
    if measure and measure not in MEASURED:
        hint = near(measure, MEASURED)
        raise WrongInput(f"no cost {measure!r}: {hint}choose one of {', '.join(MEASURED)}")
    found = _chosen(rows, chosen)
    found["hardware"] = pareto.hardware(found)
    columns = [measure] if measure else list(MEASURED)
    if not json and not measure:
        columns = [name for name in columns if found[name].notna().any()]
    return printable.show(found[["dataset", "system", *columns, "hardware", "load", "date"]], json)


def _chosen(rows: DataFrame, chosen: Mapping[str, str]) -> DataFrame:
    """Return the rows of the chosen dataset and system. Raises Missing if none match."""
    for column, name in chosen.items():
        there = list(dict.fromkeys(rows[column]))
        if name and name not in there:
            raise Missing(
                f"no costs of {column} {name!r} : {near(name, there)}python -m compute run"
                f" {chosen['system'] or 'SYSTEM'} {chosen['dataset'] or 'DATASET'} --again"
                " measures them"
            )
        rows = rows[rows[column] == name] if name else rows
    return rows.reset_index(drop=True)
