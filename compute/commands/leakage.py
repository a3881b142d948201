"""The command that looks for test queries in training sets, and what `show leakage` prints."""

from argparse import Namespace

from pandas import DataFrame

from compute.base import printable
from compute.base.errors import Missing, WrongInput
from compute.commands.common import done, scored_by
from compute.commands.opening import open_bench, say
from compute.commands.show.stored import tell_stale
from compute.datasets import dataset
from compute.intake import leakage
from compute.reading import database
from compute.store.loading import Bench
from compute.store.own_datasets import own_datasets
from compute.views.overlap import leakage as views

_COUNTS = ("n_training_texts", "n_pairs", "n_queries", "n_queries_found", "n_documents")
_COUNTS += ("n_documents_found", "n_touched", "threshold")


def compare(arguments: Namespace) -> int:
    """Look for a dataset's queries and relevant documents in a training set."""
    if bool(arguments.training) == bool(arguments.split):
        raise WrongInput("give either files of a training set (--training) or --split DATASET")
    if not (name := arguments.name or arguments.split):
        raise WrongInput("say what to call the training set: --name NAME")
    bench, files = open_bench(), arguments.training
    own = own_datasets(bench.store)
    row = dataset(arguments.dataset, own)
    split = dataset(arguments.split, own) if arguments.split else None
    if split and split.name == row.name:
        raise WrongInput(f"{row.name} holds all of itself: name another split, such as its train")
    how = {"files": files, "split": split, "threshold": arguments.threshold}
    part, new = leakage.compare(bench, row, name, **how)
    if arguments.json:
        counts = {key: part.provenance[key] for key in _COUNTS}
        found = DataFrame([{"dataset": row.name, "training": name, **counts}])
        printable.show(found, as_json=True)
    else:
        told = leakage.said(part) + ("" if new else "; found before")
        say(bench, printable.printable(told))
    return done(bench)


def shown(bench: Bench, arguments: Namespace) -> DataFrame:
    """What was found, and what each system's mean is without it, for `show`."""
    datasets = [part.dataset for part in bench.store.parts(leakage.KIND)]
    if arguments.dataset:
        dataset(arguments.dataset, own_datasets(bench.store))
        datasets = [name for name in datasets if name == arguments.dataset]
    if not datasets:
        on = f" with {arguments.dataset}" if arguments.dataset else ""
        command = f"leakage --dataset {arguments.dataset or 'DATASET'} --training FILE"
        raise Missing(f"no training set was compared{on} yet: python -m compute {command}")
    measure = arguments.measure or "nDCG@10"
    for name in sorted(set(datasets)):
        printable.warn(*scored_by(bench, measure, name))
    tell_stale(bench, arguments.dataset)
    with database.open_version(bench.store).cursor() as cursor:
        found = views.changes(cursor, measure)
    found = found[found["dataset"].isin(datasets)]
    return found[found["system"] == arguments.system] if arguments.system else found


def remove(bench: Bench, arguments: Namespace) -> int:
    """Say what goes of a training set; with `--yes` take it away."""
    row, name = dataset(arguments.dataset, own_datasets(bench.store)), arguments.training
    part = leakage.stored(bench.store, row.name, name)
    told = printable.printable(leakage.said(part))
    if not arguments.yes:
        printable.say(f"would remove what was found, and its labels: {told}; --yes removes it")
        return 0
    leakage.remove(bench.store, row.name, name)
    printable.say(f"removed what was found, and its labels: {told}")
    return done(bench)
