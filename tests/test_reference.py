"""Documented scores, made again from the collections themselves."""

import os
from pathlib import Path

import pytest

from compute import recompute
from compute.datasets import DATASETS
from compute.recompute import Bench
from compute.settings import Settings
from compute.store import Store
from compute.systems import system

REFERENCE = os.environ.get("BEIRSCOPE_REFERENCE", "")
pytestmark = pytest.mark.skipif(
    not REFERENCE, reason="BEIRSCOPE_REFERENCE is not set: documented scores not made again"
)
# dataset, system: nDCG@10, R@100 and how far R@100 may lie from it
EXPECTED = {
    ("scifact", "bm25"): (0.6789, 0.9253, 0.00005),
    ("scifact", "bm25-multifield"): (0.6647, 0.9076, 0.00005),
    ("nfcorpus", "bm25"): (0.3218, 0.2457, 0.00005),
    ("nfcorpus", "bm25-multifield"): (0.3254, 0.2500, 0.00005),
    ("nfcorpus", "minilm"): (0.3159, 0.3115, 0.0002),
    ("scifact", "minilm"): (0.6451, 0.925, 0.00005),
}


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    now = Settings(home=tmp_path_factory.mktemp("home"), datasets=Path(REFERENCE) / "beir")
    return Bench(Store(now), now)


@pytest.mark.slow
@pytest.mark.parametrize(("dataset", "name"), EXPECTED)
def test_documented_scores_are_made_again(bench: Bench, dataset: str, name: str) -> None:
    outcome = recompute.run(bench, system(name), DATASETS[dataset])
    means = recompute.read(outcome.scores).groupby("measure")["value"].mean()
    ndcg, recall, margin = EXPECTED[dataset, name]
    assert outcome.new
    assert means["nDCG@10"] == pytest.approx(ndcg, abs=0.00005)
    assert means["R@100"] == pytest.approx(recall, abs=margin)
