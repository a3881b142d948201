"""SPARTA: the match of each word of the vocabulary with the best piece of a document."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from compute.base.settings import Settings
from compute.systems.lexical.impact import Encode, Impact, Weights, rounded
from compute.systems.neural.weights import batches, loading, refuse_longer, tokenizer_of, torch_on
from compute.systems.searcher import limited

_BATCH = 8
"""Documents encoded at once."""


@dataclass(frozen=True)
class Sparta(Impact):
    """Word embeddings, without context, of the query's pieces against pieces of the document.

    A document's weight of a word is log(1 + ReLU(max over its pieces of the inner product of the
    piece's contextual vector and the word's embedding)); [CLS] and [SEP] are among the pieces. The
    `entries` heaviest are kept. Each piece of a query has weight 1, a piece that occurs twice has
    2; special words have weight 0. Zhao et al., "SPARTA", 2020, without its learned bias, like
    BEIR's own model; unlike in BEIR's code, padding is not a piece, so a document's weights do not
    depend on the others in its batch. Raises WrongInput for `entries` below 1.
    """

    entries: int = limited(2000, 1)

    PARAMETERS: ClassVar[tuple[str, ...]] = (*Impact.PARAMETERS, "entries")

    def index_identity(self) -> dict[str, Any]:
        """Weights of the model, truncation, scale, and the number of entries kept."""
        return super().index_identity() | {"entries": self.entries}

    def documents_encoder(self, settings: Settings) -> Encode:
        """Loads the model; the weighted words of documents."""
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
        """Load the tokenizer; returns a function to the frequency of each word piece in queries."""
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
        if len(vector) > self.entries:
            light = np.argpartition(vector, -self.entries)[: -self.entries]
            vector = vector.copy()
            vector[light] = 0
        return rounded(vector, self.scale)
