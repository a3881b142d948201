"""The recipe of `bm25-augmented`: its parameters, what it is trained on, and how it searches.

Importing this loads nothing heavy.
"""

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from compute.base.errors import WrongInput
from compute.base.settings import Settings
from compute.corpora import word_pieces
from compute.datasets import DATASETS, Dataset
from compute.store.loading import Bench, load
from compute.systems.augmented.search import Augmented
from compute.systems.checkpoints import Checkpoint, from_text
from compute.systems.parameter_ranges import at_least, between
from compute.systems.training.recipes import Material, Report, material

HARD_FROM = 100
"""Hard negatives are drawn from so many of BM25's first documents that nobody judged relevant."""


@dataclass(frozen=True)
class Augmentation:
    """Train an encoder of queries that augments and weighs them for BM25 over word pieces.

    "BM25 Query Augmentation Learned End-to-End"; defaults as the paper has them for NQ. `model` is
    the encoder at the start. The ablations: `price=uniform` (lambda times the sum of a, whatever
    the words' document frequencies), `weights=none` (w = 1), `vectors=words` (binary bags of words
    without IDF in place of BM25 vectors), and the last with the first.
    An epoch is every training query once. Training ends where `patience` epochs brought no better
    nDCG@10 of the queries held out, and the best epoch's model is kept. `precision=bfloat16` lets
    the encoder multiply with half the digits, three times as fast where the processor can.
    Raises WrongInput for a parameter out of its range.
    """

    checkpoint: Checkpoint = field(default_factory=lambda: from_text("distilbert-base-uncased"))
    k1: float = 0.9
    b: float = 0.4
    learning_rate: float = 3e-4
    batch: int = 144
    penalty: float = 0.1
    price: str = "weighted"
    weights: str = "learned"
    vectors: str = "bm25"
    hard_negatives: int = 1
    epochs: int = 45
    patience: int = 5
    max_length: int = 512
    precision: str = "float32"
    seed: int = 0

    PARAMETERS: ClassVar[tuple[str, ...]] = (
        "model",
        "k1",
        "b",
        "learning_rate",
        "batch",
        "penalty",
        "price",
        "weights",
        "vectors",
        "hard_negatives",
        "epochs",
        "patience",
        "max_length",
        "precision",
        "seed",
    )
    SEARCH: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        choices = {"price": ("weighted", "uniform"), "weights": ("learned", "none")}
        choices |= {"vectors": ("bm25", "words"), "precision": ("float32", "bfloat16")}
        for name, known in choices.items():
            if getattr(self, name) not in known:
                raise WrongInput(f"{name} is {getattr(self, name)!r}, not {' or '.join(known)}")
        least = {"k1": 0, "learning_rate": 0, "penalty": 0, "hard_negatives": 0, "seed": 0}
        least |= {"batch": 2, "epochs": 1, "patience": 1, "max_length": 2}
        for name, low in least.items():
            at_least(self, name, low)
        between(self, "b", 0, 1)

    @property
    def model(self) -> str:
        """The name or folder of the encoder."""
        return self.checkpoint.model

    def identity(self) -> dict[str, Any]:
        """Recipe, parameters, the encoder's weights and the vocabulary."""
        values = asdict(self)
        del values["checkpoint"]
        own = {"recipe": "bm25-augmented", "encoder": self.checkpoint.identity()}
        return own | {"vocabulary": word_pieces.vocabulary()} | values

    def check(self) -> None:
        """Raises Unavailable when Java, a library, the vocabulary or the encoder is missing."""
        from compute.systems.lexical import anserini

        anserini.check()
        word_pieces.check()
        self.checkpoint.check("torch", "transformers")

    def saw(self, dataset: str) -> tuple[str, ...]:
        """Its training judgements."""
        return (dataset,)

    def material(self, bench: Bench, dataset: Dataset) -> Material:
        """The train split with BM25's hits; the dev split, where there is one, is held out.

        Raises WrongInput for a collection without a train split.
        """
        # Late: the catalogue of systems names this recipe, and a run needs the catalogue.
        from compute.recompute import run
        from compute.systems import system

        train = split(bench, dataset, "train")
        if train is None:
            raise WrongInput(
                f"{dataset.name} has no train split to learn from: choose a dataset that has one, "
                "or import your own as NAME/train"
            )
        searched = system(f"bm25-wordpiece(k1={self.k1},b={self.b})")
        hits = run.run(bench, searched, train).hits
        loaded = load(bench, train)
        assert loaded.documents is not None
        parts = {"documents": loaded.documents, "queries": loaded.queries, "hits": hits}
        parts |= {"judgements": loaded.judgements}
        if (dev := split(bench, dataset, "dev")) is not None and dev.name != dataset.name:
            held = load(bench, dev)
            parts |= {"held_out_queries": held.queries, "held_out_judgements": held.judgements}
        return material({"hard_from": HARD_FROM}, **parts)

    def train(
        self, material: Material, folder: Path, settings: Settings, report: Report
    ) -> dict[str, Any]:
        """Best epoch, its nDCG@10 on the queries held out, steps, final loss; resumable."""
        from compute.systems.augmented import training

        return training.train(self, material, folder, settings, report)

    def system(self, model: Checkpoint) -> Augmented:
        """BM25 over word pieces, asked with augmented queries."""
        return Augmented(model, k1=self.k1, b=self.b, bm25=self.vectors == "bm25")


def split(bench: Bench, dataset: Dataset, name: str) -> Dataset | None:
    """Another split of a dataset's collection; None where there is none."""
    from compute.intake.imports import own_datasets

    known = {**DATASETS, **own_datasets(bench.store)}
    return known.get(f"{dataset.collection}/{name}")
