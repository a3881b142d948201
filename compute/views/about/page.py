"""The page About the numbers: what every number means, and where it comes from."""

import tomllib
from collections.abc import Iterator

from compute.base.settings import PROJECT
from compute.evaluate.measures import known
from compute.recompute import score_check
from compute.views.about import contract
from compute.views.data import select as data_select
from compute.views.page import Ask, Column, Heading, Note, Prose, Static, Step, Table

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
    """Parts in the order of the screen; there are no controls."""
    yield Prose(contract.contents(), WIDTH)
    yield Prose(contract.RULES, WIDTH)
    yield Note([_checked(ask)])
    yield _heading("Measures")
    yield Static(contract.definitions())
    yield Note(
        [
            "Names as ir_measures writes them.",
            "These are stored for every run; the setting measures adds others, and python -m"
            " compute rescore --measure scores stored runs by one.",
            f"There are {known()}.",
        ]
    )
    yield _heading("Published figures")
    yield Prose(
        "Shown beside the computed figures and never mixed with them. *In-domain*: the system was"
        " trained on that dataset. *Suspect*: the value contradicts its neighbours in print; it is"
        " shown and never used.",
        WIDTH,
    )
    yield Static(contract.printed_tables(), WIDTH)
    yield _heading("Known differences")
    yield Prose(contract.DIFFERENCES, WIDTH)
    yield from _stored(ask)
    yield _heading("Versions")
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text("utf-8"))["project"]
    version = project["version"]
    yield Note([f"Beirscope {version}, and the packages that its numbers depend on:"])
    yield Table("versions", "Versions", contract.versions(), width=420)


def _heading(title: str) -> Heading:
    return Heading(title, anchor=contract.PLACES[title])


def _checked(ask: Ask) -> str:
    """The last comparison of what is stored here with pytrec_eval."""
    found = score_check.last(ask.store)
    command = "python -m compute check --scores"
    if found is None:
        return f"{command} compares every score that is stored here with pytrec_eval's."
    return f"{found} That was on {found.date[:10]}; {command} does it again."


def _stored(ask: Ask) -> Iterator[Step]:
    yield _heading("What is stored here")
    yield Prose(
        "A result is kept under a fingerprint of all that could change it: the collection, the"
        " system with its parameters and weights, the version of each kind's meaning. Versions of"
        " libraries are recorded beside it and do not make it another result.",
        WIDTH,
    )
    origins = ask(data_select.origins)
    rows = origins.assign(created=origins["created"].str.replace("T", " "))
    yield Table("origins", "Stored runs", rows, _ORIGINS)
    cut = "shipped ones are cut to their top 100"
    yield Note([f"{len(origins):,} runs; {cut}."])
