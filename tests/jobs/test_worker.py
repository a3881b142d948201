"""Workers that die, stall or are told to stop: nothing is lost, redone, half-done or left running.

`BEIRSCOPE_JOB_KILLS` says how often a worker is killed (1; `make soak` 10).
"""

import os
import random
import re
import signal
import subprocess
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import update

from compute import jobs
from compute.base.errors import Unavailable
from compute.base.settings import Settings
from compute.datasets import Dataset
from compute.intake import imports
from compute.jobs import queue, tables, workers
from compute.jobs.matrix import known_datasets
from compute.recompute import run
from compute.store import state
from compute.store.loading import Bench
from compute.store.store import Store
from compute.systems import system
from tests.support.corpora import write_many
from tests.support.processes.jobbing import (
    HASTY,
    ended,
    say,
    session,
    stop,
    tiny_home,
    until,
    worker,
)
from tests.support.processes.looking import NEWER

KILLS = int(os.environ.get("BEIRSCOPE_JOB_KILLS", "1"))
PLACES = [
    ("during", "index"),
    ("after", "search"),
    ("at any time", ""),
    ("before", "load"),
    ("after", "index"),
    ("during", "search"),
    ("before", "publish"),
    ("after", "publish"),
    ("after", "load"),
    ("at any time", ""),
]
DATASET = "many"
DOCUMENTS = 3000
"""Enough for a step to be met at work."""
TASKS = 20 if KILLS > 3 else 4
"""Those that two workers share."""


def step_of(settings: Settings, job: str) -> str:
    found = jobs.job(settings, job)
    return found.progress.step if found and found.progress else ""


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """A home with one collection; tests share it and recompute what is there."""
    folder = tmp_path_factory.mktemp("jobs")
    settings = Settings(home=folder / "home", threads=1, latency_queries=0)
    store = Store(settings, shipped=folder / "nothing")
    source = write_many(folder / DATASET, DOCUMENTS)
    imports.import_dataset(Bench(store, settings), DATASET, path=source)
    return store


@pytest.fixture(scope="module")
def undisturbed(store: Store) -> run.Outcome:
    """A run that nobody disturbs, in this process."""
    row = known_datasets(store.parts())[DATASET]
    return run.run(Bench(store, store.settings), system("bm25"), row)


def clear(store: Store) -> None:
    """Take the caches away, so that there is something to index."""
    for folder in (store.home / "caches").glob("*"):
        if folder.is_dir():
            folder.rename(folder.with_name(f"{folder.name[:60]}{time.monotonic_ns()}.gone"))


@pytest.mark.long
@pytest.mark.parametrize("kill", range(KILLS))
def test_a_killed_worker_loses_nothing_and_nothing_is_done_twice(
    store: Store, undisturbed: run.Outcome, kill: int
) -> None:
    settings = store.settings
    clear(store)
    asked = jobs.start(store, "run", ["bm25"], [DATASET], again=True)
    when, step = PLACES[kill % len(PLACES)]
    words = ("-m", "tests.support.processes.dying_worker", when, step)
    with worker(settings, *words) as dying:
        if when == "at any time":
            until(lambda: step_of(settings, asked.job), "the first step")
            # A delay is what is tested here: any moment must do.
            time.sleep(random.Random(kill).uniform(0, 3))
            dying.kill()
        assert until(dying.poll, "the end of the worker") == -signal.SIGKILL
        until(lambda: not session(dying.pid), "the end of what the worker had started")
    with worker(settings):
        assert ended(settings, asked.job).state == "done"
    scores, hits = store.part("scores", DATASET, "bm25"), store.part("hits", DATASET, "bm25")
    assert scores is not None and hits is not None
    assert hits.job == f"{asked.job}.0000"
    assert run.read(scores).equals(run.read(undisturbed.scores))
    assert run.read(hits).equals(run.read(undisturbed.hits))
    lines = [line[24:].split(",")[0] for line in jobs.log_tail(settings, hits.job, 999).split("\n")]
    counts = Counter(" ".join(line.split()[:2]) for line in lines)
    steps = ("load:", "index:", "search:", "publish:")
    assert all(counts[f"{step} done"] <= 1 for step in steps)
    # Only the step at which the worker died begins a second time.
    assert sorted(counts[f"{step} begins"] for step in steps)[:3] == [1, 1, 1]


@pytest.mark.long
def test_several_workers_are_started_and_stopped_together(tmp_path: Path) -> None:
    settings = tiny_home(tmp_path).settings
    with worker(settings, "-m", "compute", "worker", "--concurrency", "2") as both:
        found = until(lambda: _two(settings), "two workers")
        assert {one.process for one in found} <= session(both.pid)
    assert both.returncode == 0
    until(lambda: not session(both.pid), "the end of both")
    assert jobs.workers_alive(settings) == []


@pytest.mark.long
def test_a_worker_that_is_told_to_stop_again_and_again_ends(tmp_path: Path) -> None:
    """A signal comes to the whole group of processes, and by the leash: twice at once."""
    settings = tiny_home(tmp_path).settings
    with worker(settings) as one:
        until(lambda: jobs.workers_alive(settings), "the worker")
        for _ in range(2_000):
            one.send_signal(signal.SIGTERM)
        assert one.wait(60) == 0


@pytest.mark.long
def test_a_worker_leaves_a_state_that_a_newer_beirscope_has_moved_on(tmp_path: Path) -> None:
    settings = tiny_home(tmp_path).settings
    with worker(settings) as one:
        until(lambda: jobs.workers_alive(settings), "the worker")
        state.open_state(settings, NEWER).dispose()
        assert one.wait(60) == 1
    assert jobs.workers_alive(settings) == []


def _two(settings: Settings) -> list[jobs.Worker]:
    found = jobs.workers_alive(settings)
    return found if len(found) == 2 else []


@pytest.mark.long
def test_a_worker_that_is_silent_loses_its_jobs_and_ends(tmp_path: Path) -> None:
    """Stopped, not killed: its lock is held, so only the heartbeat tells."""
    store = tiny_home(tmp_path)
    settings = store.settings
    asked = jobs.start(store, "run", ["bm25"], ["tiny"])
    with worker(settings, *HASTY, "5") as silent:
        until(lambda: step_of(settings, asked.job) == "index", "the index step")
        stop(silent, settings)
        start = time.monotonic()
        with worker(settings, *HASTY, "5") as other:
            done = ended(settings, asked.job)
            say(f"taken over and done {time.monotonic() - start:.1f} s after the last sign")
            assert done.state == "done"
            silent.send_signal(signal.SIGCONT)
            assert silent.wait(60) == 1
            until(lambda: not session(silent.pid), "the end of its hands")
            assert other.poll() is None


def test_a_worker_that_a_busy_machine_starves_does_not_lose_its_jobs_to_itself(
    tmp_path: Path,
) -> None:
    """Its heartbeat is as old as that of a dead one when it looks for the dead."""
    store = tiny_home(tmp_path)
    jobs.start(store, "run", ["bm25"], ["tiny"])
    workers.register(store.settings, "starved", os.getpid())
    old = tables.workers.c.heartbeat - int(3000 * workers.SILENCE)
    tables.change(store.settings, update(tables.workers).values(heartbeat=old))
    workers.declare_dead(store.settings, "starved")
    assert workers.beat(store.settings, "starved")
    tables.change(store.settings, update(tables.workers).values(heartbeat=old))
    workers.declare_dead(store.settings, "another")
    assert not workers.beat(store.settings, "starved")


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "step", "unit"),
    [
        ("bm25", "index", ""),
        ("bm25", "search", ""),
        pytest.param("minilm", "index", "documents", marks=pytest.mark.soak),
    ],
    ids=["indexing", "searching", "encoding"],
)
def test_a_cancelled_step_is_gone_and_nothing_is_published(
    store: Store, name: str, step: str, unit: str
) -> None:
    settings = store.settings
    clear(store)
    before = [part.id for part in store.parts()]
    asked = jobs.start(store, "run", [name], [DATASET], again=True)
    with worker(settings) as busy:
        until(
            lambda: len(session(busy.pid)) > 1 and _reached(settings, asked.job, step, unit), step
        )
        start = time.monotonic()
        jobs.cancel(settings, asked.job)
        until(lambda: session(busy.pid) == {busy.pid}, "the end of the step")
        seconds = time.monotonic() - start
        say(f"{name}, {step}: gone after {seconds:.1f} s")
        assert ended(settings, asked.job).state == "cancelled"
        assert [part.id for part in store.parts()] == before
        assert not list((store.home / "drafts").glob("*"))
        assert store.tidy() == []


def _reached(settings: Settings, job: str, step: str, unit: str) -> bool:
    found = jobs.job(settings, job)
    progress = found.progress if found else None
    return progress is not None and progress.step == step and unit in (progress.unit, "")


@pytest.mark.long
@pytest.mark.parametrize("kind", ["score", "run"] if KILLS > 3 else ["score"])
def test_workers_on_postgresql_share_the_tasks_and_do_none_twice(
    tmp_path: Path, postgres: str, kind: str
) -> None:
    store = tiny_home(tmp_path, state=postgres)
    settings, bench = store.settings, Bench(store, store.settings)
    tiny = known_datasets(store.parts())["tiny"]
    systems = [f"bm25(b={number / 20})" for number in range(TASKS)]
    if kind == "score":
        systems = [_imported(bench, tmp_path / f"run{number}", tiny) for number in range(TASKS)]
    asked = jobs.start(store, kind, systems, ["tiny"], again=True)
    assert len(asked.targets) == TASKS
    start = time.monotonic()
    with worker(settings), worker(settings):
        for number in range(TASKS):
            task = f"{asked.job}.{number:04}"
            until(lambda task=task: jobs.job(settings, task), "the task is queued")
            ended(settings, task)
        found = ended(settings, asked.job)
        say(f"{kind}: {TASKS} tasks on two workers in {time.monotonic() - start:.1f} s")
    assert (found.state, found.summary) == ("done", f"{TASKS} of {TASKS} done")
    logs = [jobs.log_tail(settings, task.id, 99) for task in jobs.tasks(settings, asked.job)]
    takers = Counter(re.findall(r"(worker-\w+) takes it", "\n".join(logs)))
    assert (len(takers), takers.total()) == (2, TASKS)
    for name, dataset in asked.targets:
        scores, hits = store.part("scores", dataset, name), store.part("hits", dataset, name)
        assert scores is not None and hits is not None
        assert scores.job in {task.id for task in jobs.tasks(settings, asked.job)}
        alone = run.score(bench, run.stored_dataset(store, tiny), hits, again=True)
        assert run.read(scores).equals(run.read(alone.scores))


def _imported(bench: Bench, file: Path, dataset: Dataset) -> str:
    file.write_text(f"q1 Q0 d1 1 2.0 {file.name}\nq2 Q0 d3 1 1.0 {file.name}\n", "utf-8")
    return imports.import_run(bench, file, dataset).hits.system


@pytest.mark.long
def test_jobs_outlive_a_database_that_goes_away_and_comes_back(
    tmp_path: Path, postgres: str, postgres_server: Path
) -> None:
    store = tiny_home(tmp_path, state=postgres)
    settings = store.settings
    asked = jobs.start(store, "run", ["bm25", "bm25(b=0.9)"], ["tiny"])
    with worker(settings, *HASTY, "20"):
        until(lambda: step_of(settings, asked.job) == "search", "the search")
        control(postgres_server, "-m", "immediate", "stop")
        with pytest.raises(Unavailable, match="cannot be used"):
            jobs.listed(settings)
        first = jobs.log_file(settings, f"{asked.job}.0000")
        # Whatever the step comes to meanwhile, nobody can be told.
        until(lambda: first.read_text("utf-8").count("search: ") > 1, "the end of the search")
        options = f"-k {postgres_server} -c listen_addresses='' -c fsync=off"
        log = str(postgres_server / "log")
        control(postgres_server, "-l", log, "-o", options, "-w", "start")
        found = ended(settings, asked.job)
        if found.state == "failed":
            assert "Traceback" not in found.error
            found = ended(settings, jobs.retry(store, asked.job).job)
    assert found.state == "done"
    assert {part.system for part in store.parts("scores")} == {"bm25", "bm25(b=0.9)"}


def control(server: Path, *words: str) -> None:
    """Stop or start the tests' own PostgreSQL server."""
    command = ["pg_ctl", "-D", str(server / "data"), *words]
    user = "postgres" if os.geteuid() == 0 else None
    subprocess.run(command, check=True, user=user, cwd=server, stdout=subprocess.DEVNULL)


@pytest.mark.long
def test_weights_are_loaded_where_they_are_kept_apart_and_who_has_nothing_to_do_ends(
    tmp_path: Path,
) -> None:
    store = tiny_home(tmp_path)
    (store.home / "settings.toml").write_text("weights_apart = true\n", "utf-8")
    settings = replace(store.settings, weights_apart=True)
    asked = jobs.start(store, "run", ["minilm", "bm25"], ["tiny"])

    def states() -> dict[str, str]:
        return {task.title: task.state for task in jobs.tasks(settings, asked.job)}

    with worker(settings):
        until(lambda: states().get("bm25 on tiny") == "done", "the run without weights")
        assert states()["minilm on tiny"] == "queued"
        [lacking] = jobs.workers_lacking(settings)
        assert lacking == (
            "no worker with --weights is running: python -m compute worker --weights starts one"
        )
        with worker(settings, "-c", _IDLE) as apart:
            assert ended(settings, asked.job).state == "done"
            assert until(lambda: apart.poll() is not None, "its end by itself")
            assert apart.returncode == 0


_IDLE = """
from compute.base import settings
from compute.jobs import worker
worker.work(settings.load(), weights=True, idle=4)
"""


def test_what_loads_weights_is_told_by_the_system_and_what_it_is_made_of() -> None:
    def apart(kind: str, name: str) -> bool:
        return queue.queues_of(Settings(weights_apart=True), kind, name)[0] == "tasks-weights"

    assert [apart("run", name) for name in ("bm25", "minilm", "rrf(bm25,minilm)")] == [0, 1, 1]
    # Imported runs are no systems of the catalogue.
    assert [apart("run", name) for name in ("rrf(T5R1,run1)", "rrf(T5R1,minilm)")] == [0, 1]
    assert apart("run", "bm25+ce-minilm") and apart("train", "genq[scifact]")
    assert not apart("score", "minilm") and not apart("overlap", "")
    assert queue.queues_of(Settings(), "run", "minilm") == ("tasks", "shards")
