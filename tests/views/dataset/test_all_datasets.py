"""All datasets as one table of what the papers print and say."""

from pathlib import Path
from typing import Any

import pytest

from compute.base.settings import Settings
from compute.datasets.catalogue import BEIR_ROWS, DATASETS
from compute.exports import tables
from compute.store.store import Store
from compute.views.dataset import all_datasets, page
from compute.views.page import Table, find
from compute.views.page.store_ask import opened


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The table as it is exported, of a home where nothing is stored."""
    folder: Path = tmp_path_factory.mktemp("home")
    with opened(Store(Settings(home=folder), folder / "none")) as ask:
        asked = find(page.page, ask, "all-datasets", dataset="scifact", show="Overview")
    return asked.part.rows.set_index("dataset")  # type: ignore[union-attr]


def test_every_dataset_of_beir_stands_as_table_1_prints_it(rows: Any) -> None:
    assert set(BEIR_ROWS) < set(rows.index)
    hotpot = rows.loc["hotpotqa"]
    printed = ["train_pairs", "dev_queries", "n_queries", "n_documents"]
    assert hotpot[printed].tolist() == [170000, 5447, 7405, 5233329]
    assert hotpot[["relevant_per_query", "query_words", "document_words"]].tolist() == [
        2.0,
        17.61,
        46.30,
    ]
    assert (hotpot["titles"], rows.loc["fiqa", "titles"]) == ("yes", "no")
    assert rows.loc["cqadupstack-pl", "n_documents"] == 547_000
    assert rows.loc["nq-dpr", "n_queries"] == 3610


def test_every_dataset_of_the_papers_says_how_it_was_built(rows: Any) -> None:
    without = rows[rows["built"].eq("") & rows["group"].ne("Open-domain QA")]
    assert list(without.index) == []
    assert "boosted tags" in rows.loc["bioasq", "bias"]
    assert "seven match terms" in rows.loc["signal1m", "bias"]
    assert "512 word pieces" in rows.loc["webis-touche2020-pl", "bias"]
    assert rows.loc["scifact-pl", "built"].startswith("Translated into Polish")


def test_the_papers_example_is_quoted_where_the_licence_allows() -> None:
    for name in BEIR_ROWS:
        quoted = bool(all_datasets.said(DATASETS[name])["query"])
        assert not quoted or DATASETS[name].may_hand_on_texts, name
    steps = list(all_datasets.example(DATASETS["dbpedia-entity"]))
    assert steps[0].title == "Paul Auster novels"  # type: ignore[union-attr]
    (pointer,) = all_datasets.example(DATASETS["nfcorpus"])
    assert pointer.facts == [all_datasets.POINTER]  # type: ignore[union-attr]


def test_the_tables_are_written_with_absent_numbers_as_dashes(rows: Any) -> None:
    heads, written, _ = tables.shown(Table("x", "", rows.reset_index(), all_datasets.COLUMNS))
    (quora,) = (dict(zip(heads, row, strict=True)) for row in written if row[0] == "Quora")
    assert (quora["Documents"], quora["Training pairs"]) == ("522,931", "–")
