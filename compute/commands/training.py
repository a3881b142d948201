"""The command `train`."""

import shlex
import sys
from argparse import Namespace
from dataclasses import replace

from compute.base import printable
from compute.base.errors import WrongInput
from compute.base.words import counted
from compute.commands.common import done, named, open_bench
from compute.recompute import run as recompute
from compute.recompute import training
from compute.systems import names


def train(arguments: Namespace) -> int:
    """Train a system on a dataset; what is stored already is not trained again."""
    bench = open_bench()
    name = str(_with_values(names.parse(arguments.system), arguments.set))
    for dataset in named(bench, [arguments.dataset]):
        row = training.named(name, dataset.name)
        trained = training.train(bench, row, dataset, again=arguments.again)
        if isinstance(bench.progress, printable.Bar):
            bench.progress.close()
        sys.stdout.write(f"{printable.printable(_sentence(trained))}\n")
    return done(bench)


def _with_values(name: names.Name, texts: list[str]) -> names.Name:
    """The name with what `--set name=value` says put in the place of what it says itself."""
    values = dict(name.parameters)
    for text in texts:
        read = names.parse(f"x({text})")
        if len(read.parameters) != 1 or read.inputs:
            raise WrongInput(f"--set {text!r} must be name=value, such as --set epochs=2")
        values |= dict(read.parameters)
    return replace(name, parameters=tuple(values.items()))


def _sentence(trained: training.Trained) -> str:
    model, about = trained.model, trained.model.provenance
    curve = recompute.read(trained.losses)
    last = curve[curve["step"] == curve["step"].max()]
    values = ", ".join(f"{row.name} {row.value:.4f}" for row in last.itertuples(index=False))
    took = "" if trained.new else " (trained before)"
    step = counted(int(curve["step"].max()), "step") if len(curve) else "no step"
    run = f"python -m compute run {shlex.quote(model.system)} DATASET"
    return f"{model.system}: {step}, {about['seconds']:,.0f} s, {values}{took}; {run}"
