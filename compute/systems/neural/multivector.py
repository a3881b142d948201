"""Loads models that give one vector for each token of a text, whatever kind of model they are.
torch and sentence-transformers are imported inside the functions."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from compute.base.errors import WrongInput
from compute.base.settings import Settings
from compute.systems.neural.weights import declared, loading, positions, torch_on

if TYPE_CHECKING:
    from sentence_transformers import MultiVectorEncoder

BATCH = 32

Encode = Callable[[list[str]], list[np.ndarray]]
"""A function from texts to float32 arrays (tokens, dimensions), in order."""


def load(
    folder: Path, *, query_length: int, document_length: int, settings: Settings
) -> "MultiVectorEncoder":
    """Load the model in `folder`, with texts truncated to this many word pieces; 0 keeps the
    model's limit. A late-interaction model (Stanford ColBERT, PyLate, sentence-transformers) is
    used as it was trained: with its markers, its query padded with masks to `query_length`, and its
    list of skipped tokens. Any other encoder gives the unit vectors of its last layer, without
    those of the special tokens around a text (such as [CLS] and [SEP]), which represent no word.
    Raises Unavailable if it does not load, and WrongInput for a length beyond the model's
    positions."""
    torch_on(settings)
    with loading(folder):
        made = _trained if is_late_interaction(folder) else _untrained
        model = made(folder, settings.device)
    _cut(model, folder, query_length, document_length)
    return model


def is_late_interaction(folder: Path) -> bool:
    """Return whether the model in `folder` was trained to give one vector for each token."""
    if kind(folder) in ("ColBERT", "MultiVectorEncoder"):
        return True
    return "HF_ColBERT" in (declared(folder, "config.json").get("architectures") or [])


def kind(folder: Path) -> str:
    """Return the kind of model that sentence-transformers recorded in `folder`, else empty."""
    return declared(folder).get("model_type", "")


def queries(model: "MultiVectorEncoder") -> Encode:
    """Return a function from queries to their token vectors."""
    return lambda texts: list(
        model.encode_query(texts, batch_size=BATCH, convert_to_numpy=True, show_progress_bar=False)
    )


def documents(model: "MultiVectorEncoder") -> Encode:
    """Return a function from documents to their token vectors."""
    return lambda texts: list(
        model.encode_document(
            texts, batch_size=BATCH, convert_to_numpy=True, show_progress_bar=False
        )
    )


def _trained(folder: Path, device: str) -> "MultiVectorEncoder":
    """Load a model that was trained for late interaction."""
    from sentence_transformers import MultiVectorEncoder

    return MultiVectorEncoder(str(folder), device=device, local_files_only=True)


def _untrained(folder: Path, device: str) -> "MultiVectorEncoder":
    # Loaded as a MultiVectorEncoder, it would get a random projection.
    """Load another encoder as one vector per token."""
    from sentence_transformers import MultiVectorEncoder, SentenceTransformer
    from sentence_transformers.base.modules import Normalize
    from sentence_transformers.multi_vector_encoder.modules import MultiVectorMask

    words: Any = SentenceTransformer(str(folder), device=device, local_files_only=True)[0]
    names = ("cls_token", "sep_token", "bos_token", "eos_token")
    found = (getattr(words.tokenizer, name, None) for name in names)
    around = {str(piece) for piece in found if piece is not None}
    mask = MultiVectorMask(sorted(around), skiplist_tasks=["query", "document"])
    unit = Normalize(module_input_name="token_embeddings")
    return MultiVectorEncoder(modules=[words, mask, unit], device=device)


def _cut(
    model: "MultiVectorEncoder", folder: Path, query_length: int, document_length: int
) -> None:
    """Set the truncation. Raises WrongInput if the model has too few positions."""
    words: Any = model[0]
    longest = max(query_length, document_length)
    most = positions(words.config)
    if most is not None and longest > most:
        raise WrongInput(f"{folder} has {most} positions: {longest} word pieces are too many")
    if document_length:
        words.document_length = document_length
    if query_length and words.query_expansion:
        words.query_length = None
        words.query_expansion = words.query_expansion | {"length": query_length}
    elif query_length:
        words.query_length = query_length
