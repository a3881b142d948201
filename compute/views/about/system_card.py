"""A system's card with paper, weights, settings, training and hardware."""

import contextlib
from collections.abc import Iterator
from functools import partial
from typing import Any

from compute.base.errors import BeirscopeError
from compute.datasets import DATASETS
from compute.store.provenance import portable
from compute.systems import System, learnt_from, names, system
from compute.systems.checkpoints import LATEST
from compute.views.about.tables import facts_table
from compute.views.page import Note, Static, Step, Window
from compute.views.shared import catalogue

IMPORTED = "imported; how the run was made is documented by its own files, not by Beirscope"
_MOVES = f"revision {LATEST}: the newest at download; the run records the commit."


def facts(name: str) -> dict[str, Any]:
    """Return all details of a system by heading, leaving out empty ones."""
    try:
        row = system(name)
    except BeirscopeError:
        return {"name": portable(name), "family": IMPORTED}
    known = {
        "name": f"{row.title} ({portable(row.name)})",
        "family": row.family,
        "printed in": row.published_in,
        "checkpoint": row.checkpoint,
        "how it works": row.settings,
        "reranks or fuses": ", ".join(row.inputs),
        "trained on": _trained_on(row),
        "training": portable(row.training),
        "hardware and hours": row.hardware,
        "fine-tuned in the study": row.fine_tuned,
        "marked in-domain on": ", ".join(row.trained_on),
        "runs here with": _method(row),
        "verified": row.verified,
        "tried": row.tried,
        "why it cannot run here": row.status,
    }
    return {head: value for head, value in known.items() if value}


def _trained_on(row: System) -> str:
    """Return the published training data; for a system trained here, the data given to it."""
    given = names.parse(row.name).trained_on
    if not given:
        return row.training_data
    collections = {name: dataset.collection for name, dataset in DATASETS.items()}
    found = learnt_from(row.name, collections)
    if not found:
        return f"here, the documents of {given}"
    (learnt,) = found
    if learnt not in collections:
        return f"here, the judged queries of {given}'s train split, or of {given} if it has none"
    told = "" if learnt.endswith("/train") else f"; its scores on {learnt} are on these queries"
    return f"here, the judged queries of {learnt}{told}"


def _method(row: System) -> dict[str, Any]:
    """Return the settings that change the result, such as weights, revision, pooling and depth."""
    method, found = row.search or row.recipe, {}
    with contextlib.suppress(BeirscopeError):
        found = portable(method.identity()) if method else {}
    if found.get("max_length") == 0:
        found["max_length"] = "the model's own, at most 512 word pieces"
    if "depth" in found:
        found["reranking depth"] = found.pop("depth")
    return found | {key: own for key in ("similarity",) if (own := getattr(method, key, ""))}


def window(name: str) -> Window:
    """Return a window over the page with the card of a system."""
    return Window("About the system", partial(_steps, name), closes=catalogue.CARD)


def _steps(name: str) -> Iterator[Step]:
    found = facts(name)
    yield Static(facts_table(found, "What"), is_foreign=True)
    yield Note([_MOVES * (LATEST in str(found.get("runs here with", "")))])
