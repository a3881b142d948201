"""The check command, which inspects files or the store without changing anything."""

import json as to_json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from compute.base import printable, settings
from compute.base.errors import Unavailable, WrongInput
from compute.base.words import counted, sized
from compute.commands import groups, options
from compute.commands.opening import open_bench
from compute.intake import doctor, packed, tags
from compute.intake.doctor import known as doctor_known
from compute.recompute import score_check
from compute.store import damage, integrity, state
from compute.store.own_datasets import dataset_of
from compute.store.store import Store


def check(
    *paths: options.File,
    store: bool = False,
    scores: bool = False,
    dataset: str = "",
    shape: groups.Shape = groups.Shape(),
    fold: options.Fold = None,
    grades: groups.Grades = groups.Grades(),
    json: options.Json = False,
) -> int:
    """Check files before importing them, or check the store.

    Nothing is changed.

    Args:
        paths: BEIR folders or archives, run files, judgement files, or folders that contain these
        store: check everything that is stored; exit status 2 if any of it is damaged
        scores: compare stored scores with pytrec_eval's
        dataset: compare runs and qrels with the ids of this dataset
    """
    if sum([bool(paths), store, scores]) != 1:
        raise WrongInput(
            "check needs files or folders, --store for everything stored, or --scores"
            " for stored scores"
        )
    if store or scores:
        return _check_store(json) if store else _check_scores(json)
    against = None
    if dataset:
        bench = open_bench()
        against = doctor_known(bench.store, dataset_of(bench.store, dataset))
    how = shape.how(grades, fold)
    home = settings.load().home
    with packed.opened(paths, home) as found:
        reports = doctor.check_all(found, against=against, home=home, how=how)
    if json:
        # ASCII: programs read it, and no file name can then control a terminal.
        said = to_json.dumps([r.record() for r in reports], indent=1)
        printable.say_text(packed.told(said, home))
    else:
        for report in reports:
            printable.say(*(packed.told(line, home) for line in report.lines()))
        printable.say(*_of_all(reports))
    return 2 if any(report.refused for report in reports) else 0


def _check_store(json: bool) -> int:
    """Read the state and every stored part, and report damage; status 2 if any is found."""
    from compute.jobs import tables

    bench = open_bench()
    broken = integrity.found(bench.store.engine)
    if (bench.store.home / "jobs.sqlite").exists() and not bench.settings.state:
        broken += integrity.of_tables(state.engine_of(bench.settings, "jobs.sqlite"))
    broken += filter(None, [tables.lost(bench.settings)])
    broken = broken or _damaged_task(bench.store)
    parts = damage.verify(bench.store, anew=True, progress=bench.progress)
    damaged = [part for part in parts if part.damage]
    found = sum(part.sha256_as == "found" for part in parts)
    if json:
        records = [
            {
                **{name: getattr(part, name) for name in ("kind", "dataset", "system", "damage")},
                "file": str(part.file),
                "command": damage.mend(part),
            }
            for part in damaged
        ]
        whole = {"parts": len(parts), "taken_as_found": found, "damaged": records, "state": broken}
        printable.say_text(to_json.dumps(whole, indent=1))
    else:
        printable.say(*broken, *(f"{damage.said(part)} ({part.file})" for part in damaged))
        size = sized(sum(part.bytes for part in parts))
        as_found = f", {found:,} not verified" if found else ""
        printable.say(f"{counted(len(parts), 'part')}, {size}: {len(damaged):,} damaged{as_found}")
    return 2 if damaged or broken else 0


def _damaged_task(store: Store) -> list[str]:
    """Return a message about a task whose row cannot be read, if there is one."""
    from compute.judgements.tasks import tasks

    try:
        tasks.tasks(store)
    except Unavailable as error:
        return [str(error)]
    return []


def _check_scores(json: bool) -> int:
    """Compare stored scores with pytrec_eval's; status 2 if any differ."""
    found = score_check.check(open_bench())
    if json:
        printable.say_text(to_json.dumps(asdict(found), indent=1))
    else:
        printable.say(str(found))
        if found.not_compared:
            printable.say(f"pytrec_eval does not implement {', '.join(found.not_compared)}.")
    return 0 if found.agrees else 2


def _of_all(reports: Sequence[doctor.Report]) -> list[str]:
    """Summarise the reports on several files, with remarks on their tags."""
    if len(reports) < 2:
        return []
    paths = [Path(report.path) for report in reports if report.kind == "run"]
    runs = [tags.Tagged(path.name, tags.tag(path)) for path in paths]
    fit = sum(not report.refused for report in reports)
    return [*tags.renamed(runs, tags.names(runs)), f"{fit} of {len(reports)} can be imported"]
