"""What `show holes` prints: holes of stored runs beside a score and what it can be."""

from argparse import Namespace

import pandas as pd
from duckdb import DuckDBPyConnection
from pandas import DataFrame

from compute.base import printable
from compute.base.errors import WrongInput
from compute.commands.show.stored import cursor_of, name_the_wrong, refuse_unjudged, values
from compute.evaluate import measures
from compute.store.loading import Bench
from compute.views.holes import select as holes_select
from compute.views.shared import catalogue


def holes(bench: Bench, arguments: Namespace) -> DataFrame:
    """Holes of stored runs beside a score and what it can be; the papers' Hole@10."""
    if arguments.published or arguments.returned_only:
        return values(bench, arguments, arguments.measure or "Hole@10")
    with cursor_of(bench, arguments) as cursor:
        return _bounds(bench, cursor, arguments, arguments.measure or "nDCG@10")


def _bounds(
    bench: Bench, cursor: DuckDBPyConnection, arguments: Namespace, measure: str
) -> DataFrame:
    runs = catalogue.runs(cursor)
    chosen = {"dataset": arguments.dataset, "system": arguments.system}
    name_the_wrong(runs, chosen)
    for column, name in chosen.items():
        runs = runs[runs[column] == name] if name else runs
    _check_depth(runs.merge(holes_select.kept(cursor)), measure)
    runs = runs[~runs["dataset"].isin(catalogue.unjudged(cursor)["dataset"])]
    if runs.empty:
        refuse_unjudged(cursor, arguments.dataset)
    frames = []
    for dataset, systems in runs.groupby("dataset", sort=False)["system"]:
        bounds = holes_select.bounds(cursor, str(dataset), systems.tolist(), measure)
        bounds.insert(0, "dataset", dataset)
        bounds.insert(2, "measure", measure)
        frames.append(bounds)
    return pd.concat(frames, ignore_index=True) if frames else runs


def _check_depth(runs: DataFrame, measure: str) -> None:
    """Raises WrongInput where a measure cuts deeper than the list of a run is kept."""
    deep = measures.parse(measure).k or 0
    for dataset, system, depth in runs.sort_values("depth").itertuples(index=False):
        if deep > depth:
            raise WrongInput(
                f"{measure} cuts deeper than the lists of {printable.printable(system)} on"
                f" {dataset} are kept, to rank {depth:,}: choose a smaller k"
            )
