"""The results that ship: whole, without texts, and their scores follow from their hits."""

import json
import math
from collections.abc import Iterator
from typing import Any

import pandas as pd
import pyarrow.parquet as pq
import pytest
import pytrec_eval

from compute.base.settings import PROJECT, Settings
from compute.corpora.overlap import FLOORS, UNITS
from compute.exports.shipping_counts import FEWEST
from compute.reading.database import open_version
from compute.recompute import demo
from compute.store.provenance import portable
from compute.store.store import Part, Store
from compute.views.lengths import select as lengths_select
from compute.views.overlap import select as overlap_select
from compute.views.page import find
from compute.views.page.store_ask import opened
from compute.views.query import page as query_page

FOLDER = PROJECT / "data" / "precomputed"
DOCUMENTED = {
    # Pyserini's reproductions and MTEB's results, as published.
    ("scifact", "bm25", "nDCG@10"): 0.6789,
    ("scifact", "bm25", "R@100"): 0.9253,
    ("scifact", "bm25-multifield", "nDCG@10"): 0.6647,
    ("scifact", "bm25-multifield", "R@100"): 0.9076,
    ("scifact", "bm25-wordpiece", "nDCG@10"): 0.6718,
    ("scifact", "bm25-wordpiece", "R@100"): 0.9213,
    ("nfcorpus", "bm25-wordpiece", "nDCG@10"): 0.3142,
    ("nfcorpus", "bm25-wordpiece", "R@100"): 0.2441,
    ("scifact", "bm25-elasticsearch", "nDCG@10"): 0.69064,
    ("scifact", "minilm", "nDCG@10"): 0.6451,
    ("scifact", "minilm", "R@100"): 0.9250,
    ("nfcorpus", "bm25", "nDCG@10"): 0.3218,
    ("nfcorpus", "bm25", "R@100"): 0.2457,
    ("nfcorpus", "bm25-multifield", "nDCG@10"): 0.3254,
    ("nfcorpus", "bm25-multifield", "R@100"): 0.2500,
    ("nfcorpus", "minilm", "nDCG@10"): 0.3159,
    ("nfcorpus", "minilm", "R@100"): 0.3115,
    # As docs/numbers.md prints them.
    ("scifact", "bm25-augmented-minilm[scifact]", "nDCG@10"): 0.7431,
    ("nfcorpus", "bm25-augmented-minilm[nfcorpus]", "nDCG@10"): 0.3455,
}
COLLECTIONS = (
    "nfcorpus",
    "pydocs-networkx",
    "pydocs-numpy",
    "pydocs-pandas",
    "pydocs-scikit-learn",
    "pydocs-scipy",
    "scifact",
)
# Of NFCorpus and SciFact over uncased word pieces, worked out apart from this project.
OVERLAP = {("word pieces", 0.0): 0.622, ("word pieces", 1e-4): 0.607}
RUNS = [(dataset, system) for dataset in COLLECTIONS for system in demo.SYSTEMS]
RUNS += [("pydocs-numpy", "bm25-augmented-minilm[pydocs-scipy]")]
BEIR = ("nfcorpus", "scifact")
RUNS += [(row, f"bm25-augmented-minilm[{on}]") for row in BEIR for on in BEIR]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    return Store(Settings(home=tmp_path_factory.mktemp("home")))


def _frame(part: Part | None) -> pd.DataFrame:
    assert part is not None
    assert part.shipped
    return pq.read_table(part.path).to_pandas()


def _oracle(store: Store, dataset: str, system: str) -> pd.DataFrame:
    """pytrec_eval on the shipped hits and judgements; a query that is not answered scores 0."""
    judged = _frame(store.part("judgements", dataset))
    hits = _frame(store.part("hits", dataset, system))
    qrels = {
        str(query): dict(zip(rows["doc_id"], map(int, rows["relevance"]), strict=True))
        for query, rows in judged.groupby("query_id")
    }
    run = {
        str(query): dict(zip(rows["doc_id"], rows["score"], strict=True))
        for query, rows in hits.groupby("query_id")
    }
    evaluator = pytrec_eval.RelevanceEvaluator(qrels, {"ndcg_cut.10", "recall.100"})
    scored = pd.DataFrame(evaluator.evaluate(run)).T.reindex(list(qrels), fill_value=0.0)
    return scored.rename(columns={"ndcg_cut_10": "nDCG@10", "recall_100": "R@100"})


@pytest.mark.long
@pytest.mark.parametrize(
    ("dataset", "system"),
    [(row, name) for row, name in RUNS if row in ("scifact", "nfcorpus", "pydocs-networkx")],
)
def test_shipped_scores_follow_from_shipped_hits(store: Store, dataset: str, system: str) -> None:
    scores = _frame(store.part("scores", dataset, system))
    expected = _oracle(store, dataset, system)
    for measure in ("nDCG@10", "R@100"):
        rows = scores[scores["measure"] == measure].set_index("query_id")["value"]
        assert set(rows.index) == set(expected.index)
        assert (rows - expected[measure]).abs().max() < 1e-9
        documented = DOCUMENTED.get((dataset, system, measure))
        if documented:
            assert math.isclose(rows.mean(), documented, abs_tol=0.00006)


def test_no_text_ships(store: Store) -> None:
    assert not (FOLDER / "parts" / "documents").exists()
    for dataset in COLLECTIONS:
        assert _frame(store.part("queries", dataset))["text"].isna().all()


@pytest.mark.parametrize("dataset", COLLECTIONS)
def test_shipped_counts_are_cut_and_say_so(store: Store, dataset: str) -> None:
    for kind in ("ngrams", "wordpieces"):
        part = store.part(kind, dataset)
        counts = _frame(part)
        assert part is not None
        for name, about in part.provenance["units"].items():
            of_unit = counts[counts["n"] == UNITS[name].n]["count"]
            assert of_unit.min() >= FEWEST[name]
            assert (of_unit / about["tokens"]).min() >= about["cut"]
            assert bool(about["cut"]) == (of_unit.sum() < about["tokens"])
            assert len(of_unit) < about["terms"] or not about["cut"]
    # So rare that no text can be put together again.
    assert FEWEST["bigrams"] >= 10


def test_shipped_collections_are_compared_with_each_other(store: Store) -> None:
    cursor = open_version(store).cursor()
    for unit in UNITS:
        for floor in FLOORS:
            rows = overlap_select.similarities(cursor, unit, floor)
            assert len(rows) == len(COLLECTIONS) * (len(COLLECTIONS) - 1) / 2
            found = rows.set_index(["dataset", "other"])["similarity"]
            if (unit, floor) in OVERLAP:
                expected = OVERLAP[unit, floor]
                assert found["nfcorpus", "scifact"] == pytest.approx(expected, abs=0.0005)
    assert set(overlap_select.vocabularies(cursor)["dataset"]) == set(COLLECTIONS)


@pytest.mark.long
def test_shipped_lengths_are_counted_from_what_ships(store: Store) -> None:
    cursor = open_version(store).cursor()
    counted = {part.identity[1:] for part in store.parts("length_counts")}
    assert counted == {*RUNS, *((name, "") for name in COLLECTIONS)}
    medians = lengths_select.medians(cursor, 10).set_index(["dataset", "of", "system"])
    for dataset, system in RUNS:
        lengths = _frame(store.part("lengths", dataset)).set_index("doc_id")["n_words"]
        top = _frame(store.part("top", dataset, system))["doc_id"]
        assert medians["median"][dataset, "top", system] == lengths[top].median()
        assert medians["median"][dataset, "corpus", ""] == lengths.median()
    averages = lengths_select.averages(cursor).set_index("dataset")
    # Title and text; queries of all splits. The papers print 213.63, 232.26, 12.37 and 3.30.
    assert averages["document_words"]["scifact"] == pytest.approx(214.63, abs=0.005)
    assert averages["document_words"]["nfcorpus"] == pytest.approx(233.77, abs=0.005)
    assert averages["all_query_words"]["scifact"] == pytest.approx(12.38, abs=0.005)
    assert averages["all_query_words"]["nfcorpus"] == pytest.approx(3.32, abs=0.005)
    assert (averages["empty_texts"] == 0).all()


def _strings(value: Any) -> Iterator[str]:
    """Every text in a record, however deep."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from (text for item in value.values() for text in _strings(item))
    elif isinstance(value, list):
        yield from (text for item in value for text in _strings(item))


def test_the_manifest_names_every_file_and_no_place_of_the_machine_that_made_it() -> None:
    text = (FOLDER / "manifest.json").read_text("utf-8")
    named = {part["path"] for part in json.loads(text)["parts"]}
    lying = {file.relative_to(FOLDER).as_posix() for file in FOLDER.glob("parts/*/*")}
    assert named == lying
    strings = list(_strings(json.loads(text)))
    assert [place for place in strings if portable(place) != place] == []
    assert sum(file.stat().st_size for file in FOLDER.rglob("*") if file.is_file()) < 25_000_000


def test_augmented_queries_of_pydocs_ship_with_their_weighed_words(store: Store) -> None:
    (part,) = store.parts("augmented")
    assert part.dataset == "pydocs-numpy"
    with opened(store) as ask:
        address = {"dataset": part.dataset, "systems": [part.system]}
        query_id = _frame(part)["query_id"].iloc[0]
        found = find(query_page.page, ask, f"augmented-{part.system}", query=query_id, **address)
    drawn: Any = found.part.drawn(theme="light")  # type: ignore[union-attr]
    assert [bar.name for bar in drawn.data] == ["of the query", "added"]
    assert max(drawn.data[0].x) == 1


def test_the_shipped_fusion_follows_from_what_it_is_made_from(store: Store) -> None:
    """To the depth that ships: a sum of ranks up to 100 on both sides is exact at the top."""
    for dataset in ("scifact", "nfcorpus"):
        fused = _frame(store.part("hits", dataset, "rrf(bm25,minilm)"))
        ranks = pd.concat(
            [_frame(store.part("hits", dataset, name)) for name in ("bm25", "minilm")]
        )
        sums = (1 / (60 + ranks["rank"])).groupby([ranks["query_id"], ranks["doc_id"]]).sum()
        first = fused[fused["rank"] == 1].set_index(["query_id", "doc_id"])["score"]
        both = sums[sums > 1 / 61]
        # What stands first in the fusion and is in both lists to their shipped depth.
        common = first.index.intersection(both.index)
        assert len(common) > 0.9 * len(first)
        assert (first[common] - both[common]).abs().max() < 1e-12
