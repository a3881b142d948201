"""The commands about files and what comes of them: check, import-dataset, import-run, remove."""

import json
import sys
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path

from compute.base import printable, settings
from compute.base.errors import BeirscopeError, WrongInput
from compute.base.words import counted, sized
from compute.commands.common import done, known, open_bench, tell
from compute.datasets import dataset
from compute.intake import doctor, imports, tags
from compute.intake.doctor import known as doctor_known
from compute.jobs import removing
from compute.store import damage


def check(arguments: Namespace) -> int:
    """Report what is in files and folders, or in the store; nothing is changed."""
    if arguments.store == bool(arguments.paths):
        raise WrongInput("check what? Name files or folders, or --store for what is stored here")
    if arguments.store:
        return _check_store(arguments)
    against = None
    if arguments.dataset:
        bench = open_bench()
        against = doctor_known(bench.store, dataset(arguments.dataset, known(bench)))
    reports = doctor.check_all(arguments.paths, against=against, home=settings.load().home)
    if arguments.json:
        # In ASCII: a program reads it, and no name of a file can act on a terminal.
        sys.stdout.write(json.dumps([r.record() for r in reports], indent=1) + "\n")
    else:
        for report in reports:
            lines = [printable.printable(line) for line in report.lines()]
            sys.stdout.write("\n".join(lines) + "\n")
        for line in _of_all(reports):
            sys.stdout.write(f"{printable.printable(line)}\n")
    return 2 if any(report.refused for report in reports) else 0


def _check_store(arguments: Namespace) -> int:
    """Read every stored part and name the damaged ones; status 2 where there are any."""
    bench = open_bench()
    parts = damage.verify(bench.store, anew=True, progress=bench.progress)
    damaged = [part for part in parts if part.damage]
    found = sum(part.sha256_as == "found" for part in parts)
    if arguments.json:
        records = [
            {
                **{name: getattr(part, name) for name in ("kind", "dataset", "system", "damage")},
                "file": str(part.path),
                "command": damage.mend(part),
            }
            for part in damaged
        ]
        whole = {"parts": len(parts), "taken_as_found": found, "damaged": records}
        sys.stdout.write(json.dumps(whole, indent=1) + "\n")
    else:
        lines = [f"{damage.said(part)} ({part.path})" for part in damaged]
        sys.stdout.writelines(f"{printable.printable(line)}\n" for line in lines)
        size = sized(sum(part.bytes for part in parts))
        as_found = f", {found:,} taken as found" if found else ""
        sys.stdout.write(
            f"{counted(len(parts), 'part')}, {size}: {len(damaged):,} damaged{as_found}\n"
        )
    return 2 if damaged else 0


def _of_all(reports: Sequence[doctor.Report]) -> list[str]:
    """What the reports on several files come to, which tags name no run among it."""
    if len(reports) < 2:
        return []
    paths = [Path(report.path) for report in reports if report.kind == "run"]
    runs = [tags.Tagged(path.name, tags.tag(path)) for path in paths]
    fit = sum(not report.refused for report in reports)
    return [*tags.renamed(runs, tags.names(runs)), f"{fit} of {len(reports)} fit for import"]


def import_dataset(arguments: Namespace) -> int:
    """Take in an own collection."""
    bench = open_bench()
    before = imports.content(bench.store, arguments.name)
    loaded = imports.import_dataset(
        bench,
        arguments.name,
        path=arguments.path,
        qrels=arguments.qrels,
        queries=arguments.queries,
        split=arguments.split,
        language=arguments.language,
        drop_self=arguments.drop_self,
    )
    documents = loaded.documents.rows if loaded.documents else 0
    unknown = loaded.queries.provenance["judgements_of_unknown_documents"]
    told = imports.replaced(bench.store, arguments.name, before)
    done(bench)
    sys.stdout.write(
        f"{arguments.name}: {documents:,} documents, {loaded.queries.rows:,} queries,"
        f" {loaded.judgements.rows:,} judgements"
        + (f", {unknown:,} of them of documents not in the corpus" if unknown else "")
        + "\n"
    )
    if same := imports.alike(loaded):
        sys.stdout.write(f"remark: {printable.printable(same)}\n")
    if told:
        sys.stdout.write(f"{told}\n")
    return 0


def import_run(arguments: Namespace) -> int:
    """Take in run files, each whole or not at all; of several a refused one stops no other."""
    bench = open_bench()
    row = dataset(arguments.dataset, known(bench))
    files = doctor.files(arguments.files)
    several = len(files) > 1
    if arguments.system and several:
        raise WrongInput("--system names one run: import several files without it, by their tags")
    refused, taken = 0, set[str]()
    for file, name in zip(files, _names(files, arguments.system or ""), strict=True):
        try:
            outcome = imports.import_run(
                bench,
                file,
                row,
                system=name,
                drop_equal_ids=arguments.drop_equal_ids,
                replace=arguments.replace,
                spared=taken,
            )
        except BeirscopeError as error:
            if not several:
                raise
            refused += 1
            sys.stderr.write(f"{error}\n")
            continue
        taken.add(outcome.hits.system)
        tell(bench, row, outcome.hits.system, outcome)
    if several:
        sys.stdout.write(f"{len(files) - refused} imported, {refused} refused\n")
    done(bench)
    return 2 if refused else 0


def _names(files: Sequence[Path], system: str) -> list[str]:
    """What each file's run is called; empty for its tag. Says which tags name no run."""
    if len(files) == 1:
        return [system]
    runs = [tags.Tagged(file.name, tags.tag(file)) for file in files]
    called = tags.names(runs)
    for line in tags.renamed(runs, called):
        sys.stderr.write(f"{printable.printable(line)}\n")
    return called


def remove(arguments: Namespace) -> int:
    """Say what goes with a dataset or a run; with `--yes` remove it."""
    bench = open_bench()
    what = arguments.dataset, arguments.system
    parts = removing.planned(bench.store, *what)
    told = printable.printable(removing.said(bench.store, parts, arguments.dataset))
    if not arguments.yes:
        sys.stdout.write(f"would remove {told}; --yes removes it\n")
        return 0
    removing.remove(bench.store, *what)
    sys.stdout.write(f"removed {told}\n")
    return done(bench)
