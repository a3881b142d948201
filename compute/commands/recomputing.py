"""The commands that compute and pass on: run, train, score, demo, serve, ship, snapshot."""

import shlex
from argparse import Namespace
from dataclasses import replace
from functools import partial

from compute import jobs
from compute.base import printable, settings
from compute.base.errors import Unavailable, WrongInput
from compute.base.permissions import usual
from compute.base.words import counted
from compute.commands.common import done, tell, tell_version, too_deep, without_subtopics
from compute.commands.opening import named, open_bench, say, tell_damage
from compute.datasets import Dataset, dataset
from compute.evaluate import scored_measures
from compute.exports import shipping
from compute.jobs import serve as server
from compute.reading import database
from compute.recompute import demo as demonstration
from compute.recompute import pairs, training
from compute.recompute import run as recompute
from compute.store import damage, freshness, run_versions
from compute.store.loading import Bench
from compute.store.own_datasets import own_datasets
from compute.store.store import SHIPPED
from compute.systems import SYSTEMS, System, names, system


def run(arguments: Namespace) -> int:
    """Run a system on datasets, one after another; each is published when it is done."""
    bench = open_bench()
    chosen = system(arguments.system)
    if chosen.search is None:
        here = ", ".join(row.name for row in SYSTEMS.values() if row.search)
        raise Unavailable(f"{chosen.name} is {chosen.status}; these run here: {here}")
    version = run_versions.given(arguments.as_version, arguments.note)
    how = {"again": arguments.again, "drop_equal_ids": arguments.drop_equal_ids}
    for row in named(bench, arguments.datasets):
        tell_first(bench, chosen, row)
        outcome = recompute.run(bench, chosen, row, **how, version=version)
        tell(bench, row, chosen.name, outcome)
        tell_version(bench, outcome, version)
    return done(bench)


def tell_first(bench: Bench, chosen: System, row: Dataset) -> None:
    """Say which of the runs that a fusion or reranker is made from are not whole here: that they
    are made first may take hours."""
    for name in row.parts or (row.name,):
        is_stored = partial(pairs.found_hits, bench, name, of=chosen.name)
        if lacking := [one for one in chosen.inputs if not is_stored(one)]:
            printable.warn(
                f"{', '.join(lacking)}: no whole lists on {name} here (shipped ones are cut), so"
                " they are made first"
            )


def score(arguments: Namespace) -> int:
    """Score stored runs, computing only what changed."""
    bench = open_bench()
    wanted = scored_measures.more(arguments.measure)
    parts = bench.store.parts(picked=None)
    fresh, _ = freshness.split(parts)
    names = {row.name for row in named(bench, arguments.datasets)}
    # Damaged scores are what this makes again.
    tell_damage(p for p in parts if p.dataset in (names or {p.dataset}) and p.kind != "scores")
    for hits in fresh:
        if hits.kind != "hits" or (names and hits.dataset not in names):
            continue
        row = dataset(hits.dataset, own_datasets(bench.store))
        loaded = recompute.stored_dataset(bench.store, row)
        # Shipped hits are cut: scored again they would only lose the deeper measures.
        again = arguments.again and not hits.shipped
        outcome = recompute.score(bench, loaded, hits, again=again, measures=wanted)
        tell(bench, row, hits.system, outcome, wanted)
        lacking = [*without_subtopics(loaded, wanted), *too_deep(hits, wanted)]
        printable.warn(*lacking)
    return done(bench)


def demo(arguments: Namespace) -> int:
    """Run the demo, or leave it to a worker, and compare it with what ships of it.

    What was computed here already is not computed again.
    """
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


def serve(arguments: Namespace) -> int:
    """Start the dashboard, and a worker behind it unless it is for looking only."""
    now = settings.load()
    given = {"address": arguments.address, "port": arguments.port}
    return server.serve(replace(now, **{key: value for key, value in given.items() if value}))


def ship(arguments: Namespace) -> int:
    """Write the stored results of datasets to where they ship."""
    bench = open_bench()
    rows = named(bench, arguments.datasets)
    names = [row.name for row in rows]
    systems = () if arguments.without_runs else None
    shipment = shipping.ship(bench.store, names, systems, only=arguments.only)
    usual(*SHIPPED.rglob("*"))
    printable.say(shipment)
    return 0


def snapshot(arguments: Namespace) -> int:
    """Write everything to one DuckDB file."""
    store = open_bench().store
    tell_damage(damage.verify(store))
    picked = None if arguments.versions else ()
    texts = not arguments.without_texts
    database.snapshot(store, arguments.file, texts=texts, picked=picked)
    usual(arguments.file)
    size = arguments.file.stat().st_size
    whole = sum(not part.damage for part in store.parts(picked=picked))
    printable.say(f"{arguments.file}: {counted(whole, 'part')}, {size:,} bytes")
    return 0


def train(arguments: Namespace) -> int:
    """Train a system on a dataset; what is stored already is not trained again."""
    bench = open_bench()
    name = str(_with_values(names.parse(arguments.system), arguments.set))
    for on in named(bench, [arguments.dataset]):
        row = training.named(name, on.name)
        trained = training.train(bench, row, on, again=arguments.again)
        say(bench, printable.printable(_sentence(trained)))
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
