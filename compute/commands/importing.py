"""Commands that import or remove datasets, texts, runs and grades."""

from collections.abc import Mapping, Sequence
from dataclasses import replace as replaced
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Parameter

from compute.base import printable
from compute.base.errors import BeirscopeError, Missing, WrongInput
from compute.base.words import counted, shown
from compute.commands import groups, options
from compute.commands.common import done, tell, tell_version
from compute.commands.opening import open_bench
from compute.datasets import Dataset as Row
from compute.intake import (
    carrying,
    imports,
    leakage,
    machine_grade_import,
    packed,
    printed_tables,
    query_labels,
    smaller,
    tags,
    texts,
)
from compute.jobs import removing
from compute.store.loading import Bench, Loaded
from compute.store.own_datasets import dataset_of


def import_dataset(
    path: options.SomeFile = None,
    /,
    *,
    name: str,
    qrels: options.SomeFile = None,
    queries: options.SomeFile = None,
    runs: Annotated[tuple[options.File, ...], options.SEVERAL] = (),
    split: str = "",
    language: str = "en",
    drop_self: bool = False,
    level: Annotated[int, Parameter(metavar="N")] = 1,
    replace: options.Replace = False,
    shape: groups.Shape = groups.Shape(),
    grades: groups.Grades = groups.Grades(),
) -> int:
    """Import your own dataset: a BEIR folder or archive, or only judgements or runs.

    Args:
        path: a BEIR folder or archive, which needs no judgements if --qrels is given
        name: name of the dataset; mine/dev is split dev of mine
        qrels: file of judgements (qrels, CSV, JSON, Parquet …), with or without PATH
        queries: with --qrels or --runs, TREC topics, queries.jsonl, or lines of id, tab, text
        runs: runs to import as well; without judgements, the dataset is created from these runs
        split: split to score (default: test, or the only one)
        language: en, pl, another ISO code, or unknown
        drop_self: drop a document whose id equals the query's
        level: lowest relevant grade N; runs are also scored by AP(rel=N)@100 etc. (TREC DL: 2)
    """
    bench, how = open_bench(), shape.how(grades)
    with packed.opened(runs, bench.settings.home) as files:
        loaded = imports.import_dataset(
            bench,
            name,
            path=path,
            qrels=qrels,
            queries=queries,
            files=[(file, how) for file in files],
            split=split,
            language=language,
            drop_self=drop_self,
            level=level,
            replace=replace,
            how=how,
        )
        _tell_dataset(bench, name, loaded)
        about = {"any_tag": True, "how": how, "replace": replace}
        refused = _import_runs(bench, loaded.dataset, files, about)
    done(bench)
    return 2 if refused else 0


def _tell_dataset(bench: Bench, name: str, loaded: Loaded) -> None:
    documents = loaded.documents.rows if loaded.documents else 0
    unknown = loaded.queries.provenance["judgements_of_unknown_documents"]
    told = imports.replaced(bench.store, loaded)
    printable.say(
        f"{name}: {documents:,} documents, {loaded.queries.rows:,} queries,"
        f" {loaded.judgements.rows:,} judgements"
        + (f", {unknown:,} for documents outside the corpus" if unknown else "")
        + (f"; {loaded.subtopics.rows:,} by subtopic" if loaded.subtopics else "")
    )
    printable.say(*(f"remark: {remark}" for remark in imports.remarks(loaded)))
    if told:
        printable.say(told)


def add_texts(dataset: options.Dataset, path: options.SomeFile = None, /) -> int:
    """Add texts to a dataset that has only ids, or narratives of queries; no run is recomputed.

    Args:
        path: a BEIR folder, archive or corpus.jsonl (default: the dataset's source), or TREC topics
            or a queries.jsonl with narratives
    """
    bench = open_bench()
    row = dataset_of(bench.store, dataset)
    told = texts.add(bench, row, path)
    done(bench)
    printable.say(f"{row.name}: {told}")
    return 0


def import_run(
    *files: Annotated[Path, options.OF_FILE, Parameter(required=True)],
    dataset: options.Dataset,
    system: str = "",
    repeat_of: Annotated[str, Parameter(metavar="SYSTEM")] = "",
    replace: options.Replace = False,
    as_version: groups.AsVersion = groups.AsVersion(),
    drop_equal_ids: options.DropEqualIds = False,
    shape: groups.Shape = groups.Shape(),
    fold: options.Fold = None,
    after: Annotated[str, Parameter(metavar="FIRST")] = "",
) -> int:
    """Import runs as systems of a dataset, from TREC run files, CSV, JSON, Parquet and others.

    Each file is imported completely or not at all; a file that is refused does not stop the others.
    A zip or tar archive is read as the files that it contains.

    Args:
        system: its name (default: the run's own tag, or the file's name)
        after: the stored system whose lists these runs rerank; pages then count losses by stage
        repeat_of: add the files as further runs of this system, such as with rebuilt indexes; its
            scores are means over all its runs
    """
    bench = open_bench()
    try:
        row = dataset_of(bench.store, dataset)
    except Missing as error:
        makes = f"import-dataset --runs FILES --name {shown(dataset)}"
        raise Missing(f"{error}; {makes} creates one from runs, without judgements") from None
    version = as_version.version()
    if version and replace:
        raise WrongInput("--replace deletes the other run, --as-version keeps it: give one")
    how = {"drop_equal_ids": drop_equal_ids, "version": version, "replace": replace}
    if system and repeat_of:
        raise WrongInput("--system names a new system, --repeat-of one with runs: give one")
    how |= {"any_tag": bool(system or repeat_of), "repeat": bool(repeat_of)}
    how |= {"how": replaced(shape.how(fold=fold), after=after)}
    with packed.opened(files, bench.settings.home) as found:
        if system and len(found) > 1:
            raise WrongInput(
                "--system names a single run: omit it for several files; tags name them"
            )
        refused = _import_runs(bench, row, found, how, system or repeat_of)
    done(bench)
    return 2 if refused else 0


def _import_runs(
    bench: Bench, row: Row, files: Sequence[Path], how: Mapping[str, Any], system: str = ""
) -> int:
    """Import runs and report each outcome; returns the number of refused files."""
    refused, there, taken, several = 0, 0, set[str](), len(files) > 1
    names = [system] * len(files) if system else _names(files)
    for file, name in zip(files, names, strict=True):
        try:
            outcome = imports.import_run(bench, file, row, system=name, spared=taken, **how)
        except BeirscopeError as error:
            if not several:
                raise
            refused += 1
            printable.warn(error)
            continue
        taken.add(outcome.hits.system)
        there += not outcome.new
        tell(bench, row, outcome.hits.system, outcome)
        tell_version(bench, outcome, how.get("version"))
    if several:
        new, same = len(files) - refused - there, f", {there} already stored" if there else ""
        printable.say(f"{new} imported{same}, {refused} refused")
    return refused


def import_grades(
    file: options.SomeFile = None,
    /,
    *,
    dataset: options.Dataset,
    machine: options.Machine,
    run: Annotated[str, Parameter(metavar="SYSTEM")] = "",
    thresholds: Annotated[tuple[float, ...], options.SEVERAL, Parameter(metavar="SCORE")] = (),
    quantiles: Annotated[tuple[float, ...], options.SEVERAL, Parameter(metavar="SHARE")] = (),
    machines: Annotated[tuple[str, ...], options.SEVERAL, Parameter(metavar="NAME")] = (),
    rule: Literal["majority", "mean"] = "majority",
    replace: options.Replace = False,
    shape: groups.Shape = groups.Shape(),
    grades: groups.Grades = groups.Grades(),
) -> int:
    """Import LLM grades: from a file, from the scores of a stored run, or from other LLMs.

    The grades form a separate judgement set.

    Args:
        file: umbrela's JSONL, or judgements in any format: qrels, CSV, JSON, Parquet …
        run: instead of a file, grade by the scores of this system's run
        thresholds: with --run, the lowest score for grade 1, grade 2, …
        quantiles: with --run, these thresholds as quantiles of its scores, such as 0.8 0.95
        machines: instead of a file, combine the stored grades of these LLMs
        rule: with --machines, the majority (the lower grade in a tie) or the rounded mean
    """
    bench = open_bench()
    row = dataset_of(bench.store, dataset)
    if sum(map(bool, (file, run, machines))) != 1:
        raise WrongInput("give either a file of grades, --run SYSTEM or --machines NAMES")
    if not run and (thresholds or quantiles):
        raise WrongInput("--thresholds and --quantiles are for the scores of --run: leave them out")
    if file:
        how = {"how": shape.how(grades), "replace": replace}
        taken = machine_grade_import.import_file(bench, file, row, machine, **how)
    elif machines:
        of = {"rule": rule, "replace": replace}
        taken = machine_grade_import.from_machines(bench, row, machines, machine, **of)
    else:
        cuts = {"thresholds": thresholds, "quantiles": quantiles, "replace": replace}
        taken = machine_grade_import.from_run(bench, row, run, machine, **cuts)
    printable.say(machine_grade_import.said(taken))
    return done(bench)


def import_labels(
    file: options.SomeFile = None,
    /,
    *,
    dataset: options.Dataset,
    replace: bool = False,
    family: Annotated[str | None, Parameter(metavar="KEY")] = None,
    weight: Annotated[str | None, Parameter(metavar="KEY")] = None,
    baseline: Annotated[str | None, Parameter(metavar="SYSTEM")] = None,
) -> int:
    """Import labels of queries: query groups, and families of queries that belong together.

    Args:
        file: TSV with query_id, key and value, or BEIR's queries.jsonl
        replace: replace stored labels with the same keys
        family: resample families of queries, as named by this key, such as conversation, in tests
            and intervals; '' for queries again
        weight: also weight means and tests by this key, such as traffic; '' for no weights
        baseline: store this system as the baseline on the page Dataset; '' for none
    """
    bench = open_bench()
    row = dataset_of(bench.store, dataset)
    if file:
        how: dict[str, Any] = {"replace": replace, "family": family, "weight": weight}
        part, new = query_labels.import_file(bench, file, row, **how)
        if baseline is not None:
            part, _ = query_labels.declare(bench, row, baseline=baseline)
    elif family is weight is baseline is None:
        raise WrongInput("give a file of labels, --family or --weight with a key, or --baseline")
    else:
        roles = {"family": family, "weight": weight, "baseline": baseline}
        part, new = query_labels.declare(bench, row, **roles)
    told = query_labels.said(part) + ("" if new else "; they were already stored")
    printable.say(told)
    return done(bench)


def import_table(
    file: options.File,
    /,
    *,
    name: str,
    measure: Annotated[str, Parameter(metavar="MEASURE")] = "",
    percent: bool = False,
    replace: options.Replace = False,
) -> int:
    """Import a table of mean scores, such as a paper's or MTEB's, as a board of the Leaderboard.

    Args:
        file: CSV or TSV with systems by datasets, or with columns system, dataset, measure, score;
            or MTEB's results in JSON
        name: name of the table, such as "MTEB, 2026-05"
        measure: measure of the scores, such as nDCG@10, unless a column names it
        percent: the scores are in percent (default: fractions)
    """
    bench = open_bench()
    how = {"percent": percent, "replace": replace}
    part, told, new = printed_tables.import_file(bench, file, name, measure, **how)
    printable.say(f"{part.dataset}: {counted(part.rows, 'score')}{', already stored' * (not new)}")
    printable.say(*(f"remark: {remark}" for remark in told))
    printable.say("Leaderboard, Scores: Published, shows it under Source table")
    return done(bench)


def _names(files: Sequence[Path]) -> list[str]:
    """Return a system name per file, or "" to use its tag. Warns about uninformative tags."""
    if len(files) == 1:
        return [""]
    runs = [tags.Tagged(file.name, tags.tag(file)) for file in files]
    called = tags.names(runs)
    printable.warn(*tags.renamed(runs, called))
    return called


def sample(
    dataset: options.Dataset,
    /,
    *,
    documents: options.Count,
    seed: int = 0,
    name: str = "",
) -> int:
    """Store a random sample of a dataset's documents that includes all judged ones.

    Args:
        documents: total number of documents
        seed: seed of the random sample
        name: name of the new dataset (default: with its size and seed)
    """
    bench = open_bench()
    row = dataset_of(bench.store, dataset)
    made = smaller.sample(bench, row, documents, seed, name).dataset
    printable.say(f"{made.name}: {documents:,} documents of {row.name}, including all judged ones")
    return done(bench)


def remove(
    dataset: str,
    /,
    *,
    system: str = "",
    machine: str = "",
    training: str = "",
    labels: Annotated[str, Parameter(metavar="KEY")] = "",
    carried: Annotated[str, Parameter(metavar="DATASET")] = "",
    yes: options.Yes = False,
) -> int:
    """Remove a dataset with its runs, or only one of its runs; added judgements are kept.

    Args:
        dataset: its name in `datasets`
        system: only this system's run
        machine: only this LLM's grades
        training: only the results for this training set
        labels: only the query labels of this key
        carried: only the judgements carried from this dataset
    """
    bench = open_bench()
    if sum(map(bool, (system, machine, training, labels, carried))) > 1:
        told = "--system, --machine, --training, --labels and --carried"
        raise WrongInput(f"{told}: give only one")
    if training:
        row = dataset_of(bench.store, dataset)
        found = leakage.said(leakage.stored(bench.store, row.name, training))
        told = f"the result and its labels: {found}"
        does = partial(leakage.remove, bench.store, row.name, training)
    elif labels:
        n = query_labels.of_key(bench.store, dataset, labels)
        told = f"{counted(n, 'label')} {labels} of {dataset}"
        does = partial(query_labels.drop, bench.store, dataset, labels)
    elif carried:
        n = carrying.stored(bench.store, dataset, carried).rows
        told = f"{counted(n, 'judgement')} of {dataset} carried from {carried}"
        does = partial(carrying.remove, bench.store, dataset, carried)
    else:
        parts = removing.planned(bench.store, dataset, system, machine)
        told = removing.said(bench.store, parts, dataset)
        does = partial(removing.remove, bench.store, dataset, system, machine)
    told = printable.printable(told)
    if not yes:
        printable.say(f"would remove {told}; add --yes to do it")
        return 0
    does()
    printable.say(f"removed {told}")
    return done(bench)
