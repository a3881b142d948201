"""The inverse cloze task: a sentence should retrieve its document. Lee, Chang and Toutanova,
"Latent Retrieval for Weakly Supervised Open Domain Question Answering", ACL 2019; as ICT
(HerBERT-base) in BEIR-PL, Wojtasik et al., 2023."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from compute.base.errors import WrongInput
from compute.base.settings import Settings
from compute.systems.checkpoints import Checkpoint
from compute.systems.neural.dense import Dense
from compute.systems.neural.encoding import joined
from compute.systems.searcher import limited
from compute.systems.training import biencoder
from compute.systems.training.from_documents import Unjudged, read_documents
from compute.systems.training.recipes import Material, Report
from compute.systems.training.sentences import sentences

Cloze = tuple[str, list[str]]
"""The title of a document, and its sentences."""


@dataclass(frozen=True)
class Ict(Unjudged):
    """A bi-encoder trained to retrieve the document of a sentence; the defaults are BEIR-PL's. Each
    round uses another random sentence of each document. The target is the title and the other
    sentences; with probability `keep` the sentence stays in the target (Lee et al.; BEIR-PL does
    not specify it). Texts are compared by cosine, with in-batch negatives. `epochs`, if not 0, sets
    the number of rounds through the documents instead of `steps`. Raises WrongInput for a value out
    of range."""

    steps: int = limited(1_800_000, 1)
    epochs: int = limited(0, 0)
    lr: float = 2e-4
    keep: float = limited(0.1, 0, 1)
    max_length: int = 256

    PARAMETERS: ClassVar[tuple[str, ...]] = (
        *("model", "steps", "epochs", "batch", "lr", "keep", "max_length", "seed"),
    )

    def identity(self) -> dict[str, Any]:
        """Return the initial model and the training parameters."""
        length = {"epochs": self.epochs} if self.epochs else {"steps": self.steps}
        names = ("batch", "lr", "keep", "max_length", "seed")
        return (
            {"recipe": "inverse cloze", "begins_with": self.checkpoint.identity()}
            | length
            | {name: getattr(self, name) for name in names}
        )

    def train(
        self, material: Material, folder: Path, settings: Settings, report: Report
    ) -> dict[str, Any]:
        """Train on one sentence of each document per round, with no document twice in a batch."""
        clozes = self._clozes(material)
        per_round = biencoder.rounds_steps(len(clozes), self.batch)
        steps = self.epochs * per_round or self.steps

        def pairs(step: int) -> list[tuple[str, str]]:
            turn, places = biencoder.batch(len(clozes), self.batch, self.seed, step)
            chance = np.random.default_rng([self.seed, turn, step])
            return [inverse_cloze(clozes[place], self.keep, chance) for place in places]

        facts = self._fit(steps, pairs, folder, settings, report, similarity="cosine")
        return facts | {"documents": len(clozes), "rounds": steps / per_round}

    def _clozes(self, material: Material) -> list[Cloze]:
        """Return documents with a sentence and other text. Raises WrongInput for fewer than two."""
        language = material.about["language"]
        rows = read_documents(material.path("documents"))
        split = ((title, sentences(text, language)) for title, text in rows)
        # From a single sentence without a title, nothing would be left as the target.
        found = [row for row in split if len(row[1]) > 1 or (row[0].strip() and row[1])]
        if len(found) < 2:
            raise WrongInput(
                f"{len(found)} of these documents have a sentence and other text, and in-batch"
                " negatives need 2: choose longer documents"
            )
        return found

    def system(self, model: Checkpoint) -> Dense:
        """Return dense retrieval by cosine."""
        return Dense(checkpoint=model, similarity="cosine")


def inverse_cloze(cloze: Cloze, keep: float, chance: np.random.Generator) -> tuple[str, str]:
    """Return a random sentence of a document and its target text: the title and the other
    sentences, or all sentences with probability `keep`."""
    title, found = cloze
    place = int(chance.integers(len(found)))
    stays = chance.random() < keep
    rest = found if stays else found[:place] + found[place + 1 :]
    return found[place], joined(title, " ".join(rest))
