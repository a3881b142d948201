"""The power command, which prints the minimum detectable difference of two systems."""

import contextlib
from collections.abc import Iterator
from typing import Annotated

import pandas as pd
from cyclopts import Parameter
from duckdb import DuckDBPyConnection
from pandas import DataFrame

from compute.base import printable
from compute.base.errors import Missing, WrongInput
from compute.commands import groups, options
from compute.commands.opening import open_whole
from compute.commands.show.stored import cursor_of, values
from compute.evaluate import power as finding
from compute.evaluate.sign_flips import LEVEL
from compute.views.shared import standings


def power(
    *,
    dataset: options.OnlyDataset = "",
    system: options.OnlySystem = "",
    against: Annotated[str, Parameter(metavar="SYSTEM")] = "",
    measure: options.OnlyMeasure = "nDCG@10",
    difference: options.Difference = None,
    judged: groups.Judged = groups.Judged(),
    json: options.Json = False,
) -> int:
    """Print the minimum detectable difference for each pair of systems (80% power).

    The tests are corrected for all pairs of systems on a dataset.

    Args:
        against: only pairs with this system
        difference: also print the number of queries needed to detect this difference, such as .02
    """
    bench, named = open_whole(), {system, against} - {""}
    chosen = {"dataset": dataset, "system": "", "measure": measure}
    runs = values(bench, judged, chosen, named)
    frames = []
    with cursor_of(bench, judged, dataset, named, told=True) as cursor:
        for name, systems in runs.groupby("dataset", sort=False)["system"]:
            if len(systems) > 1 and named.issubset(systems):
                frames += _of_one(cursor, str(name), systems.tolist(), measure)
    for name in named:
        frames = [found[(found["a"] == name) | (found["b"] == name)] for found in frames]
    rows = pd.concat(frames, ignore_index=True) if frames else DataFrame()
    if rows.empty:
        known = ", ".join(sorted(set(runs["system"]))[:20])
        raise Missing(f"no two of these systems have {measure} on one dataset; stored: {known}")
    return printable.show(_with_queries(rows, difference) if difference else rows, json)


def _of_one(
    cursor: DuckDBPyConnection, dataset: str, systems: list[str], measure: str
) -> Iterator[DataFrame]:
    # A test, and therefore its power, needs two shared queries.
    with contextlib.suppress(WrongInput):
        found = standings.among_all(cursor, measure, [dataset], sorted(systems))
        found.insert(0, "dataset", dataset)
        found.insert(1, "measure", measure)
        yield found.sort_values(["detectable", "a", "b"])


def _with_queries(rows: DataFrame, difference: float) -> DataFrame:
    """Add the queries needed to detect a difference: corrected for all pairs, and for one pair."""
    asked = difference, rows["deviation"]
    known = rows["detectable"].notna()
    together = finding.queries_needed(*asked, rows["level"].where(known, LEVEL))
    alone = finding.queries_needed(*asked, LEVEL)
    told = {"named": difference, "queries": together, "queries_alone": alone}
    found = rows.assign(**told)
    columns = ["queries", "queries_alone"]
    found[columns] = found[columns].astype("Int64").where(known)
    return found
