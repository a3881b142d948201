"""The sets command, which prints judgement sets or compares two."""

import math
from collections.abc import Sequence
from typing import Annotated

from cyclopts import Parameter
from duckdb import DuckDBPyConnection
from pandas import DataFrame

from compute.base import printable
from compute.base.errors import WrongInput
from compute.commands import groups, options
from compute.commands.common import scored_by
from compute.commands.opening import open_whole
from compute.commands.show.stored import tell_stale
from compute.judgements import Choice
from compute.reading import database, judgement_sets
from compute.store.own_datasets import dataset_of
from compute.views.holes.judgement_sets import Comparison, compared, grade_line


def sets(
    *,
    compare: Annotated[tuple[str, str] | None, Parameter(metavar="SET SET")] = None,
    dataset: options.OnlyDataset = "",
    measure: Annotated[str, Parameter(show_default=True)] = "nDCG@10",
    flips: bool = False,
    grades: bool = False,
    counted: groups.Counted = groups.Counted(),
    json: options.Json = False,
) -> int:
    """Print the judgement sets, or a comparison of two.

    Args:
        compare: two sets to compare
        measure: measure by which systems are ranked
        flips: with --compare, print the pairs of systems whose order flips
        grades: with --compare, print both sets' grades for each document
    """
    if compare and not dataset:
        raise WrongInput("--compare needs a dataset: add --dataset")
    if (flips or grades) and not compare:
        raise WrongInput("--flips and --grades need two sets: name them with --compare")
    bench, choice = open_whole(), counted.choice()
    row = dataset_of(bench.store, dataset) if dataset else None
    if row:
        row.refuse_parts()
        if compare:
            printable.warn(*scored_by(bench, measure, row.name))
    reading = database.open_version(bench.store)
    tell_stale(bench, dataset)
    with reading.cursor() as cursor:
        if row is None or not compare:
            frame = judgement_sets.listed(cursor, row.name if row else "", choice)
        elif grades:
            frame = judgement_sets.grades(cursor, row.name, *compare, choice)
        else:
            frame = _beside(cursor, row.name, measure, compare, choice, flips=flips)
    return printable.show(frame, json)


def _beside(
    cursor: DuckDBPyConnection,
    name: str,
    measure: str,
    two: Sequence[str],
    choice: Choice,
    *,
    flips: bool,
) -> DataFrame:
    left, right = two
    grades = judgement_sets.grades(cursor, name, left, right, choice)
    boards = [judgement_sets.values(cursor, name, of, measure, choice) for of in (left, right)]
    if boards[0].empty or boards[1].empty:
        raise WrongInput(
            f"no run on {name} has {measure} by both sets, so there is nothing to compare"
        )
    both = grades.dropna()
    if both.empty:
        raise WrongInput(grade_line(grades, two))
    found = compared(boards[0], boards[1], measure)
    if flips:
        return found.turned()
    same = float((both["left"] == both["right"]).mean())
    return DataFrame([_row(found) | {"pairs_in_both": len(both), "same_grade": same}])


def _row(found: Comparison) -> dict[str, str | int | float]:
    of = found.agreement
    return {
        "measure": found.measure,
        "n_systems": len(found.means),
        "n_queries": found.n_queries,
        "tau": of.tau if of else math.nan,
        "tau_ap": of.tau_ap if of else math.nan,
        **found.counts(),
    }
