"""The parameters of `bm25-augmented`, as training reads them and as names of systems set them."""

from dataclasses import dataclass, field, fields
from typing import ClassVar

from compute.base.errors import WrongInput
from compute.systems.checkpoints import Checkpoint, OfCheckpoint, from_text
from compute.systems.searcher import at_least, between


@dataclass(frozen=True)
class Parameters(OfCheckpoint):
    """Training parameters of an encoder that augments and weighs queries for BM25.

    "BM25 Query Augmentation Learned End-to-End"; defaults as the paper has them for NQ. `model` is
    the encoder at the start. The ablations: `price=uniform` (lambda times the sum of a, whatever
    the words' document frequencies), `weights=none` (w = 1), `vectors=words` (binary bags of words
    without IDF instead of BM25 vectors), and the last with the first.
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

    PARAMETERS: ClassVar[tuple[str, ...]] = ()
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


_FREE = [one.name for one in fields(Parameters) if one.name != "checkpoint"]
Parameters.PARAMETERS = ("model", *_FREE)
