"""The command that has a machine judge documents: judge."""

import uuid
from argparse import Namespace
from dataclasses import replace

from compute import jobs
from compute.base import printable
from compute.base.errors import WrongInput
from compute.commands.common import done
from compute.commands.opening import open_bench, say
from compute.datasets import compressed, dataset
from compute.intake import machine_grade_import, machine_judging
from compute.judgements.asking import endpoint
from compute.store.loading import Bench
from compute.store.own_datasets import own_datasets


def judge(arguments: Namespace) -> int:
    """Allow or forbid texts to leave; say what a judging takes; with limits ask the machine."""
    bench = open_bench()
    name = dataset(arguments.dataset, own_datasets(bench.store)).name
    if arguments.forbid_texts:
        machine_judging.forbid(bench.store, name)
        say(bench, f"no text of {name} may go anywhere, nor of a dataset that shares its texts")
        return 0
    if arguments.allow_texts_to:
        to = endpoint.normal(arguments.allow_texts_to)
        machine_judging.allow(bench.store, name, to)
        say(bench, f"texts of {name} may go to {printable.printable(to)}")
    if not arguments.machine and arguments.allow_texts_to:
        return 0
    plan = machine_judging.planned(bench.settings, _plan(name, arguments))
    ready = machine_judging.prepared(bench.store, plan)
    say(bench, machine_judging.estimate(ready, again=arguments.again).sentence)
    if not plan.requests and not plan.tokens:
        say(bench, "nothing is sent yet: --requests N --tokens N, the most it may take, start it")
        return 0
    machine_judging.check(bench.store, plan)
    if arguments.queue:
        say(bench, jobs.start_judging(bench.store, plan, again=arguments.again).sentence)
        return 0
    return _ask(bench, plan, again=arguments.again)


def _plan(name: str, arguments: Namespace) -> machine_judging.Plan:
    if not arguments.machine:
        raise WrongInput("say what to call the machine: --machine NAME")
    file = arguments.guideline
    if arguments.task and (file or arguments.systems):
        raise WrongInput(
            "a task has its documents and its guideline: leave --systems and --guideline out"
        )
    if file and not file.is_file():
        raise WrongInput(f"no file {file}: --guideline takes one of plain text")
    return machine_judging.Plan(
        dataset=name,
        machine=arguments.machine,
        task=arguments.task,
        systems=tuple(arguments.systems),
        depth=arguments.depth,
        guideline=compressed.utf8(file) if file else "",
        requests=arguments.requests,
        tokens=arguments.tokens,
    )


def _ask(bench: Bench, plan: machine_judging.Plan, *, again: bool) -> int:
    bench = replace(bench, job=f"judge-{uuid.uuid4().hex[:12]}")
    try:
        said = machine_grade_import.said(machine_judging.judge(bench, plan, again=again))
        say(bench, printable.printable(said))
    finally:
        say(bench, machine_judging.said(bench.store, plan, bench.job))
        done(bench)
    return 0
