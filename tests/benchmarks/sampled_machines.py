"""Do estimates hold beside machines with known faults, and what do machines save?

    python -m tests.benchmarks.sampled_machines --runs FOLDER [--repetitions 1000]
        [--measure P@10 nDCG@10]

As `tests.benchmarks.sampled`, whose columns these are: samples of people's grades, by themselves
and with a prediction that knows what a machine said of every pair. `of people's`: the mean
half-width in parts of that of people alone.
"""

import argparse
from pathlib import Path

import numpy as np

from compute.evaluate.estimates import prediction
from compute.evaluate.estimates.corrected import corrected
from compute.evaluate.estimates.frames import Values
from compute.evaluate.estimates.intervals import Estimates, estimates
from compute.judgements import sampling
from tests.benchmarks.sampled import Told, World, of_files, table, world

MACHINES = ("wrong 10%", "wrong 30%", "wrong 50%", "lenient", "loves long", "loves one", "always 1")
"""Machines with known faults."""


def machine(world: World, fault: str, seed: int) -> Values:
    """What such a machine says of every pair. What is long is drawn: a third of the documents."""
    random, grades, top = np.random.default_rng([seed, 7]), world.grades, world.grades.max()
    match fault.split():
        case ["wrong", share]:
            wrong = random.random(len(grades)) < float(share.rstrip("%")) / 100
            return np.where(wrong, np.where(grades > 0, 0, top), grades)
        case ["lenient"]:
            return np.minimum(grades + (random.random(len(grades)) < 0.5), top)
        case ["loves", "long"]:
            _, document = np.unique(world.frame.pairs["doc_id"], return_inverse=True)
            return np.where((random.random(document.max() + 1) < 1 / 3)[document], top, grades)
        case ["loves", "one"]:
            own = world.frame.rank[:, 0]
            return np.where((own > 0) & (own <= world.frame.depth), top, 0.0)
    return np.ones(len(grades))


def machines(world: World, repetitions: int) -> None:
    """People's sample beside each machine, from the same draws."""
    rows = {}
    for n in (100, 200, 400):
        found: dict[str, list[Estimates]] = {name: [] for name in ("people alone", *MACHINES)}
        for seed in range(repetitions):
            batch = sampling.order(world.size, world.official, seed).first(n)
            grades = np.where(world.official, world.grades, np.nan)
            grades[batch.rows] = world.grades[batch.rows]
            for name, some in found.items():
                own = machine(world, name, seed) if name in MACHINES else None
                given = prediction.features(world.frame, own)
                sample = corrected(world.frame, given, grades, [batch], world.levels)
                some.append(estimates(world.frame, world.of, sample))
        for name, some in found.items():
            told = Told.of(some, world.truth)
            rows[f"{n}, {name}"] = told.row() | {"reach": told.reach.mean()}
            ratio = told.reach.mean() / rows[f"{n}, people alone"]["reach"]
            rows[f"{n}, {name}"]["of people's"] = f"{ratio:.1%}"
    for row in rows.values():
        row.pop("reach")
    table(f"{world.name}: beside machines, {repetitions} repetitions", rows)


def main() -> None:
    asking = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    asking.add_argument("--runs", type=Path, required=True)
    asking.add_argument("--repetitions", type=int, default=1000)
    asking.add_argument("--measure", nargs="+", default=["P@10", "nDCG@10"])
    asked = asking.parse_args()
    read = of_files(asked.runs)
    for measure in asked.measure:
        machines(world(asked.runs.name, read, measure, binary=False, half=False), asked.repetitions)


if __name__ == "__main__":
    main()
