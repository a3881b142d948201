"""What `show sets` prints: the judgement sets there are, or two of them side by side."""

import math
from argparse import Namespace

from duckdb import DuckDBPyConnection
from pandas import DataFrame

from compute.base import printable
from compute.base.errors import WrongInput
from compute.commands.common import scored_by
from compute.commands.show.stored import tell_stale
from compute.datasets import Dataset, dataset
from compute.judgements import Choice
from compute.reading import database, judgement_sets
from compute.store.loading import Bench
from compute.store.own_datasets import own_datasets
from compute.views.holes.judgement_sets import Comparison, compared, grade_line


def sets(bench: Bench, arguments: Namespace) -> DataFrame:
    """A row for each set; of two that are named, how far the boards by them agree."""
    if arguments.compare and not arguments.dataset:
        raise WrongInput("two sets are compared on one dataset: add --dataset")
    if (arguments.flips or arguments.grades) and not arguments.compare:
        raise WrongInput("--flips and --grades are of two sets: name them by --compare")
    choice = Choice(arguments.rule, tuple(arguments.source))
    row = dataset(arguments.dataset, own_datasets(bench.store)) if arguments.dataset else None
    if row and row.parts:
        raise WrongInput(f"{row.name} has parts: name one of them, such as {row.parts[0]}")
    measure = arguments.measure or "nDCG@10"
    if row and arguments.compare:
        _lacking(bench, row, measure)
    reading = database.open_version(bench.store)
    tell_stale(bench, arguments.dataset)
    with reading.cursor() as cursor:
        if row is None or not arguments.compare:
            return judgement_sets.listed(cursor, row.name if row else "", choice)
        return _beside(cursor, row.name, measure, arguments, choice)


def _lacking(bench: Bench, row: Dataset, measure: str) -> None:
    """Score the runs that lack the measure, and name those that are not kept deep enough."""
    printable.warn(*scored_by(bench, measure, row.name))


def _beside(
    cursor: DuckDBPyConnection,
    name: str,
    measure: str,
    arguments: Namespace,
    choice: Choice,
) -> DataFrame:
    left, right = arguments.compare
    grades = judgement_sets.grades(cursor, name, left, right, choice)
    if arguments.grades:
        return grades
    boards = [judgement_sets.values(cursor, name, of, measure, choice) for of in (left, right)]
    if boards[0].empty or boards[1].empty:
        raise WrongInput(
            f"no run on {name} is scored by {measure} by both sets: there is no board to compare"
        )
    both = grades.dropna()
    if both.empty:
        raise WrongInput(grade_line(grades, arguments.compare))
    found = compared(boards[0], boards[1], measure)
    if arguments.flips:
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
