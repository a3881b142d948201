"""Trained models: parts of the store that contain a model's folder, whose weights a system loads. A
model is looked up in the current settings' home, as weights of the hub are in its cache."""

import hashlib
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import Any

import pyarrow as pa

from compute.base import parquet_files, settings
from compute.base.errors import Unavailable, WrongInput
from compute.base.settings import Settings
from compute.store import caches
from compute.store.store import Part, Store
from compute.systems import names
from compute.systems.checkpoints import Checkpoint, read_by, require

CHUNK = 4 * 1024**2
"""Number of bytes of a file per row."""
_SCHEMA = pa.schema([("file", pa.string()), ("number", pa.int32()), ("content", pa.binary())])


@dataclass(frozen=True)
class TrainedModel(Checkpoint):
    """The weights that a recipe made; `model` is the name of their system, such as
    `genq[scifact](seed=1)`."""

    @property
    def dataset(self) -> str:
        """Return the dataset on which it was trained."""
        return names.parse(self.model).trained_on

    def part(self) -> Part:
        """Return the stored model. Raises Unavailable, which names the command that trains it."""
        found = _store(settings.load()).part("model", self.dataset, self.model)
        if found is None:
            raise Unavailable(f"{self.model} is not trained here: {command(self.model)}")
        return found

    def identity(self) -> dict[str, Any]:
        """Return the fingerprint of the model, which depends on its weights and its training."""
        return {"trained": self.part().fingerprint}

    def check(self, *libraries: str) -> None:
        """Raise Unavailable if it is not trained yet or a library is missing."""
        require(*libraries)
        self.part()

    def folder(self) -> Path:
        """Return the folder of the model, unpacked into a cache first; its content is verified."""
        part = self.part()
        with caches.folder(
            settings.load(), part.fingerprint, lambda aside: unpack(part, aside)
        ) as folder:
            return folder

    def commit(self) -> str:
        """Return nothing, since it has no commit on the hub."""
        return ""


def command(name: str) -> str:
    """Return the command that trains it: `python -m compute train 'genq(seed=1)' scifact`."""
    read = names.parse(name)
    untrained = names.Name(read.base, parameters=read.parameters)
    return f"python -m compute train {shlex.quote(str(untrained))} {shlex.quote(read.trained_on)}"


def behind(method: object) -> list[Part]:
    """Return the trained models that a method loads. Raises Unavailable if one is missing."""
    return [model.part() for model in read_by(method) if isinstance(model, TrainedModel)]


def content_hash(folder: Path) -> str:
    """Return the SHA-256 of names, sizes and bytes of a folder's files, in order of name."""
    digest = hashlib.sha256()
    for name, file in _files(folder):
        digest.update(f"{name}\0{file.stat().st_size}\0".encode())
        with file.open("rb") as stream:
            while chunk := stream.read(CHUNK):
                digest.update(chunk)
    return digest.hexdigest()


def packed(folder: Path) -> Iterator[pa.RecordBatch]:
    """Yield a folder as rows: file, number (of the chunk, from 0), content."""
    for name, file in _files(folder):
        with file.open("rb") as stream:
            number = 0
            while (chunk := stream.read(CHUNK)) or not number:
                row = {"file": name, "number": number, "content": chunk}
                yield pa.RecordBatch.from_pylist([row], _SCHEMA)
                number += 1


def unpack(part: Part, folder: Path) -> None:
    """Write the files of a model into a folder. Raises WrongInput if their content has changed."""
    for batch in parquet_files.batches(part.path, _SCHEMA.names, 1):
        row = batch.to_pylist()[0]
        name = PurePosixPath(row["file"])
        if name.is_absolute() or ".." in name.parts:
            raise WrongInput(f"{part.path}: {row['file']!r} points outside the model's folder")
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("ab" if row["number"] else "wb") as stream:
            stream.write(row["content"])
    if content_hash(folder) != part.provenance["content"]:
        raise WrongInput(f"{part.path} is damaged, its content has changed: {command(part.system)}")


def _files(folder: Path) -> list[tuple[str, Path]]:
    found = (file for file in folder.rglob("*") if file.is_file())
    return sorted((file.relative_to(folder).as_posix(), file) for file in found)


@lru_cache(maxsize=4)
def _store(now: Settings) -> Store:
    """Open the store of a home, once, since every trained system in a name needs it."""
    return Store(now)
