"""The completed share of a job."""

from compute import jobs
from compute.jobs import Job, Progress

TARGETS = (("bm25", "one"), ("bm25", "two"))


def _task(state: str, progress: Progress | None = None) -> Job:
    return Job("t", "run", state, "bm25 on one", 0.0, progress=progress)


def _at(step: str, done: int, total: int) -> Job:
    return _task("running", Progress(step, done, total, "documents", None))


def test_the_share_does_not_fall_when_a_step_begins() -> None:
    """load, index, search, publish: a quarter each of one task, an eighth of two."""
    job = Job("j", "run", "running", "bm25 on 2 datasets", 0.0, targets=TARGETS)
    ways = [
        [],
        [_task("running"), _task("queued")],
        [_at("load", 50, 100)],
        [_at("load", 100, 100)],
        [_at("index", 0, 0)],
        [_at("index", 10, 10)],
        [_at("search", 0, 300), _at("load", 100, 100)],
        [_task("done"), _at("publish", 3, 2)],
        [_task("done"), _task("failed")],
    ]
    shares = [jobs.share(job, tasks) for tasks in ways]
    assert shares == [0, 0, 1 / 16, 1 / 8, 1 / 8, 1 / 4, 3 / 8, 1, 1]


def test_a_step_of_another_version_counts_nothing() -> None:
    job = Job("j", "run", "running", "bm25", 0.0, targets=TARGETS[:1])
    assert jobs.share(job, [_at("a step of a newer version", 5, 10)]) == 0
