"""The full-size store, made small: as good as printed, with an address for every page."""

import gzip
from pathlib import Path

import pytest

from compute.reading import database
from compute.store.store import Store
from tests.benchmarks import full_size
from tests.benchmarks.made import collections, runs
from tests.benchmarks.made.collections import Size
from tests.benchmarks.pages.addresses import PAGES, Addresses, tour

pytestmark = pytest.mark.long
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


def test_systems_are_about_as_good_as_printed(store: Store) -> None:
    opened = database.open_version(store)
    rows = opened.cursor().execute("select system, value from means where measure = 'nDCG@10'")
    found = dict(rows.fetchall())
    opened.close()
    collection = collections.collection("scifact", store.home.parent, Size())
    printed = runs.targets(collection.dataset)
    assert found.keys() == {*printed, "rrf(bm25,minilm)"}
    assert max(abs(found[name] - printed[name]) for name in printed) < 0.1


def test_every_page_has_an_address(store: Store) -> None:
    opened = database.open_version(store)
    addresses = list(tour(Addresses(store, opened), 2))
    opened.close()
    assert [page for page, _ in addresses] == [*PAGES, *PAGES]
