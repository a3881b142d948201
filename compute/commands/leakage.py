"""Commands that find test queries in training sets: leakage find|show."""

from typing import Annotated

from cyclopts import Parameter
from pandas import DataFrame

from compute.base import printable
from compute.base.errors import Missing, WrongInput
from compute.commands import options
from compute.commands.common import done, scored_by
from compute.commands.opening import open_bench, open_whole, say
from compute.commands.show.stored import tell_stale
from compute.intake import leakage
from compute.reading import database
from compute.store.own_datasets import dataset_of
from compute.views.overlap import leakage as views

_COUNTS = ("n_training_texts", "n_pairs", "n_queries", "n_queries_found", "n_documents")
_COUNTS += ("n_documents_found", "n_touched", "threshold")


def find(
    *,
    dataset: options.Dataset,
    training: Annotated[tuple[options.File, ...], options.SEVERAL] = (),
    split: Annotated[str, Parameter(metavar="DATASET")] = "",
    name: str = "",
    threshold: Annotated[float, Parameter(show_default=True)] = 0.7,
    json: options.Json = False,
) -> int:
    """Find test queries and relevant documents, or near-duplicates, in a training set.

    Args:
        training: its files: queries.jsonl, corpus.jsonl, TSV of pairs, or one text per line
        split: instead of files, a stored split, such as nfcorpus/train
        name: name of the training set (default for a split: its own)
        threshold: minimum Jaccard similarity of the character 5-grams of near-duplicates
    """
    if bool(training) == bool(split):
        raise WrongInput("give either the files of a training set (--training) or --split DATASET")
    if not (name := name or split):
        raise WrongInput("name the training set: --name NAME")
    bench = open_bench()
    row = dataset_of(bench.store, dataset)
    other = dataset_of(bench.store, split) if split else None
    if other and other.name == row.name:
        raise WrongInput(f"{row.name} contains its own queries: name another split, such as train")
    how = {"files": training, "split": other, "threshold": threshold}
    part, new = leakage.compare(bench, row, name, **how)
    if json:
        counts = {key: part.provenance[key] for key in _COUNTS}
        found = DataFrame([{"dataset": row.name, "training": name, **counts}])
        printable.show(found, as_json=True)
    else:
        told = leakage.said(part) + ("" if new else "; up to date")
        say(bench, printable.printable(told))
    return done(bench)


def show(
    *,
    dataset: options.OnlyDataset = "",
    system: options.OnlySystem = "",
    measure: options.OnlyMeasure = "nDCG@10",
    json: options.Json = False,
) -> int:
    """Print test queries found in training sets, and each system's mean without these queries."""
    bench = open_whole()
    datasets = [part.dataset for part in bench.store.parts(leakage.KIND)]
    if dataset:
        dataset_of(bench.store, dataset)
        datasets = [name for name in datasets if name == dataset]
    if not datasets:
        on = f" with {dataset}" if dataset else ""
        command = f"leakage find --dataset {dataset or 'DATASET'} --training FILE"
        raise Missing(f"no training set has been compared{on} yet: run python -m compute {command}")
    for name in sorted(set(datasets)):
        printable.warn(*scored_by(bench, measure, name))
    tell_stale(bench, dataset)
    with database.open_version(bench.store).cursor() as cursor:
        found = views.changes(cursor, measure)
    found = found[found["dataset"].isin(datasets)]
    return printable.show(found[found["system"] == system] if system else found, json)
