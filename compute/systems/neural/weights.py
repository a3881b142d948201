"""Loads weights with torch and transformers: sets threads, reports errors in one sentence, and
refuses random weights."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from compute.base import json_files
from compute.base.errors import Unavailable, WrongInput
from compute.base.settings import Settings

_SHIFTED = ("roberta", "xlm-roberta", "camembert", "mpnet")
"""Kinds of models that count positions from the one after the padding position."""


def torch_on(settings: Settings) -> Any:
    """Import torch and set its number of threads from the settings. Raises Unavailable if it cannot
    use the device in the settings."""
    # OpenMP reads these when loaded: threads that spin while waiting slow a busy machine 40-fold.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    os.environ.setdefault("GOMP_SPINCOUNT", "0")
    import torch
    from transformers.utils import logging

    # Commands show their own progress on the line that the library's bar would overwrite.
    logging.disable_progress_bar()
    torch.set_num_threads(settings.threads)
    try:
        torch.empty(0, device=settings.device)
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        why = str(error).strip().partition("\n")[0].rstrip(".")
        raise Unavailable(
            f"the setting device is {settings.device}, which torch cannot use here ({why[:120]}):"
            " set BEIRSCOPE_DEVICE=cpu"
        ) from error
    return torch


@contextmanager
def loading(folder: Path | str) -> Iterator[None]:
    """Turn the libraries' errors with files in the with-block into Unavailable, in one sentence."""
    from safetensors import SafetensorError

    try:
        yield
    except (OSError, ValueError, KeyError, ImportError, RuntimeError, SafetensorError) as error:
        why = str(error).strip().partition("\n")[0]
        raise Unavailable(
            f"{folder} does not load ({why[:200]}): download it again, or give another folder"
        ) from error


def declared(folder: Path, file: str = "config_sentence_transformers.json") -> dict[str, Any]:
    """Return what a file of settings in a model's folder says; empty if it is missing."""
    return json_files.read(folder / file) if (folder / file).is_file() else {}


def whole_model(kind: Any, folder: str, what: str) -> Any:
    """Load the model in `folder` as class `kind` of transformers, ready to compute. Raises
    Unavailable if it does not load, and WrongInput if weights of its head are missing, since
    transformers would initialise them randomly. `what` describes the expected model."""
    with loading(folder):
        model, report = kind.from_pretrained(
            folder, local_files_only=True, trust_remote_code=False, output_loading_info=True
        )
    if report["missing_keys"]:
        lacks = ", ".join(sorted(report["missing_keys"])[:3])
        raise WrongInput(f"{folder} is not {what}: it has no weights {lacks}")
    return model.eval()


def tokenizer_of(folder: str) -> Any:
    """Load the tokenizer in `folder`. Raises Unavailable if it does not load."""
    from transformers import AutoTokenizer

    with loading(folder):
        return AutoTokenizer.from_pretrained(folder, local_files_only=True)


def batches(tokenizer: Any, texts: list[str], size: int, length: int) -> Iterator[Any]:
    """Yield the texts as tensors, `size` at a time, each truncated to `length` word pieces."""
    for start in range(0, len(texts), size):
        some = texts[start : start + size]
        yield tokenizer(some, padding=True, truncation=True, max_length=length, return_tensors="pt")


def positions(config: Any) -> int | None:
    """Return how many word pieces a model with this configuration can read; None for any number."""
    found = getattr(config, "max_position_embeddings", None)
    if found and getattr(config, "model_type", "") in _SHIFTED:
        found -= (getattr(config, "pad_token_id", 0) or 0) + 1
    return found or None


def refuse_longer(config: Any, model: str, length: int) -> None:
    """Raise WrongInput if the model has no positions for texts of this many word pieces."""
    most = positions(config)
    if most is not None and length > most:
        raise WrongInput(f"{model} reads {most} word pieces: max_length must be that or less")
