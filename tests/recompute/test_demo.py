"""The demo's runs computed here, held against those that ship."""

from pathlib import Path

import pandas as pd
import pytest

from compute.base.settings import Settings
from compute.exports.shipping import ship
from compute.recompute import demo
from compute.store.store import Store
from tests.support.storage import open_store, publish_run, scores

RUN = pd.DataFrame({"query_id": ["q1"], "doc_id": ["d1"], "rank": [1], "score": [1.0]})


def _stored(home: Path, *values: float, shipped: Path | None = None) -> Store:
    """Runs of the first systems of the demo, with these means, on its first dataset."""
    store = open_store(home, shipped=shipped)
    _, row = demo.pairs()[0]
    parts = {
        "queries": pd.DataFrame({"query_id": ["q1"], "text": ["a"], "n_words": [1]}),
        "judgements": pd.DataFrame({"query_id": ["q1"], "doc_id": ["d1"], "relevance": [1]}),
    }
    with store.publishing("load") as publication:
        for kind, content in parts.items():
            publication.add(kind, content, dataset=row, fingerprint=kind, provenance={})
    for name, value in zip(demo.SYSTEMS, values, strict=False):
        publish_run(store, row, name, RUN, scores("nDCG@10", q1=value))
    return store


def test_runs_computed_here_are_compared_with_those_that_ship(tmp_path: Path) -> None:
    _, row = demo.pairs()[0]
    ship(_stored(tmp_path / "maker", 0.5, 0.25), [row], folder=tmp_path / "out")
    here = _stored(tmp_path / "here", 0.5004, 0.26, 0.75, shipped=tmp_path / "out")
    found = demo.proof(here)
    assert found.compared == 2
    assert found.apart == {f"{demo.SYSTEMS[1]} on {row}": pytest.approx(0.01)}
    assert str(found) == (
        "1 of 2 runs computed here have the shipped mean scores (within .0005); others differ:"
        f" {demo.SYSTEMS[1]} on {row} by 0.010"
    )


def test_what_ships_is_no_proof_of_itself(tmp_path: Path) -> None:
    _, row = demo.pairs()[0]
    ship(_stored(tmp_path / "maker", 0.5), [row], folder=tmp_path / "out")
    assert demo.proof(open_store(tmp_path / "there", shipped=tmp_path / "out")).compared == 0


def test_the_demo_ships(tmp_path: Path) -> None:
    store = Store(Settings(home=tmp_path / "home"))
    shipped = {(part.system, part.dataset) for part in store.parts("hits") if part.shipped}
    assert set(demo.pairs()) <= shipped
