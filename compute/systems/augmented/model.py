"""The model: an encoder that reads a query, and two heads that determine BM25's query terms. a(q) =
ReLU(W enc(q)_CLS) adds word pieces of the vocabulary; w(q)_i = ReLU(u^T enc(q)_i) weights those of
the query. The encoder reads [CLS] and the query's word pieces."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from transformers import AutoModel
from transformers.utils import logging

from compute.base import json_files
from compute.base.errors import Unavailable
from compute.systems.augmented import vectors
from compute.systems.augmented.loss import Asked
from compute.systems.neural import weights as loading_weights

HEADS = "heads.safetensors"
ABOUT = "augmented.json"
RIDGE = 1e-2
"""Ridge of the least squares that initialise the heads, relative to a dimension's mean square."""
START = 1e-3
"""Initial weight of every added piece of the corpus; it is above 0, where ReLU has a slope."""


@dataclass(frozen=True)
class Shape:
    """How queries are scored; stored with the weights."""

    k1: float
    b: float
    weighted: bool
    """True if the pieces of a query have learned weights; otherwise each has weight 1."""
    bm25: bool
    """True if documents are BM25 vectors; otherwise they are bags of words without IDF."""
    max_length: int
    """Maximum number of pieces that are read from a query, including [CLS]."""
    precision: str = "float32"
    """Precision of the encoder's multiplications: float32 or bfloat16."""


@dataclass(frozen=True)
class Batch:
    """Queries as input of the encoder, and the positions of their distinct pieces."""

    input_ids: Tensor
    mask: Tensor
    query: Tensor
    """Row of the query to which each distinct piece belongs."""
    piece: Tensor
    """Number of each distinct piece."""
    place: Tensor
    """Index of the distinct piece at each position of the input; -1 if there is none."""


class Augmenter(nn.Module):
    """The encoder and its heads. W has a row for each of `rows` pieces: in training, those of the
    corpus, since no others can be learned; otherwise the whole vocabulary."""

    def __init__(self, encoder: nn.Module, width: int, rows: int, shape: Shape) -> None:
        super().__init__()
        self.encoder = encoder
        self.shape = shape
        self.added = nn.Parameter(torch.zeros(rows, width))
        """Matrix W."""
        self.weight = nn.Parameter(torch.zeros(width))
        """Vector u."""

    def forward(self, batches: Sequence[Batch]) -> tuple[Tensor, Asked]:
        """Return a(q) over the pieces that W has, and the pieces of the queries, by number, with
        w(q), for the queries of all batches in order. A piece that occurs twice in a query gets the
        mean of its weights."""
        first, weights, queries, before = [], [], [], 0
        for batch, hidden in zip(batches, self._read(batches), strict=True):
            first.append(hidden[:, 0])
            weights.append(self._weights(hidden, batch))
            queries.append(batch.query + before)
            before += len(batch.mask)
        numbers = torch.cat([batch.piece for batch in batches])
        added = torch.relu(torch.cat(first) @ self.added.T)
        return added, Asked(torch.cat(queries), numbers, torch.cat(weights))

    def batch(self, queries: Sequence[Sequence[int]]) -> Batch:
        """Make a batch of queries, given as the numbers of their pieces, with [CLS] first and
        truncated to `max_length`."""
        cls = vectors.first_piece()
        cut = [list(pieces[: self.shape.max_length - 1]) for pieces in queries]
        longest = 1 + max(map(len, cut), default=0)
        ids = np.zeros((len(cut), longest), np.int64)
        mask = np.zeros((len(cut), longest), np.int64)
        place = np.full((len(cut), longest), -1, np.int64)
        rows: list[int] = []
        distinct: list[int] = []
        for row, pieces in enumerate(cut):
            ids[row, : len(pieces) + 1] = [cls, *pieces]
            mask[row, : len(pieces) + 1] = 1
            found = {piece: number for number, piece in enumerate(dict.fromkeys(pieces))}
            place[row, 1 : len(pieces) + 1] = [len(distinct) + found[piece] for piece in pieces]
            distinct += found
            rows += [row] * len(found)
        numbers = np.array(rows, np.int64), np.array(distinct, np.int64)
        return Batch(*map(torch.from_numpy, (ids, mask, *numbers, place)))

    def _read(self, batches: Sequence[Batch]) -> Iterator[Tensor]:
        """Yield enc(q) of each batch: queries x positions x width."""
        # Each access to the table of word embeddings makes a gradient of its size, so only one is
        # made.
        looked = self.encoder.get_input_embeddings()(  # pyrefly: ignore
            torch.cat([batch.input_ids.reshape(-1) for batch in batches])
        )
        parts = looked.split([batch.input_ids.numel() for batch in batches])
        half = self.shape.precision == "bfloat16"
        for batch, part in zip(batches, parts, strict=True):
            embedded = part.reshape(*batch.input_ids.shape, -1)
            with torch.autocast("cpu", torch.bfloat16, enabled=half):
                found = self.encoder(inputs_embeds=embedded, attention_mask=batch.mask)[0]
            yield found.float()

    def _weights(self, hidden: Tensor, batch: Batch) -> Tensor:
        """Return w(q) of each distinct piece of a batch."""
        if not self.shape.weighted:
            return torch.ones(len(batch.piece))
        own = torch.relu(hidden @ self.weight)
        at = batch.place >= 0
        zeros = torch.zeros(len(batch.piece))
        sums = zeros.index_add(0, batch.place[at], own[at])
        counts = zeros.index_add(0, batch.place[at], torch.ones(int(at.sum())))
        return sums / counts.clamp(min=1)

    @torch.no_grad()
    def start(self, batches: Sequence[Batch]) -> None:
        """Initialise the heads so that w is about 1 and a is about `START` for every piece. They
        are directions that these queries share, from ridge regression: random heads would add the
        same half of the vocabulary to every query and leave the other half without a gradient."""
        self.eval()
        words, firsts = [], []
        for batch, hidden in zip(batches, self._read(batches), strict=True):
            words.append(hidden[batch.place >= 0])
            firsts.append(hidden[:, 0])
        self.weight.copy_(_to_one(torch.cat(words)))
        self.added.copy_((START * _to_one(torch.cat(firsts))).expand_as(self.added))

    def save(self, folder: Path, pieces: Tensor, vocabulary: int) -> None:
        """Save encoder, heads and shape, with W over the whole vocabulary: 0 outside `pieces`."""
        from safetensors.torch import save_file

        folder.mkdir(parents=True, exist_ok=True)
        encoder = self.encoder
        assert hasattr(encoder, "save_pretrained")
        encoder.save_pretrained(folder)  # pyrefly: ignore
        added = torch.zeros(vocabulary, self.added.shape[1])
        added[pieces] = self.added.detach()
        heads = {"added": added, "weight": self.weight.detach()}
        save_file(heads, folder / HEADS, metadata={"format": "pt"})
        (folder / ABOUT).write_text(json.dumps(asdict(self.shape)), encoding="utf-8")


def fresh(encoder: Path, vocabulary: int, rows: int, shape: Shape) -> Augmenter:
    """Make an untrained model from the encoder in a folder; `start` must initialise it before
    training. Raises Unavailable for an encoder with a different vocabulary."""
    # The library would warn of the missing pooler, which is not used.
    before = logging.get_verbosity()
    logging.set_verbosity_error()
    try:
        with loading_weights.loading(encoder):
            loaded = AutoModel.from_pretrained(encoder, local_files_only=True).float()
    finally:
        logging.set_verbosity(before)
    if loaded.config.vocab_size != vocabulary:
        raise Unavailable(
            f"the encoder in {encoder} knows {loaded.config.vocab_size:,} word pieces, and the "
            f"documents are made of the {vocabulary:,} of bert-base-uncased: choose one of those"
        )
    if hasattr(loaded, "pooler"):
        # The pooler is not used, so its weights would have no gradient.
        loaded.pooler = None
    return Augmenter(loaded, loaded.config.hidden_size, rows, shape)


def load(folder: Path) -> Augmenter:
    """Load the model that `save` wrote, in evaluation mode."""
    from safetensors.torch import load_file

    shape = Shape(**json_files.read(folder / ABOUT))
    heads = load_file(folder / HEADS)
    vocabulary = len(heads["added"])
    model = fresh(folder, vocabulary, vocabulary, shape)
    model.added.data.copy_(heads["added"])
    model.weight.data.copy_(heads["weight"])
    return model.eval()


@torch.inference_mode()
def weights(model: Augmenter, of: Batch) -> list[list[tuple[int, bool, float]]]:
    """Augment queries: returns for each query its terms as (piece, whether the query has it, w (bow
    + a)). The query's own pieces come first, in its order, then the added ones, heaviest first."""
    added, asked = model([of])
    found: list[list[tuple[int, bool, float]]] = []
    amounts = added.numpy()
    rows, pieces, own = (each.numpy() for each in (asked.query, asked.piece, asked.weight))
    for row, amount in enumerate(amounts):
        mine = rows == row
        found.append(_augmented(pieces[mine], own[mine], amount))
    return found


def _augmented(
    pieces: NDArray[np.int64], own: NDArray[np.float32], amount: NDArray[np.float32]
) -> list[tuple[int, bool, float]]:
    """Return the terms of one query, for `weights`."""
    values = own * (1 + amount[pieces])
    kept = [(int(piece), True, float(value)) for piece, value in zip(pieces, values, strict=True)]
    rest = np.setdiff1d(np.flatnonzero(amount > 0), pieces)
    rest = rest[np.argsort(-amount[rest], kind="stable")]
    return kept + [(int(piece), False, float(amount[piece])) for piece in rest]


def _to_one(rows: Tensor) -> Tensor:
    """Return the ridge solution x of "each row times x = 1"."""
    given = rows.double()
    square = given.T @ given
    ridge = RIDGE * torch.trace(square) / len(square)
    return torch.linalg.solve(square + ridge * torch.eye(len(square)), given.sum(dim=0)).float()
