"""DeepCT: term frequencies predicted by BERT, searched with BM25."""

import math
from dataclasses import dataclass
from typing import Any, ClassVar

from compute.base.errors import WrongInput
from compute.base.settings import Settings
from compute.systems.checkpoints import Checkpoint
from compute.systems.lexical.bm25 import Bm25
from compute.systems.lexical.impact import SHARD, Encode, Weighted, Weights
from compute.systems.neural.weights import (
    batches,
    refuse_longer,
    tokenizer_of,
    torch_on,
    whole_model,
)
from compute.systems.searcher import limited, one_of

_BATCH = 16
"""Number of documents encoded at once."""
_PINNED = Checkpoint("macavaney/deepct")
_SMOOTHING = {"sqrt": math.sqrt, "none": float}


@dataclass(frozen=True)
class DeepCt(Weighted, Bm25):
    """BM25 over documents in which each word is repeated according to a model's weight. The model
    gives each word piece a number w; a word has the w of its first piece, the largest over its
    occurrences. It is written `scale` x √w times (`scale` x w with `smoothing=none`), rounded, but
    at least `least` times: Dai and Callan, "Context-Aware Term Weighting For First Stage Passage
    Retrieval", 2020, whose own figures use `smoothing=none,least=0`. The defaults are those of
    BEIR's own evaluation of DeepCT. Words beyond `max_length` word pieces are lost. Queries are
    plain BM25 queries. Raises WrongInput for a value out of range."""

    checkpoint: Checkpoint = _PINNED
    max_length: int = limited(512, 3)
    scale: int = limited(100, 1)
    smoothing: str = one_of(*_SMOOTHING)
    least: int = limited(1, 0)

    PARAMETERS: ClassVar[tuple[str, ...]] = (
        *("k1", "b", "model", "max_length", "scale", "smoothing", "least"),
    )

    def index_identity(self) -> dict[str, Any]:
        """Return the identity of BM25's index, and all that determines the repetition of words."""
        return super().index_identity() | {
            "checkpoint": self.checkpoint.identity(),
            "max_length": self.max_length,
            "scale": self.scale,
            "smoothing": self.smoothing,
            "least": self.least,
        }

    def identity(self) -> dict[str, Any]:
        """Return the identity of the index, and BM25's parameters."""
        return self.index_identity() | {"ranker": "Bm25", "k1": self.k1, "b": self.b}

    def piece_identity(self) -> dict[str, Any]:
        """Return the identity of the index, and the size of its shards."""
        return self.index_identity() | {"shard": SHARD}

    def _term_options(self) -> list[str]:
        return self._analysis()

    def documents_encoder(self, settings: Settings) -> Encode:
        """Load the model; returns a function from texts to how often each word is written."""
        folder, torch = str(self.checkpoint.folder()), torch_on(settings)
        from transformers import AutoModelForTokenClassification

        what = "a model that gives each word piece one number"
        model = whole_model(AutoModelForTokenClassification, folder, what)
        if model.num_labels != 1:
            raise WrongInput(f"{self.model} is not {what}: it gives {model.num_labels}")
        refuse_longer(model.config, self.model, self.max_length)
        tokenizer = tokenizer_of(folder)
        special = set(tokenizer.all_special_tokens)

        def weights(texts: list[str]) -> list[Weights]:
            found: list[Weights] = []
            for batch in batches(tokenizer, texts, _BATCH, self.max_length):
                with torch.inference_mode():
                    numbers = model(**batch).logits[:, :, 0].tolist()
                for ids, row in zip(batch["input_ids"].tolist(), numbers, strict=True):
                    found.append(self._words(tokenizer.convert_ids_to_tokens(ids), row, special))
            return found

        return weights

    def _words(self, pieces: list[str], numbers: list[float], special: set[str]) -> Weights:
        """Join pieces to words, and return the number of times that each word is written."""
        words: list[tuple[str, float]] = []
        for piece, number in zip(pieces, numbers, strict=True):
            if piece in special:
                continue
            if piece.startswith("##") and words:
                word, first = words[-1]
                words[-1] = (word + piece[2:], first)
            else:
                words.append((piece, number))
        times: Weights = {}
        for word, number in words:
            smooth = _SMOOTHING[self.smoothing](max(number, 0.0))
            written = max(round(self.scale * smooth), self.least)
            if written:
                times[word] = max(written, times.get(word, 0))
        return times
