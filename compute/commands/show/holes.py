"""The holes command, which prints unjudged shares and possible score ranges of runs."""

from collections.abc import Mapping

import pandas as pd
from duckdb import DuckDBPyConnection
from pandas import DataFrame

from compute.base import printable
from compute.base.errors import WrongInput
from compute.commands import groups, options
from compute.commands.opening import open_whole
from compute.commands.show.stored import (
    cursor_of,
    in_print,
    name_the_wrong,
    refuse_unjudged,
    values,
)
from compute.evaluate import measures
from compute.views.holes import select as holes_select
from compute.views.shared import catalogue


def holes(
    *,
    dataset: options.OnlyDataset = "",
    system: options.OnlySystem = "",
    measure: options.OnlyMeasure = "",
    published: options.Published = False,
    returned_only: options.ReturnedOnly = False,
    judged: groups.Judged = groups.Judged(),
    json: options.Json = False,
) -> int:
    """Print each run's unjudged share and the possible range of its score."""
    chosen = {"dataset": dataset, "system": system}
    of_score = chosen | {"measure": measure or "Hole@10"}
    if published:
        frame = in_print(judged, of_score)
    elif returned_only:
        frame = values(open_whole(), judged, of_score, returned_only=True)
    else:
        with cursor_of(open_whole(), judged, dataset, {system} - {""}) as cursor:
            frame = _bounds(cursor, chosen, measure or "nDCG@10")
    return printable.show(frame, json)


def _bounds(cursor: DuckDBPyConnection, chosen: Mapping[str, str], measure: str) -> DataFrame:
    runs = catalogue.runs(cursor)
    name_the_wrong(runs, chosen)
    for column, name in chosen.items():
        runs = runs[runs[column] == name] if name else runs
    _check_depth(runs.merge(holes_select.kept(cursor)), measure)
    runs = runs[~runs["dataset"].isin(catalogue.unjudged(cursor)["dataset"])]
    if runs.empty:
        refuse_unjudged(cursor, chosen["dataset"])
    frames = []
    for dataset, systems in runs.groupby("dataset", sort=False)["system"]:
        bounds = holes_select.bounds(cursor, str(dataset), systems.tolist(), measure)
        bounds.insert(0, "dataset", dataset)
        bounds.insert(2, "measure", measure)
        frames.append(bounds)
    return pd.concat(frames, ignore_index=True) if frames else runs


def _check_depth(runs: DataFrame, measure: str) -> None:
    """Raise WrongInput if a measure's cut-off is deeper than a stored list."""
    deep = measures.parse(measure).k or 0
    for dataset, system, depth in runs.sort_values("depth").itertuples(index=False):
        if deep > depth:
            raise WrongInput(
                f"{measure} is deeper than the list of {printable.printable(system)} on {dataset}"
                f" ({depth:,} ranks): choose a smaller k"
            )
