"""The command that draws a further batch of a sampled task: sample-on."""

from argparse import Namespace

from compute.base import printable
from compute.base.words import counted
from compute.commands.opening import open_bench
from compute.judgements.tasks import samples, sampling_on, tasks
from compute.reading import database
from compute.views.annotate import select as annotate_select


def sample_on(arguments: Namespace) -> int:
    """Draw so many pairs more of what nobody judged by now, of the task's systems and others."""
    bench = open_bench()
    task = tasks.task(bench.store, arguments.task)
    cursor = database.open_version(bench.store).cursor()
    official = annotate_select.judged(cursor, task.dataset)
    judged = tasks.judged(bench.store, task.dataset, official)
    tops = annotate_select.StoredTops(cursor, task.dataset)
    systems = (*task.systems, *arguments.add)
    after = sampling_on.sample_on(bench.store, task, systems, arguments.pairs, tops, judged)
    batch = samples.stored(bench.store, task.id)[-1]
    told = f"{counted(after.n_pairs - batch.done, 'document')} drawn for {after.title}"
    printable.say(
        f"{told} ({task.id}), batch {batch.number};"
        f" {batch.done:,} before {'count' if batch.done != 1 else 'counts'}"
    )
    return 0
