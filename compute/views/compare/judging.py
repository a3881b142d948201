"""What sampled judgements say of two runs that nothing official tells apart, while one judges."""

from collections.abc import Iterator
from functools import partial

from pandas import DataFrame

from compute.base.errors import BeirscopeError
from compute.base.words import counted
from compute.evaluate import tolerance
from compute.evaluate.distributions import normal_reach
from compute.evaluate.sign_flips import LEVEL
from compute.judgements import orders, sampling
from compute.judgements.tasks import deciding, tasks
from compute.judgements.tasks.deciding import Decision
from compute.judgements.tasks.estimated import Estimated
from compute.judgements.tasks.grades import of_levels
from compute.judgements.tasks.tasks import Plan, Task
from compute.views.annotate.sample import Sample
from compute.views.annotate.tables import guideline
from compute.views.compare.before_labels import Two
from compute.views.page import Button, Heading, Link, Live, Note, Step, Steps, Widget
from compute.views.shared import theme as looks

MEASURE, DEPTH, FIRST = "P@10", 10, 100
"""Of a task that a button makes: the measure, the depth, and the judgements."""
_WIDER = normal_reach(deciding.SPENT) / normal_reach(LEVEL)
"""How much wider an interval that may decide is than one of 95%."""


def plan(dataset: str, a: str, b: str, titles: tuple[str, str]) -> Plan:
    """A sample of what tells two runs apart, judged relevant or not."""
    grades = of_levels(())
    return Plan(
        title=f"{titles[0]} or {titles[1]}"[:120],
        dataset=dataset,
        systems=(a, b),
        depth=DEPTH,
        n_pairs=FIRST,
        order=orders.SAMPLED,
        seed=0,
        grades=grades,
        guideline=guideline(grades),
        measure=MEASURE,
        goal=sampling.DIFFERENCES,
        baseline=b,
    )


def can_decide(expected: DataFrame) -> str:
    """What `tasks.expected` of a plan says beforehand, for numbers of judgements."""
    told = []
    for n, reach in expected[["n", "reach"]].itertuples(index=False):
        if reach <= tolerance.TOLERANCE:
            told.append(f"all that differ (fewer than {n:,}): any")
            break
        told.append(f"{n:,}: {looks.plain(reach * _WIDER)}")
    return (
        f"Judgements, and the {MEASURE} difference they are expected to decide: {'; '.join(told)}."
        " Only documents that the two rank differently are sampled."
    )


def task_of(two: Two) -> Task | None:
    """The newest sampled task of these two runs only, drawn for their difference."""
    for task in tasks.tasks(two.ask.store):
        of_pair = task.dataset == two.dataset and {*task.systems} == {*two.systems}
        if of_pair and task.order == orders.SAMPLED and task.goal != sampling.SCORES:
            return task
    return None


def section(two: Two) -> Steps:
    """What the judgements of their task say; without one, the button that makes it."""
    task = task_of(two)
    if task is None:
        a, b = two.systems
        yield Widget("apart", {"dataset": two.dataset, "a": a, "b": b, "titles": two.titles})
        return
    yield Live(partial(_verdict, two, task))


def _verdict(two: Two, task: Task) -> Iterator[Step]:
    """Drawn anew as soon as somebody judges."""
    sample = Sample.of(two.ask, task, task.measure)
    try:
        found, judged = sample.estimated(), sample.judged()
        decision = deciding.decision(two.ask.store, task, sample.frame, judged)
    except BeirscopeError as error:
        yield Note([str(error)])
        return
    titles = dict(zip(two.systems, two.titles, strict=True))
    names = tuple(titles[one] for one in found.estimates.systems)
    yield Heading(said(found, decision, task, names))
    looked = ", ".join(f"{n:,}" for n in deciding.LOOKS)
    yield Note(
        [
            f"By {task.measure}, for which the task draws documents; {two.measure}, chosen above,"
            " is shown once there are official judgements."
        ]
        * (task.measure != two.measure)
        + [
            f"{task.measure} on these queries, from {found.n_judged:,} sampled judgements of"
            " documents that the two systems rank differently.",
            "The 95% CI is meant for a single look.",
            f"Decisions are made only at {looked} judgements, each at level {deciding.SPENT:.2%},"
            " so you may look at any time.",
        ]
    )
    if found.n_waiting:
        yield Button("Continue judging", Link("annotate", {"task": task.id}), icon="arrow_forward")
    elif not found.estimates.is_census:
        draw = Link("annotate", {"about": task.id})
        yield Button("Draw more documents to judge", draw, icon="arrow_forward")


def said(found: Estimated, decision: Decision | None, task: Task, titles: tuple[str, ...]) -> str:
    """Who leads on these queries, and whether that is decided."""
    estimates, after = found.estimates, f"After {counted(found.n_judged, 'judgement')}: "
    if not estimates.enough:
        return (
            f"{after}too little evidence. {estimates.n_relevant:,} relevant and"
            f" {estimates.n_not_relevant:,} not relevant documents were found; an interval needs"
            f" {estimates.n_needed:,} of each."
        )
    row = estimates.pairs(together=False).iloc[0]
    first = row["difference"] >= 0
    ends = (row["low"], row["high"]) if first else (-row["high"], -row["low"])
    lead = f"{titles[0 if first else 1]} leads by {looks.plain(abs(row['difference']))}"
    lead += f" of {task.measure} on these queries"
    if estimates.is_census and tolerance.equal(*ends):
        differ = counted(found.n_judged, "document")
        same = f"{titles[0]} and {titles[1]} have the same {task.measure} on these queries"
        none = tolerance.equal(row["difference"], 0)
        return f"All {differ} that the two rank differently are judged: {same if none else lead}."
    lead += f" (95% CI {looks.between(*ends)})"
    if decision:
        better = titles[decision.ahead]
        return f"{after}{lead}. Decided at {decision.n:,}: {better} is better on these queries."
    return f"{after}{lead}. Too little evidence to decide{_more(found, task, row['difference'])}."


def _more(found: Estimated, task: Task, difference: float) -> str:
    """About how many judgements more decide a difference as large as it seems."""
    more = found.more(task, abs(difference) / _WIDER) if difference else None
    if more is None or found.estimates.is_census:
        return ""
    left, judged = found.n_pairs - found.n_judged, found.n_judged
    # Between looks nothing is decided.
    look = next((n for n in deciding.LOOKS if n >= judged + max(more, 1)), judged + more)
    if look - judged >= left:
        return f"; judging all {left:,} documents that are left may not decide it"
    return f"; about {counted(look - judged, 'judgement')} more"
