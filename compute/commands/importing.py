"""The commands that take in and take away: those of datasets, texts, runs and grades."""

from argparse import Namespace
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from compute import commands
from compute.base import printable
from compute.base.errors import BeirscopeError, Missing, WrongInput
from compute.base.words import counted, shown
from compute.commands.common import done, how, tell, tell_version
from compute.commands.opening import open_bench
from compute.datasets import Dataset, dataset
from compute.intake import doctor, imports, machine_grade_import, query_labels, tags, texts
from compute.jobs import removing
from compute.store import run_versions
from compute.store.loading import Bench
from compute.store.own_datasets import own_datasets


def import_dataset(arguments: Namespace) -> int:
    """Take in an own collection, and runs that are given with it."""
    bench = open_bench()
    files = doctor.files(arguments.runs or [])
    loaded = imports.import_dataset(
        bench,
        arguments.name,
        path=arguments.path,
        qrels=arguments.qrels,
        queries=arguments.queries,
        files=[(file, how(arguments)) for file in files],
        split=arguments.split,
        language=arguments.language,
        drop_self=arguments.drop_self,
        level=arguments.level,
        how=how(arguments),
    )
    documents = loaded.documents.rows if loaded.documents else 0
    unknown = loaded.queries.provenance["judgements_of_unknown_documents"]
    told = imports.replaced(bench.store, loaded)
    printable.say(
        f"{arguments.name}: {documents:,} documents, {loaded.queries.rows:,} queries,"
        f" {loaded.judgements.rows:,} judgements"
        + (f", {unknown:,} of them of documents not in the corpus" if unknown else "")
        + (f"; {loaded.subtopics.rows:,} by subtopic" if loaded.subtopics else "")
    )
    for remark in imports.remarks(loaded):
        printable.say(f"remark: {remark}")
    if told:
        printable.say(told)
    refused = _take_in(bench, loaded.dataset, files, {"any_tag": True, "how": how(arguments)})
    done(bench)
    return 2 if refused else 0


def add_texts(arguments: Namespace) -> int:
    """Add the texts of a dataset that is stored by its ids."""
    bench = open_bench()
    row = dataset(arguments.dataset, own_datasets(bench.store))
    loaded = texts.add_texts(bench, row, arguments.path)
    done(bench)
    printable.say(f"{row.name}: {texts.said(loaded)}")
    return 0


def import_run(arguments: Namespace) -> int:
    """Take in run files, each whole or not at all; of several a refused one stops no other."""
    bench = open_bench()
    try:
        row = dataset(arguments.dataset, own_datasets(bench.store))
    except Missing as error:
        makes = f"import-dataset --runs FILES --name {shown(arguments.dataset)}"
        raise Missing(f"{error}; {makes} makes one of runs, without judgements") from None
    files, version = doctor.files(arguments.files), _version(arguments)
    options: dict[str, Any] = {"drop_equal_ids": arguments.drop_equal_ids, "version": version}
    options |= {"replace": arguments.replace, "any_tag": bool(arguments.system)}
    options |= {"how": how(arguments)}
    if arguments.system and len(files) > 1:
        raise WrongInput("--system names one run: import several files without it, by their tags")
    refused = _take_in(bench, row, files, options, arguments.system or "")
    done(bench)
    return 2 if refused else 0


def _take_in(
    bench: Bench, row: Dataset, files: Sequence[Path], options: Mapping[str, Any], system: str = ""
) -> int:
    """Take in runs, and say what each came to; returns how many were refused."""
    refused, taken = 0, set[str]()
    for file, name in zip(files, _names(files, system), strict=True):
        try:
            outcome = imports.import_run(bench, file, row, system=name, spared=taken, **options)
        except BeirscopeError as error:
            if len(files) == 1:
                raise
            refused += 1
            printable.warn(error)
            continue
        taken.add(outcome.hits.system)
        tell(bench, row, outcome.hits.system, outcome)
        tell_version(bench, outcome, options.get("version"))
    if len(files) > 1:
        printable.say(f"{len(files) - refused} imported, {refused} refused")
    return refused


def _version(arguments: Namespace) -> run_versions.Version | None:
    """What the runs are said to be that take the place of others, which then stay."""
    version = run_versions.given(arguments.as_version, arguments.note)
    if version and arguments.replace:
        raise WrongInput("--replace keeps nothing of the other run, --as-version does: give one")
    return version


def import_grades(arguments: Namespace) -> int:
    """Take in what a machine graded, from a file or by the scores of a stored run."""
    bench = open_bench()
    row = dataset(arguments.dataset, own_datasets(bench.store))
    if bool(arguments.file) == bool(arguments.run):
        raise WrongInput("give either a file of grades or --run SYSTEM")
    if arguments.file and (arguments.thresholds or arguments.quantiles):
        raise WrongInput("--thresholds and --quantiles are for the scores of --run: leave them out")
    options = {"replace": arguments.replace}
    if arguments.file:
        taken = machine_grade_import.import_file(
            bench, arguments.file, row, arguments.machine, how=how(arguments), **options
        )
    else:
        options |= {"thresholds": arguments.thresholds, "quantiles": arguments.quantiles}
        taken = machine_grade_import.from_run(
            bench, row, arguments.run, arguments.machine, **options
        )
    printable.say(machine_grade_import.said(taken))
    return done(bench)


def import_labels(arguments: Namespace) -> int:
    """Take in labels of a dataset's queries from a file."""
    bench = open_bench()
    row = dataset(arguments.dataset, own_datasets(bench.store))
    part, new = query_labels.import_file(bench, arguments.file, row, replace=arguments.replace)
    told = query_labels.said(part) + ("" if new else "; they were there already")
    printable.say(told)
    return done(bench)


def _names(files: Sequence[Path], system: str) -> list[str]:
    """What each file's run is called; empty for its tag. Says which tags name no run."""
    if len(files) == 1:
        return [system]
    runs = [tags.Tagged(file.name, tags.tag(file)) for file in files]
    called = tags.names(runs)
    for line in tags.renamed(runs, called):
        printable.warn(line)
    return called


def _remove_labels(bench: Bench, arguments: Namespace) -> int:
    if arguments.system or arguments.machine:
        raise WrongInput("--labels names labels of queries: remove one after the other")
    asked = bench.store, arguments.dataset, arguments.labels
    n = (query_labels.drop if arguments.yes else query_labels.of_key)(*asked)
    told = printable.printable(f"{counted(n, 'label')} {arguments.labels} of {arguments.dataset}")
    if not arguments.yes:
        printable.say(f"would remove {told}; --yes removes it")
        return 0
    printable.say(f"removed {told}")
    return done(bench)


def remove(arguments: Namespace) -> int:
    """Say what goes with a dataset, a run, a machine's grades, a training set or labels; with
    `--yes` remove it."""
    bench = open_bench()
    what = arguments.dataset, arguments.system, arguments.machine
    if sum(map(bool, (*what[1:], arguments.training, arguments.labels))) > 1:
        raise WrongInput("--system, --machine, --training and --labels: remove one after the other")
    if arguments.training:
        return commands.named("leakage.remove")(bench, arguments)
    if arguments.labels:
        return _remove_labels(bench, arguments)
    parts = removing.planned(bench.store, *what)
    told = printable.printable(removing.said(bench.store, parts, arguments.dataset))
    if not arguments.yes:
        printable.say(f"would remove {told}; --yes removes it")
        return 0
    removing.remove(bench.store, *what)
    printable.say(f"removed {told}")
    return done(bench)
