"""The command that prints what is stored: show."""

import shlex
from argparse import Namespace
from collections.abc import Collection, Iterator
from contextlib import contextmanager

from duckdb import DuckDBPyConnection
from pandas import DataFrame

from compute import commands
from compute.base import printable
from compute.base.errors import Missing, WrongInput
from compute.base.words import near
from compute.commands.choices import ADDED, OFFICIAL, SHOWN
from compute.commands.common import scored_by
from compute.commands.opening import open_whole, tell_damage
from compute.datasets import DATASETS
from compute.evaluate import measures
from compute.judgements import Choice
from compute.reading import database, judgement_sets
from compute.reading.overlay import Overlays
from compute.store import freshness, integrity
from compute.store.loading import Bench
from compute.store.own_datasets import own_datasets
from compute.views.annotate import select_added
from compute.views.data import select as data_select
from compute.views.shared import catalogue, next_steps


def show(arguments: Namespace) -> int:
    """Print scores, holes, power, estimates or jobs; the papers' figures where asked for."""
    if arguments.what == "systems":
        return commands.named("systems.show_systems")(arguments)
    _refuse_strangers(arguments)
    bench = open_whole()
    return printable.show(commands.named(SHOWN[arguments.what])(bench, arguments), arguments.json)


def _refuse_strangers(arguments: Namespace) -> None:
    """Raise WrongInput for an option that says nothing of what is shown."""
    if arguments.what != "power" and (arguments.against or arguments.difference):
        raise WrongInput("--against and --difference are for power: leave them out here")
    if arguments.slice and (arguments.what != "scores" or arguments.published):
        raise WrongInput("--slice is for our scores: leave it out here")
    if arguments.what != "estimates" and (arguments.task or arguments.pairs or arguments.machine):
        raise WrongInput("--task, --pairs and --machine are for estimates: leave them out here")
    if arguments.what != "estimates" and arguments.half_width:
        raise WrongInput("--half-width is for estimates: leave it out here")
    if arguments.what != "sets" and (arguments.compare or arguments.flips or arguments.grades):
        raise WrongInput("--compare, --flips and --grades are for sets: leave them out here")
    counts = arguments.judgements != OFFICIAL
    if counts and (arguments.published or arguments.what not in _COUNTING):
        raise WrongInput(
            f"--judgements {arguments.judgements} is for our {_COUNTING_SAID}: leave it out here"
        )


_COUNTING = ("scores", "holes", "power", "versions")
_COUNTING_SAID = "scores, holes, power and versions"
"""What `--judgements` is for: estimates need what people judged, other rows rest on no judgement,
and `show sets` names its own."""


@contextmanager
def cursor_of(
    bench: Bench, arguments: Namespace, *, told: bool = False
) -> Iterator[DuckDBPyConnection]:
    """The stored results: official, with the added judgements, or by one set alone.

    What is stored of the dataset and left out is named on stderr, unless it was `told` before.
    """
    named = {arguments.system, arguments.against, *getattr(arguments, "picked", ())} - {None}
    opened = database.open_version(bench.store, picked=named)
    if not told:
        tell_stale(bench, arguments.dataset, named)
    if arguments.judgements == OFFICIAL:
        cursor = opened.cursor()
        if not select_added.usual(cursor, dataset=arguments.dataset or "")["counts"].iloc[0]:
            yield cursor
            return
    printable.warn(*integrity.of_judgements(bench.store.engine))
    choice = Choice(arguments.rule, tuple(arguments.source))
    if arguments.judgements not in (ADDED, OFFICIAL):
        row = (dict(DATASETS) | own_datasets(bench.store)).get(arguments.dataset)
        datasets = (row.parts or (row.name,)) if row else ()
        with judgement_sets.cursor_of(opened, arguments.judgements, choice, datasets) as cursor:
            yield cursor
        return
    with Overlays(bench.store, opened).cursor(bench.store.judgement_version(), choice) as cursor:
        yield cursor


def scores(bench: Bench, arguments: Namespace) -> DataFrame:
    """A row for each score, ours or the papers', or of each kind of query."""
    if arguments.slice:
        return commands.named("show.slices.by_slice")(bench, arguments)
    return values(bench, arguments, arguments.measure)


def values(bench: Bench, arguments: Namespace, measure: str | None) -> DataFrame:
    """A row for each score by a measure, or by all; Missing says which choice has none."""
    of = (arguments.dataset or "", arguments.system or "")
    lacking = scored_by(bench, measure, *of) if measure and not arguments.published else []
    chosen = {"dataset": arguments.dataset, "system": arguments.system, "measure": measure}
    with cursor_of(bench, arguments) as cursor:
        frame = data_select.scores_shown(
            cursor,
            **chosen,
            published=arguments.published,
            returned_only=arguments.returned_only,
        )
        if frame.empty and lacking:
            raise Missing(lacking[0])
        printable.warn(*lacking)
        if frame.empty and not arguments.published:
            refuse_unjudged(cursor, arguments.dataset)
        if frame.empty:
            everything = data_select.scores_shown(cursor, published=arguments.published)
            name_the_wrong(everything, chosen, published=arguments.published)
    return frame


def refuse_unjudged(cursor: DuckDBPyConnection, dataset: str | None) -> None:
    """Raises Missing where a dataset, or unless one is named any, has runs and no judgement."""
    found = catalogue.unjudged(cursor)["dataset"].tolist()
    if found and dataset in (None, *found):
        raise Missing(next_steps.without_judgements(dataset or found[0]))


def tell_stale(bench: Bench, dataset: str | None, picked: Collection[str] = ()) -> None:
    """Name on stderr what is stored and not shown, of one dataset or of all."""
    parts = bench.store.parts(picked=picked)
    tell_damage(part for part in parts if part.dataset == (dataset or part.dataset))
    _, stale = freshness.split(parts)
    runs = {(part.dataset, part.system) for part in stale if part.kind == "hits"}
    for part in stale:
        if part.kind == "scores" and part.dataset == (dataset or part.dataset):
            remedy = f"python -m compute score {part.dataset}"
            if (part.dataset, part.system) in runs:
                again = f"{shlex.quote(part.system)} {part.dataset}"
                remedy = f"python -m compute run {again}, or import it again"
                if part.version_of:
                    # Nothing makes it again: its run is not that of today.
                    remedy = f"python -m compute remove {part.dataset} --system"
                    remedy += f" {shlex.quote(part.system)} takes it away"
            printable.warn(
                f"{part.system} on {part.dataset} is left out, it was made"
                f" before what it is made from changed: {remedy}"
            )


_UNSCORED = (
    "a run kept to fewer ranks lacks it, and one that was scored before it was a measure, until"
    " python -m compute score. "
)


def name_the_wrong(
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
