"""The full-size store, made small: scored as pytrec_eval scores it, and as good as printed."""

import gzip
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import pytrec_eval

from compute.reading import database
from compute.recompute import run as recompute
from compute.store.store import Store
from tests.benchmarks import full_size
from tests.benchmarks.made import collections, runs
from tests.benchmarks.made.collections import Size
from tests.benchmarks.pages.addresses import PAGES, Addresses, tour

QUERIES = 60


def _write_topics(folder: Path) -> Path:
    """Two relevant documents for each query of SciFact, in TREC's files."""
    topics = "".join(f"{number}\tquery {number}\n" for number in range(QUERIES))
    qrels = "".join(f"{n} 0 {n}-{d} {d % 2 + 1}\n" for n in range(QUERIES) for d in range(2))
    for name, text in (("topics", topics), ("qrels", qrels)):
        file = f"{name}.beir-v1.0.0-scifact.test.{'tsv' if name == 'topics' else 'txt'}.gz"
        with gzip.open(folder / file, "wt", encoding="utf-8") as stream:
            stream.write(text)
    return folder


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """One collection, searched by all 15 systems."""
    folder = tmp_path_factory.mktemp("full")
    return full_size.make(folder / "home", Size(), _write_topics(folder), ["scifact"])


def _by_query(rows: pd.DataFrame, column: str) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for query_id, doc_id, value in rows[["query_id", "doc_id", column]].itertuples(index=False):
        found.setdefault(query_id, {})[doc_id] = value
    return found


def test_a_run_scores_as_pytrec_eval_says(store: Store) -> None:
    hits, scores, judgements = (
        recompute.read(part)
        for kind, system in (("hits", "splade"), ("scores", "splade"), ("judgements", ""))
        for part in store.parts(kind, "scifact", system)
    )
    qrels = _by_query(judgements, "relevance")
    run = _by_query(hits, "score")
    oracle = pytrec_eval.RelevanceEvaluator(qrels, {"ndcg_cut.10", "recall.100", "map_cut.100"})
    ours = scores.pivot(index="query_id", columns="measure", values="value")
    theirs = pd.DataFrame(oracle.evaluate(run)).T.loc[ours.index]
    names = {"nDCG@10": "ndcg_cut_10", "R@100": "recall_100", "AP@100": "map_cut_100"}
    for our, their in names.items():
        assert (ours[our] - theirs[their]).abs().max() < 1e-9
    assert hits["score"].duplicated().any()


def test_systems_are_about_as_good_as_printed(store: Store) -> None:
    opened = database.open_version(store)
    rows = opened.cursor().execute("select system, value from means where measure = 'nDCG@10'")
    found = dict(rows.fetchall())
    opened.close()
    collection = collections.collection("scifact", store.home.parent, Size())
    printed = runs.targets(collection.dataset)
    assert found.keys() == {*printed, "rrf(bm25,minilm)"}
    assert max(abs(found[name] - printed[name]) for name in printed) < 0.1


def test_the_same_is_made_again(store: Store) -> None:
    one, other = (collections.collection("scifact", store.home.parent, Size(0.1)) for _ in range(2))
    assert list(one.documents()) == list(other.documents())
    first, second = (runs.search(runs.Bench(c), 10)["ance"].table(c) for c in (one, other))
    assert first.equals(second)


def test_every_page_has_an_address(store: Store) -> None:
    opened = database.open_version(store)
    addresses = list(tour(Addresses(store, opened), 2))
    opened.close()
    assert [page for page, _ in addresses] == [*PAGES, *PAGES]


def test_people_judged_what_nobody_had(store: Store) -> None:
    added = store.added_judgements()
    judged = recompute.read(store.parts("judgements", "scifact")[0])
    keys = ["query_id", "doc_id"]
    assert added["person"].nunique() == 3
    assert added.merge(judged, on=keys).empty
