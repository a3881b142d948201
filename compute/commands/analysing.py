"""The commands that analyse what is stored: overlap, lengths; and what `show lengths` prints."""

from argparse import Namespace
from collections import Counter

import pandas as pd
from pandas import DataFrame

from compute.base.errors import Missing
from compute.base.printable import printable
from compute.base.words import counted, near
from compute.commands.common import done
from compute.commands.opening import named, open_bench, say
from compute.corpora import lengths, overlap
from compute.datasets import dataset, published
from compute.intake import clustering
from compute.jobs.kinds import corpora
from compute.reading import database
from compute.store import loading
from compute.store.loading import Bench
from compute.store.own_datasets import own_datasets
from compute.views.lengths import select as lengths_select
from compute.views.overlap import select as queries
from compute.views.shared.text import STOP_WORDS


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
        say(bench, f"{row.collection}: {counts}{'' if new else ' (counted already)'}")
    names = [row.collection for row in rows]
    new = overlap.compare(bench, names, again=arguments.again)
    say(bench, "similarities stored" if new else "similarities are up to date")
    return done(bench)


def cluster_queries(arguments: Namespace) -> int:
    """Put the queries of a dataset in clusters, and say how many are in each."""
    bench = open_bench()
    row = dataset(arguments.dataset, own_datasets(bench.store))
    asked = STOP_WORDS, arguments.clusters
    _, found = clustering.cluster(bench, row, *asked, replace=arguments.replace)
    for name, n in Counter(found.names).most_common():
        say(bench, f"{counted(n, 'query')}: {printable(name)}")
    best = found.silhouettes[found.k]
    say(bench, f"{found.k} clusters of {row.name}, mean silhouette {best:.2f} (1 is the clearest)")
    return done(bench)


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


def count_lengths(arguments: Namespace) -> int:
    """Count the document lengths of datasets and of their runs; what is counted stays."""
    bench = open_bench()
    rows = named(bench, arguments.datasets)
    if not rows:
        own = own_datasets(bench.store)
        names = lengths.countable(bench.store)
        if not names:
            raise Missing("no documents are stored: name a dataset, such as scifact")
        rows = [dataset(name, own) for name in names]
    for row in rows:
        loaded = lengths.with_documents(bench, row)
        told = "counted" if lengths.count(bench, loaded, again=arguments.again) else "up to date"
        runs = sum(part.system != "" for part in bench.store.parts("length_counts", row.name))
        say(bench, f"{row.name}: its documents and {counted(runs, 'run')} {told}")
    return done(bench)


def lengths_shown(bench: Bench, arguments: Namespace) -> DataFrame:
    """Means and medians of the collection, its relevant documents and the top 10 of systems."""
    if arguments.published:
        rows = published.lengths()
    else:
        cursor = database.open_version(bench.store).cursor()
        chosen = {"dataset": arguments.dataset, "system": arguments.system}
        rows = lengths_select.medians(cursor, 10, **chosen).drop(columns="title")
        if rows.empty or (arguments.system and (rows["of"] != "top").all()):
            raise Missing(_nothing(lengths_select.medians(cursor, 10), chosen))
        return rows
    for column in ("dataset", "system"):
        name = getattr(arguments, column)
        rows = rows[rows[column] == name] if name else rows
    return rows


def _nothing(counted_lengths: DataFrame, chosen: dict[str, str | None]) -> str:
    """Which of the choices has no counted lengths, and what brings them."""
    for column, name in chosen.items():
        there = list(counted_lengths.loc[counted_lengths[column] != "", column].unique())
        if name and name not in there:
            return (
                f"no lengths of {column} {name!r}: {near(name, there)}python -m compute lengths"
                f" counts them; there are {', '.join(there) or 'none'}"
            )
    return "no lengths are counted yet: python -m compute lengths"
