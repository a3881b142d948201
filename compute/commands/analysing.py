"""Commands that analyse the words of queries and documents: overlap, lengths, cluster-queries."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

import pandas as pd
from pandas import DataFrame

from compute.base import printable
from compute.base.errors import Missing
from compute.base.words import counted, near
from compute.commands import options
from compute.commands.common import done
from compute.commands.opening import named, open_bench, open_whole, say
from compute.corpora import lengths, overlap
from compute.datasets import published as in_print
from compute.intake import clustering, translation
from compute.jobs.kinds import one_dataset_per_corpus
from compute.reading import database
from compute.store import loading
from compute.store.loading import Bench
from compute.store.own_datasets import dataset_of
from compute.views.lengths import select as lengths_select
from compute.views.overlap import select as queries


def compute_overlap(*datasets: options.Collections, again: options.Again = False) -> int:
    """Count the words of corpora, and compare them with all counted corpora."""
    bench = open_bench()
    rows = one_dataset_per_corpus(bench.store, datasets)
    if not rows:
        raise Missing("no documents are stored: name a dataset, such as scifact")
    for row in rows:
        new = overlap.count(bench, loading.load(bench, row), again=again)
        tokens = overlap.tokens_of(bench.store, row.collection)
        counts = ", ".join(f"{count:,} {unit}" for unit, count in tokens.items())
        say(bench, f"{row.collection}: {counts}{'' if new else ' (already counted)'}")
    names = [row.collection for row in rows]
    new = overlap.compare(bench, names, again=again)
    say(bench, "similarities stored" if new else "similarities are up to date")
    return done(bench)


def cluster_queries(
    dataset: options.Dataset, /, *, clusters: options.Count = 0, replace: bool = False
) -> int:
    """Cluster the queries of a dataset by meaning; clusters become labels (key `cluster`).

    Args:
        clusters: number of clusters (default: 2 to 12, by the largest silhouette)
        replace: replace the labels `cluster`
    """
    bench = open_bench()
    row = dataset_of(bench.store, dataset)
    _, found = clustering.cluster(bench, row, clusters, replace=replace)
    for name, n in Counter(found.names).most_common():
        say(bench, f"{counted(n, 'query')}: {printable.printable(name)}")
    best = found.silhouettes[found.k]
    say(bench, f"{found.k} clusters of {row.name}, mean silhouette {best:.2f} (1 is the clearest)")
    return done(bench)


def translation_similarity(
    one: options.Dataset,
    other: options.Dataset,
    /,
    *,
    system: options.System = "labse",
    pairs: options.Count = 100,
    seed: int = 0,
    json: options.Json = False,
) -> int:
    """Measure the similarity of translated texts to the originals with the same ids.

    Args:
        system: the multilingual encoder, a dense system; labse, or labse(model=/FOLDER)
        pairs: number of queries, and of documents, in the random sample
        seed: seed of the random sample
    """
    bench = open_bench()
    sides = dataset_of(bench.store, one), dataset_of(bench.store, other)
    found = translation.similarity(bench, *sides, encoder=system, n=pairs, seed=seed)
    return printable.show(found, json)


def show_overlap(*, dataset: options.OnlyDataset = "", json: options.Json = False) -> int:
    """Print the similarity of corpora, most similar first."""
    rows = similarities(open_whole(), dataset)
    # With four digits every floor would read 0.0000.
    shown = rows if json else rows.assign(floor=rows["floor"].map("{:g}".format))
    return printable.show(shown, json)


def similarities(bench: Bench, dataset: str = "") -> DataFrame:
    """Return the pairs of corpora, most similar first: dataset, other, floor, a column per unit."""
    cursor = database.open_version(bench.store).cursor()
    pairs = [
        queries.similarities(cursor, unit, floor).assign(unit=unit, floor=floor)
        for unit in overlap.UNITS
        for floor in overlap.FLOORS
    ]
    rows = pd.concat(pairs, ignore_index=True)
    known = sorted({*rows["dataset"], *rows["other"]})
    if dataset and dataset not in known:
        raise Missing(
            f"{dataset!r} is not yet compared with any corpus: {near(dataset, known)}compared:"
            f" {', '.join(known) or 'none'}; python -m compute overlap compute adds more"
        )
    if dataset:
        rows = rows[(rows["dataset"] == dataset) | (rows["other"] == dataset)]
    keys = ["dataset", "other", "floor"]
    wide = rows.pivot(index=keys, columns="unit", values="similarity").reset_index()
    wide = wide.reindex(columns=[*keys, *overlap.UNITS]).rename_axis(columns=None)
    order = ["floor", "unigrams", "dataset", "other"]
    return wide.sort_values(order, ascending=[True, False, True, True], ignore_index=True)


def compute_lengths(*datasets: options.Collections, again: options.Again = False) -> int:
    """Measure document lengths in datasets and in the top ranks of their runs."""
    bench = open_bench()
    rows = named(bench, datasets)
    if not rows:
        names = lengths.countable(bench.store)
        if not names:
            raise Missing("no documents are stored: name a dataset, such as scifact")
        rows = [dataset_of(bench.store, name) for name in names]
    for row in rows:
        loaded = lengths.with_documents(bench, row)
        told = "counted" if lengths.count(bench, loaded, again=again) else "up to date"
        runs = sum(part.system != "" for part in bench.store.parts("length_counts", row.name))
        say(bench, f"{row.name}: its documents and {counted(runs, 'run')} {told}")
    return done(bench)


def show_lengths(
    *,
    dataset: options.OnlyDataset = "",
    system: options.OnlySystem = "",
    published: options.Published = False,
    json: options.Json = False,
) -> int:
    """Print the mean and median length of all documents, of relevant ones, and of the top 10.

    low and high are the bounds of the median's 95% CI, bootstrapped over queries.
    """
    bench, chosen = open_whole(), {"dataset": dataset, "system": system}
    if published:
        rows = in_print.lengths()
        for column, name in chosen.items():
            rows = rows[rows[column] == name] if name else rows
        return printable.show(rows, json)
    cursor = database.open_version(bench.store).cursor()
    wanted: Any = {"dataset": dataset or None, "system": system or None}
    rows = lengths_select.medians(cursor, 10, **wanted).drop(columns="title")
    if rows.empty or (system and (rows["of"] != "top").all()):
        raise Missing(_nothing(lengths_select.medians(cursor, 10), chosen))
    ends = lengths_select.intervals(cursor, 10, **wanted)
    return printable.show(rows.merge(ends, how="left", on=["dataset", "system"]), json)


def _nothing(counted_lengths: DataFrame, chosen: Mapping[str, str]) -> str:
    """Return the reason why a choice has no measured lengths, and the next step."""
    for column, name in chosen.items():
        there = list(counted_lengths.loc[counted_lengths[column] != "", column].unique())
        if name and name not in there:
            return (
                f"no lengths of {column} {name!r}: {near(name, there)}python -m compute lengths"
                f" compute adds them; measured: {', '.join(there) or 'none'}"
            )
    return "no lengths have been measured yet: run python -m compute lengths compute"
