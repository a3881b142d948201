"""What `show power` prints: what difference of two systems their test would have found."""

import contextlib
from argparse import Namespace
from collections.abc import Iterator

import pandas as pd
from duckdb import DuckDBPyConnection
from pandas import DataFrame

from compute.base.errors import Missing, WrongInput
from compute.commands.show.stored import cursor_of, values
from compute.evaluate import power as finding
from compute.evaluate.sign_flips import LEVEL
from compute.store.loading import Bench
from compute.views.shared import standings


def power(bench: Bench, arguments: Namespace) -> DataFrame:
    """A row for each pair of systems on a dataset, the smallest detectable difference first.

    dataset, measure, a, b and what `standings.among_all` says of them, all pairs of the
    dataset's systems corrected together; with a named difference also queries and queries_alone,
    absent where too few queries differ. Raises Missing where there is no pair.
    """
    if arguments.published or arguments.returned_only:
        raise WrongInput("show power is of our runs over all queries: leave out the option")
    measure = arguments.measure or "nDCG@10"
    named = {name for name in (arguments.system, arguments.against) if name}
    everything = Namespace(**{**vars(arguments), "system": None, "picked": named})
    runs = values(bench, everything, measure)
    frames = []
    with cursor_of(bench, arguments, told=True) as cursor:
        for dataset, systems in runs.groupby("dataset", sort=False)["system"]:
            if len(systems) > 1 and named.issubset(systems):
                frames += _of_one(cursor, str(dataset), systems.tolist(), measure)
    for name in named:
        frames = [found[(found["a"] == name) | (found["b"] == name)] for found in frames]
    rows = pd.concat(frames, ignore_index=True) if frames else DataFrame()
    if rows.empty:
        known = ", ".join(sorted(set(runs["system"]))[:20])
        raise Missing(f"no two of these systems on one dataset by {measure}; there are {known}")
    return _with_queries(rows, arguments.difference) if arguments.difference else rows


def _of_one(
    cursor: DuckDBPyConnection, dataset: str, systems: list[str], measure: str
) -> Iterator[DataFrame]:
    # With fewer than two queries that all have there is no test, and no power of one.
    with contextlib.suppress(WrongInput):
        found = standings.among_all(cursor, measure, [dataset], sorted(systems))
        found.insert(0, "dataset", dataset)
        found.insert(1, "measure", measure)
        yield found.sort_values(["detectable", "a", "b"])


def _with_queries(rows: DataFrame, difference: float) -> DataFrame:
    """What finding a named difference takes: at the corrected level, and of the pair alone."""
    asked = difference, rows["deviation"]
    known = rows["detectable"].notna()
    together = finding.queries_needed(*asked, rows["level"].where(known, LEVEL))
    alone = finding.queries_needed(*asked, LEVEL)
    told = {"named": difference, "queries": together, "queries_alone": alone}
    found = rows.assign(**told)
    columns = ["queries", "queries_alone"]
    found[columns] = found[columns].astype("Int64").where(known)
    return found
