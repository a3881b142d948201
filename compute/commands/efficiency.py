"""What `show efficiency` prints: what runs cost, or the papers' figures."""

from argparse import Namespace

from pandas import DataFrame

from compute.base.errors import Missing, WrongInput
from compute.base.words import near
from compute.datasets import published
from compute.reading import database
from compute.recompute.efficiency import MEASURED
from compute.store.loading import Bench
from compute.views.efficiency import pareto
from compute.views.efficiency import select as efficiency_select


def shown(bench: Bench, arguments: Namespace) -> DataFrame:
    """A row for each run: its costs, or one of them; on a terminal without the less telling."""
    if arguments.published:
        return _chosen(published.efficiency().assign(dataset=""), arguments).drop(columns="dataset")
    rows = efficiency_select.costs(database.open_version(bench.store).cursor())
    if arguments.measure and arguments.measure not in MEASURED:
        hint = near(arguments.measure, MEASURED)
        raise WrongInput(f"no cost {arguments.measure!r}: {hint}There are {', '.join(MEASURED)}")
    found = _chosen(rows, arguments)
    found["hardware"] = pareto.hardware(found)
    columns = [arguments.measure] if arguments.measure else list(MEASURED)
    if not arguments.json and not arguments.measure:
        columns = [name for name in columns if found[name].notna().any()]
    return found[["dataset", "system", *columns, "hardware", "load", "date"]]


def _chosen(rows: DataFrame, arguments: Namespace) -> DataFrame:
    """The rows of the dataset and system that are asked for. Raises Missing where there is none."""
    for column in ("dataset", "system"):
        name = getattr(arguments, column)
        there = list(dict.fromkeys(rows[column]))
        if name and name not in there:
            raise Missing(
                f"no costs of {column} {name!r}: {near(name, there)}python -m compute run"
                f" {arguments.system or 'SYSTEM'} {arguments.dataset or 'DATASET'} --again"
                " measures them"
            )
        rows = rows[rows[column] == name] if name else rows
    return rows.reset_index(drop=True)
