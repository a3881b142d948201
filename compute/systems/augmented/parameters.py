"""The parameters of `bm25-augmented`, as training reads them and as names of systems set them."""

from dataclasses import dataclass, field, fields
from typing import ClassVar

from compute.systems.checkpoints import Checkpoint, OfCheckpoint, from_text
from compute.systems.searcher import Limited, limited, one_of


@dataclass(frozen=True)
class Parameters(OfCheckpoint, Limited):
    """Training parameters of an encoder that augments and weights queries for BM25.

    From "BM25 Query Augmentation Learned End-to-End"; the defaults are the paper's for NQ. `model`
    is the initial encoder. The paper's ablations are `price=uniform` (a penalty of lambda times the
    sum of a, whatever the words' document frequencies), `weights=none` (w = 1), `vectors=words`
    (binary bags of words without IDF instead of BM25 vectors), and the last with the first. An
    epoch contains every training query once. Training ends when the nDCG@10 of the held-out queries
    has not improved for `patience` epochs, and the best epoch's model is kept. With
    `precision=bfloat16` the encoder multiplies with half the digits, three times as fast if the
    processor supports it. Raises WrongInput for parameters out of range.
    """

    checkpoint: Checkpoint = field(default_factory=lambda: from_text("distilbert-base-uncased"))
    k1: float = limited(0.9, 0)
    b: float = limited(0.4, 0, 1)
    learning_rate: float = limited(3e-4, 0)
    batch: int = limited(144, 2)
    penalty: float = limited(0.1, 0)
    price: str = one_of("weighted", "uniform")
    weights: str = one_of("learned", "none")
    vectors: str = one_of("bm25", "words")
    hard_negatives: int = limited(1, 0)
    epochs: int = limited(45, 1)
    patience: int = limited(5, 1)
    max_length: int = limited(512, 2)
    precision: str = one_of("float32", "bfloat16")
    seed: int = limited(0, 0)

    PARAMETERS: ClassVar[tuple[str, ...]] = ()
    SEARCH: ClassVar[tuple[str, ...]] = ()


_FREE = [one.name for one in fields(Parameters) if one.name != "checkpoint"]
Parameters.PARAMETERS = ("model", *_FREE)
