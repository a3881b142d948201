"""Commands for judging tasks: tasks new|list|status|extend."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from json import dumps, loads
from typing import Annotated

from cyclopts import Parameter
from pandas import DataFrame

from compute.base import printable
from compute.base.errors import Missing
from compute.base.words import counted, near
from compute.commands import groups, options
from compute.commands.opening import open_bench
from compute.datasets import compressed
from compute.judgements import orders, sampling
from compute.judgements.tasks import deciding, grades, queue, samples, sampling_on, tasks
from compute.judgements.tasks.tasks import Plan
from compute.reading import database
from compute.store.loading import Bench
from compute.store.own_datasets import dataset_of
from compute.views.annotate import select, tables
from compute.views.compare import judging

TaskId = Annotated[str, Parameter(help="its id in `tasks list` and on the Judge page")]


def new(
    *systems: Annotated[str, Parameter(required=True)],
    dataset: options.Dataset,
    goal: Annotated[str, Parameter(choices=sampling.GOALS)] = "",
    measure: Annotated[str, Parameter(choices=samples.MEASURES)] = "",
    baseline: str = "",
    machine: Annotated[str, Parameter(metavar="NAME")] = "",
    order: Annotated[str, Parameter(choices=orders.NAMES)] = "",
    depth: Annotated[options.Count, Parameter(show_default=True)] = 10,
    pairs: Annotated[options.Count, Parameter(show_default=True)] = 60,
    assessors: Annotated[tuple[str, ...], options.SEVERAL, Parameter(metavar="NAME")] = (),
    double: float = 0.0,
    guideline: options.SomeFile = None,
    title: str = "",
    seed: int = 0,
    person: Annotated[str, Parameter(show_default=True)] = "command line",
    expect: bool = False,
    json: options.Json = False,
) -> int:
    """Create a judging task from unjudged documents in the top k of runs, or an audit of labels.

    Args:
        systems: systems whose documents to judge
        goal: sample documents to estimate scores, differences from a baseline or the ranking, or to
            audit the official judgements
        measure: with --goal, the measure to estimate (default: P@10; for an audit nDCG@10)
        baseline: with --goal differences, the system to compare with (default: the first)
        machine: with --goal audit, also sample by disagreement with this LLM's grades
        order: without --goal, the order of the documents (default: impact)
        depth: top k of each list
        pairs: number of documents to judge
        assessors: people who may judge (default: everyone)
        double: share of documents judged by two assessors, 0 to 1
        guideline: a Markdown file
        title: name of the task
        seed: random seed of the sample
        person: name of the task's creator
        expect: only print the expected precision of a sample
    """
    bench = open_bench()
    row = dataset_of(bench.store, dataset)
    order = orders.SAMPLED if goal else order or orders.DEFAULT
    usual = samples.USUAL.get(goal, samples.MEASURES[0])
    beside = {sampling.DIFFERENCES: baseline or systems[0], sampling.AUDIT: machine}.get(goal, "")
    sample = {"measure": measure or usual, "goal": goal or sampling.SCORES, "baseline": beside}
    holes = "Judgements" if goal == sampling.AUDIT else "Holes"
    with _lists(bench, row.name, [*systems, *filter(None, [baseline])]) as (tops, judged, graded):
        plan = Plan(
            title=title or f"{holes} of {row.title}",
            dataset=row.name,
            systems=systems,
            depth=depth,
            n_pairs=pairs,
            order=order,
            seed=seed,
            grades=graded,
            annotators=assessors,
            double_share=double,
            guideline=compressed.utf8(guideline) if guideline else tables.guideline(graded),
            **(sample if order == orders.SAMPLED else {}),
        )
        grades = tops.machine(machine)
        if expect:
            printable.say(tables.forecast(plan, tops, judged, grades))
            return 0
        task = tasks.make(bench.store, plan, tops, judged, person, grades)
    said = f"{task.id}: {task.title}, {counted(task.n_pairs, 'document')} to judge"
    printable.say_text(dumps({"task": task.id, "pairs": task.n_pairs}) if json else said)
    return 0


def list_tasks(*, json: options.Json = False) -> int:
    """List judging tasks, newest first."""
    store = open_bench().store
    counts = queue.overview(store).set_index("task")
    rows = [
        {
            **{name: getattr(task, name) for name in ("id", "title", "dataset", "order", "goal")},
            **counts.loc[task.id].to_dict(),
            "created": task.created,
        }
        for task in tasks.tasks(store)
    ]
    return printable.show(DataFrame(rows), json)


def status(
    task: TaskId,
    /,
    *,
    pairs: bool = False,
    which: groups.Counted = groups.Counted(),
    json: options.Json = False,
) -> int:
    """Print each assessor's progress and, for a sample of two systems, the verdict.

    Args:
        pairs: print the queries and documents to judge instead
    """
    store = open_bench().store
    found = tasks.task(store, task)
    if pairs:
        rows = tasks.pairs(store, task).drop(columns="id").rename(columns={"labels": "assessors"})
        return printable.show(rows, json)
    people, verdict = queue.people(store, found), None
    if deciding.tells_apart(found):
        verdict = judging.of_pair(
            store, found.dataset, (found.systems[0], found.systems[1]), which.choice(), found
        )
    if json:
        told = verdict._asdict() if verdict else None
        rows = loads(people.to_json(orient="records"))
        printable.say_text(dumps({"people": rows, "verdict": told}, ensure_ascii=False, indent=1))
        return 0
    counts = queue.overview(store).set_index("task").to_dict("index")[task]
    printable.say(f"{found.title}: {tables.progress(found, found.dataset, counts)}")
    printable.say(*([verdict.verdict] if verdict else []))
    return printable.show(people, json) if len(people) else 0


def extend(
    task: TaskId,
    /,
    *,
    pairs: options.Count,
    add: Annotated[tuple[str, ...], options.SEVERAL, Parameter(metavar="SYSTEM")] = (),
) -> int:
    """Add unjudged documents to a sampled task.

    Args:
        pairs: number of further documents
        add: include these systems as well, such as newer runs
    """
    bench = open_bench()
    before = tasks.task(bench.store, task)
    systems = (*before.systems, *add)
    with _lists(bench, before.dataset, add) as (tops, judged, _):
        after = sampling_on.sample_on(bench.store, before, systems, pairs, tops, judged)
    batch = samples.stored(bench.store, task)[-1]
    told = f"{counted(after.n_pairs - batch.done, 'document')} drawn for {after.title}"
    printable.say(
        f"{told} ({task}), batch {batch.number};"
        f" {counted(batch.done, 'earlier judgement')} {'count' if batch.done != 1 else 'counts'}"
    )
    return 0


@contextmanager
def _lists(
    bench: Bench, dataset: str, systems: Sequence[str]
) -> Iterator[tuple[select.StoredTops, DataFrame, grades.Grades]]:
    """Yield a dataset's ranked lists, all of its judgements, and its grades. Raises Missing for a
    system without lists."""
    with database.open_version(bench.store).cursor() as cursor:
        runs = select.judgeable(cursor)
        known = runs.loc[runs["dataset"] == dataset, "system"].tolist()
        for name in systems:
            if name not in known:
                listed = ", ".join(known) or "none (import a run first)"
                hint = near(name, known)
                raise Missing(f"unknown system {name!r}: {hint}systems on {dataset}: {listed}")
        judged = tasks.judged(bench.store, dataset, select.judged(cursor, dataset))
        levels = select.levels(cursor, dataset)["relevance"].tolist()
        yield select.StoredTops(cursor, dataset), judged, grades.of_levels(levels)
