"""Helpers for commands that compute missing scores, and for their reports."""

import shlex
from collections.abc import Iterable

from compute.base import disk_refusals, printable
from compute.base.errors import Unavailable
from compute.base.words import counted
from compute.commands.opening import say
from compute.datasets import DATASETS, Dataset
from compute.evaluate import scored_measures
from compute.evaluate.measures import parse
from compute.reading import database
from compute.recompute import run as recompute
from compute.recompute.run import remarks, said
from compute.store import freshness, run_versions
from compute.store.loading import Bench, Loaded
from compute.store.own_datasets import own_datasets
from compute.store.store import Part

_MOST_LINES = 3


def scored_by(bench: Bench, measure: str, dataset: str = "", system: str = "") -> list[str]:
    """Score the stored runs that lack a measure, for one dataset or system or for all.

    Returns a sentence for each run that is not stored deep enough, or whose dataset has none of
    the subtopics that the measure needs (if there are many, for the first few). Raises WrongInput
    for an unknown measure.
    """
    wanted = scored_measures.more([measure])
    rows = dict(DATASETS) | own_datasets(bench.store)
    names = (rows[dataset].parts if dataset in rows else ()) or (dataset,)
    fresh, _ = freshness.split(bench.store.parts(picked=[system]) if wanted else ())
    runs = [hits for hits in fresh if hits.kind == "hits" and hits.dataset in rows]
    runs = [hits for hits in runs if hits.dataset in names or not dataset]
    runs = [hits for hits in runs if hits.system == system or not system]
    new, lacking = 0, dict[str, None]()
    for hits in runs:
        loaded = recompute.stored_dataset(bench.store, rows[hits.dataset])
        lacking |= dict.fromkeys(without_subtopics(loaded, wanted))
        new += recompute.score(bench, loaded, hits, measures=wanted).new
    if new:
        printable.warn(f"scored {counted(new, 'run')} by {measure}")
        done(bench)
    deep = [line for hits in runs for line in too_deep(hits, wanted)]
    left = len(deep) - _MOST_LINES
    more = [f"the same applies to {counted(left, 'more run')}"] if left > 0 else []
    return [*lacking, *deep[:_MOST_LINES], *more]


def without_subtopics(loaded: Loaded, measures: Iterable[str]) -> list[str]:
    """Return a sentence for each measure that needs subtopics, if the judgements have none."""
    return [
        f"{one} cannot be computed on {loaded.dataset.name}: its judgements have no subtopics"
        for one in measures
        if not scored_measures.allows(parse(one), loaded)
    ]


def too_deep(hits: Part, measures: Iterable[str]) -> list[str]:
    """Return a message with a remedy for each measure that is deeper than the stored run."""
    run = printable.printable(f"{shlex.quote(hits.system)} {hits.dataset}")
    remedy = "" if "cut" in hits.provenance else "raise the setting depth, then "
    return [
        f"{measure} cannot be computed for {run}: its stored hits end at rank"
        f" {scored_measures.kept(hits):,}; {remedy}run python -m compute run {run} or import it"
        " again"
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
    """Print a run's two default scores and the requested ones, with remarks that affect them."""
    words = said(bench, outcome, measures)
    told = [f"  remark: {printable.printable(remark)}" for remark in remarks(outcome)]
    say(bench, f"{printable.printable(name)} on {row.name}: {words}", *told)


def tell_version(
    bench: Bench, outcome: recompute.Outcome, version: run_versions.Version | None
) -> None:
    """Report a run that was imported as a version."""
    if version is not None:
        say(bench, f"  {printable.printable(run_versions.told(outcome.hits, new=outcome.new))}")


def done(bench: Bench) -> int:
    """Rewrite the database for notebooks and remove old files. Returns 0, the exit status.
    Raises Unavailable if writing fails; the message says that the results are saved."""
    try:
        with disk_refusals.explained(bench.store.home):
            database.write_database(bench.store)
            bench.store.tidy()
    except Unavailable as error:
        told = "everything is saved except beirscope.duckdb, the copy for notebooks"
        raise Unavailable(f"{told}: {error}") from error
    return 0
