"""Dense retrieval with any sentence-transformers model, or with two: one for documents and one for
queries. Karpukhin et al., "Dense Passage Retrieval for Open-Domain Question Answering", EMNLP 2020,
use two encoders; Reimers and Gurevych, "Sentence-BERT", EMNLP 2019, use one. torch,
sentence-transformers and faiss are imported inside the functions that compute, so rows of the
catalogue and their checks load none of them."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from compute.base.errors import WrongInput
from compute.base.settings import Settings
from compute.systems import checkpoints
from compute.systems.checkpoints import Checkpoint, OfCheckpoint
from compute.systems.neural.embedding import LAYOUT, Embedding
from compute.systems.neural.encoding import Encode, joined
from compute.systems.neural.weights import declared, loading, refuse_longer, torch_on

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

LIBRARIES = ("torch", "sentence_transformers", "faiss")
LONGEST = 512
"""Maximum number of word pieces that a model reads from a text."""
_BATCH = 32
_VECTORS = {"cosine": "unit length", "dot": "as encoded", "": "as the model says"}


@dataclass(frozen=True, kw_only=True)
class Dense(OfCheckpoint, Embedding):
    """A sentence-transformers model, with its own modules, pooling, prompts and similarity.
    `query_model`, if not empty, is the name or folder of a separate model for the queries.
    `pooling` and `similarity` (cosine or dot) are expected values that the model must have; if the
    model declares no similarity, `similarity` is used or, if that is empty, cosine. `max_length` is
    in word pieces, at most 512; 0 means the model's own. `separator` goes between title and text.
    Raises WrongInput for a value out of range."""

    checkpoint: Checkpoint
    query_model: str = ""
    pooling: str = ""
    similarity: str = ""
    max_length: int = 0
    separator: str = ""

    PARAMETERS: ClassVar[tuple[str, ...]] = (
        "model",
        "query_model",
        "max_length",
        "similarity",
        *LAYOUT,
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.max_length and not 3 <= self.max_length <= LONGEST:
            raise WrongInput(f"max_length is {self.max_length}; it must be 3 to {LONGEST}, or 0")
        if self.similarity not in _VECTORS:
            raise WrongInput(f"similarity is {self.similarity!r}; it must be cosine or dot")

    @property
    def query_checkpoint(self) -> Checkpoint | None:
        """Return the model of the queries, if it is a separate one."""
        return checkpoints.from_text(self.query_model) if self.query_model else None

    def vectors_identity(self) -> dict[str, Any]:
        """Return what determines the vectors: weights, pooling, truncation and fields."""
        between = f"' {self.separator} '" if self.separator else "' '"
        return self.checkpoint.identity() | {
            "pooling": self.pooling or "as the model says",
            "vectors": _VECTORS[self.similarity],
            "max_length": self.max_length,
            "fields": [f"title + {between} + text"],
        }

    def identity(self) -> dict[str, Any]:
        """Return the vectors of documents and queries, and their similarity."""
        other = self.query_checkpoint
        return super().identity() | ({"queries": other.identity()} if other else {})

    def check(self) -> None:
        """Raise Unavailable if a library or the pinned weights are missing."""
        for checkpoint in filter(None, (self.checkpoint, self.query_checkpoint)):
            checkpoint.check(*LIBRARIES)

    def join(self, title: str, text: str) -> str:
        """Join title and text with a space or the separator."""
        # A tokenizer reads "[SEP]" as its mark, as when BEIR encodes a pair with an empty title.
        return f"{title} {self.separator} {text}".strip() if self.separator else joined(title, text)

    def encoder(self, settings: Settings, of: str) -> Encode:
        """Load the model; returns a function from texts to 32-bit vectors (texts, dimensions), for
        "documents" or "queries"."""
        other = self.query_checkpoint if of == "queries" else None
        folder = (other or self.checkpoint).folder()
        model = loaded(folder, settings)
        self._fit(model)
        unit_length = self._similarity(folder) == "cosine"
        encode = model.encode_query if of == "queries" else model.encode_document

        def vectors(texts: list[str]) -> np.ndarray:
            return np.asarray(
                encode(
                    texts,
                    batch_size=_BATCH,
                    normalize_embeddings=unit_length,
                    show_progress_bar=False,
                ),
                np.float32,
            )

        return vectors

    def _fit(self, model: "SentenceTransformer") -> None:
        """Set the truncation. Raises WrongInput if the pooling differs or the model reads less."""
        found = [getattr(module, "pooling_mode", "") for module in model]
        pooling = next(filter(None, found), "")
        if self.pooling and pooling != self.pooling:
            raise WrongInput(
                f"{self.model} uses {pooling!r} pooling; its row says {self.pooling!r}"
            )
        own = min(model.max_seq_length or LONGEST, LONGEST)
        if self.max_length > own:
            refuse_longer(model.config, self.model, self.max_length)
        model.max_seq_length = self.max_length or own

    def _similarity(self, folder: Path) -> str:
        """Return the similarity to use. Raises WrongInput if the model's differs from the given one
        or is not supported."""
        says = declared(folder).get("similarity_fn_name") or ""
        if says not in _VECTORS:
            raise WrongInput(
                f"{folder} compares by {says!r}; only cosine and dot are searched here"
            )
        if says and self.similarity not in ("", says):
            raise WrongInput(
                f"{folder} compares by {says!r}, not by {self.similarity!r} as requested"
            )
        return says or self.similarity or "cosine"


def loaded(folder: Path, settings: Settings) -> "SentenceTransformer":
    """Load a model on the settings' device. Raises Unavailable if it does not load."""
    torch_on(settings)
    from sentence_transformers import SentenceTransformer

    with loading(folder):
        return SentenceTransformer(
            str(folder), device=settings.device, local_files_only=True, trust_remote_code=False
        )
