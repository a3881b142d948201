"""What the commands do: each takes its parsed arguments and returns the exit status."""

import json
import sys
from argparse import Namespace
from collections.abc import Iterable, Iterator
from dataclasses import asdict

import pandas as pd
from pandas import DataFrame

from compute import demo as demonstration
from compute import (
    freshness,
    imports,
    jobs,
    loading,
    measures,
    queries,
    reading,
    recompute,
    settings,
    shipping,
    terminal,
)
from compute import serve as server
from compute.datasets import DATASETS, Dataset, check_path, dataset
from compute.errors import BeirscopeError, Missing, Unavailable, WrongInput
from compute.jobs import worker
from compute.recompute import Bench
from compute.store import Part, Store
from compute.systems import SYSTEMS, system
from compute.wording import counted, near


def _bench() -> Bench:
    now = settings.load()
    return Bench(Store(now), now, terminal.Bar() if sys.stderr.isatty() else loading.quiet)


def _known(bench: Bench) -> dict[str, Dataset]:
    return imports.own_datasets(bench.store)


def _named(bench: Bench, names: Iterable[str]) -> list[Dataset]:
    """The datasets of these names, a dataset of parts as its parts. Raises Missing."""
    known = _known(bench)
    rows = [dataset(name, known) for name in names]
    return [dataset(part, known) for row in rows for part in row.parts or (row.name,)]


def datasets(arguments: Namespace) -> int:
    """List every dataset with what is stored of it."""
    bench = _bench()
    stored = {part.dataset for part in bench.store.parts("queries")}
    runs = pd.Series([part.dataset for part in bench.store.parts("hits")]).value_counts()
    rows = [
        {
            "dataset": row.name,
            "title": row.title,
            "group": row.group,
            "split": row.split if row.has_split else None,
            "task": row.task,
            "stored": "yes" if row.name in stored else "no",
            "runs": int(runs.get(row.name, 0)),
        }
        for row in (dict(DATASETS) | _known(bench)).values()
    ]
    return terminal.show(DataFrame(rows), arguments.json)


def systems(arguments: Namespace) -> int:
    """List every system with its family and whether it runs here."""
    rows = [
        {
            "system": row.name,
            "title": row.title,
            "family": row.family,
            "status": row.status or "runs here",
            "checkpoint": row.checkpoint,
            "settings": row.settings,
        }
        for row in SYSTEMS.values()
    ]
    shown = DataFrame(rows)
    # A terminal is too narrow for the long columns.
    return terminal.show(shown if arguments.json else shown.iloc[:, :4], arguments.json)


def check(arguments: Namespace) -> int:
    """Report what is in a file or folder; nothing is changed."""
    report = check_path(arguments.path)
    if arguments.json:
        sys.stdout.write(json.dumps(report.record(), ensure_ascii=False, indent=1) + "\n")
    else:
        sys.stdout.write(terminal.printable_lines(str(report)) + "\n")
    return 2 if report.refused else 0


def run(arguments: Namespace) -> int:
    """Run a system on datasets, one after another; each is published when it is done."""
    bench = _bench()
    chosen = system(arguments.system)
    if chosen.search is None:
        here = ", ".join(row.name for row in SYSTEMS.values() if row.search)
        raise Unavailable(f"{chosen.name} is {chosen.status}; these run here: {here}")
    for row in _named(bench, arguments.datasets):
        outcome = recompute.run(
            bench, chosen, row, again=arguments.again, drop_equal_ids=arguments.drop_equal_ids
        )
        _tell(bench, row, chosen.name, outcome)
    return _done(bench)


def import_dataset(arguments: Namespace) -> int:
    """Take in an own collection."""
    bench = _bench()
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
    sys.stdout.write(
        f"{arguments.name}: {documents:,} documents, {loaded.queries.rows:,} queries,"
        f" {loaded.judgements.rows:,} judgements"
        + (f", {unknown:,} of them of documents not in the corpus" if unknown else "")
        + "\n"
    )
    _tell_replaced(bench, arguments.name, before)
    return _done(bench)


def _tell_replaced(bench: Bench, name: str, before: dict[str, Part]) -> None:
    now = imports.content(bench.store, name)
    gone = [
        f"{part.rows:,} {kind}"
        for kind, part in before.items()
        if kind not in now or now[kind].fingerprint != part.fingerprint
    ]
    if gone:
        runs = len(bench.store.parts("hits", name))
        old = f"; {counted(runs, 'run')} on it may be old: run or import again" if runs else ""
        sys.stdout.write(f"replaced what had this name: {', '.join(gone)}{old}\n")


def import_run(arguments: Namespace) -> int:
    """Take in run files, each whole or not at all; of several a refused one stops no other."""
    bench = _bench()
    row = dataset(arguments.dataset, _known(bench))
    several = len(arguments.files) > 1
    if arguments.system and several:
        raise WrongInput("--system names one run: import several files without it, by their tags")
    refused = 0
    for file in arguments.files:
        try:
            outcome = imports.import_run(
                bench,
                file,
                row,
                system=arguments.system or "",
                drop_equal_ids=arguments.drop_equal_ids,
                replace=arguments.replace,
            )
        except BeirscopeError as error:
            if not several:
                raise
            refused += 1
            sys.stderr.write(f"{error}\n")
            continue
        _tell(bench, row, outcome.hits.system, outcome)
    if several:
        sys.stdout.write(f"{len(arguments.files) - refused} imported, {refused} refused\n")
    _done(bench)
    return 2 if refused else 0


def score(arguments: Namespace) -> int:
    """Score stored runs, computing only what changed."""
    bench = _bench()
    fresh, _ = freshness.split(bench.store.parts())
    names = {row.name for row in _named(bench, arguments.datasets)}
    for hits in fresh:
        if hits.kind != "hits" or (names and hits.dataset not in names):
            continue
        row = dataset(hits.dataset, _known(bench))
        loaded = recompute.stored_dataset(bench.store, row)
        # Shipped hits are cut: scored again they would only lose the deeper measures.
        again = arguments.again and not hits.shipped
        _tell(bench, row, hits.system, recompute.score(bench, loaded, hits, again=again))
    return _done(bench)


def show(arguments: Namespace) -> int:
    """Print scores or holes, or the papers' figures, or the jobs."""
    bench = _bench()
    if arguments.what == "jobs":
        return terminal.show(_jobs_shown(bench), arguments.json)
    cursor = reading.open_version(bench.store).cursor()
    measure = arguments.measure or ("Hole@10" if arguments.what == "holes" else None)
    chosen = {"dataset": arguments.dataset, "system": arguments.system, "measure": measure}
    frame = queries.scores_shown(
        cursor,
        **chosen,
        published=arguments.published,
        returned_only=arguments.returned_only,
    )
    _tell_stale(bench)
    if frame.empty:
        _name_the_wrong(queries.scores_shown(cursor, published=arguments.published), chosen)
    return terminal.show(frame, arguments.json)


def _tell_stale(bench: Bench) -> None:
    """Name on stderr the runs that are stored and not shown."""
    _, stale = freshness.split(bench.store.parts())
    for part in stale:
        if part.kind == "scores":
            remedy = f"python -m compute score {part.dataset}"
            if any(p.kind == "hits" and p.system == part.system for p in stale):
                remedy = f"python -m compute run {part.system} {part.dataset}, or import it again"
            sys.stderr.write(
                f"{terminal.printable(part.system)} on {part.dataset} is left out, it was made"
                f" before the dataset changed: {remedy}\n"
            )


def _name_the_wrong(stored: DataFrame, chosen: dict[str, str | None]) -> None:
    """Raises Missing or WrongInput for the first choice that nothing stored has."""
    for column, name in chosen.items():
        known = list(stored[column].unique())
        if not name or name in known:
            continue
        if column == "measure":
            measures.parse(name)
        listed = ", ".join(known[:20]) + (", …" if len(known) > 20 else "")
        raise Missing(
            f"no scores of {column} {name!r}: {near(name, known)}There are {listed or 'none'}"
        )


def _jobs_shown(bench: Bench) -> DataFrame:
    rows = [
        {
            "job": job.id,
            "state": job.state,
            "what": f"{job.kind}: {job.title}",
            "tasks": job.summary,
            "now": _now(job.progress),
            "created": pd.Timestamp(job.created, unit="s", tz="UTC").isoformat(),
            "error": job.error,
        }
        for job in jobs.listed(bench.settings, 50)
    ]
    return DataFrame(rows)


def _now(progress: jobs.Progress | None) -> str:
    if progress is None:
        return ""
    if not progress.unit:
        return progress.step
    of = f" of {progress.total:,}" if progress.total else ""
    left = progress.seconds_left
    rest = f", {left:.0f} s left" if left is not None else ""
    return f"{progress.step}: {progress.done:,}{of} {progress.unit}{rest}"


def job(arguments: Namespace) -> int:
    """Start, list, cancel or retry jobs."""
    bench = _bench()
    if arguments.what == "list":
        return terminal.show(_jobs_shown(bench), arguments.json)
    if arguments.what in ("cancel", "retry") and not arguments.names:
        raise WrongInput(
            f"name a job to {arguments.what}: python -m compute jobs list has their ids"
        )
    if arguments.what == "cancel":
        for name in arguments.names:
            jobs.cancel(bench.settings, name)
            sys.stdout.write(f"{name} is cancelled\n")
        return 0
    if arguments.what == "retry":
        started = [jobs.retry(bench.store, name) for name in arguments.names]
    else:
        started = [_start(bench, arguments)]
    if arguments.json:
        sys.stdout.write(json.dumps([asdict(one) for one in started], indent=1) + "\n")
        return 0
    sys.stdout.write("".join(f"{one.sentence}\n" for one in started))
    if any(one.job for one in started) and not jobs.workers_alive(bench.settings):
        sys.stdout.write("no worker is running: python -m compute worker starts one\n")
    return 0


def _start(bench: Bench, arguments: Namespace) -> jobs.Started:
    if len(arguments.names) != 1:
        raise WrongInput(f"name one kind of job to start: {', '.join(jobs.KINDS)}")
    return jobs.start(
        bench.store,
        arguments.names[0],
        arguments.systems,
        arguments.datasets,
        again=arguments.again,
        drop_equal_ids=arguments.drop_equal_ids,
    )


def work(arguments: Namespace) -> int:
    """Take jobs from the queue and do them, until stopped."""
    if arguments.concurrency == 1:
        worker.work(settings.load())
    return worker.several(arguments.concurrency)


def demo(arguments: Namespace) -> int:
    """Run the demo, or leave it to a worker; what is stored already is not computed again."""
    bench = _bench()
    if jobs.workers_alive(bench.settings):
        sys.stdout.write(f"{jobs.start(bench.store, 'demo').sentence}\n")
        return 0
    done = 0
    for name, row, error in demonstration.run(bench):
        done += not error
        if error:
            sys.stderr.write(terminal.printable(f"{name} on {row}: {error}") + "\n")
    total = len(demonstration.pairs())
    sys.stdout.write(f"{done} of {total} runs are stored\n")
    _done(bench)
    return 2 if done < total else 0


def serve(arguments: Namespace) -> int:
    """Start the dashboard, and a worker with the demo behind it."""
    return server.serve(settings.load())


def ship(arguments: Namespace) -> int:
    """Write the stored results of datasets to where they ship."""
    bench = _bench()
    rows = _named(bench, arguments.datasets)
    names = [row.name for row in rows]
    sys.stdout.write(f"{shipping.ship(bench.store, names, only=arguments.only)}\n")
    return 0


def snapshot(arguments: Namespace) -> int:
    """Write everything to one DuckDB file."""
    store = _bench().store
    reading.snapshot(store, arguments.file)
    size = arguments.file.stat().st_size
    sys.stdout.write(f"{arguments.file}: {counted(len(store.parts()), 'part')}, {size:,} bytes\n")
    return 0


def _tell(bench: Bench, row: Dataset, name: str, outcome: recompute.Outcome) -> None:
    if isinstance(bench.progress, terminal.Bar):
        bench.progress.close()
    scores = recompute.read(outcome.scores).groupby("measure")["value"].mean()
    values = ", ".join(f"{m} {scores[m]:.4f}" for m in ("nDCG@10", "R@100") if m in scores)
    news = [*([] if outcome.new else ["up to date"]), *_remarks(bench, outcome.hits)]
    remark = f" ({'; '.join(news)})" if news else ""
    sys.stdout.write(f"{terminal.printable(name)} on {row.name}: {values}{remark}\n")
    sys.stdout.flush()


def _remarks(bench: Bench, hits: Part) -> Iterator[str]:
    """What may make a score lower than it should be."""
    about = hits.provenance
    queries = bench.store.part("queries", hits.dataset)
    top = bench.store.part("top", hits.dataset, hits.system)
    answered = int((recompute.read(top)["rank"] == 1).sum()) if top else None
    if queries and answered is not None and answered < queries.rows:
        yield f"answers {answered:,} of {queries.rows:,} queries"
    if others := about.get("hits_of_other_queries"):
        yield f"{counted(others, 'hit')} of queries outside the split left out"
    if again := about.get("duplicates"):
        yield f"{counted(again, 'hit')} of documents that stand higher in the same list left out"


def _done(bench: Bench) -> int:
    """Write the database for notebooks anew, and tidy away what is old."""
    reading.write_database(bench.store)
    bench.store.tidy()
    return 0
