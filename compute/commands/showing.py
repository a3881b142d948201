"""The command that prints what is stored: show."""

import shlex
import sys
from argparse import Namespace
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

import pandas as pd
from duckdb import DuckDBPyConnection
from pandas import DataFrame

from compute.base import printable
from compute.base.errors import Missing, WrongInput
from compute.base.words import near
from compute.commands import analysing, efficiency
from compute.commands.analysing import overlaps
from compute.commands.choices import ADDED, OFFICIAL
from compute.commands.common import open_bench, scored_by, tell_damage
from compute.commands.jobs import jobs_shown
from compute.commands.systems import show_systems
from compute.evaluate import measures
from compute.judgements import Choice
from compute.reading import database
from compute.reading.overlay import Overlays
from compute.recompute.run import Bench
from compute.store import freshness
from compute.views.data import select as data_select
from compute.views.holes import select as holes_select
from compute.views.query import select as query_select


def show(arguments: Namespace) -> int:
    """Print scores, holes or jobs; the papers' figures where asked for."""
    if arguments.what == "systems":
        return show_systems(arguments)
    if arguments.judgements == ADDED and (
        arguments.published or arguments.what not in ("scores", "holes")
    ):
        raise WrongInput("--judgements added is for our scores and holes: leave it out here")
    bench = open_bench()
    return printable.show(SHOWN[arguments.what](bench, arguments), arguments.json)


@contextmanager
def _cursor(bench: Bench, arguments: Namespace) -> Iterator[DuckDBPyConnection]:
    """The stored results, with the added judgements counted in where asked for."""
    opened = database.open_version(bench.store)
    if arguments.judgements == OFFICIAL:
        yield opened.cursor()
        return
    choice = Choice(arguments.rule, tuple(arguments.source))
    with Overlays(bench.store, opened).cursor(bench.store.judgement_version(), choice) as cursor:
        yield cursor


def _scores(bench: Bench, arguments: Namespace) -> DataFrame:
    return _values(bench, arguments, arguments.measure)


def _holes(bench: Bench, arguments: Namespace) -> DataFrame:
    """Holes of stored runs beside a score and what it can be; the papers' Hole@10."""
    if arguments.published or arguments.returned_only:
        return _values(bench, arguments, arguments.measure or "Hole@10")
    with _cursor(bench, arguments) as cursor:
        return _bounds(bench, cursor, arguments, arguments.measure or "nDCG@10")


def _bounds(
    bench: Bench, cursor: DuckDBPyConnection, arguments: Namespace, measure: str
) -> DataFrame:
    runs = query_select.runs(cursor)
    chosen = {"dataset": arguments.dataset, "system": arguments.system}
    _tell_stale(bench, arguments.dataset)
    _name_the_wrong(runs, chosen)
    for column, name in chosen.items():
        runs = runs[runs[column] == name] if name else runs
    _check_depth(runs.merge(holes_select.kept(cursor)), measure)
    frames = []
    for dataset, systems in runs.groupby("dataset", sort=False)["system"]:
        bounds = holes_select.bounds(cursor, str(dataset), systems.tolist(), measure)
        bounds.insert(0, "dataset", dataset)
        bounds.insert(2, "measure", measure)
        frames.append(bounds)
    return pd.concat(frames, ignore_index=True) if frames else runs


def _check_depth(runs: DataFrame, measure: str) -> None:
    """Raises WrongInput where a measure cuts deeper than the list of a run is kept."""
    deep = measures.parse(measure).k or 0
    for dataset, system, depth in runs.sort_values("depth").itertuples(index=False):
        if deep > depth:
            raise WrongInput(
                f"{measure} cuts deeper than the lists of {printable.printable(system)} on"
                f" {dataset} are kept, to rank {depth:,}: choose a smaller k"
            )


def _values(bench: Bench, arguments: Namespace, measure: str | None) -> DataFrame:
    of = (arguments.dataset or "", arguments.system or "")
    lacking = scored_by(bench, measure, *of) if measure and not arguments.published else []
    chosen = {"dataset": arguments.dataset, "system": arguments.system, "measure": measure}
    with _cursor(bench, arguments) as cursor:
        frame = data_select.scores_shown(
            cursor,
            **chosen,
            published=arguments.published,
            returned_only=arguments.returned_only,
        )
        _tell_stale(bench, arguments.dataset)
        if frame.empty and lacking:
            raise Missing(lacking[0])
        sys.stderr.writelines(f"{line}\n" for line in lacking)
        if frame.empty:
            everything = data_select.scores_shown(cursor, published=arguments.published)
            _name_the_wrong(everything, chosen, published=arguments.published)
    return frame


SHOWN: Mapping[str, Callable[[Bench, Namespace], DataFrame]] = {
    "scores": _scores,
    "holes": _holes,
    "overlap": overlaps,
    "lengths": analysing.lengths_shown,
    "efficiency": efficiency.shown,
    "jobs": lambda bench, _: jobs_shown(bench),
}
"""What `show` prints of the store: a row each."""


def _tell_stale(bench: Bench, dataset: str | None) -> None:
    """Name on stderr what is stored and not shown, of one dataset or of all."""
    parts = bench.store.parts()
    tell_damage(part for part in parts if part.dataset == (dataset or part.dataset))
    _, stale = freshness.split(parts)
    runs = {(part.dataset, part.system) for part in stale if part.kind == "hits"}
    for part in stale:
        if part.kind == "scores" and part.dataset == (dataset or part.dataset):
            remedy = f"python -m compute score {part.dataset}"
            if (part.dataset, part.system) in runs:
                again = f"{shlex.quote(part.system)} {part.dataset}"
                remedy = f"python -m compute run {again}, or import it again"
            sys.stderr.write(
                f"{printable.printable(part.system)} on {part.dataset} is left out, it was made"
                f" before what it is made from changed: {remedy}\n"
            )


_UNSCORED = (
    "a run kept to fewer ranks lacks it, and one that was scored before it was a measure, until"
    " python -m compute score. "
)


def _name_the_wrong(
    stored: DataFrame, chosen: dict[str, str | None], *, published: bool = False
) -> None:
    """Raises Missing or WrongInput for the first choice that nothing stored has."""
    for column, name in chosen.items():
        known = list(stored[column].unique())
        if not name or name in known:
            continue
        if column == "measure":
            measures.parse(name)
        listed = ", ".join(known[:20]) + (", …" if len(known) > 20 else "")
        unscored = column == "measure" and not published
        hint = _UNSCORED if unscored else near(name, known)
        raise Missing(f"no scores of {column} {name!r}: {hint}There are {listed or 'none'}")
