"""Shards: pieces of an index, which any worker makes, kept where all see them.

A shard is a tar file among the parts, named by what it depends on: corpus, model, documents. It is
there whole or not at all, and one that is there is not made again. Whoever builds the index takes
those that are there, and makes what is missing: that there are shards changes no result.
"""

import json
import os
import shutil
import tarfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, BinaryIO

from compute.base import scratch
from compute.base.errors import Conflict
from compute.base.files import make_folder, untar, written_aside
from compute.base.result_identity import fingerprint
from compute.recompute import efficiency, targets
from compute.recompute.generated_queries import Expanding
from compute.recompute.targets import Pair
from compute.store import caches, provenance
from compute.store.loading import Bench
from compute.store.store import shard_path
from compute.systems import Combiner
from compute.systems.searcher import Divisible, Span

_COST = "shard.json"
"""In a shard: what making it took."""


@dataclass(frozen=True)
class Shard:
    """A piece of an index: some documents of a collection, by their places, for one system."""

    name: str
    system: str
    first: int
    last: int
    """The place after that of the last document."""


def plan(bench: Bench, pair: Pair) -> list[Shard]:
    """The shards that are to be made before the index of a pair is; of a fusion, of its inputs.

    None where the index is here already, the corpus is smaller than two shards, or the system
    cannot be divided.
    """
    if isinstance(pair.searcher, Combiner):
        inputs = (shard for name in pair.system.inputs for shard in _of_input(bench, pair, name))
        return list({shard.name: shard for shard in inputs}.values())
    if caches.holds(bench.settings, pair.names.index):
        return []
    return _shards(bench, pair)


def _of_input(bench: Bench, pair: Pair, name: str) -> list[Shard]:
    dataset, row = pair.loaded.dataset, targets.catalogued(name)
    if row is None or row.search is None or pair.loaded.documents is None:
        return []
    made = targets.pair(bench, row, dataset)
    stored = bench.store.done("hits", dataset.name, name, made.names.hits)
    return [] if stored else plan(bench, made)


def _shards(bench: Bench, pair: Pair) -> list[Shard]:
    searcher, documents = pair.searcher, pair.documents
    # What generated queries are added to is no part of the store.
    if documents is None or not isinstance(searcher, Divisible) or isinstance(searcher, Expanding):
        return []
    size, total = searcher.piece_documents(bench.settings), documents.rows
    if not size or total < 2 * size:
        return []
    identity = searcher.piece_identity()
    spans = [(first, min(first + size, total)) for first in range(0, total, size)]
    return [
        Shard(_named(documents.fingerprint, identity, span), pair.system.name, *span)
        for span in spans
    ]


def _named(documents: str, identity: dict[str, Any], span: Span) -> str:
    return fingerprint("shard", [documents], identity=identity, span=list(span))


def make(bench: Bench, pair: Pair, shard: Shard) -> bool:
    """Make a shard; whether it had to be made. Raises Conflict where the documents are others."""
    searcher, documents = pair.searcher, pair.documents
    assert documents is not None
    assert isinstance(searcher, Divisible)
    span = shard.first, shard.last
    if _named(documents.fingerprint, searcher.piece_identity(), span) != shard.name:
        raise Conflict(
            f"{pair.loaded.dataset.name} or {shard.system} changed meanwhile: run it again"
        )
    target = _file(bench, shard)
    if _taken(target):
        return False
    with scratch.folder(bench.settings.home, "shard-") as folder:
        with efficiency.watched() as cost:
            searcher.make_piece(documents.path, span, folder, bench.settings, bench.progress)
        record = asdict(cost) | {"hardware": dict(provenance.hardware())}
        (folder / _COST).write_text(json.dumps(record), encoding="utf-8")
        _pack(folder, target)
    return True


def gather(bench: Bench, pair: Pair, folder: Path) -> list[dict[str, Any]]:
    """Put what shards there are into the folder of an index; what making each took.

    A folder that an interrupted call left is gone on with.
    """
    for left in folder.glob("*.unpacked"):
        _move(left, folder)
    costs = []
    for shard in _shards(bench, pair):
        note = folder / f"{shard.name}.json"
        if not note.exists() and _taken(_file(bench, shard)):
            _unpack(_file(bench, shard), folder, shard.name)
        if note.exists():
            costs.append(json.loads(note.read_text("utf-8")))
    return costs


def clear(folder: Path) -> None:
    """Remove the notes on shards from the folder of an index that is whole."""
    for note in folder.glob("*.json"):
        if len(note.stem) == 64:
            note.unlink()


def _file(bench: Bench, shard: Shard) -> Path:
    return bench.store.home / shard_path(shard.name)


def _taken(file: Path) -> bool:
    """Whether the shard is there; it stays for a while after its last use."""
    try:
        os.utime(file)
    except FileNotFoundError:
        return False
    return True


def _pack(folder: Path, target: Path) -> None:
    make_folder(target.parent)
    with written_aside(target) as file:
        _write(folder, file)


def _write(folder: Path, file: BinaryIO) -> None:
    with tarfile.open(fileobj=file, mode="w") as tar:
        for path in _files(folder):
            tar.add(path, str(path.relative_to(folder)))


def _unpack(file: Path, folder: Path, name: str) -> None:
    aside = folder / f"{name}.part"
    shutil.rmtree(aside, ignore_errors=True)
    aside.mkdir()
    with tarfile.open(file) as tar:
        untar(tar, aside)
    (aside / _COST).rename(aside / f"{name}.json")
    # From here on it is moved whole, by the next call if not by this one.
    aside.rename(folder / f"{name}.unpacked")
    _move(folder / f"{name}.unpacked", folder)


def _move(unpacked: Path, folder: Path) -> None:
    for path in list(_files(unpacked)):
        target = folder / path.relative_to(unpacked)
        target.parent.mkdir(parents=True, exist_ok=True)
        path.replace(target)
    shutil.rmtree(unpacked)


def _files(folder: Path) -> Iterator[Path]:
    return (path for path in sorted(folder.rglob("*")) if path.is_file())
