"""Archives on offer: where each can be downloaded, or why it cannot."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from pandas import DataFrame

from compute.base.errors import Unavailable, WrongInput
from compute.base.settings import Settings
from compute.datasets import DATASETS, Dataset
from compute.datasets.catalogue import BEIR_ROWS
from compute.datasets.places import place
from compute.intake.fetch import hub_names
from compute.intake.fetch.addresses import checked
from compute.store.own_datasets import dataset_of
from compute.store.store import Store

BEIR, HUB, NOWHERE = "BEIR", "Hugging Face hub", ""
Target = tuple[str, str]
"""The target of a job without a system: an empty name, and the dataset that means an archive."""


@dataclass(frozen=True)
class Offer:
    """An archive, its content and its source."""

    name: str
    """Name of the archive without `.zip`: that of its collection, or of all collections in it."""
    title: str
    rows: tuple[Dataset, ...]
    """The datasets of the catalogue that it contains: splits and parts."""
    origin: str
    """The source: BEIR, HUB or NOWHERE."""
    address: str
    """Address of the archive or, on the hub, of its page."""
    size: int | None
    """Size of the download in bytes; None if unknown."""
    obstacle: str
    """Why it cannot be downloaded, with the next step, in one sentence; empty if it can."""

    @property
    def n_documents(self) -> int | None:
        """The published number of documents; None if none is published."""
        return self.rows[0].n_documents


def _offer(name: str, rows: tuple[Dataset, ...]) -> Offer:
    """Return the offer of an archive that contains these datasets."""
    first, known = rows[0], BEIR_ROWS.get(name, {})
    origin, address, obstacle = NOWHERE, first.homepage, ""
    if first.archive:
        origin, address = BEIR, first.archive
    elif first.group == "BEIR-PL":
        origin, address = HUB, hub_names.address(rows)
    else:
        why = known.get("terms") or "it is not published in the BEIR layout"
        obstacle = (
            f"{why}: get it from {first.homepage}, convert it to the BEIR layout and put it as"
            f" {name}.zip or {name}/ into the datasets folder"
        )
    size = int(known.get("archive_bytes") or 0) or None
    return Offer(name, first.title, rows, origin, address, size, obstacle)


def _offers() -> dict[str, Offer]:
    found: dict[str, list[Dataset]] = {}
    for row in DATASETS.values():
        if row.group != "PyDocs" and row.has_split:
            found.setdefault(row.collection.partition("/")[0], []).append(row)
    return {name: _offer(name, tuple(rows)) for name, rows in found.items()}


OFFERS: Mapping[str, Offer] = MappingProxyType(_offers())
"""All archives of the catalogue's collections, by name."""


def offer(row: Dataset) -> Offer:
    """Return the archive that contains a dataset. Raises WrongInput if there is none, and
    Unavailable with the reason if it cannot be downloaded."""
    if row.group == "PyDocs":
        raise WrongInput(
            f"{row.name} needs no download: python -m compute run bm25 {row.name} builds it from"
            " the installed library"
        )
    if row.group == "own":
        raise WrongInput(f"{row.name} is your own: import it again from its files instead")
    if not row.has_split:
        raise WrongInput(f"{row.name} has only published scores: there is nothing to fetch")
    found = OFFERS[row.collection.partition("/")[0]]
    if found.obstacle:
        raise Unavailable(f"{found.title} cannot be fetched: {found.obstacle}")
    return found


def listed(settings: Settings) -> DataFrame:
    """Return the offers: archive, title, language, documents, size (bytes), licence, origin,
    address, here (the archive or folder on this machine, or empty), obstacle. Unknown numbers are
    NA."""
    rows = []
    for found in OFFERS.values():
        there = place(found.name, settings)
        rows.append(
            {
                "archive": found.name,
                "title": found.title,
                "language": found.rows[0].language,
                "documents": found.n_documents,
                "size": found.size,
                "licence": found.rows[0].licence,
                "origin": found.origin,
                "address": found.address,
                "here": there.name if there else "",
                "obstacle": found.obstacle,
            }
        )
    return DataFrame(rows).astype({"documents": "Int64", "size": "Int64"})


def folder(settings: Settings) -> Path:
    """Return the folder of fetched archives."""
    return settings.home / "datasets"


def archive_address(found: Offer, settings: Settings) -> str:
    """Return the address of a BEIR archive, on the mirror if the settings name one. Raises
    WrongInput for a mirror that is not a web address."""
    if not settings.mirror:
        return found.address
    mirror = checked(settings.mirror, "the setting mirror (BEIRSCOPE_MIRROR)")
    return f"{mirror.rstrip('/')}/{found.name}.zip"


def targets(store: Store, systems: Sequence[str], datasets: Sequence[str]) -> list[Target]:
    """Return a target per archive, named by its first dataset. Raises if there is no offer."""
    if systems:
        raise WrongInput("this needs only datasets, no systems: leave --systems out")
    if not datasets:
        raise WrongInput("name the datasets to fetch, such as scifact")
    found = [offer(dataset_of(store, name)) for name in datasets]
    return list(dict.fromkeys(("", one.rows[0].name) for one in found))


def current(store: Store, wanted: Sequence[Target]) -> Collection[Target]:
    """Return the targets with an archive or folder on this machine."""
    archives = {one.rows[0].name: one.name for one in OFFERS.values()}
    return [target for target in wanted if place(archives[target[1]], store.settings)]
