"""Download of a collection, from BEIR's address or from the hub, into the folder of datasets."""

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from compute.base.errors import Missing, Unavailable, WrongInput
from compute.datasets import Dataset, layout
from compute.datasets.places import place
from compute.datasets.reading import BeirSource
from compute.intake.fetch import hub_names
from compute.intake.fetch.addresses import shown
from compute.intake.fetch.download import download, require_room
from compute.intake.fetch.offers import HUB, Offer, archive_address, folder, offer
from compute.intake.fetch.packing import pack
from compute.intake.fetch.partial import Expected, alone, publish
from compute.intake.fetch.web import Patience
from compute.store.loading import Bench, Progress

ZIP = b"PK"
"""The first bytes of every zip archive."""


@dataclass(frozen=True)
class Fetched:
    """The outcome of a download."""

    offer: Offer
    path: Path
    new: bool
    """False if the archive was already here."""


def fetch(
    bench: Bench, row: Dataset, *, again: bool = False, patience: Patience | None = None
) -> Fetched:
    """Download the archive of a dataset into the folder of datasets. An archive on this machine is
    kept, unless `again`. An interrupted download resumes where it stopped. Raises Unavailable if it
    fails, with the address and the place for a manual download; WrongInput for a file that is not
    the expected one; and Conflict while another process downloads the same file."""
    return bring(bench, offer(row), again=again, patience=patience)


def bring(
    bench: Bench, found: Offer, *, again: bool = False, patience: Patience | None = None
) -> Fetched:
    """Do the same as `fetch` for an offer."""
    to = folder(bench.settings) / f"{found.name}.zip"
    with alone(to):
        there = place(found.name, bench.settings)
        if there is not None and not again:
            return Fetched(found, there, new=False)
        get = _from_hub if found.origin == HUB else _from_beir
        try:
            get(bench, found, to, patience or Patience())
        except (Missing, Unavailable) as error:
            raise type(error)(f"{error}; {by_hand(found, to)}") from None
    return Fetched(found, to, new=True)


def by_hand(found: Offer, to: Path) -> str:
    """Return an instruction for a dataset that this machine cannot download."""
    what = "its files, in the BEIR layout," if found.origin == HUB else "it"
    return f"or get {what} by hand from {found.address} and put {to.name} into {to.parent}"


def _from_beir(bench: Bench, found: Offer, to: Path, patience: Patience) -> None:
    """Download the archive from BEIR's address or the mirror."""
    address = archive_address(found, bench.settings)
    md5 = found.rows[0].md5
    assert md5 is not None
    download(
        address,
        to,
        Expected("md5", md5, found.size, starts=ZIP),
        patience=patience,
        progress=bench.progress,
        accept=lambda path: accept(path, found, shown(address)),
    )


def accept(path: Path, found: Offer, origin: str) -> None:
    """Raise WrongInput unless the archive is safe to read and has the files of the offer."""
    firsts: dict[str, Dataset] = {}
    for row in found.rows:
        if not row.parts:
            firsts.setdefault(row.collection, row)
    try:
        files = layout.files(path)
        for collection, row in firsts.items():
            root = layout.root(files, collection.partition("/")[2])
            source = BeirSource(files, root, row.split)
            for name in (source.corpus, source.query_file, source.qrels):
                with files.open(name):
                    pass
    except (WrongInput, Missing) as error:
        what = str(error).replace(str(path), f"{found.name}.zip")
        raise WrongInput(f"the download from {origin} was not kept: {what}") from None


def _from_hub(bench: Bench, found: Offer, to: Path, patience: Patience) -> None:
    """Download the files of a collection from the hub, and pack them into one archive."""
    # Imported here because the hub's library is slow to load and most downloads never need it.
    from compute.intake.fetch import hub

    wanted = hub.files(hub_names.collections(found.rows), patience)
    # Complete files are kept here until all are, so that an interruption costs no second
    # download.
    gathered = to.with_name(f".{to.name}.files")
    paths = [gathered / f"{file.expected.digest[:16]}-{file.name}" for file in wanted]
    sizes = [file.expected.size or 0 for file in wanted]
    # Room for the files, and for the archive made from them, which is about as large.
    require_room(to, 2 * sum(sizes) - sum(p.stat().st_size for p in paths if p.exists()))
    for number, (file, path) in enumerate(zip(wanted, paths, strict=True)):
        if not path.exists():
            watch = _of_all(bench.progress, sizes, number)
            download(file.address, path, file.expected, patience=patience, progress=watch)
    packed = to.with_name(f".{to.name}.part")
    try:
        members = [(file.member, path) for file, path in zip(wanted, paths, strict=True)]
        watch_bytes = lambda n_bytes: bench.progress(n_bytes // 1000, 0, "kB packed")  # noqa: E731
        pack(packed, members, _about(wanted), watch_bytes)
        accept(packed, found, shown(found.address))
    except WrongInput:
        packed.unlink(missing_ok=True)
        shutil.rmtree(gathered, ignore_errors=True)
        raise
    publish(packed, to)
    shutil.rmtree(gathered, ignore_errors=True)


def _of_all(progress: Progress, sizes: Sequence[int], number: int) -> Progress:
    """Return a reporter that shows the progress of file `number` as progress of all files."""
    before, total = sum(sizes[:number]), sum(sizes)

    def watch(done: int, _: int, unit: str) -> None:
        if unit == "kB":
            progress(before // 1000 + done, total // 1000, unit)

    return watch


def _about(files: Sequence[Any]) -> dict[str, Any]:
    """Return the sources of an archive's files."""
    commits = {file.repository.name: file.repository.revision for file in files}
    return {"hub": commits, "files": {f.member: f.expected.digest for f in files}}
