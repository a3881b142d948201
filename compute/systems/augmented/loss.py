"""Training objective: a contrastive loss over BM25 scores, and a penalty on augmentation.

score(q, d) = (w(q) * v * (bow(q) + a(q)))^T f(d), `*` element by element. The vocabulary here is
that of the training corpus: a piece in no document scores nothing.
"""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor


@dataclass(frozen=True)
class Asked:
    """Word pieces of a batch's queries, each once per query, and their weights."""

    query: Tensor
    """Row of each piece's query (int64)."""
    piece: Tensor
    """Number of each piece, a column of the documents (int64)."""
    weight: Tensor
    """w(q) of each piece."""


def scores(added: Tensor, asked: Asked, documents: Tensor) -> Tensor:
    """Queries x documents.

    `added` is a(q), queries x vocabulary; `documents` is sparse, documents x vocabulary: v * f(d).
    Added pieces have weight 1, so the product with a(q) is right except for the pieces of the
    query: they have w (1 + a) instead of a, and the difference is added from only their columns.
    """
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
    """Mean over queries of -log softmax of the relevant document (column `positive`).

    `masked`, queries x documents: documents that are not negatives of a query, since they are
    judged relevant.
    """
    left = scores.masked_fill(masked, float("-inf"))
    return torch.nn.functional.cross_entropy(left, positive)


def sparsity(added: Tensor, prices: Tensor) -> Tensor:
    """Mean over queries of prices^T a(q): sqrt(df / N) by piece, or 1 for each (uniform L1)."""
    return (added @ prices).mean()


def _columns(documents: Tensor, pieces: Tensor) -> Tensor:
    """Dense columns of a sparse matrix; `pieces` are ascending."""
    found: Any = documents.coalesce()
    rows, columns = found.indices()
    place = torch.searchsorted(pieces, columns).clamp(max=len(pieces) - 1)
    hit = pieces[place] == columns
    dense = torch.zeros(documents.shape[0], len(pieces), dtype=documents.dtype)
    dense[rows[hit], place[hit]] = found.values()[hit]
    return dense
