"""MonoT5: a sequence-to-sequence model asked whether a document is relevant to a query."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from compute.base.errors import WrongInput
from compute.base.settings import Settings
from compute.systems.combine.rerank import Pair, Reranker, Score
from compute.systems.neural.weights import batches, tokenizer_of, torch_on, whole_model
from compute.systems.searcher import limited

PROMPT = "Query: {query} Document: {document} Relevant:"
_BATCH = 32


@dataclass(frozen=True)
class MonoT5(Reranker):
    """The score is the log-probability of the word `yes` against `no` as the answer's first piece.
    Nogueira et al., "Document Ranking with a Pretrained Sequence-to-Sequence Model", Findings of
    EMNLP 2020: log softmax of the two words' logits at the first step of the decoder, here in
    64-bit floats, so that documents near certainty do not tie. As in BEIR's code, the whole prompt
    is truncated at `max_length` pieces: a long document loses its end, and the prompt its
    `Relevant:`. Raises WrongInput for a `max_length` below 3."""

    max_length: int = limited(512, 3)
    yes: str = "true"
    no: str = "false"

    PARAMETERS: ClassVar[tuple[str, ...]] = ("model", "depth", "max_length", "yes", "no")

    def identity(self) -> dict[str, Any]:
        """Return the weights, depth, prompt, truncation and answers."""
        return super().identity() | {
            "ranker": "MonoT5, log-probability",
            "prompt": PROMPT,
            "max_length": self.max_length,
            "answers": [self.yes, self.no],
        }

    def _scorer(self, settings: Settings) -> Score:
        torch = torch_on(settings)
        from transformers import AutoModelForSeq2SeqLM

        folder = str(self.checkpoint.folder())
        model = whole_model(AutoModelForSeq2SeqLM, folder, "a sequence-to-sequence model")
        tokenizer = tokenizer_of(folder)
        answers = [self._piece(tokenizer, word) for word in (self.yes, self.no)]

        def score(pairs: list[Pair]) -> np.ndarray:
            prompts = [PROMPT.format(query=query, document=document) for query, document in pairs]
            found = batches(tokenizer, prompts, _BATCH, self.max_length)
            return np.concatenate([batch(pieces) for pieces in found])

        def batch(pieces: Any) -> np.ndarray:
            begin = torch.full((len(pieces["input_ids"]), 1), model.config.decoder_start_token_id)
            with torch.inference_mode():
                logits = model(**pieces, decoder_input_ids=begin).logits[:, 0, answers]
            yes, no = logits.double().numpy().T
            return -np.logaddexp(0, no - yes)

        return score

    def _piece(self, tokenizer: Any, word: str) -> int:
        """Return the number of the piece that is the whole word at the start of a text. Raises
        WrongInput if there is none."""
        # T5's tokenizer marks the start of a word with this sign; a vocabulary may lack the word.
        number = tokenizer.get_vocab().get(f"▁{word}")
        if number is None:
            raise WrongInput(
                f"{self.model} has no piece {word!r} to answer with: name its two answers, "
                "yes=WORD,no=WORD"
            )
        return number
