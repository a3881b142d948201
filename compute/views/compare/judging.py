"""Estimates for two runs without official judgements, updated while assessors judge."""

from collections.abc import Iterator
from dataclasses import dataclass
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
        [
            f"The task estimates {task.measure}"
            + f", not {two.measure}, chosen above" * (task.measure != two.measure)
            + "; unjudged documents are estimated, not counted as not relevant.",
            f"The estimate is of these queries, from {found.n_judged:,} sampled judgements of"
            f" documents {_drawn(task.measure)}."
            + " A difference of .1 is one relevant document per top 10 on average."
            * (task.measure == MEASURE),
            "The 95% CI holds for a single look at the results.",
            f"The decisions share an error rate of 5% ({', '.join(spent)}; alpha spending), so"
            " you may look at any time.",
        ]
    )
    yield from further(task, found.n_waiting, found.n_left, decided=found.state != OPEN)


def further(task: Task, n_waiting: int, n_left: int, *, decided: bool) -> Iterator[Step]:
    """Yield a button that opens the task's next document if any wait. Else, unless the task is
    decided or no document is left, yield one that draws more of the `n_left` documents into it, up
    to its next look; if it has no next look, yield a link to draw them on Judge."""
    if n_waiting:
        yield Button("Continue judging", Link("annotate", {"task": task.id}), icon="arrow_forward")
    elif decided or not n_left:
        return
    elif n := deciding.besides(task):
        yield Widget("draw", {"task": task.id, "n": min(n, n_left)})
    else:
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
    if task is None and all(one.dataset != dataset for one in tasks.tasks(store)):
        return None  # opening a version takes longer
    with opened(store, systems, choice) as ask:
        two = Two(ask, dataset, systems, systems)
        if task is None and dataset in set(ask(catalogue.unjudged, added=False)["dataset"]):
            task = task_of(two)
        return None if task is None else verdict(two, task)


def verdict(two: Two, task: Task) -> Verdict:
    """Return the estimate from a task. Raises BeirscopeError if there is no estimate."""
    sample = Sample.of(two.ask, task, task.measure)
    found, judged = sample.estimated(), sample.judged()
    row = found.estimates.pairs(together=False).iloc[0].copy()
    decision = deciding.decision(two.ask.store, task, sample.frame, judged)
    if possible := deciding.possible(task.measure, sample.frame, judged):
        row["low"], row["high"] = possible.low, possible.high
    names = found.estimates.systems
    titles = dict(zip(two.systems, two.titles, strict=True))
    n_queries = len(sample.frame.queries)
    of = _Of(task, found, row, possible, tuple(titles[one] for one in names), n_queries)
    state = KNOWN if of.is_known() else DECIDED if decision else OPEN
    sign = 1 if names == two.systems else -1
    ends = decision[2:] if decision and state == DECIDED else (row["low"], row["high"])
    low, high = sorted(sign * float(end) for end in ends)
    shown = found.estimates.enough or state != OPEN or possible is not None
    better = of.better(state, decision)
    more = _more(found, task, row["difference"]) if state == OPEN else None
    return Verdict(
        state,
        sign * float(row["difference"]) if found.n else None,
        low if shown else None,
        high if shown else None,
        None if better is None else names[better],
        decision.n if decision and state == DECIDED else None,
        found.n_judged,
        found.n_waiting,
        left(found),
        more,
        of.known() if state == KNOWN else of.estimated(decision, more),
    )


@dataclass(frozen=True)
class _Of:
    """The words of a verdict."""

    task: Task
    found: Estimated
    row: Series
    """The pair's difference, first minus second, with error, low and high."""
    possible: deciding.Possible | None
    titles: tuple[str, ...]
    n_queries: int

    def is_known(self) -> bool:
        """Return whether the result is certain, whatever the missing grades are."""
        if self.possible:
            return self.possible.is_clear
        is_census = self.found.estimates.is_census
        return is_census and bool(tolerance.equal(self.row["low"], self.row["high"]))

    def better(self, state: str, decision: Decision | None) -> int | None:
        """Return which system is better, 0 or 1; None if that is unknown or neither is."""
        if state == DECIDED and decision:
            return decision.ahead
        middle = self.row["low"] + self.row["high"]
        return None if state == OPEN or tolerance.equal(middle, 0) else int(middle < 0)

    def known(self) -> str:
        """Name the better system by the judged documents."""
        of, n = self.task.measure, self.possible.n if self.possible else 0
        judged = self.found.n_judged
        some = f"{judged:,} of " if n else "All "
        all_of_them = f"{some}{counted(judged + n, 'document')} {_drawn(of)} are judged"
        ahead = self.better(KNOWN, None)
        if ahead is None:
            same = f"{self.titles[0]} and {self.titles[1]} have the same {of} on these queries"
            return f"{all_of_them}: {same}."
        low, high = sorted((abs(self.row["low"]), abs(self.row["high"])))
        by = looks.between(low, high) if n else looks.plain(low)
        more = "" if n else self._in_documents()
        return (
            f"{all_of_them}: {self.titles[ahead]} is better by {by} of {of} on these queries{more}."
        )

    def estimated(self, decision: Decision | None, more: int | None) -> str:
        """Name the leader on these queries, and state the decision."""
        estimates, n = self.found.estimates, self.found.n_judged
        after, lead = f"After {counted(n, 'judgement')}: ", self._lead()
        if decision:
            low, high = sorted((abs(decision.low), abs(decision.high)))
            return (
                f"{after}{lead}. Decided at {decision.n:,}: {self.titles[decision.ahead]} is better"
                f" on these queries, by {looks.between(low, high)} (95% CI adjusted for repeated"
                " looks)."
            )
        if not self.found.n:
            return f"No judgements yet; a decision needs at least {min(deciding.LOOKS)}."
        shown = estimates.enough or estimates.has_errors
        evidence = f"{after}{lead}. Too little" if shown else f"{after}too little"
        lacking = "" if self.possible else _lacking(estimates, self.task)
        return f"{evidence} evidence to decide{lacking}{_further(self.found, more)}."

    def _lead(self) -> str:
        """Return a clause on the leader and its lead, with an interval or a standard error."""
        row, estimates = self.row, self.found.estimates
        first = row["difference"] >= 0
        ends = (row["low"], row["high"]) if first else (-row["high"], -row["low"])
        by = f"by {looks.plain(abs(row['difference']))} of {self.task.measure} on these queries"
        lead = f"{self.titles[not first]} leads {by}"
        if self.possible:
            unjudged = counted(self.possible.n, "unjudged document")
            return f"{lead} ({looks.between(*ends)}, depending on the {unjudged})"
        if estimates.enough:
            return f"{lead} (95% CI {looks.between(*ends)})"
        return f"{lead} (standard error {looks.plain(row['error'])})" * estimates.has_errors or lead

    def _in_documents(self) -> str:
        """Return a clause with a P@k difference in documents; empty for other measures."""
        name, _, k = self.task.measure.partition("@")
        if name != "P":
            return ""
        places = int(k) * self.n_queries
        more = counted(round(abs(self.row["difference"]) * places), "more relevant document")
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
