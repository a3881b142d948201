"""Training objective: a contrastive loss over BM25 scores, and a penalty on augmentation.

score(q, d) = (w(q) * v * (bow(q) + a(q)))^T f(d), where `*` multiplies element by element. The
vocabulary is that of the training corpus, since a piece that no document has adds nothing to a
score.
"""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor


@dataclass(frozen=True)
class Asked:
    """Word pieces of a batch's queries, each one once per query, and their weights."""

    query: Tensor
    """Row of the query to which each piece belongs (int64)."""
    piece: Tensor
    """Number of each piece, which is a column of the documents (int64)."""
    weight: Tensor
    """w(q) of each piece."""


def scores(added: Tensor, asked: Asked, documents: Tensor) -> Tensor:
    """Return the scores, queries x documents. `added` is a(q), queries x vocabulary; `documents` is
    v * f(d), a sparse matrix of documents x vocabulary. Added pieces have weight 1, so the product
    with a(q) is right except for the pieces of the query: these have w (1 + a) instead of a, and
    the difference is added in their columns only."""
    if not asked.piece.numel():
        return torch.sparse.mm(documents, added.T).T
    own = added[asked.query, asked.piece]
    more = asked.weight * (1 + own) - own
    pieces, column = torch.unique(asked.piece, return_inverse=True)
    of_queries = torch.zeros(len(added), len(pieces), dtype=added.dtype, device=added.device)
    of_queries = of_queries.index_put((asked.query, column), more, accumulate=True)
    of_documents = _columns(documents, pieces)
    return torch.sparse.mm(documents, added.T).T + of_queries @ of_documents.T


def contrastive(scores: Tensor, positive: Tensor, masked: Tensor) -> Tensor:
    """Return the mean over queries of -log softmax of the relevant document (column `positive`).
    `masked` (queries x documents) marks documents that are not negatives of a query, since they are
    judged relevant, too."""
    left = scores.masked_fill(masked, float("-inf"))
    return torch.nn.functional.cross_entropy(left, positive)


def sparsity(added: Tensor, prices: Tensor) -> Tensor:
    """Return the mean over queries of prices^T a(q); a piece's price is sqrt(df / N), or 1."""
    return (added @ prices).mean()


def _columns(documents: Tensor, pieces: Tensor) -> Tensor:
    """Return some columns of a sparse matrix as a dense one; `pieces` must be ascending."""
    found: Any = documents.coalesce()
    rows, columns = found.indices()
    place = torch.searchsorted(pieces, columns).clamp(max=len(pieces) - 1)
    hit = pieces[place] == columns
    dense = torch.zeros(documents.shape[0], len(pieces), dtype=documents.dtype)
    dense[rows[hit], place[hit]] = found.values()[hit]
    return dense
