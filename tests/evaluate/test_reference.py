"""Documented scores, made again from the collections themselves."""

import os
from pathlib import Path

import pandas as pd
import pytest
from pandas import DataFrame

from compute.base.settings import Settings
from compute.corpora import overlap
from compute.datasets import DATASETS
from compute.intake import imports
from compute.reading import database
from compute.recompute import run
from compute.recompute.run import Bench
from compute.store import loading
from compute.store.loading import Loaded
from compute.store.store import Store
from compute.systems import system
from compute.views.overlap import select as overlap_select

REFERENCE = os.environ.get("BEIRSCOPE_REFERENCE", "")
pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(
        not REFERENCE, reason="BEIRSCOPE_REFERENCE is not set: documented scores not made again"
    ),
]
# dataset, system: nDCG@10, R@100 and how far R@100 may lie from it
EXPECTED = {
    ("nfcorpus", "bm25"): (0.3218, 0.2457, 0.00005),
    ("nfcorpus", "bm25-multifield"): (0.3254, 0.2500, 0.00005),
}
# Minutes of encoding, and the same systems on another collection.
LONG = {
    ("nfcorpus", "bm25-wordpiece"): (0.3142, 0.2441, 0.00005),
    ("scifact", "bm25"): (0.6789, 0.9253, 0.00005),
    ("scifact", "bm25-multifield"): (0.6647, 0.9076, 0.00005),
    ("nfcorpus", "minilm"): (0.3159, 0.3115, 0.0002),
    ("scifact", "minilm"): (0.6451, 0.925, 0.00005),
    ("scifact", "bm25-wordpiece"): (0.6718, 0.9213, 0.00005),
}
ELASTICSEARCH = {"nfcorpus": (0.34281, 0.26023), "scifact": (0.69064, 0.91922)}
"""nDCG@10 of BM25 in BEIR's code as its users print it, and our R@100.

BEIR-PL's Table 3 prints .691 and .920, .343 and .260: the .920 is a document of one query more.
"""


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    home, datasets = tmp_path_factory.mktemp("home"), Path(REFERENCE) / "beir"
    now = Settings(home=home, datasets=datasets, latency_queries=0)
    return Bench(Store(now), now)


@pytest.mark.parametrize(
    ("dataset", "name"),
    [*EXPECTED, *(pytest.param(*pair, marks=pytest.mark.soak) for pair in LONG)],
)
def test_documented_scores_are_made_again(bench: Bench, dataset: str, name: str) -> None:
    outcome = run.run(bench, system(name), DATASETS[dataset])
    means = run.read(outcome.scores).groupby("measure")["value"].mean()
    ndcg, recall, margin = (EXPECTED | LONG)[dataset, name]
    assert outcome.new
    assert means["nDCG@10"] == pytest.approx(ndcg, abs=0.00005)
    assert means["R@100"] == pytest.approx(recall, abs=margin)


def test_minilm_scores_of_a_few_documents_are_those_that_ship(bench: Bench, tmp_path: Path) -> None:
    """Three queries, and the ten documents that ship as the best of each; `make soak` takes all."""
    shipped = Store(Settings(home=tmp_path / "home")).part("hits", "nfcorpus", "minilm")
    assert shipped is not None and shipped.shipped
    hits = run.read(shipped)
    few = hits[hits["query_id"].isin(sorted(set(hits["query_id"]))[:3]) & (hits["rank"] <= 10)]
    loaded = loading.load(bench, DATASETS["nfcorpus"])
    folder = _written(tmp_path / "few", loaded, few)
    row = imports.import_dataset(bench, "few", path=folder).dataset
    found = run.read(run.run(bench, system("minilm"), row).hits)
    both = few.merge(found, on=["query_id", "doc_id"], suffixes=("", "_here"))
    assert len(both) == len(few) == 30
    assert both["score_here"].to_numpy() == pytest.approx(both["score"].to_numpy(), abs=0.0002)


def _written(folder: Path, loaded: Loaded, hits: DataFrame) -> Path:
    """The queries and documents of some hits as a BEIR folder; each hit is judged relevant."""
    assert loaded.documents is not None
    documents, queries = run.read(loaded.documents), run.read(loaded.queries)
    asked = queries[queries["query_id"].isin(hits["query_id"])]
    kept = documents[documents["doc_id"].isin(hits["doc_id"])]
    (folder / "qrels").mkdir(parents=True)
    kept = kept.rename(columns={"doc_id": "_id"})[["_id", "title", "text"]]
    asked = asked.rename(columns={"query_id": "_id"})[["_id", "text"]]
    for name, frame in (("corpus", kept), ("queries", asked)):
        frame.to_json(folder / f"{name}.jsonl", orient="records", lines=True)
    judged = hits[["query_id", "doc_id"]].assign(score=1)
    judged.columns = ["query-id", "corpus-id", "score"]
    judged.to_csv(folder / "qrels" / "test.tsv", sep="\t", index=False)
    return folder


@pytest.mark.parametrize("dataset", ["nfcorpus", pytest.param("scifact", marks=pytest.mark.soak)])
def test_elasticsearch_scores_are_made_again(bench: Bench, dataset: str) -> None:
    """BEIR's code leaves out queries without an answer: 15 of NFCorpus's 323."""
    outcome = run.run(bench, system("bm25-elasticsearch"), DATASETS[dataset])
    scores, answered = run.read(outcome.scores), run.read(outcome.hits)["query_id"]
    means = scores[scores["query_id"].isin(answered)].groupby("measure")["value"].mean()
    assert (means["nDCG@10"], means["R@100"]) == pytest.approx(ELASTICSEARCH[dataset], abs=0.000005)


def test_the_overlap_of_word_pieces_is_the_expected_one(bench: Bench) -> None:
    """0.607 with word pieces of at most 1e-4 dropped, 0.622 with all: the uncased tokeniser's."""
    for name in ("scifact", "nfcorpus"):
        overlap.count(bench, loading.load(bench, DATASETS[name]))
    overlap.compare(bench, ["scifact", "nfcorpus"])
    cursor = database.open_version(bench.store).cursor()
    found = {}
    for floor in (0.0, 1e-4):
        rows = overlap_select.similarities(cursor, "word pieces", floor)
        values = rows.set_index(["dataset", "other"])["similarity"]
        found[floor] = values["nfcorpus", "scifact"]
    assert found == pytest.approx({0.0: 0.622, 1e-4: 0.607}, abs=0.0005)
    file = Path(REFERENCE) / "expected" / "weighted_jaccard_wordpiece_pyserini.tsv"
    published = pd.read_csv(file, sep="\t", index_col=0)
    # Pyserini's matrix was most likely made with the cased tokeniser: near, not equal.
    assert found[1e-4] == pytest.approx(published.loc["nfcorpus", "scifact"], abs=0.03)
