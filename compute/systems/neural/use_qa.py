"""USE-QA: Google's Universal Sentence Encoder for questions and answers, through TensorFlow.

Yang et al., "Multilingual Universal Sentence Encoder for Semantic Retrieval", arXiv 1907.04307. Its
SavedModel has two signatures: `question_encoder` for a question, and `response_encoder` for an
answer and the text around it. BEIR uses the title as the answer and the text as the context.

TensorFlow is not among the pinned packages, but is compatible with them: pip install '.[use-qa]'.
"""

import contextlib
import importlib
import os
import tarfile
import tempfile
import urllib.request
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from compute.base.errors import Unavailable, WrongInput
from compute.base.files import untar
from compute.base.settings import Settings
from compute.systems import checkpoints
from compute.systems.checkpoints import Checkpoint, OfCheckpoint
from compute.systems.neural.embedding import LAYOUT, Embedding
from compute.systems.neural.encoding import Encode

NAME = "google/universal-sentence-encoder-qa/3"
HUB = Checkpoint(NAME, revision="3")
ADDRESS = f"https://tfhub.dev/{NAME}?tf-hub-format=compressed"
_LIBRARIES = ("tensorflow", "tensorflow_text")
_EXTRA = ", an extra of this system: pip install '.[use-qa]'"
_SAVED = "saved_model.pb"


@dataclass(frozen=True, kw_only=True)
class UseQa(OfCheckpoint, Embedding):
    """Vectors of the two signatures, of unit length, compared by cosine. The title is the response
    and the text its context; without a title, the text is both. The model reads complete texts.
    `checkpoint` is the one on TensorFlow Hub or a folder with a SavedModel. Raises WrongInput for
    any other."""

    checkpoint: Checkpoint

    PARAMETERS: ClassVar[tuple[str, ...]] = ("model", *LAYOUT)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.checkpoint.is_local and self.model != NAME:
            raise WrongInput(f"use-qa runs {NAME} or a folder of a SavedModel, not {self.model}")

    def vectors_identity(self) -> dict[str, Any]:
        """Return the weights and the fields."""
        weights = {"model": self.model}
        if self.checkpoint.is_local:
            weights = {"weights": checkpoints.content(self._folder(), ["*"])}
        return weights | {"vectors": "unit length", "fields": ["title or text", "text"]}

    def check(self) -> None:
        """Raise Unavailable if TensorFlow, FAISS or the model is missing."""
        checkpoints.require("faiss")
        checkpoints.require(*_LIBRARIES, remedy=_EXTRA)
        if self.checkpoint.is_local:
            self._folder()
        elif not (_cached() / _SAVED).is_file() and not checkpoints.answers(ADDRESS):
            raise Unavailable(
                f"{self.model} is not cached here and TensorFlow Hub cannot be reached: "
                "connect once, or give a folder with the SavedModel, model=/FOLDER"
            )

    def join(self, title: str, text: str) -> tuple[str, str]:
        """Return response and context."""
        return title or text, text

    def encoder(self, settings: Settings, of: str) -> Encode:
        """Load the model; returns a function to unit vectors (texts, dimensions) of questions, or
        of pairs of response and context."""
        folder = self._folder() if self.checkpoint.is_local else _fetched()
        model, constant = _loaded(folder, settings.threads)

        def questions(texts: list[str]) -> np.ndarray:
            return _unit(model.signatures["question_encoder"](constant(texts)))

        def responses(pairs: list[tuple[str, str]]) -> np.ndarray:
            titles, texts = map(list, zip(*pairs, strict=True))
            encode = model.signatures["response_encoder"]
            return _unit(encode(input=constant(titles), context=constant(texts)))

        return questions if of == "queries" else responses

    def _folder(self) -> Path:
        """Return the local folder of the model. Raises Unavailable if it has no SavedModel."""
        folder = Path(self.model).expanduser()
        if not (folder / _SAVED).is_file():
            raise Unavailable(f"{folder} is not a SavedModel's folder: it has no {_SAVED}")
        return folder


@lru_cache(maxsize=1)
def _loaded(folder: Path, threads: int) -> tuple[Any, Any]:
    """Load the SavedModel and the function for TensorFlow's strings. Raises Unavailable."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    # It is imported by name, since its types are missing without the extra.
    tensorflow = importlib.import_module("tensorflow")
    # The model uses operations of this package.
    importlib.import_module("tensorflow_text")
    # If TensorFlow has already started, its number of threads is fixed.
    with contextlib.suppress(RuntimeError):
        tensorflow.config.threading.set_intra_op_parallelism_threads(threads)
    model = tensorflow.saved_model.load(str(folder))
    missing = {"question_encoder", "response_encoder"} - set(model.signatures)
    if missing:
        raise Unavailable(f"{folder} has no {', '.join(sorted(missing))}: it is another model")
    return model, tensorflow.constant


def _unit(outputs: Any) -> np.ndarray:
    """Scale vectors to unit length."""
    vectors = outputs["outputs"].numpy().astype(np.float32)
    return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)


def _cached() -> Path:
    """Return the folder of the downloaded model from TensorFlow Hub, which may not exist yet."""
    root = os.environ.get("TFHUB_CACHE_DIR") or "~/.cache/tfhub"
    return Path(root).expanduser() / NAME.replace("/", "--")


def _fetched() -> Path:
    """Return the folder of the model, downloaded and unpacked first if needed."""
    folder = _cached()
    if (folder / _SAVED).is_file():
        return folder
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as aside:
        whole = Path(aside) / "whole"
        try:
            with (
                urllib.request.urlopen(ADDRESS, timeout=60) as stream,
                tarfile.open(fileobj=stream, mode="r|gz") as archive,
            ):
                untar(archive, whole)
        except (OSError, tarfile.TarError) as error:
            raise Unavailable(
                f"{NAME} cannot be downloaded ({type(error).__name__}): try again, or give a"
                " folder with the SavedModel, model=/FOLDER"
            ) from error
        whole.replace(folder)
    return folder
