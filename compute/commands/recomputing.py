"""Commands that compute: run, train, rescore, admin demo."""

import shlex
from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from typing import Annotated

from cyclopts import Parameter

from compute import jobs
from compute.base import printable
from compute.base.errors import Unavailable, WrongInput
from compute.base.words import counted
from compute.commands import groups, options
from compute.commands.common import done, tell, tell_version, too_deep, without_subtopics
from compute.commands.opening import named, open_bench, say
from compute.datasets import DATASETS, Dataset
from compute.evaluate import scored_measures
from compute.recompute import demo as demonstration
from compute.recompute import pairs, training
from compute.recompute import run as recompute
from compute.store import damage, freshness
from compute.store.loading import Bench
from compute.store.own_datasets import dataset_of, own_datasets
from compute.systems import SYSTEMS, System, learnt_from, names
from compute.systems import system as system_of


def run(
    system: options.System,
    /,
    *datasets: options.Datasets,
    again: options.Again = False,
    as_version: groups.AsVersion = groups.AsVersion(),
    drop_equal_ids: options.DropEqualIds = False,
) -> int:
    """Run a system on datasets: load, index, search, score and publish."""
    bench = open_bench()
    chosen = system_of(system)
    if chosen.search is None:
        here = ", ".join(row.name for row in SYSTEMS.values() if row.search)
        raise Unavailable(f"{chosen.name} is {chosen.status}; systems that run here: {here}")
    version = as_version.version()
    how = {"again": again, "drop_equal_ids": drop_equal_ids}
    for row in named(bench, datasets):
        tell_first(bench, chosen, row)
        outcome = recompute.run(bench, chosen, row, **how, version=version)
        tell(bench, row, chosen.name, outcome)
        tell_version(bench, outcome, version)
    return done(bench)


def tell_first(bench: Bench, chosen: System, row: Dataset) -> None:
    """Warn if a system was trained on the judged queries, or if a fusion or reranker must first
    compute its inputs, which may take hours."""
    known = {**DATASETS, **own_datasets(bench.store)}
    collections = {name: known[name].collection for name in known}
    if row.name in learnt_from(chosen.name, collections):
        printable.warn(
            f"{chosen.name} was trained or tuned on the judged queries of {row.name}: its scores on"
            " that dataset say nothing about new queries"
        )
    for name in row.parts or (row.name,):
        is_stored = partial(pairs.found_hits, bench, name, of=chosen.name)
        if lacking := [one for one in chosen.inputs if not is_stored(one)]:
            printable.warn(
                f"{', '.join(lacking)}: no complete lists on {name} here (shipped ones"
                " are truncated), so they are computed first"
            )


def rescore(
    *datasets: options.OwnDatasets, measure: tuple[str, ...] = (), again: options.Again = False
) -> int:
    """Score stored runs again, skipping scores that are up to date.

    Args:
        measure: add this measure, such as P@5, AP or Bpref; can be repeated
    """
    bench = open_bench()
    wanted = scored_measures.more(measure)
    parts = bench.store.parts(picked=None)
    fresh, _ = freshness.split(parts)
    names = {row.name for row in named(bench, datasets)}
    # Damaged scores are recomputed here.
    own = (p for p in parts if p.dataset in (names or {p.dataset}) and p.kind != "scores")
    printable.warn(*damage.told(own))
    for hits in fresh:
        if hits.kind != "hits" or (names and hits.dataset not in names):
            continue
        row = dataset_of(bench.store, hits.dataset)
        loaded = recompute.stored_dataset(bench.store, row)
        # Shipped hits are truncated: rescoring them would lose the deeper measures.
        anew = again and not hits.shipped
        outcome = recompute.score(bench, loaded, hits, again=anew, measures=wanted)
        tell(bench, row, hits.system, outcome, wanted)
        lacking = [*without_subtopics(loaded, wanted), *too_deep(hits, wanted)]
        printable.warn(*lacking)
    return done(bench)


def demo() -> int:
    """Recompute the shipped runs on the PyDocs datasets and compare the scores.
    A worker does this if one is running. Runs already computed here are kept."""
    bench = open_bench()
    if jobs.workers_alive(bench.settings):
        printable.say(jobs.start(bench.store, "demo").sentence)
        return 0
    stored = 0
    for name, row, error in demonstration.run(bench):
        stored += not error
        if error:
            printable.warn(f"{name} on {row}: {error}")
    total = len(demonstration.pairs())
    proof = demonstration.proof(bench.store)
    said = f"\n{proof}" if proof.compared else ""
    printable.say(*f"{stored} of {total} runs are stored{said}".splitlines())
    done(bench)
    return 2 if stored < total else 0


def train(
    system: str,
    dataset: options.Dataset,
    /,
    *,
    set: Annotated[tuple[str, ...], options.SEVERAL, Parameter(metavar="NAME=VALUE")] = (),
    again: options.Again = False,
) -> int:
    """Train a recipe (genq, ict-herbert, bm25-augmented) on a dataset.

    Args:
        system: such as genq, or 'genq(epochs=2)'
        set: parameters of the recipe; `systems --json` lists them
    """
    bench = open_bench()
    name = str(_with_values(names.parse(system), set))
    for on in named(bench, [dataset]):
        row = training.named(name, on.name)
        trained = training.train(bench, row, on, again=again)
        say(bench, printable.printable(_sentence(trained)))
    return done(bench)


def _with_values(name: names.Name, texts: Iterable[str]) -> names.Name:
    """Return the system name with the parameters given by `--set name=value`."""
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
