"""The loss of bm25-augmented against the plain formula, dense, on a tiny vocabulary."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from compute.systems.augmented import loss
from compute.systems.augmented.loss import Asked
from compute.systems.augmented.vectors import Documents
from tests.support.oracles import as_lucene_keeps
from tests.support.worlds import FEWER

SIZE = 6
"""Pieces of the vocabulary."""


def _world(seed: int) -> tuple[torch.Tensor, Asked, torch.Tensor]:
    """a(q) of 3 queries, their pieces with weights, and v * f(d) of 4 documents."""
    random = np.random.default_rng(seed)
    amounts = torch.tensor(random.gamma(1.0, size=(3, SIZE)) * (random.random((3, SIZE)) < 0.6))
    has = random.random((3, SIZE)) < 0.4
    query, piece = (torch.from_numpy(places) for places in np.nonzero(has))
    weight = torch.tensor(random.gamma(1.0, size=len(query)) * (random.random(len(query)) < 0.8))
    dense = random.gamma(1.0, size=(4, SIZE)) * (random.random((4, SIZE)) < 0.5)
    return amounts, Asked(query, piece, weight), torch.tensor(dense)


def _plain(amounts: torch.Tensor, asked: Asked, documents: torch.Tensor) -> torch.Tensor:
    """(w * (bow + a))^T (v * f(d)), every factor written out over the whole vocabulary."""
    bow, weights = torch.zeros(3, SIZE).double(), torch.ones(3, SIZE).double()
    bow = bow.index_put((asked.query, asked.piece), torch.ones(len(asked.query)).double())
    weights = weights.index_put((asked.query, asked.piece), asked.weight)
    return (weights * (bow + amounts)) @ documents.T


@pytest.mark.long
@given(st.integers(0, 10_000))
@FEWER
def test_loss_and_gradients_are_those_of_the_plain_formula(seed: int) -> None:
    found = []
    for score, sparsely in ((loss.scores, True), (_plain, False)):
        amounts, asked, documents = _world(seed)
        amounts.requires_grad_()
        asked.weight.requires_grad_()
        given = documents.to_sparse_coo().coalesce() if sparsely else documents
        scores = score(amounts, asked, given)
        masked = torch.zeros(3, 4, dtype=torch.bool)
        masked[0, 2] = masked[2, 3] = True
        positive, prices = torch.tensor([1, 0, 1]), torch.linspace(0, 1, SIZE).double()
        total = loss.contrastive(scores, positive, masked) + 0.1 * loss.sparsity(amounts, prices)
        total.backward()
        slope = torch.zeros(0) if asked.weight.grad is None else asked.weight.grad
        found.append((total.detach(), amounts.grad, slope))
    for ours, plain in zip(*found, strict=True):
        torch.testing.assert_close(ours, plain, rtol=1e-10, atol=1e-12)


def test_a_document_judged_relevant_is_no_negative() -> None:
    scores = torch.tensor([[1.0, 5.0, 2.0]])
    masked = torch.tensor([[False, True, False]])
    found = loss.contrastive(scores, torch.tensor([0]), masked)
    assert found.item() == pytest.approx(np.log(1 + np.e), rel=1e-6)


def test_common_pieces_cost_more_than_rare_ones() -> None:
    amounts = torch.tensor([[2.0, 1.0], [0.0, 3.0]])
    # Document frequencies 4 and 1 of 16: sqrt is 0.5 and 0.25.
    priced = loss.sparsity(amounts, torch.tensor([0.5, 0.25]))
    assert priced.item() == pytest.approx((1.25 + 0.75) / 2)


def test_bm25_of_a_document_by_hand() -> None:
    counts = sparse.csr_array(np.array([[2, 0, 1], [0, 1, 0]]))
    documents = Documents(("a", "b"), counts, np.array([3, 1]), 2, 2.0, np.array([1, 1, 1]))
    found = documents.bm25(0.9, 0.4).toarray()
    # |d| / M is 1.5: the norm is 0.9 (0.6 + 0.6) = 1.08; of the other 0.9 (0.6 + 0.2) = 0.72.
    assert found[0] == pytest.approx([2 * 1.9 / 3.08, 0, 1.9 / 2.08])
    assert found[1] == pytest.approx([0, 1.9 / 1.72, 0])
    assert documents.idf == pytest.approx(np.full(3, np.log(1.5 / 1.5 + 1)))


def test_lucene_keeps_lengths_in_one_byte() -> None:
    # SmallFloat: exact to 39, then steps of 2, 4, 8 above 24.
    given = [0, 1, 24, 39, 40, 41, 42, 55, 56, 57, 100, 1000]
    assert as_lucene_keeps(given).tolist() == [0, 1, 24, 39, 40, 40, 42, 54, 56, 56, 96, 984]
