"""Helpers for commands that print results: read stored scores and warn about omissions."""

import shlex
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from duckdb import DuckDBPyConnection
from pandas import DataFrame

from compute.base import printable
from compute.base.errors import Missing, WrongInput
from compute.base.words import near
from compute.commands import groups, options
from compute.commands.common import scored_by
from compute.commands.opening import open_whole
from compute.datasets import DATASETS
from compute.evaluate import measures
from compute.reading import database, judgement_sets
from compute.reading.overlay import Overlays
from compute.store import damage, freshness, integrity
from compute.store.loading import Bench
from compute.store.own_datasets import own_datasets
from compute.views.annotate import select_added
from compute.views.data import select as data_select
from compute.views.shared import catalogue, next_steps


@contextmanager
def cursor_of(
    bench: Bench,
    judged: groups.Judged,
    dataset: str = "",
    picked: Collection[str] = (),
    *,
    told: bool = False,
) -> Iterator[DuckDBPyConnection]:
    """Open the stored results, scored with official judgements, with official + added ones, or with
    one set. Stale results of the dataset are reported on stderr unless already `told`."""
    opened = database.open_version(bench.store, picked=picked)
    if not told:
        tell_stale(bench, dataset, picked)
    if judged.judgements == options.OFFICIAL:
        cursor = opened.cursor()
        if not select_added.usual(cursor, dataset=dataset)["counts"].iloc[0]:
            yield cursor
            return
    printable.warn(*integrity.of_judgements(bench.store.engine))
    choice = judged.choice()
    if judged.judgements not in (options.ADDED, options.OFFICIAL):
        row = (dict(DATASETS) | own_datasets(bench.store)).get(dataset)
        datasets = (row.parts or (row.name,)) if row else ()
        with judgement_sets.cursor_of(opened, judged.judgements, choice, datasets) as cursor:
            yield cursor
        return
    with Overlays(bench.store, opened).cursor(bench.store.judgement_version(), choice) as cursor:
        yield cursor


def values(
    bench: Bench,
    judged: groups.Judged,
    chosen: Mapping[str, str],
    picked: Collection[str] = (),
    *,
    returned_only: bool = False,
) -> DataFrame:
    """A row for each score; dataset, system and measure restrict the rows.

    Raises Missing, naming the choice that has no scores.
    """
    measure, of = chosen["measure"], (chosen["dataset"], chosen["system"])
    lacking = scored_by(bench, measure, *of) if measure else []
    wanted: dict[str, Any] = {column: name or None for column, name in chosen.items()}
    with cursor_of(bench, judged, chosen["dataset"], {*picked, chosen["system"]} - {""}) as cursor:
        frame = data_select.scores_shown(cursor, **wanted, returned_only=returned_only)
        if frame.empty and lacking:
            raise Missing(lacking[0])
        printable.warn(*lacking)
        if frame.empty:
            refuse_unjudged(cursor, chosen["dataset"])
            name_the_wrong(data_select.scores_shown(cursor), chosen)
    return frame


def in_print(judged: groups.Judged, chosen: Mapping[str, str]) -> DataFrame:
    """Return a row per published score. Raises Missing, naming the choice that has no scores, and
    WrongInput if judgements are chosen, too."""
    if judged.judgements != options.OFFICIAL:
        raise WrongInput("--judgements and --published exclude each other: leave one out")
    wanted: dict[str, Any] = {column: name or None for column, name in chosen.items()}
    with cursor_of(open_whole(), groups.Judged(), chosen["dataset"]) as cursor:
        frame = data_select.scores_shown(cursor, **wanted, published=True)
        if frame.empty:
            everything = data_select.scores_shown(cursor, published=True)
            name_the_wrong(everything, chosen, published=True)
    return frame


def refuse_unjudged(cursor: DuckDBPyConnection, dataset: str) -> None:
    """Raise Missing if the dataset (or, without a name, any dataset) has runs but no judgements."""
    found = catalogue.unjudged(cursor)["dataset"].tolist()
    if found and dataset in ("", *found):
        raise Missing(next_steps.without_judgements(dataset or found[0]))


def tell_stale(bench: Bench, dataset: str, picked: Collection[str] = ()) -> None:
    """Report on stderr the stale results of one dataset, or of all, that are not shown."""
    parts = bench.store.parts(picked=picked)
    damaged = damage.told(part for part in parts if part.dataset == (dataset or part.dataset))
    printable.warn(*damaged)
    _, stale = freshness.split(parts)
    runs = {(part.dataset, part.system) for part in stale if part.kind == "hits"}
    for part in stale:
        if part.kind == "scores" and part.dataset == (dataset or part.dataset):
            remedy = f"python -m compute rescore {part.dataset}"
            if (part.dataset, part.system) in runs:
                again = f"{shlex.quote(part.system)} {part.dataset}"
                remedy = f"python -m compute run {again}, or import it again"
                if part.version_of:
                    # It cannot be recomputed: its run was replaced.
                    remedy = f"python -m compute remove {part.dataset} --system"
                    remedy += f" {shlex.quote(part.system)} removes it"
            printable.warn(
                f"{part.system} on {part.dataset} is out of date because its inputs have"
                f" changed, so it is left out: {remedy}"
            )


_UNSCORED = (
    "a run stored to fewer ranks lacks it, as does a run scored before the measure was added;"
    " python -m compute rescore then adds it. "
)


def name_the_wrong(
    stored: DataFrame, chosen: Mapping[str, str], *, published: bool = False
) -> None:
    """Raise Missing or WrongInput for the first chosen name that has no stored results."""
    for column, name in chosen.items():
        known = list(stored[column].unique())
        if not name or name in known:
            continue
        if column == "measure":
            measures.parse(name)
        listed = ", ".join(known[:20]) + (", …" if len(known) > 20 else "")
        unscored = column == "measure" and not published
        hint = _UNSCORED if unscored else near(name, known)
        raise Missing(f"no scores of {column} {name!r}: {hint}stored: {listed or 'none'}")
