"""What `systems` and `show systems` print: every system, what stands behind it, what it needs."""

import contextlib
import sys
from argparse import Namespace
from collections.abc import Iterable, Iterator

from pandas import DataFrame

from compute.base import printable
from compute.base.errors import BeirscopeError
from compute.base.words import counted
from compute.commands.common import open_bench
from compute.systems import SYSTEMS, System, system

RUNS, TRAINS = "runs", "runs once trained"
ABSENT, MISSES = "no model of it", "not yet: --json says why"
_SHORT = ["system", "family", "verified", "here"]


def show_systems(arguments: Namespace) -> int:
    """List every system of the catalogue."""
    found = listed(_trained())
    if arguments.json:
        return printable.show(found, as_json=True)
    # A terminal is too narrow for whole sentences.
    known = {word: word for word in (RUNS, TRAINS, ABSENT)}
    short = found.assign(here=found["here"].map(known).fillna(MISSES))
    status = printable.show(short[_SHORT], as_json=False)
    sys.stdout.write(f"{_summary(found)}\n")
    return status


def listed(trained: Iterable[System] = ()) -> DataFrame:
    """The catalogue and the systems that were `trained` here.

    system, title, family, in_papers, verified, here (or what is missing), and its settings.
    """
    return DataFrame(
        [
            {
                "system": row.name,
                "title": row.title,
                "family": row.family,
                "in_papers": row.name in SYSTEMS and bool(row.published_in),
                "verified": row.verified,
                "here": _here(row),
                "made_from": ", ".join(row.inputs),
                "parameters": ", ".join(
                    f"{name}={row.parameters[name]}" for name in row.parameters
                ),
                "checkpoint": row.checkpoint,
                "settings": row.settings,
            }
            for row in (*SYSTEMS.values(), *trained)
        ]
    )


def _trained() -> Iterator[System]:
    """The systems that were trained here, as far as their names can still be read."""
    for part in open_bench().store.parts("model"):
        with contextlib.suppress(BeirscopeError):
            yield system(part.system)


def _here(row: System) -> str:
    """RUNS, TRAINS, ABSENT, or what is missing, in a sentence."""
    needed = row.search or row.recipe
    if needed is None:
        return ABSENT
    try:
        needed.check()
    except BeirscopeError as error:
        return str(error)
    return RUNS if row.search else TRAINS


def _summary(found: DataFrame) -> str:
    papers = found[found["in_papers"]]
    counts = papers["verified"].value_counts()
    parts = ", ".join(f"{number} {text}" for text, number in counts.items())
    runs = counted(int((found["here"] == RUNS).sum()), "system")
    trains = int((found["here"] == TRAINS).sum())
    more = f", {trains} once trained" if trains else ""
    return f"{len(papers)} systems of the papers: {parts}. {runs} can run here now{more}."
