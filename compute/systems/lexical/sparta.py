"""SPARTA: weights each word of the vocabulary by its best match with a piece of the document."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from compute.base.settings import Settings
from compute.systems.lexical.impact import Encode, Impact, Weights, rounded
from compute.systems.neural.weights import batches, loading, refuse_longer, tokenizer_of, torch_on
from compute.systems.searcher import limited

_BATCH = 8
"""Number of documents encoded at once."""


@dataclass(frozen=True)
class Sparta(Impact):
    """Matches the query's pieces, as word embeddings without context, with the pieces of a
    document.

    A document's weight of a word is log(1 + ReLU(m)), where m is the largest inner product of the
    word's embedding with the contextual vector of one of the document's pieces, including [CLS] and
    [SEP]. The `entries` heaviest words are kept. Each occurrence of a piece in a query has weight
    1; special words have weight 0. Zhao et al., "SPARTA", 2020, without its learned bias, like
    BEIR's own model. Unlike in BEIR's code, padding is not a piece, so a document's weights do not
    depend on the others in its batch. Raises WrongInput for `entries` below 1.
    """

    entries: int = limited(2000, 1)

    PARAMETERS: ClassVar[tuple[str, ...]] = (*Impact.PARAMETERS, "entries")

    def index_identity(self) -> dict[str, Any]:
        """Return the weights of the model, truncation, scale, and the number of entries kept."""
        return super().index_identity() | {"entries": self.entries}

    def documents_encoder(self, settings: Settings) -> Encode:
        """Load the model; returns a function from documents' texts to their weighted words."""
        folder, torch = str(self.checkpoint.folder()), torch_on(settings)
        from transformers import AutoModel

        tokenizer = tokenizer_of(folder)
        with loading(folder):
            model = AutoModel.from_pretrained(folder, local_files_only=True).eval()
        refuse_longer(model.config, self.model, self.max_length)
        words = model.get_input_embeddings().weight[: len(tokenizer)].detach().clone()
        words[tokenizer.all_special_ids] = 0

        def weights(texts: list[str]) -> list[Weights]:
            found: list[Weights] = []
            for batch in batches(tokenizer, texts, _BATCH, self.max_length):
                with torch.inference_mode():
                    vectors = model(**batch).last_hidden_state
                    for pieces, mask in zip(vectors, batch["attention_mask"], strict=True):
                        best = (words @ pieces[mask.bool()].T).amax(dim=1)
                        found.append(self._kept(best.relu().log1p().numpy()))
            return found

        return weights

    def queries_encoder(self, settings: Settings) -> Encode:
        """Load the tokenizer; returns a function from queries to their pieces' frequencies."""
        tokenizer = tokenizer_of(str(self.checkpoint.folder()))

        def weights(texts: list[str]) -> list[Weights]:
            ids = tokenizer(texts, add_special_tokens=False, verbose=False)["input_ids"]
            counts = [np.unique(pieces, return_counts=True) for pieces in ids]
            return [
                dict(zip(map(str, found.tolist()), times.tolist(), strict=True))
                for found, times in counts
            ]

        return weights

    def _kept(self, vector: np.ndarray) -> Weights:
        """Return the rounded weights of the `entries` heaviest words."""
        if len(vector) > self.entries:
            light = np.argpartition(vector, -self.entries)[: -self.entries]
            vector = vector.copy()
            vector[light] = 0
        return rounded(vector, self.scale)
