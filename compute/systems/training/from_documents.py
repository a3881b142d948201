"""Shared parts of the recipes that learn only from documents, without judgements."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pyarrow.parquet as pq

from compute.base.errors import WrongInput
from compute.base.settings import Settings
from compute.systems.checkpoints import Checkpoint, OfCheckpoint
from compute.systems.neural.dense import LIBRARIES as TO_SEARCH
from compute.systems.neural.dense import LONGEST
from compute.systems.neural.embedding import LAYOUT
from compute.systems.searcher import Limited, limited
from compute.systems.training import biencoder
from compute.systems.training.biencoder import Fit, Pairs
from compute.systems.training.recipes import Report

_SEED = 20_210


@dataclass(frozen=True)
class Unjudged(OfCheckpoint, Limited):
    """A bi-encoder fine-tuned with in-batch negatives on pairs that are made from documents only.
    Raises WrongInput for a batch, rate, length or seed out of range."""

    checkpoint: Checkpoint
    batch: int = limited(64, 2)
    lr: float = 2e-5
    max_length: int = 350
    seed: int = limited(1, 0)

    SEARCH: ClassVar[tuple[str, ...]] = LAYOUT

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 < self.lr < 1:
            raise WrongInput(f"lr is {self.lr}; it must be between 0 and 1")
        if self.max_length and not 3 <= self.max_length <= LONGEST:
            raise WrongInput(f"max_length is {self.max_length}; it must be 3 to {LONGEST}, or 0")

    def check(self) -> None:
        """Raise Unavailable if a library or weights are missing."""
        self.checkpoint.check(*biencoder.LIBRARIES, *TO_SEARCH)

    def saw(self, dataset: str) -> tuple[str, ...]:
        """Return no dataset, since pairs are made from documents."""
        return ()

    def _fit(
        self,
        steps: int,
        pairs: Pairs,
        folder: Path,
        settings: Settings,
        report: Report,
        *,
        similarity: str = "",
        otherwise: str = "cosine",
    ) -> dict[str, Any]:
        """Train on the pairs of each step, with a tenth of the steps as warm-up; returns facts
        about the training. For `similarity` and `otherwise` see `biencoder.Fit`."""
        how = Fit(
            steps,
            self.lr,
            warmup=steps // 10,
            seed=self.seed,
            max_length=self.max_length,
            similarity=similarity,
            otherwise=otherwise,
        )
        return biencoder.fit(self.checkpoint.folder(), pairs, how, folder, settings, report)


def read_documents(file: Path, most: int = 2**62) -> list[tuple[str, str]]:
    """Read title and text of all documents, or of a sample of at most `most`."""
    table = pq.read_table(file, columns=["title", "text"])
    table = table.take(sampled(table.num_rows, most))
    return [(row["title"] or "", row["text"] or "") for row in table.to_pylist()]


def sampled(total: int, most: int) -> np.ndarray:
    """Return positions of at most `most` of `total` documents, in file order; always the same."""
    if total <= most:
        return np.arange(total)
    return np.sort(np.random.default_rng(_SEED).choice(total, most, replace=False))
