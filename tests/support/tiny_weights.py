"""Tiny random weights in the place of each system's own, where the real ones would be loaded from.

They lie in a cache of the Hugging Face hub, under the names and at the revisions that the rows of
the catalogue pin, so that systems run by their own names and parameters. Where a row names no
model of the hub, they are given as a folder, `model=/FOLDER`.
"""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from compute.corpora import word_pieces
from compute.systems import System
from compute.systems.augmented.recipe import Augmentation
from compute.systems.checkpoints import Checkpoint
from compute.systems.combine.monot5 import MonoT5
from compute.systems.combine.rerank import CrossEncoder, LateReranker
from compute.systems.lexical.deepct import DeepCt
from compute.systems.lexical.doc2query import Doc2Query
from compute.systems.lexical.sparse import Sparse
from compute.systems.lexical.sparta import Sparta
from compute.systems.neural.dense import Dense
from compute.systems.neural.late import LateInteraction
from compute.systems.neural.use_qa import UseQa
from compute.systems.training.genq import GenQ
from compute.systems.training.ict import Ict
from tests.support import models

COMMIT = "0123456789abcdef0123456789abcdef01234567"
"""What a branch stands for in the cache."""


def given(row: System, cache: Path, aside: Path) -> str:
    """What the name of a row takes in brackets for its tiny weights; "" where the cache has them.

    `cache` is the hub's, `aside` a folder of the system's own. Raises KeyError for a kind of system
    that MAKERS lacks.
    """
    method = row.recipe or row.search
    for checkpoint, make in _needed(method, aside):
        if checkpoint.package:
            continue
        if not checkpoint.model or isinstance(method, UseQa):
            make(aside / "model")
            return f"(model={aside / 'model'})"
        _put(cache, checkpoint, make)
    return ""


def _needed(method: Any, aside: Path) -> Iterator[tuple[Checkpoint, Callable[[Path], Any]]]:
    """Each checkpoint that a system loads, and what makes one like it."""
    checkpoint = getattr(method, "checkpoint", None)
    if checkpoint is None:
        return
    make = MAKERS[type(method)]
    yield checkpoint, lambda folder: make(folder, method, aside)
    if other := getattr(method, "query_checkpoint", None):
        yield other, lambda folder: make(folder, method, aside)
    if isinstance(method, GenQ):
        yield method.generator.checkpoint, models.t5


def _put(cache: Path, checkpoint: Checkpoint, make: Callable[[Path], Any]) -> None:
    """Lay a model out in the hub's cache, as its library does."""
    place = cache / f"models--{checkpoint.model.replace('/', '--')}"
    pinned = len(checkpoint.revision) == len(COMMIT)
    folder = place / "snapshots" / (checkpoint.revision if pinned else COMMIT)
    if folder.exists():
        return
    folder.mkdir(parents=True)
    if not pinned:
        (place / "refs").mkdir()
        (place / "refs" / checkpoint.revision).write_text(COMMIT)
    make(folder)


def _dense(folder: Path, row: Any, aside: Path) -> None:
    base = models.bert(aside / "base")
    about = {"pooling": row.pooling or "cls", "similarity": row.similarity or "dot"}
    models.sentence_transformer(folder, base, **about)


def _begun(folder: Path, row: Any, aside: Path) -> None:
    models.sentence_transformer(folder, models.bert(aside / "base"), pooling="cls")


def _augmented(folder: Path, row: Any, aside: Path) -> None:
    models.bert(folder, vocab_size=word_pieces.word_pieces().get_vocab_size())


MAKERS: Mapping[type, Callable[[Path, Any, Path], object]] = MappingProxyType(
    {
        Augmentation: _augmented,
        CrossEncoder: lambda folder, row, aside: models.cross_encoder(folder),
        DeepCt: lambda folder, row, aside: models.term_weights(folder),
        Dense: _dense,
        Doc2Query: lambda folder, row, aside: models.t5(folder),
        GenQ: _begun,
        Ict: lambda folder, row, aside: models.bert(folder),
        LateInteraction: lambda folder, row, aside: models.stanford_colbert(folder),
        LateReranker: lambda folder, row, aside: models.stanford_colbert(folder),
        MonoT5: lambda folder, row, aside: models.t5(folder),
        Sparse: lambda folder, row, aside: models.sparse_encoder(
            folder, models.masked_bert(aside / "base")
        ),
        Sparta: lambda folder, row, aside: models.distilbert(folder),
        UseQa: lambda folder, row, aside: models.use_qa(folder),
    }
)
"""By the class of searcher, combiner or recipe, what saves a tiny model of its kind in a folder."""
