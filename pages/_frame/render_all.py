"""All figures without a browser window, for the command line: a folder of files and their captions.

`python -m pages._frame.render_all` reads one JSON object: which views, in which format, where.
"""

import itertools
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from compute.base import printable
from compute.base.errors import BeirscopeError, Missing
from compute.exports import captions, figures, file_names, named
from compute.exports.captions import Written
from compute.exports.figures import Figure
from compute.exports.file_names import LONGEST
from compute.exports.formats import TWO, Paper
from pages._frame.render import main, put, run, state

CAPTIONS = "captions.tex"


def write(asked: Mapping[str, Any]) -> int:
    """Write the figures of all `views`, then the captions of those that are written.

    Returns how many could not be: of each it is said why, and the others are written. Raises
    Missing where nothing is.
    """
    folder, form, paper = Path(asked["folder"]), str(asked["form"]), Paper(*asked["paper"])
    done: dict[tuple[str, ...], Written] = {}
    failed = 0
    for page, given in asked["views"]:
        try:
            found = list(_drawn(page, given))
        except Missing:
            continue  # it has nothing of this dataset
        except BeirscopeError as error:
            failed += _failed(f"the page {page} ({_said(given)})", error)
            continue
        for one, words, counted in found:
            if words in done:
                continue
            try:
                own = one._replace(
                    name=_unused(one.name, {file.one.name for file in done.values()})
                )
                done[words] = _write(own, counted, folder, form, paper)
            # Whatever is wrong with one figure, the others are wanted.
            except Exception as error:
                failed += _failed(one.name, error)
    if not done:
        raise Missing("no figure can be drawn of what is stored: python -m compute demo first")
    put(folder / CAPTIONS, captions.document(done.values(), form).encode())
    return failed


def _failed(what: str, error: Exception) -> int:
    why = str(error) if isinstance(error, BeirscopeError) else type(error).__name__
    printable.warn(f"not written: {what}: {why}")
    return 1


def _said(given: Mapping[str, Sequence[str]]) -> str:
    return ", ".join(f"{key}={value}" for key, values in given.items() for value in values)


Counted = tuple[int, str]
"""The version of the results, and which judgements were counted."""


def _unused(name: str, used: Collection[str]) -> str:
    """The name, or where a figure of something else has it, the name with a number."""
    numbered = (f"{name[: LONGEST - 4]}-{number}" for number in itertools.count(2))
    return next(one for one in itertools.chain([name], numbered) if one not in used)


def _drawn(
    page: str, given: Mapping[str, Sequence[str]]
) -> Iterator[tuple[Figure, tuple[str, ...], Counted]]:
    """The figures of a view, each with what it is of."""
    app = run(page, given)
    judgements = "official + added" if state(app, "_choice") else "official"
    for one in state(app, "_drawn").values():
        if isinstance(one, Figure) and not one.key.startswith("_"):
            words = file_names.said(page, one.key, state(app, "_picked"))
            yield one, tuple(words), (app.session_state["_version"][0], judgements)


def _write(one: Figure, counted: Counted, folder: Path, form: str, paper: Paper) -> Written:
    """Write a figure; two columns wide, and that is said, where one is too narrow for it."""
    fits = named.fits(one.key, paper.width)
    paper = paper if fits else paper._replace(width=TWO)
    file = one.name + file_names.ending(form, paper.width)
    put(folder / file, figures.write(one, form, paper))
    printable.say(f"{file}{'' if fits else f' ({TWO} mm: too much for one column)'}")
    sys.stdout.flush()
    return Written(one, file, paper.width, *counted)


if __name__ == "__main__":
    sys.exit(main(write))
