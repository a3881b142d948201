"""Writes all figures of stored results to a folder, with their captions."""

import itertools
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from compute.base import printable
from compute.base.errors import BeirscopeError, Missing
from compute.base.files import written_aside
from compute.exports import captions, exported, figures, file_names, named, pages
from compute.exports.captions import Written
from compute.exports.figures import Figure
from compute.exports.file_names import LONGEST
from compute.exports.formats import ONE, TWO, Paper
from compute.exports.named import FIGURES
from compute.store.store import Store
from compute.views import page as records

CAPTIONS = "captions.tex"


_WITHOUT_MEASURE = ("lengths", "overlap")
"""Pages whose figures do not depend on a measure."""
_FURTHER: Sequence[tuple[str, Mapping[str, str]]] = (
    ("leaderboard", {"view": "Heatmap", "numbers": "Published"}),
    ("leaderboard", {"view": "Heatmap", "numbers": "Computed"}),
    ("overlap", {"view": "Heatmap", "numbers": "Published"}),
    ("overlap", {"view": "Graph", "numbers": "Published"}),
    ("overlap", {"view": "Domain shift"}),
)
"""Views of all datasets that have additional figures."""
Files = dict[tuple[str, ...], Written]
"""Written figures by the words of their names; equal words mean the same figure on two pages."""


def views(datasets: Sequence[str], measure: str) -> list[named.Address]:
    """Return the views that together show all figures: those of all datasets, then those of each
    given dataset. Views that offer a choice show `measure`."""
    chosen = [(page, {**given}) for page, given in _FURTHER]
    chosen += [(one.page, {**one.given}) for one in FIGURES.values() if one.of_one is None]
    pages_named = {one.page for one in (*FIGURES.values(), *named.TABLES.values())}
    for dataset in datasets:
        for one in FIGURES.values():
            own = {key: value.format(dataset) for key, value in (one.of_one or {}).items()}
            chosen += [(one.page, {**one.given, **own})] * bool(own)
        chosen += [(page, {"dataset": dataset}) for page in pages.PAGES if page not in pages_named]
    found: dict[str, named.Address] = {}
    for page, given in chosen:
        has_measure = page in pages_named and page not in _WITHOUT_MEASURE
        wanted = given | ({"measure": measure} if measure and has_measure else {})
        found[f"{page} {wanted}"] = page, {key: [value] for key, value in wanted.items()}
    return list(found.values())


def write(
    store: Store, views: Sequence[named.Address], folder: Path, form: str, paper: Paper
) -> int:
    """Write the figures of all views, then the captions of the written figures. Returns the number
    of failures, which are reported with their reasons. Raises Missing if nothing could be
    written."""
    done: Files = {}
    failed = 0
    for name, given in views:
        try:
            with pages.asked(store, name, given) as view:
                failed += _write_view(view, done, folder, form, paper)
        except Missing:
            continue  # it has nothing on this dataset
        # If one view fails, whatever the reason, the others are still written.
        except Exception as error:
            said = ", ".join(f"{key}={value}" for key, kept in given.items() for value in kept)
            failed += _failed(f"the page {name} ({said})", error)
    if not done:
        raise Missing(
            "no figure can be drawn from the store: run python -m compute admin demo first"
        )
    put(folder / CAPTIONS, captions.document(done.values(), form).encode())
    return failed


def _write_view(view: pages.Asked, done: Files, folder: Path, form: str, paper: Paper) -> int:
    """Write the figures of a view that are not in `done`; returns the number of failures."""
    failed = 0
    for found in view.every():
        part = found.part
        words = tuple(exported.words(view.name, found))
        if not isinstance(part, records.Figure) or words in done:
            continue
        try:
            one = exported.exported(view.name, found)
            assert isinstance(one, Figure)
            one = one._replace(name=_unused(one.name, {file.one.name for file in done.values()}))
            done[words] = _write(one, view, folder, form, paper)
        # If one figure fails, the others are still written.
        except Exception as error:
            failed += _failed(f"{view.name}: {part.title}", error)
    return failed


def _failed(what: str, error: Exception) -> int:
    """Report a failure; returns 1, its number."""
    why = str(error) if isinstance(error, BeirscopeError) else type(error).__name__
    printable.warn(f"not written: {what}: {why}")
    return 1


def _unused(name: str, used: Collection[str]) -> str:
    """Return the name, with a number if a figure with different content already has it."""
    numbered = (f"{name[: LONGEST - 4]}-{number}" for number in itertools.count(2))
    return next(one for one in itertools.chain([name], numbered) if one not in used)


def _write(one: Figure, view: pages.Asked, folder: Path, form: str, paper: Paper) -> Written:
    """Write a figure and report it; one too wide for one column becomes two columns wide."""
    fits = one.narrow or paper.width != ONE
    paper = paper if fits else paper._replace(width=TWO)
    file = one.name + file_names.ending(form, paper.width)
    put(folder / file, figures.write(one, form, paper))
    printable.say(f"{file}{'' if fits else f' ({TWO} mm: too wide for one column)'}")
    return Written(one, file, paper.width, view.ask.manifest, view.judgements)


def put(file: Path, content: bytes) -> None:
    """Write a file atomically."""
    with written_aside(file) as opened:
        opened.write(content)
