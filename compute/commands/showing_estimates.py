"""What `show estimates` prints: scores estimated from a sampled task's judgements."""

from argparse import Namespace

from pandas import DataFrame

from compute.base.errors import WrongInput
from compute.commands.choices import ADDED
from compute.commands.showing import cursor_of
from compute.judgements.tasks import estimated, samples, tasks
from compute.store.loading import Bench
from compute.views.annotate import select as annotate_select
from compute.views.holes import sampled
from compute.views.holes import select as holes_select


def estimates(bench: Bench, arguments: Namespace) -> DataFrame:
    """A row for each system of a sampled task, or with `--pairs` for each two.

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
        found = estimated.estimated(bench.store, task, frame, judgements, measure)
        if arguments.pairs:
            rows = sampled.pairs(found)
        elif estimated.has_range(measure):
            bounds = holes_select.bounds(cursor, task.dataset, task.systems, measure)
            rows = sampled.systems(bounds, found)
        else:
            rows = sampled.systems(estimated.ends(task, frame, judgements, measure), found)
    about = sampled.provenance(task, found) | sampled.stopped(found)
    if wanted := arguments.half_width:
        about |= {"half_width": wanted, "judgements_more": found.more(task, wanted)}
    rows.insert(0, "dataset", task.dataset)
    rows.insert(1, "measure", measure)
    return rows.assign(**about)
