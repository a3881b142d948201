"""What the commands share: the bench they work at, the datasets they name, what they tell."""

import shlex
import sys
from collections.abc import Iterable

from compute.base import disk_refusals, printable, settings
from compute.base.errors import Unavailable
from compute.base.words import counted
from compute.datasets import DATASETS, Dataset, dataset
from compute.evaluate import scored_measures
from compute.evaluate.measures import parse
from compute.reading import database
from compute.recompute import run as recompute
from compute.recompute.run import Bench, remarks, said
from compute.store import damage, freshness, loading
from compute.store.own_datasets import own_datasets
from compute.store.store import Part, Store


def open_bench() -> Bench:
    """The store of this home, with a progress bar where a person watches."""
    now = settings.load()
    return Bench(Store(now), now, printable.Bar() if sys.stderr.isatty() else loading.quiet)


def known(bench: Bench) -> dict[str, Dataset]:
    """The user's own datasets by name."""
    return own_datasets(bench.store)


def named(bench: Bench, names: Iterable[str]) -> list[Dataset]:
    """The datasets of these names, a dataset of parts as its parts. Raises Missing."""
    found = known(bench)
    rows = [dataset(name, found) for name in names]
    return [dataset(part, found) for row in rows for part in row.parts or (row.name,)]


def scored_by(bench: Bench, measure: str, dataset: str = "", system: str = "") -> list[str]:
    """Score the stored runs that lack a measure, of one dataset or system or of all.

    Returns a sentence for each run that is not kept deep enough. Raises WrongInput for an unknown
    measure.
    """
    wanted = scored_measures.more([measure])
    rows = dict(DATASETS) | known(bench)
    names = (rows[dataset].parts or (dataset,)) if dataset in rows else (dataset,)
    fresh, _ = freshness.split(bench.store.parts() if wanted else ())
    runs = [hits for hits in fresh if hits.kind == "hits" and hits.dataset in rows]
    runs = [hits for hits in runs if hits.dataset in names or not dataset]
    runs = [hits for hits in runs if hits.system == system or not system]
    new = 0
    for hits in runs:
        loaded = recompute.stored_dataset(bench.store, rows[hits.dataset])
        new += recompute.score(bench, loaded, hits, measures=wanted).new
    if new:
        sys.stderr.write(f"scored {counted(new, 'run')} by {measure}\n")
        done(bench)
    return [line for hits in runs for line in too_deep(hits, wanted)]


def too_deep(hits: Part, measures: Iterable[str]) -> list[str]:
    """A sentence for each measure that cuts deeper than a run is kept, with what to do."""
    run = printable.printable(f"{shlex.quote(hits.system)} {hits.dataset}")
    remedy = "" if "cut" in hits.provenance else "raise the setting depth, then "
    return [
        f"no {measure} of {run}: its stored hits end at rank {scored_measures.kept(hits):,};"
        f" {remedy}python -m compute run {run}, or import it again"
        for measure in measures
        if not scored_measures.reaches(parse(measure), hits)
    ]


def tell(
    bench: Bench,
    row: Dataset,
    name: str,
    outcome: recompute.Outcome,
    measures: Iterable[str] = (),
) -> None:
    """Print what a run came to, by two measures and those asked for, and what changes numbers."""
    if isinstance(bench.progress, printable.Bar):
        bench.progress.close()
    words = said(bench, outcome, measures)
    sys.stdout.write(f"{printable.printable(name)} on {row.name}: {words}\n")
    for remark in remarks(outcome):
        sys.stdout.write(f"  remark: {printable.printable(remark)}\n")
    sys.stdout.flush()


def tell_damage(parts: Iterable[Part]) -> None:
    """Name on stderr the damaged parts, which are left out, and what makes them again."""
    for line in damage.told(parts):
        sys.stderr.write(f"{printable.printable(line)}\n")


def done(bench: Bench) -> int:
    """Write the database for notebooks anew, and tidy away what is old.

    Raises Unavailable where a disk refuses it, and says that the work itself is saved.
    """
    try:
        with disk_refusals.explained(bench.store.home):
            database.write_database(bench.store)
            bench.store.tidy()
    except Unavailable as error:
        told = "all of it is saved, but beirscope.duckdb, the copy for notebooks, is not"
        raise Unavailable(f"{told}: {error}") from error
    return 0
