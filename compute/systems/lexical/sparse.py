"""SPLADE and other models that sentence-transformers loads as SparseEncoder."""

from dataclasses import dataclass
from typing import Any

from compute.base.errors import WrongInput
from compute.base.settings import Settings
from compute.systems.lexical.impact import Encode, Impact, rounded
from compute.systems.neural.weights import loading, refuse_longer, torch_on

_BATCH = 8
"""Number of texts encoded at once; each needs 63 MB: 512 pieces x 30,522 words x 4 bytes."""


_ADDED = "SparseAutoEncoder"


@dataclass(frozen=True)
class Sparse(Impact):
    """A SparseEncoder: learned weights for the words of its vocabulary, for documents and queries.
    SPLADE pools log(1 + ReLU(logit)) over the pieces of the text, by maximum since its second
    version: Formal et al., "SPLADE v2", 2021. The pooling is that of the checkpoint."""

    def check(self) -> None:
        """Raise Unavailable if Java, a library or the weights are missing."""
        super().check()
        self.checkpoint.check("sentence_transformers")

    def documents_encoder(self, settings: Settings) -> Encode:
        """Load the model; returns a function from documents' texts to their weighted words."""
        return self._encoder(self._load(settings).encode_document)

    def queries_encoder(self, settings: Settings) -> Encode:
        """Load the model; returns a function from queries' texts to their weighted words."""
        return self._encoder(self._load(settings).encode_query)

    def _load(self, settings: Settings) -> Any:
        """Load the model. Raises WrongInput if it is not sparse or reads fewer word pieces."""
        folder = self.checkpoint.folder()
        torch_on(settings)
        from sentence_transformers import SparseEncoder

        with loading(folder):
            model = SparseEncoder(str(folder), device=settings.device, local_files_only=True)
        # For a dense model, the library would add random weights that make its vectors sparse.
        modules = folder / "modules.json"
        own = modules.read_text("utf-8") if modules.is_file() else ""
        if any(type(part).__name__ == _ADDED for part in model) and _ADDED not in own:
            raise WrongInput(f"{self.model} is not a sparse encoder: dense({self.model}) runs it")
        refuse_longer(model.config, self.model, self.max_length)
        model.max_seq_length = self.max_length
        return model

    def _encoder(self, encode: Any) -> Encode:
        """Return a function from texts to the rounded weights of `encode`."""

        def weights(texts: list[str]) -> list[dict[str, int]]:
            options = {"batch_size": _BATCH, "show_progress_bar": False}
            vectors = encode(texts, convert_to_sparse_tensor=False, **options)
            return [rounded(vector, self.scale) for vector in vectors.cpu().numpy()]

        return weights
