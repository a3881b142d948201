"""Estimates for two runs without official judgements, updated while assessors judge."""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import NamedTuple

from pandas import DataFrame, Series

from compute.base.errors import BeirscopeError
from compute.base.words import counted
from compute.evaluate import tolerance
from compute.evaluate.estimates.intervals import FEWEST, Estimates
from compute.judgements import Choice, orders, sampling
from compute.judgements.tasks import deciding, tasks
from compute.judgements.tasks.deciding import Decision
from compute.judgements.tasks.estimated import Estimated
from compute.judgements.tasks.grades import of_levels
from compute.judgements.tasks.tasks import Plan, Task
from compute.store.store import Store
from compute.views.annotate.sample import Sample
from compute.views.annotate.tables import guideline
from compute.views.compare.before_labels import Two
from compute.views.page import Button, Heading, Link, Live, Note, Step, Steps, Widget
from compute.views.page.store_ask import opened
from compute.views.shared import catalogue
from compute.views.shared import theme as looks

MEASURE, DEPTH, FIRST = "P@10", 10, 100
"""Measure, depth and number of judgements of a task that the button creates."""
DECIDED, OPEN, KNOWN = "decided", "too little evidence", "all judged"
"""States of a verdict."""


def plan(dataset: str, a: str, b: str) -> Plan:
    """Plan a sample of documents that the two runs rank differently, with two grades."""
    grades = of_levels(())
    return Plan(
        title=f"Which of two systems is better on {dataset}?"[:120],
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


def can_decide(expected: DataFrame, largest: float) -> str:
    """State the precision expected from several numbers of judgements, from `tasks.expected`, and
    the largest difference that the two lists allow."""
    told = []
    for n, reach in expected[["n", "reach"]].itertuples(index=False):
        if reach <= tolerance.TOLERANCE:
            told.append(f"all (fewer than {n:,}) detect any difference")
            break
        found = looks.plain(reach * deciding.found_mostly(n))
        words = f"judgements detect a difference of {found} in 80% of samples"
        told.append(f"{n:,}: {found}" if told else f"{n:,} {words}")
    return (
        f"Compares the systems by {MEASURE}, the share of relevant documents in the top {DEPTH}, by"
        f" which they can differ by at most {looks.plain(largest)}. You judge documents"
        f" {_drawn(MEASURE)}: {'; '.join(told)}. A decision also needs {deciding.FEWEST} relevant"
        f" and {deciding.FEWEST} non-relevant documents among them."
    )


def _drawn(measure: str) -> str:
    """Return a clause that describes the documents that a task samples."""
    name, _, k = measure.partition("@")
    return f"in only one of the two top-{k} lists" if name == "P" else "ranked differently"


def task_of(two: Two) -> Task | None:
    """Return the newest sampled task of exactly these two runs, drawn for their difference."""
    for task in tasks.tasks(two.ask.store):
        of_them = task.dataset == two.dataset and {*task.systems} == {*two.systems}
        if of_them and deciding.tells_apart(task):
            return task
    return None


def section(two: Two) -> Steps:
    """Yield the estimate from the systems' judging task, or a button that creates the task."""
    task = task_of(two)
    if task is None:
        a, b = two.systems
        largest = 1 - two.overlaps()["shared"].mean() / DEPTH
        yield Widget("apart", {"dataset": two.dataset, "a": a, "b": b, "largest": largest})
        return
    yield Live(partial(_verdict, two, task))


def _verdict(two: Two, task: Task) -> Iterator[Step]:
    """Yield the verdict, its basis and the next step; these are redrawn after each judgement."""
    try:
        found = verdict(two, task)
    except BeirscopeError as error:
        yield Note([str(error)])
        return
    yield Heading(found.verdict)
    spent = [f"{share:.1%} at {n:,}" for n, share in deciding.LOOKS.items()]
    yield Note(
        [f"The task estimates {task.measure}, not {two.measure}, chosen above."]
        * (task.measure != two.measure)
        + [
            f"{task.measure} on these queries, from {found.n_judged:,} sampled judgements of"
            f" documents {_drawn(task.measure)}; unjudged ones are estimated, not counted as not"
            " relevant.",
            "The 95% CI holds for a single look at the results.",
            f"The decisions share an error rate of 5% ({', '.join(spent)}; alpha spending), so"
            " you may look at any time.",
        ]
    )
    yield from further(task, found.n_waiting, found.n_left, decided=found.state != OPEN)


def further(task: Task, n_waiting: int, n_left: int, *, decided: bool) -> Iterator[Step]:
    """Yield a button for the task's next document or, if nothing is decided, to draw more of the
    `n_left` documents."""
    if n_waiting:
        yield Button("Continue judging", Link("annotate", {"task": task.id}), icon="arrow_forward")
    elif not decided and (n := deciding.besides(task)):
        yield Widget("draw", {"task": task.id, "n": min(n, n_left)})
    elif not decided:
        draw = Link("annotate", {"about": task.id})
        yield Button("Draw more documents to judge", draw, icon="arrow_forward")


class Verdict(NamedTuple):
    """Estimate for two systems on these queries, from a task's judgements."""

    state: str
    """DECIDED, OPEN or KNOWN."""
    difference: float | None
    """First minus second system; None without judgements."""
    low: float | None
    """Lower bound of the 95% CI (of the deciding look, if decided), or None; `high`: upper."""
    high: float | None
    better: str | None
    """The better system; None unless it is decided or known."""
    decided_at: int | None
    """Number of judgements at the decision."""
    n_judged: int
    n_waiting: int
    """Unjudged documents left in the task; `n_left`: all that a sample may still contain."""
    n_left: int
    more: int | None
    """Approximate number of further judgements until a decision; None if unknown."""
    verdict: str
    """The estimate in one sentence."""


def of_pair(
    store: Store, dataset: str, systems: tuple[str, str], choice: Choice, task: Task | None = None
) -> Verdict | None:
    """Return the verdict on two systems from `task`, or from their own task; None without a task,
    or if `task` is None and the dataset has official judgements."""
    with opened(store, systems, choice) as ask:
        two = Two(ask, dataset, systems, systems)
        if task is None and dataset in set(ask(catalogue.unjudged, added=False)["dataset"]):
            task = task_of(two)
        return None if task is None else verdict(two, task)


def verdict(two: Two, task: Task) -> Verdict:
    """Return the estimate from a task. Raises BeirscopeError if there is no estimate."""
    sample = Sample.of(two.ask, task, task.measure)
    found, judged = sample.estimated(), sample.judged()
    decision = deciding.decision(two.ask.store, task, sample.frame, judged)
    estimates = found.estimates
    row = estimates.pairs(together=False).iloc[0]
    state = DECIDED if decision else OPEN
    if estimates.is_census and tolerance.equal(row["low"], row["high"]):
        state, decision = KNOWN, None
    sign = 1 if estimates.systems == two.systems else -1
    ends = decision[2:] if decision else (row["low"], row["high"])
    low, high = sorted(sign * float(end) for end in ends)
    shown = estimates.enough or state != OPEN
    ahead = decision.ahead if decision else int(row["difference"] < 0)
    level = state == OPEN or tolerance.equal(row["difference"], 0)
    more = _more(found, task, row["difference"]) if state == OPEN else None
    titles, n = dict(zip(two.systems, two.titles, strict=True)), len(sample.frame.queries)
    return Verdict(
        state,
        sign * float(row["difference"]) if found.n else None,
        low if shown else None,
        high if shown else None,
        None if level else estimates.systems[ahead],
        decision.n if decision else None,
        found.n_judged,
        found.n_waiting,
        left(found),
        more,
        _said(found, decision, task, [titles[one] for one in estimates.systems], more, n),
    )


def _said(
    found: Estimated,
    decision: Decision | None,
    task: Task,
    titles: Sequence[str],
    more: int | None,
    n_queries: int,
) -> str:
    """Name the leader on these queries, and state the decision."""
    estimates, after = found.estimates, f"After {counted(found.n_judged, 'judgement')}: "
    row = estimates.pairs(together=False).iloc[0]
    first = row["difference"] >= 0
    ends = (row["low"], row["high"]) if first else (-row["high"], -row["low"])
    by = f"by {looks.plain(abs(row['difference']))} of {task.measure} on these queries"
    if estimates.is_census and tolerance.equal(*ends):
        all_of_them = f"All {counted(found.n_judged, 'document')} {_drawn(task.measure)} are judged"
        same = f"{titles[0]} and {titles[1]} have the same {task.measure} on these queries"
        none = tolerance.equal(row["difference"], 0)
        better = f"{titles[not first]} is better {by}{_in_documents(task, row, n_queries)}"
        return f"{all_of_them}: {same if none else better}."
    lead = f"{titles[not first]} leads {by}"
    if estimates.enough:
        lead += f" (95% CI {looks.between(*ends)})"
    elif estimates.has_errors:
        lead += f" (standard error {looks.plain(row['error'])})"
    if decision:
        low, high = sorted((abs(decision.low), abs(decision.high)))
        return (
            f"{after}{lead}. Decided at {decision.n:,}: {titles[decision.ahead]} is better on these"
            f" queries, by {looks.between(low, high)} (a CI that allows for repeated looks)."
        )
    if not found.n:
        return f"No judgements yet; a decision needs at least {min(deciding.LOOKS)}."
    shown = estimates.enough or estimates.has_errors
    evidence = f"{after}{lead}. Too little" if shown else f"{after}too little"
    return f"{evidence} evidence to decide{_lacking(estimates, task)}{_further(found, more)}."


def _in_documents(task: Task, row: Series, n_queries: int) -> str:
    """Return a clause with a P@k difference in documents; empty for other measures."""
    name, _, k = task.measure.partition("@")
    if name != "P":
        return ""
    places = int(k) * n_queries
    more = counted(round(abs(row["difference"]) * places), "more relevant document")
    return f": {more} in {places:,} places"


def _further(found: Estimated, more: int | None) -> str:
    """Return a clause on the number of judgements at which a decision is expected."""
    if not more:
        return ""
    if more == left(found):
        return f"; all {counted(more, 'remaining document')} may be needed"
    how = "likely" if found.estimates.enough else "possible"
    return f"; a decision is {how} at {found.n + more:,} judgements"


def _lacking(estimates: Estimates, task: Task) -> str:
    """Return a clause on how many more relevant and non-relevant documents are needed."""
    has = estimates.n_relevant, estimates.n_not_relevant
    if min(has) >= (fewest := _fewest(task)):
        return ""
    needs = "a decision" if task.measure == deciding.MEASURE else "a 95% CI"
    found = f"{has[0]:,} relevant and {has[1]:,} non-relevant documents so far"
    return f": {found}; {needs} needs {fewest} of each"


def _fewest(task: Task) -> int:
    return deciding.FEWEST if task.measure == deciding.MEASURE else FEWEST


def left(found: Estimated) -> int:
    """Return the number of unjudged documents that can still be sampled."""
    return int((found.growth.size > 0).sum()) - found.n


def _more(found: Estimated, task: Task, difference: float) -> int | None:
    """Return the expected judgements until a decision, or those left; None before the first."""
    if not found.n:
        return None
    n_left, has, needed = left(found), found.estimates, _fewest(task)
    rarer = min(has.n_relevant, has.n_not_relevant)
    # The rarer of relevant and non-relevant documents is assumed to keep its share.
    least = found.n if rarer >= needed else found.n * needed / max(rarer, 1)
    for n in deciding.LOOKS:
        if not max(least, found.n + 1) <= n < found.n + n_left:
            continue
        if not has.enough:
            return n - found.n
        wanted = found.more(task, abs(difference) / deciding.wider(n)) if difference else None
        if wanted is not None and wanted <= n - found.n:
            return n - found.n
    return n_left
