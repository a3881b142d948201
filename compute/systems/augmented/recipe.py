"""The recipe of `bm25-augmented`: the identity of its weights, its training, and its search.
Importing this loads nothing heavy."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from compute.base.settings import Settings
from compute.corpora import word_pieces
from compute.systems.augmented.parameters import Parameters
from compute.systems.augmented.search import Augmented
from compute.systems.checkpoints import Checkpoint
from compute.systems.lexical import anserini
from compute.systems.training.recipes import Material, Report


@dataclass(frozen=True)
class Augmentation(Parameters):
    """Recipe of an encoder that augments and weights queries for BM25 over word pieces."""

    def identity(self) -> dict[str, Any]:
        """Return the recipe's name and parameters, the encoder's weights and the vocabulary."""
        values = asdict(self)
        del values["checkpoint"]
        own = {"recipe": "bm25-augmented", "encoder": self.checkpoint.identity()}
        return own | {"vocabulary": word_pieces.vocabulary()} | values

    def check(self) -> None:
        """Raise Unavailable if Java, a library, the vocabulary or the encoder is missing."""
        anserini.check()
        word_pieces.check()
        self.checkpoint.check("torch", "transformers")

    def saw(self, dataset: str) -> tuple[str, ...]:
        """Return the dataset, whose judgements it learns from."""
        return (dataset,)

    def train(
        self, material: Material, folder: Path, settings: Settings, report: Report
    ) -> dict[str, Any]:
        """Train, or resume an interrupted training; returns facts such as the best epoch, its
        nDCG@10 on held-out queries, steps and final loss."""
        from compute.systems.augmented import training

        return training.train(self, material, folder, settings, report)

    def system(self, model: Checkpoint) -> Augmented:
        """Return BM25 over word pieces, searched with augmented queries."""
        return Augmented(checkpoint=model, k1=self.k1, b=self.b, bm25=self.vectors == "bm25")
