"""The page *How numbers are computed*: definition and origin of every number."""

import tomllib
from collections.abc import Iterator
from functools import partial

from compute.base.settings import PROJECT
from compute.evaluate.measures import known
from compute.recompute import score_check
from compute.views.about import contract
from compute.views.data import select as data_select
from compute.views.page import Ask, Column, Note, Prose, Static, Step, Table, folded

WIDTH = 900
_ORIGINS = (
    Column("Dataset", "dataset"),
    Column("System", "system"),
    Column("Hits", "rows"),
    Column("Stored", "created"),
    Column("Shipped", "shipped"),
    Column("Command", "command"),
)


def page(ask: Ask) -> Iterator[Step]:
    """Yield the page's parts in screen order; it has no controls."""
    for question, answer in contract.QUESTIONS.items():
        yield folded([Prose(answer, WIDTH)], [], question)
    yield Note([_checked(ask)])
    yield folded(_measures, [], "Measures")
    yield folded(_published, [], "Published figures")
    yield folded([Prose(contract.DIFFERENCES, WIDTH)], [], "Known differences")
    yield folded(partial(_stored, ask), ["origins"], "Stored runs")
    yield folded(_versions, ["versions"], "Versions")


def _measures() -> Iterator[Step]:
    yield Static(contract.definitions())
    yield Note(
        [
            "Names follow ir_measures.",
            "These are stored for every run. The setting measures adds others, and python -m"
            " compute rescore --measure scores stored runs by another measure.",
            f"There are {known()}.",
        ]
    )


def _published() -> Iterator[Step]:
    yield Prose(
        "They are shown next to computed scores and never mixed with them."
        " *In-domain*: the"
        " system was trained on that dataset. *Suspect*: the value contradicts other"
        " published values; it is shown but never used.",
        WIDTH,
    )
    yield Static(contract.printed_tables(), WIDTH)


def _versions() -> Iterator[Step]:
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text("utf-8"))["project"]
    version = project["version"]
    yield Note([f"Beirscope {version}, and the packages that its numbers depend on:"])
    yield Table("versions", "Versions", contract.versions(), width=420)


def _checked(ask: Ask) -> str:
    """State the outcome of the last comparison of stored scores with pytrec_eval."""
    found = score_check.last(ask.store)
    command = "python -m compute check --scores"
    if found is None:
        return f"{command} compares every stored score with pytrec_eval's."
    return f"{found} Checked on {found.date[:10]}; {command} repeats it."


def _stored(ask: Ask) -> Iterator[Step]:
    yield Prose(
        "A result is stored under a fingerprint of its inputs: the corpus, the system with its"
        " parameters and weights, and the format version. Library versions are"
        " recorded with it, but are not part of the fingerprint.",
        WIDTH,
    )
    origins = ask(data_select.origins)
    rows = origins.assign(created=origins["created"].str.replace("T", " "))
    yield Table("origins", "Stored runs", rows, _ORIGINS)
    cut = "shipped ones are truncated to their top 100"
    yield Note([f"{len(origins):,} runs; {cut}."])
