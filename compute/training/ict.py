"""The inverse cloze task: a sentence is to find the document that it was taken from.

Lee, Chang and Toutanova, "Latent Retrieval for Weakly Supervised Open Domain Question Answering",
ACL 2019; as ICT (HerBERT-base) in BEIR-PL, Wojtasik et al., 2023.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from compute import loading
from compute.datasets import Dataset
from compute.errors import WrongInput
from compute.loading import Bench
from compute.settings import Settings
from compute.systems.checkpoints import Checkpoint
from compute.systems.dense import LIBRARIES as TO_SEARCH
from compute.systems.dense import Dense
from compute.systems.embedding import LAYOUT
from compute.systems.encoding import joined
from compute.systems.impact import at_least
from compute.training import biencoder
from compute.training.genq import check_fit, documents
from compute.training.recipes import Material, Report, material
from compute.training.sentences import sentences

Cloze = tuple[str, list[str]]
"""The title of a document, and its sentences."""


@dataclass(frozen=True)
class Ict:
    """A bi-encoder trained to find a sentence's document; the defaults are BEIR-PL's.

    Of a document each round takes another sentence at random. What it is to find is the title
    and the other sentences; with probability `keep` the sentence stays among them (Lee et al.;
    BEIR-PL leaves it open). Compared by cosine, in-batch negatives. `epochs`, where it is not 0,
    counts rounds through the documents instead of `steps`. Raises WrongInput for values out of
    range.
    """

    checkpoint: Checkpoint
    steps: int = 1_800_000
    epochs: int = 0
    batch: int = 64
    lr: float = 2e-4
    keep: float = 0.1
    max_length: int = 256
    seed: int = 1

    PARAMETERS: ClassVar[tuple[str, ...]] = (
        *("model", "steps", "epochs", "batch", "lr", "keep", "max_length", "seed"),
    )
    SEARCH: ClassVar[tuple[str, ...]] = LAYOUT

    def __post_init__(self) -> None:
        at_least(self, "steps", 1)
        at_least(self, "epochs", 0)
        if not 0 <= self.keep <= 1:
            raise WrongInput(f"keep is {self.keep}; it must lie from 0 to 1")
        check_fit(self)

    @property
    def model(self) -> str:
        """The name or folder of the model that it begins with."""
        return self.checkpoint.model

    def identity(self) -> dict[str, Any]:
        """The model that it begins with, and how that is trained."""
        length = {"epochs": self.epochs} if self.epochs else {"steps": self.steps}
        names = ("batch", "lr", "keep", "max_length", "seed")
        return (
            {"recipe": "inverse cloze", "begins_with": self.checkpoint.identity()}
            | length
            | {name: getattr(self, name) for name in names}
        )

    def check(self) -> None:
        """Raises Unavailable when a library or the weights are missing."""
        self.checkpoint.check(*biencoder.LIBRARIES, *TO_SEARCH)

    def saw(self, dataset: str) -> tuple[str, ...]:
        """No judgement: a sentence knows its document."""
        return ()

    def material(self, bench: Bench, dataset: Dataset) -> Material:
        """The documents; their language says where a sentence ends."""
        loaded = loading.load(bench, dataset)
        if loaded.documents is None:
            raise WrongInput(f"{dataset.name} has no documents: there is nothing to train on")
        return material({"language": dataset.language}, documents=loaded.documents)

    def train(
        self, material: Material, folder: Path, settings: Settings, report: Report
    ) -> dict[str, Any]:
        """Train on one sentence of each document in a round; no document is in a batch twice."""
        clozes = self._clozes(material)
        per_round = biencoder.rounds_steps(len(clozes), self.batch)
        steps = self.epochs * per_round or self.steps

        def pairs(step: int) -> list[tuple[str, str]]:
            turn, places = biencoder.batch(len(clozes), self.batch, self.seed, step)
            chance = np.random.default_rng([self.seed, turn, step])
            return [inverse_cloze(clozes[place], self.keep, chance) for place in places]

        how = biencoder.Fit(
            steps,
            self.lr,
            warmup=steps // 10,
            seed=self.seed,
            max_length=self.max_length,
            similarity="cosine",
        )
        start = self.checkpoint.folder()
        facts = biencoder.fit(start, pairs, how, folder, settings, report)
        return facts | {"documents": len(clozes), "rounds": steps / per_round}

    def _clozes(self, material: Material) -> list[Cloze]:
        language = material.about["language"]
        rows = documents(material.path("documents"))
        split = ((title, sentences(text, language)) for title, text in rows)
        # Of one sentence without a title nothing would be left to find.
        found = [row for row in split if len(row[1]) > 1 or (row[0].strip() and row[1])]
        if len(found) < 2:
            raise WrongInput(
                f"{len(found)} of these documents have a sentence and something beside it, and "
                "in-batch negatives need 2: take longer documents"
            )
        return found

    def system(self, model: Checkpoint) -> Dense:
        """Dense retrieval by cosine."""
        return Dense(checkpoint=model, similarity="cosine")


def inverse_cloze(cloze: Cloze, keep: float, chance: np.random.Generator) -> tuple[str, str]:
    """A sentence drawn from a document, and what it is to find.

    That is the title and the other sentences; with probability `keep` all of them.
    """
    title, found = cloze
    place = int(chance.integers(len(found)))
    stays = chance.random() < keep
    rest = found if stays else found[:place] + found[place + 1 :]
    return found[place], joined(title, " ".join(rest))
