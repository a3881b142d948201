"""The commands about jobs: jobs, show jobs, worker."""

import json
import math
from argparse import Namespace
from dataclasses import asdict

import pandas as pd
from pandas import DataFrame

from compute import jobs
from compute.base import printable, settings
from compute.base.errors import WrongInput
from compute.commands.choices import KINDS
from compute.commands.opening import open_bench
from compute.jobs import worker
from compute.store.loading import Bench


def job(arguments: Namespace) -> int:
    """Start, list, cancel or retry jobs."""
    bench = open_bench()
    if arguments.what == "list":
        return printable.show(jobs_shown(bench, arguments), arguments.json)
    if arguments.what in ("cancel", "retry") and not arguments.names:
        raise WrongInput(
            f"name a job to {arguments.what}: python -m compute jobs list has their ids"
        )
    if arguments.what == "cancel":
        for name in arguments.names:
            jobs.cancel(bench.settings, name)
            printable.say(f"{name} is cancelled")
        return 0
    if arguments.what == "retry":
        started = [jobs.retry(bench.store, name) for name in arguments.names]
    else:
        started = [_start(bench, arguments)]
    if arguments.json:
        printable.say_text(json.dumps([asdict(one) for one in started], indent=1))
        return 0
    printable.say(*(one.sentence for one in started))
    if any(one.job for one in started):
        printable.say(*jobs.workers_lacking(bench.settings))
    return 0


def _start(bench: Bench, arguments: Namespace) -> jobs.Started:
    if len(arguments.names) != 1:
        raise WrongInput(f"name one kind of job to start: {', '.join(KINDS)}")
    return jobs.start(
        bench.store,
        arguments.names[0],
        arguments.systems,
        arguments.datasets,
        again=arguments.again,
        drop_equal_ids=arguments.drop_equal_ids,
    )


def work(arguments: Namespace) -> int:
    """Take jobs from the queue and do them, until stopped."""
    now, idle = settings.load(), arguments.idle
    if arguments.weights and not now.weights_apart:
        raise WrongInput("--weights is for where the setting weights_apart is true: set it first")
    if arguments.concurrency == 1:
        worker.work(now, weights=arguments.weights, idle=60.0 * idle if idle else math.inf)
    options = ["--weights"] * arguments.weights + (["--idle", str(idle)] if idle else [])
    return worker.several(arguments.concurrency, options)


def jobs_shown(bench: Bench, _: Namespace) -> DataFrame:
    """The last 50 jobs, a row each."""
    rows = [
        {
            "job": job.id,
            "state": job.state,
            "what": f"{job.kind}: {job.title}",
            "tasks": job.summary,
            "now": _now(job.progress),
            "created": pd.Timestamp(job.created, unit="s", tz="UTC").isoformat(),
            "error": job.error,
        }
        for job in jobs.listed(bench.settings, 50)
    ]
    return DataFrame(rows)


def _now(progress: jobs.Progress | None) -> str:
    if progress is None:
        return ""
    if not progress.unit:
        return progress.step
    if not (progress.done or progress.total):
        return f"{progress.step}: {progress.unit}"
    of = f" of {progress.total:,}" if progress.total else ""
    left = progress.seconds_left
    rest = f", {left:.0f} s left" if left is not None else ""
    return f"{progress.step}: {progress.done:,}{of} {progress.unit}{rest}"
