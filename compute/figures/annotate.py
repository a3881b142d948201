"""Annotation in words and tables: how far a task is, what it was made of."""

from collections.abc import Hashable, Mapping

from pandas import DataFrame

from compute.annotation.tasks import Task


def progress(task: Task, dataset: str, row: Mapping[Hashable, int]) -> str:
    """One line of a task: wanted, given, people, held of `row`. Names no system and no order."""
    people = "nobody yet" if not row["people"] else _number(row["people"], "person", "people")
    now = f", {row['held']:,} being judged now" if row["held"] else ""
    return (
        f"{dataset} · {task.n_pairs:,} documents, {row['given']:,} of {row['wanted']:,} judgements"
        f" made by {people}{now} · {task.created[:10]}, {task.person}"
    )


def facts(task: Task) -> DataFrame:
    """What a task was made of, for whoever made it: a row per fact."""
    rows = [
        ("Dataset", task.dataset),
        ("Systems", ", ".join(task.systems)),
        ("Pool", f"what is unjudged in their top {task.depth}"),
        ("Pairs", f"{task.n_pairs:,}, in the order {task.order} (seed {task.seed})"),
        ("Grades", "; ".join(f"{relevance} {name}" for relevance, name in task.grades)),
        ("Annotators", ", ".join(task.annotators) or "anybody"),
        ("Judged by two", f"{task.double_share:.0%} of the pairs"),
        ("Made", f"{task.created[:16].replace('T', ' ')} UTC by {task.person}"),
        ("Guideline", f"version {task.guideline_version}"),
    ]
    return DataFrame(rows, columns=["What", "Value"])


def _number(n: int, one: str, more: str) -> str:
    return f"{n:,} {one if n == 1 else more}"
