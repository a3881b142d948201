"""What `show estimates` prints: scores estimated from a sampled task's judgements."""

from argparse import Namespace

from duckdb import DuckDBPyConnection
from pandas import DataFrame

from compute.base.errors import WrongInput
from compute.commands.choices import ADDED
from compute.commands.show.stored import cursor_of
from compute.evaluate.estimates.frames import Frame
from compute.judgements import sets
from compute.judgements.tasks import estimated, samples, tasks
from compute.judgements.tasks.estimated import Estimated
from compute.judgements.tasks.tasks import Task
from compute.reading import judgement_sets
from compute.store.loading import Bench
from compute.views.annotate import select as annotate_select
from compute.views.holes import sampled, three_ways
from compute.views.holes import select as holes_select


def estimates(bench: Bench, arguments: Namespace) -> DataFrame:
    """A row for each system of a sampled task, or with `--pairs` for each two; with `--machine` by
    that alone and corrected, too, or the pairs that it alone would call significant.

    Added judgements always count. Raises Missing where nothing can be estimated.
    """
    if not arguments.task:
        raise WrongInput("show estimates needs a sampled task: give its id with --task")
    if arguments.published or arguments.returned_only:
        raise WrongInput("show estimates is of our runs over all queries: leave out the option")
    task = tasks.task(bench.store, arguments.task)
    samples.stored(bench.store, task.id)
    measure = arguments.measure or task.measure
    of = {"judgements": ADDED, "dataset": task.dataset}
    with cursor_of(bench, Namespace(**{**vars(arguments), **of})) as cursor:
        tops = annotate_select.StoredTops(cursor, task.dataset)
        frame = tops.frame(task.systems, task.depth)
        judgements = annotate_select.judged(cursor, task.dataset)
        of_task = task, frame, judgements, measure
        found = estimated.estimated(bench.store, *of_task)
        if arguments.machine:
            rows = _three_ways(bench, cursor, of_task, found, arguments)
        elif arguments.pairs:
            rows = sampled.pairs(found)
        else:
            rows = sampled.systems(_bounds(cursor, *of_task), found)
    about = sampled.provenance(task, found) | sampled.stopped(found)
    if wanted := arguments.half_width:
        about |= {"half_width": wanted, "judgements_more": found.more(task, wanted)}
    rows.insert(0, "dataset", task.dataset)
    rows.insert(1, "measure", measure)
    return rows.assign(**about)


def _three_ways(
    bench: Bench,
    cursor: DuckDBPyConnection,
    of_task: tuple[Task, Frame, DataFrame, str],
    found: Estimated,
    arguments: Namespace,
) -> DataFrame:
    machine = judgement_sets.labels(cursor, of_task[0].dataset, sets.of_machine(arguments.machine))
    both = estimated.estimated(bench.store, *of_task, machine)
    alone = estimated.by_machine(*of_task, machine)
    if arguments.pairs:
        rows = three_ways.by_machine_alone(alone, both.estimates)
        return rows.assign(enough=both.estimates.enough)
    bounds = _bounds(cursor, *of_task)
    ways = (sampled.systems(bounds, one) for one in (found, both))
    return three_ways.systems(next(ways), alone, next(ways))


def _bounds(
    cursor: DuckDBPyConnection, task: Task, frame: Frame, judgements: DataFrame, measure: str
) -> DataFrame:
    if estimated.is_sum(measure):
        return estimated.ends(task, frame, judgements, measure)
    return holes_select.bounds(cursor, task.dataset, task.systems, measure)
