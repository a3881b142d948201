"""The systems command, which lists every system."""

import contextlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from compute.base import printable, settings
from compute.base.errors import BeirscopeError
from compute.base.words import counted
from compute.commands import options
from compute.store.store import Store
from compute.systems import SYSTEMS, System, system
from compute.systems.catalogue import RAN
from compute.systems.searcher import lacks

RUNS, TRAINS = "runs", "runs once trained"
ABSENT, MISSES = "needs a model", "not here: see --json"


def systems(name: str = "", /, *, json: options.Json = False) -> int:
    """List every system: how it is verified, whether it was tried, and whether it runs here.

    Args:
        name: print details of this system: paper, weights, settings, training
    """
    if name:
        # Imported here because the full list needs no pandas.
        from compute.views.about import system_card, tables

        found = system_card.facts(system(name).name)
        rows = [{"what": head, "value": tables.value(found[head])} for head in found]
        if json:
            return printable.show_rows(rows, as_json=True)
        printable.say(*(f"{row['what']}: {row['value']}" for row in rows))
        return 0
    found = listed(_trained())
    if json:
        return printable.show_rows(found, as_json=True)
    # A terminal is too narrow for whole sentences.
    short = [
        {
            "system": row["system"],
            "family": row["family"],
            "verified": row["verified"].removeprefix("verified "),
            "tried": row["tried"],
            "here": row["here"] if row["here"] in (RUNS, TRAINS, ABSENT) else MISSES,
        }
        for row in found
    ]
    status = printable.show_rows(short, as_json=False)
    printable.say(_summary(found))
    return status


def listed(trained: Iterable[System] = ()) -> list[dict[str, Any]]:
    """List the systems of the catalogue and the systems `trained` here."""
    return [
        {
            "system": row.name,
            "title": row.title,
            "family": row.family,
            "in_papers": row.name in SYSTEMS and bool(row.published_in),
            "verified": row.verified,
            "tried": row.tried,
            "here": _here(row),
            "made_from": ", ".join(row.inputs),
            "parameters": ", ".join(f"{name}={row.parameters[name]}" for name in row.parameters),
            "checkpoint": row.checkpoint,
            "settings": row.settings,
        }
        for row in (*SYSTEMS.values(), *trained)
    ]


def _trained() -> Iterator[System]:
    """Yield the systems trained here whose names can still be parsed."""
    for part in Store(settings.load()).parts("model"):
        with contextlib.suppress(BeirscopeError):
            yield system(part.system)


def _here(row: System) -> str:
    """Return RUNS, TRAINS or ABSENT, or a sentence that says what is missing."""
    needed = row.search or row.recipe
    if needed is None:
        return ABSENT
    return lacks(needed) or (RUNS if row.search else TRAINS)


def _summary(found: Sequence[Mapping[str, Any]]) -> str:
    papers = [row for row in found if row["in_papers"]]
    counts = Counter(row["verified"] for row in papers).most_common()
    parts = ", ".join(f"{number} {text}" for text, number in counts)
    here = Counter(row["here"] for row in found)
    more = f", {here[TRAINS]} after training" if here[TRAINS] else ""
    runs = counted(here[RUNS], "system")
    tried = counted(sum(row["tried"].startswith(RAN) for row in found), "system")
    said = f"{tried} ran in this version's tests, from a name to scores, a page and an export"
    return f"{len(papers)} systems from papers: {parts}. {said}. {runs} can run here now{more}."
