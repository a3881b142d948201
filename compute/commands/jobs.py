"""Commands for jobs: jobs start|list|cancel|retry, worker, serve."""

import math
from collections.abc import Sequence
from dataclasses import asdict, replace
from json import dumps
from typing import Annotated

import pandas as pd
from cyclopts import Parameter
from pandas import DataFrame

from compute import jobs
from compute.base import printable, settings
from compute.base.errors import WrongInput
from compute.commands import options
from compute.commands.opening import open_bench
from compute.jobs import serve as server
from compute.jobs import worker as working
from compute.store.loading import Bench
from compute.views.jobs import matrix

Kind = Annotated[str, Parameter(help=", ".join(kind for kind in jobs.KINDS if kind != "judge"))]
Job = Annotated[str, Parameter(help="its id in `jobs list`")]


def start(
    kind: Kind,
    /,
    *,
    systems: options.Systems = (),
    datasets: options.OnDatasets = (),
    again: options.Again = False,
    drop_equal_ids: options.DropEqualIds = False,
    json: options.Json = False,
) -> int:
    """Add a job to the queue."""
    bench = open_bench()
    how = {"again": again, "drop_equal_ids": drop_equal_ids}
    return _tell(bench, [jobs.start(bench.store, kind, systems, datasets, **how)], json)


def list_jobs(*, json: options.Json = False) -> int:
    """List the last 50 jobs."""
    rows = [
        {
            "job": job.id,
            "state": job.state,
            "what": f"{job.kind}: {job.title}",
            "tasks": job.summary,
            "now": matrix.step(job.progress) if job.progress else "",
            "created": pd.Timestamp(job.created, unit="s", tz="UTC").isoformat(),
            "error": job.error,
        }
        for job in jobs.listed(open_bench().settings, 50)
    ]
    return printable.show(DataFrame(rows), json)


def cancel(*job: Job) -> int:
    """Cancel jobs."""
    bench = open_bench()
    for name in _named(job, "cancel"):
        jobs.cancel(bench.settings, name)
        printable.say(f"{name} is cancelled")
    return 0


def retry(*job: Job, json: options.Json = False) -> int:
    """Start the failed tasks of jobs again."""
    bench = open_bench()
    return _tell(bench, [jobs.retry(bench.store, name) for name in _named(job, "retry")], json)


def _named(names: Sequence[str], verb: str) -> Sequence[str]:
    if not names:
        raise WrongInput(f"name a job to {verb}: python -m compute jobs list has their ids")
    return names


def _tell(bench: Bench, started: Sequence[jobs.Started], json: bool) -> int:
    if json:
        printable.say_text(dumps([asdict(one) for one in started], indent=1))
        return 0
    printable.say(*(one.sentence for one in started))
    if any(one.job for one in started):
        printable.say(*jobs.workers_lacking(bench.settings))
    return 0


def worker(
    *,
    concurrency: Annotated[options.Count, Parameter(show_default=True)] = 1,
    weights: bool = False,
    idle: Annotated[options.Count | None, Parameter(metavar="MINUTES")] = None,
) -> int:
    """Run jobs until stopped; several workers share the queue.

    Args:
        concurrency: number of workers
        weights: run only systems that need model weights (with the setting weights_apart)
        idle: exit after this time without work
    """
    now = settings.load()
    if weights and not now.weights_apart:
        raise WrongInput("--weights needs the setting weights_apart: set it to true first")
    if concurrency == 1:
        working.work(now, weights=weights, idle=60.0 * idle if idle else math.inf)
    options = ["--weights"] * weights + (["--idle", str(idle)] if idle else [])
    return working.several(concurrency, options)


def serve(*, address: str = "", port: options.Count | None = None) -> int:
    """Start the dashboard and a worker.

    Args:
        address: address to listen on (default: 127.0.0.1; others need sign-in)
        port: port to listen on (default: the first free one from 8501)
    """
    now = settings.load()
    return server.serve(replace(now, address=address or now.address, port=port or now.port))
