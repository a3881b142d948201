"""The judge command, which judges documents with an LLM."""

import uuid
from dataclasses import replace
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from compute import jobs
from compute.base import printable
from compute.base.errors import WrongInput
from compute.commands import options
from compute.commands.common import done
from compute.commands.opening import open_bench, say
from compute.datasets import compressed
from compute.intake import machine_grade_import, machine_judging
from compute.judgements.asking import endpoint
from compute.store.loading import Bench
from compute.store.own_datasets import dataset_of

Most = Annotated[options.Count, Parameter(help="limit for this run")]


def judge(
    dataset: options.Dataset,
    /,
    *,
    machine: options.Machine = "",
    task: Annotated[str, Parameter(metavar="ID")] = "",
    systems: Annotated[tuple[str, ...], options.SEVERAL, Parameter(metavar="SYSTEM")] = (),
    depth: Annotated[options.Count, Parameter(show_default=True)] = 10,
    guideline: options.SomeFile = None,
    requests: Most = 0,
    tokens: Most = 0,
    allow_texts_to: Annotated[str, Parameter(metavar="ADDRESS")] = "",
    forbid_texts: bool = False,
    again: bool = False,
    queue: bool = False,
) -> int:
    """Judge documents with an LLM; without limits, only estimate the cost.

    Args:
        task: judge the documents of this task
        systems: instead of a task, judge the unjudged top documents of these runs
        depth: with --systems: top k
        guideline: with --systems: a plain-text file
        allow_texts_to: allow the dataset's texts to be sent to this server
        forbid_texts: revoke this permission for every server
        again: ask again about documents that got no grade
        queue: run as a job
    """
    bench = open_bench()
    name = dataset_of(bench.store, dataset).name
    if forbid_texts:
        machine_judging.forbid(bench.store, name)
        say(bench, f"texts of {name}, and of datasets that share them, may not be sent anywhere")
        return 0
    if allow_texts_to:
        to = endpoint.normal(allow_texts_to)
        machine_judging.allow(bench.store, name, to)
        say(bench, f"texts of {name} may be sent to {printable.printable(to)}")
    if not machine and allow_texts_to:
        return 0
    if not machine:
        raise WrongInput("choose an LLM: --machine NAME")
    limits = {"requests": requests, "tokens": tokens}
    what = {"task": task, "systems": systems, "guideline": _text(guideline, task, systems)}
    plan = machine_judging.Plan(dataset=name, machine=machine, depth=depth, **what, **limits)
    return _judge(bench, machine_judging.planned(bench.settings, plan), again=again, queue=queue)


def _text(file: Path | None, task: str, systems: tuple[str, ...]) -> str:
    """Read a guideline. Raises WrongInput if a task is given, which has its own guideline."""
    if task and (file or systems):
        raise WrongInput(
            "a task has its own documents and guideline: leave out --systems and --guideline"
        )
    if file and not file.is_file():
        raise WrongInput(f"no file {file}: --guideline takes a plain-text file")
    return compressed.utf8(file) if file else ""


def _judge(bench: Bench, plan: machine_judging.Plan, *, again: bool, queue: bool) -> int:
    ready = machine_judging.prepared(bench.store, plan)
    say(bench, machine_judging.estimate(ready, again=again).sentence)
    if not plan.requests and not plan.tokens:
        say(bench, "nothing has been sent yet; to start, add the limits --requests N --tokens N")
        return 0
    machine_judging.check(bench.store, plan)
    if queue:
        say(bench, jobs.start_judging(bench.store, plan, again=again).sentence)
        return 0
    return _ask(bench, plan, again=again)


def _ask(bench: Bench, plan: machine_judging.Plan, *, again: bool) -> int:
    bench = replace(bench, job=f"judge-{uuid.uuid4().hex[:12]}")
    try:
        said = machine_grade_import.said(machine_judging.judge(bench, plan, again=again))
        say(bench, printable.printable(said))
    finally:
        say(bench, machine_judging.said(bench.store, plan, bench.job))
        done(bench)
    return 0
