"""Text and tables about tasks: progress, settings, and expected precision."""

from collections.abc import Hashable, Mapping

from pandas import DataFrame

from compute.base.words import counted
from compute.evaluate.estimates.intervals import FEWEST
from compute.evaluate.tolerance import TOLERANCE
from compute.judgements import orders, sampling
from compute.judgements.tasks import auditing, deciding, tasks
from compute.judgements.tasks.grades import Grades
from compute.judgements.tasks.tasks import Plan, Task
from compute.views.shared.theme import plain

ORDERS = {
    "impact": "most influential (MTC)",
    "fusion": "highest across systems (fusion)",
    "move-to-front": "adaptive (move-to-front)",
    "depth": "by best rank",
    "random": "random",
    "sampled": "random sample, for estimation",
}
"""Labels of `compute.judgements.orders` in the form that creates tasks."""
GOALS = {
    "scores": "scores",
    "differences": "differences from a baseline",
    "order": "the full ranking",
    "audit": "errors of official judgements (audit)",
}
"""Labels of the goals of `compute.judgements.sampling` in the form that creates tasks."""


def without_texts(runs: DataFrame) -> list[str]:
    """Return the datasets stored without texts, from rows of `select.judgeable`."""
    return list(dict.fromkeys(runs.loc[~runs["with_texts"].astype(bool), "dataset"]))


def order(name: str) -> str:
    """Return the label of an order."""
    return ORDERS.get(name, name)


def guideline(grades: Grades) -> str:
    """Return a default guideline in Markdown."""
    lowest, highest = grades[0][1], grades[-1][1]
    between = "".join(f"- **{name}**: it partly helps.\n" for _, name in grades[-2:0:-1])
    return (
        "Read the query, then the document. Judge by what the query asks for, not by its"
        " wording.\n\n"
        f"- **{highest}**: a person asking this would want to see the document.\n{between}"
        f"- **{lowest}**: it shares words or a topic, but does not help.\n\n"
        "Judge each document by itself. If in doubt between two grades, press U (unsure), then the"
        " lower grade.\n"
    )


def progress(task: Task, dataset: str, row: Mapping[Hashable, int]) -> str:
    """Describe a task in a line for assessors, who judge blind: it names no system or order. `row`,
    from `queue.overview`, has wanted, given, people, held (pairs being judged)."""
    made = "nothing judged yet"
    if row["wanted"] != task.n_pairs:
        made += f" of {row['wanted']:,} judgements"
    if row["given"]:
        people = counted(row["people"], "assessor")
        made = f"{row['given']:,} of {row['wanted']:,} judgements made by {people}"
    now = f", {row['held']:,} being judged now" if row["held"] else ""
    documents = counted(task.n_pairs, "document")
    return f"{dataset} · {documents}, {made}{now} · {task.created[:10]}, {task.person}"


def people(rows: DataFrame) -> DataFrame:
    """Return a table of each assessor's judgements, from `queue.people`."""
    seconds = [f"{one:,.1f} s" if one == one else "–" for one in rows["seconds"]]
    return DataFrame(
        {
            "Assessor": rows["person"],
            "Judged": rows["judged"],
            "Skipped": rows["skipped"],
            "Each (median)": seconds,
            "Last answer (UTC)": [time[:16].replace("T", " ") for time in rows["last"]],
        }
    )


_DRAWN = "Further documents are drawn from those still unjudged; estimates combine all draws."
_BEFOREHAND = "Choose their number before you look at the estimates."


def more(task: Task) -> tuple[str, ...]:
    """Say how to extend a sample, for the creator of a task. If two systems are compared, the
    numbers of judgements are fixed, so nothing needs to be chosen beforehand."""
    return (_DRAWN,) if deciding.tells_apart(task) else (_DRAWN, _BEFOREHAND)


SAMPLE_NEEDS = (
    f"A 95% CI needs {FEWEST} relevant and {FEWEST} non-relevant documents (for nDCG, also one"
    f" relevant document per query): {2 * FEWEST} judgements, and more if either kind is rare. A"
    f" decision between two systems by {deciding.MEASURE} needs {deciding.FEWEST} of each."
)

_WIDEST = {
    "scores": "of a system",
    "differences": "of a difference from the baseline",
    "order": "of a difference between two systems",
}


def forecast(
    plan: Plan, tops: orders.Tops, judgements: DataFrame, machine: DataFrame | None = None
) -> str:
    """State the expected precision of a planned sample or audit; arguments as for `tasks.make`."""
    tasks.check(plan)
    if plan.goal != sampling.AUDIT:
        rows = tasks.expected(plan, tops, judgements)
        return expected(plan.measure, plan.goal, rows, plan.grades)
    frame, official = tasks.frame_of(plan, tops), judgements[judgements["official"]]
    _, unjudged = auditing.mixed_in(frame, judgements, plan.n_pairs)
    strata = auditing.strata(frame, official, plan.n_pairs - unjudged, machine)
    names = dict(plan.grades)
    told = [
        f"{names.get(row['grade'], row['grade'])}: {row['keys']:,} of {row['n_labels']:,}"
        f" labels, ±{row['reach']:.1%} ({row['needed']:,} for ±4%)"
        for row in strata.by_grade().to_dict("records")
    ]
    return (
        "Expected 95% margin of error in four of five audits, if 5% of a grade's labels are graded"
        f" differently: {'; '.join(told)}. Also includes {counted(unjudged, 'unjudged document')}."
    )


def expected(measure: str, goal: str, rows: DataFrame, grades: Grades) -> str:
    """State the expected precision of samples; `rows` are from `samples.expected`."""
    if measure.startswith("nDCG") and sum(relevance > 0 for relevance, _ in grades) > 1:
        return (
            f"With more than two grades the margin of error for {measure} cannot be predicted; it"
            f" is shown once there are enough judgements. {SAMPLE_NEEDS}"
        )
    told = []
    for n, reach in zip(rows["n"], rows["reach"], strict=True):
        if reach <= TOLERANCE:
            told.append(f"once all are judged ({n:,} or fewer): exact")
            break
        told.append(f"{counted(n, 'judgement')}{_reached(n, reach)}")
    error = f"Expected 95% margin of error for {measure} {_WIDEST[goal]}"
    return f"{error}: {'; '.join(told)}. {SAMPLE_NEEDS}"


def _reached(n: int, reach: float) -> str:
    """Format an interval's half-width, or say that the judgements are too few for one."""
    return f" ±{plain(reach)}" if n >= 2 * FEWEST else ": too few for an interval"


def _sampled(task: Task, titles: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return the fact on the target of a sample; none for other tasks."""
    if not task.measure:
        return []
    baseline = f" ({titles.get(task.baseline, task.baseline)})" if task.baseline else ""
    return [("Estimated", f"{task.measure}; drawn for {GOALS[task.goal]}{baseline}")]


def facts(task: Task, titles: Mapping[str, str]) -> DataFrame:
    """Return a task's settings for its creator, a row each. `titles`: titles of systems and
    datasets, by name; names that differ from their titles are added."""
    names = [task.dataset, *task.systems]
    chosen = "judged and unjudged" if task.goal == sampling.AUDIT else "unjudged"
    dataset, *systems = called = [titles.get(name, name) for name in names]
    by = f" by {task.person}" if task.person else ""
    rows = [
        ("Dataset", dataset),
        ("Systems", ", ".join(systems)),
        *[("IDs (CLI)", ", ".join(names))] * (called != names),
        ("Chosen from", f"{chosen} documents in their top {task.depth} for each query"),
        ("Documents", f"{task.n_pairs:,}; {order(task.order)} (seed {task.seed})"),
        *_sampled(task, titles),
        ("Grades", "; ".join(f"{relevance} {name}" for relevance, name in task.grades)),
        ("Assessors", ", ".join(task.annotators) or "anyone"),
        ("Double-judged share", f"{task.double_share:.0%} of the documents"),
        ("Created", f"{task.created[:16].replace('T', ' ')} UTC{by}"),
        ("Guideline", f"version {task.guideline_version}"),
    ]
    return DataFrame(rows, columns=["Field", "Value"])
