"""Shards: pieces of an index or of word counts that any worker can build and all workers can read.
A shard is a tar file among the parts, named by its inputs: corpus, model, documents. It is written
atomically, and an existing shard is not rebuilt. The process that builds the whole uses the
existing shards and builds the missing ones: shards change no result."""

import contextlib
import hashlib
import json
import logging
import os
import shutil
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from compute.base import json_files, scratch
from compute.base.errors import Conflict
from compute.base.files import make_folder, untar, written_aside
from compute.base.result_identity import fingerprint
from compute.corpora import overlap
from compute.recompute import efficiency, pairs
from compute.recompute.generated_queries import Expanding
from compute.recompute.pairs import Pair
from compute.store import caches, provenance
from compute.store.loading import Bench, Loaded
from compute.store.parts import Summed
from compute.store.store import Part, shard_path
from compute.systems import Combiner
from compute.systems.searcher import Divisible, Span

_COST = "shard.json"
"""The file in a shard that records the cost of building it."""
_SHA256 = 64
"""Length in bytes of the SHA-256 at the end of a shard, after the tar."""
_BLOCK = 1024**2
log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Shard:
    """A range of a corpus's documents, by position, for one system."""

    name: str
    system: str
    """The system; empty for word counts, which need none."""
    first: int
    last: int
    """The position after the last document."""


@dataclass(frozen=True)
class Work:
    """Work that can be divided: its maker, and its documents."""

    maker: Divisible
    documents: Part
    dataset: str
    system: str = ""


def of_index(pair: Pair) -> Work | None:
    """Return the work of building a pair's index; None if it cannot be divided."""
    maker, documents = pair.searcher, pair.documents
    # Documents with generated queries are not a part of the store, so their index is not divided.
    if documents is None or not isinstance(maker, Divisible) or isinstance(maker, Expanding):
        return None
    return Work(maker, documents, pair.loaded.dataset.name, pair.system.name)


def of_counts(loaded: Loaded) -> Work | None:
    """Return the work of counting a dataset's words; None if it has no documents."""
    documents = loaded.documents
    return Work(overlap.Counting(documents), documents, loaded.dataset.name) if documents else None


def plan(bench: Bench, pair: Pair) -> list[Shard]:
    """Return the shards to build before the index of a pair; for a fusion, those of its inputs.
    There are none if the index exists, the corpus is too small, or the system cannot be divided."""
    if isinstance(pair.searcher, Combiner):
        inputs = (shard for name in pair.system.inputs for shard in _of_input(bench, pair, name))
        return list({shard.name: shard for shard in inputs}.values())
    if caches.holds(bench.settings, pair.names.index):
        return []
    return divided(bench, of_index(pair))


def _of_input(bench: Bench, pair: Pair, name: str) -> list[Shard]:
    """Return the shards to build before an input run."""
    there = pairs.stored_input(name, pair.loaded, pair.documents, pair.stored)
    row = None if there else pairs.catalogued(name)
    return plan(bench, pairs.pair(bench, row, pair.loaded.dataset)) if row else []


def divided(bench: Bench, work: Work | None) -> list[Shard]:
    """Return the shards of this work, whether they exist or not; none if it is not divided."""
    if work is None:
        return []
    size, total = work.maker.piece_documents(bench.settings), work.documents.rows
    if not size or total < 2 * size:
        return []
    spans = [(first, min(first + size, total)) for first in range(0, total, size)]
    return [Shard(_named(work, span), work.system, *span) for span in spans]


def _named(work: Work, span: Span) -> str:
    identity = work.maker.piece_identity()
    return fingerprint("shard", [work.documents.fingerprint], identity=identity, span=list(span))


def make(bench: Bench, work: Work | None, shard: Shard) -> bool:
    """Build a shard; return whether it was missing. Raises Conflict if the documents changed."""
    if work is None or _named(work, (shard.first, shard.last)) != shard.name:
        changed = work.dataset if work else "the dataset"
        of = f" or {shard.system}" if shard.system else ""
        raise Conflict(f"{changed}{of} changed meanwhile: run it again")
    if _taken(bench, shard):
        return False
    target = _file(bench, shard)
    with scratch.folder(bench.settings.home, "shard-") as folder:
        record = _make(bench, work, shard, folder)
        (folder / _COST).write_text(json.dumps(record), encoding="utf-8")
        _pack(folder, target)
    if there := bench.store.bucket:
        there.put(target, f"shards/{target.name}")
    return True


def _make(bench: Bench, work: Work, shard: Shard, folder: Path) -> dict[str, Any]:
    """Build a shard in a folder; return its cost."""
    span = shard.first, shard.last
    with efficiency.watched() as cost:
        work.maker.make_piece(work.documents.path, span, folder, bench.settings, bench.progress)
    return asdict(cost) | {"hardware": dict(provenance.hardware())}


@contextmanager
def counts(bench: Bench, loaded: Loaded) -> Iterator[overlap.Pieces | None]:
    """Yield the word counts in a dataset's shards; missing shards are built. Yields None if there
    is no shard: all documents are then counted at once."""
    work = of_counts(loaded)
    wanted = divided(bench, work)
    if work is None or not any(_taken(bench, shard) for shard in wanted):
        yield None
        return
    with scratch.folder(bench.settings.home, "counts-") as folder:
        costs = gather(bench, work, folder)
        missing = [shard for shard in wanted if not _note(folder, shard).exists()]
        costs += [_make(bench, work, shard, folder) for shard in missing]
        yield overlap.Pieces(folder, len(wanted), sum(one["seconds"] for one in costs))


def gather(bench: Bench, work: Work | None, folder: Path) -> list[dict[str, Any]]:
    """Copy the existing shards to the folder of the complete index; return the cost of each. A
    folder left by an interrupted call is resumed."""
    for left in folder.glob("*.unpacked"):
        _move(left, folder)
    costs = []
    for shard in divided(bench, work):
        note = _note(folder, shard)
        if not note.exists() and _taken(bench, shard) and _is_whole(_file(bench, shard)):
            _unpack(_file(bench, shard), folder, shard.name)
        if note.exists():
            costs.append(json_files.read(note))
    return costs


def _note(folder: Path, shard: Shard) -> Path:
    return folder / f"{shard.name}.json"


def clear(folder: Path) -> None:
    """Remove the notes on shards from the folder of a complete index."""
    for note in folder.glob("*.json"):
        if len(note.stem) == 64:
            note.unlink()


def _file(bench: Bench, shard: Shard) -> Path:
    return bench.store.home / shard_path(shard.name)


def _taken(bench: Bench, shard: Shard) -> bool:
    """Return whether the shard exists or was fetched from the bucket; if so, touch it, so that it
    does not expire."""
    file, there = _file(bench, shard), bench.store.bucket
    with contextlib.suppress(FileNotFoundError):
        os.utime(file)
        return True
    if there is None:
        return False
    there.claim()
    return not there.get(f"shards/{file.name}", file) and _is_whole(file)


def _is_whole(file: Path) -> bool:
    """Return whether a shard ends with the SHA-256 of its content; remove it if not."""
    found, rest = hashlib.sha256(), file.stat().st_size - _SHA256
    with file.open("rb") as stream:
        while block := stream.read(min(_BLOCK, max(rest, 0))):
            found.update(block)
            rest -= len(block)
        if stream.read() == found.hexdigest().encode():
            return True
    log.warning("%s is damaged: it is rebuilt", file)
    file.unlink(missing_ok=True)
    return False


def _pack(folder: Path, target: Path) -> None:
    make_folder(target.parent)
    with written_aside(target) as file:
        summed = Summed(file)
        with tarfile.open(fileobj=summed, mode="w") as tar:  # pyrefly: ignore
            for path in _files(folder):
                tar.add(path, str(path.relative_to(folder)))
        file.write(summed.sha256.encode())


def _unpack(file: Path, folder: Path, name: str) -> None:
    """Unpack a shard into the folder of the index, in a way that an interrupted call can resume."""
    aside = folder / f"{name}.part"
    shutil.rmtree(aside, ignore_errors=True)
    aside.mkdir()
    with tarfile.open(file) as tar:
        untar(tar, aside)
    (aside / _COST).rename(aside / f"{name}.json")
    # From here on, this call or the next one moves all of it.
    aside.rename(folder / f"{name}.unpacked")
    _move(folder / f"{name}.unpacked", folder)


def _move(unpacked: Path, folder: Path) -> None:
    """Move the files of an unpacked shard into the folder of the index."""
    for path in list(_files(unpacked)):
        target = folder / path.relative_to(unpacked)
        target.parent.mkdir(parents=True, exist_ok=True)
        path.replace(target)
    shutil.rmtree(unpacked)


def _files(folder: Path) -> Iterator[Path]:
    return (path for path in sorted(folder.rglob("*")) if path.is_file())
