"""The commands that analyse what is stored: overlap."""

import sys
from argparse import Namespace

import pandas as pd
from pandas import DataFrame

from compute.base import printable
from compute.base.errors import Missing
from compute.base.words import near
from compute.commands.common import done, open_bench
from compute.corpora import overlap
from compute.jobs.kinds import corpora
from compute.reading import database
from compute.recompute.run import Bench
from compute.store import loading
from compute.views.overlap import select as queries


def compare(arguments: Namespace) -> int:
    """Count the words of corpora, and compare each with all that are counted."""
    bench = open_bench()
    rows = corpora(bench.store, arguments.datasets)
    if not rows:
        raise Missing("no documents are stored: name a dataset, such as scifact")
    for row in rows:
        new = overlap.count(bench, loading.load(bench, row), again=arguments.again)
        tokens = overlap.tokens_of(bench.store, row.collection)
        counts = ", ".join(f"{count:,} {unit}" for unit, count in tokens.items())
        _say(bench, f"{row.collection}: {counts}{'' if new else ' (counted already)'}")
    names = [row.collection for row in rows]
    new = overlap.compare(bench, names, again=arguments.again)
    _say(bench, "similarities stored" if new else "similarities are up to date")
    return done(bench)


def _say(bench: Bench, line: str) -> None:
    if isinstance(bench.progress, printable.Bar):
        bench.progress.close()
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def overlaps(bench: Bench, arguments: Namespace) -> DataFrame:
    """dataset, other, floor and a column per unit, for `show`: the most alike first."""
    cursor = database.open_version(bench.store).cursor()
    pairs = [
        queries.similarities(cursor, unit, floor).assign(unit=unit, floor=floor)
        for unit in overlap.UNITS
        for floor in overlap.FLOORS
    ]
    rows = pd.concat(pairs, ignore_index=True)
    known = sorted({*rows["dataset"], *rows["other"]})
    if arguments.dataset:
        name = arguments.dataset
        if name not in known:
            raise Missing(
                f"nothing is compared with {name!r}: {near(name, known)}"
                f"There are {', '.join(known) or 'none'}; python -m compute overlap compares"
            )
        rows = rows[(rows["dataset"] == name) | (rows["other"] == name)]
    keys = ["dataset", "other", "floor"]
    wide = rows.pivot(index=keys, columns="unit", values="similarity").reset_index()
    wide = wide.reindex(columns=[*keys, *overlap.UNITS]).rename_axis(columns=None)
    order = ["floor", "unigrams", "dataset", "other"]
    wide = wide.sort_values(order, ascending=[True, False, True, True], ignore_index=True)
    # A table has four digits: the floors would all read 0.0000.
    return wide if arguments.json else wide.assign(floor=wide["floor"].map("{:g}".format))
