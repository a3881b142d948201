"""The SELECTs of the pages Dataset and Query, on a tiny store with values worked by hand."""

from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from duckdb import DuckDBPyConnection
from pandas import DataFrame

from compute.datasets import DATASETS
from compute.datasets.catalogue import own
from compute.reading.database import open_version
from compute.store.store import Store
from compute.views.data import select as data_select
from compute.views.dataset import select as dataset_select
from compute.views.query import select as query_select
from compute.views.shared import catalogue, next_steps
from tests.support import filled
from tests.support.storage import hits, open_store, publish_run, scores
from tests.support.tiny import HOSTILE

RUNS = {
    "sure": "q1 Q0 d1 1 3.0 t\nq1 Q0 d6 2 2.0 t\nq2 Q0 d3 1 1.0 t\nq3 Q0 d6 1 1.0 t\n",
    "lost": "q1 Q0 d4 1 3.0 t\nq1 Q0 d1 2 2.0 t\nq2 Q0 d2 1 1.0 t\n",
}
TINY: dict[str, Any] = {"dataset": "tiny", "collection": "tiny"}
CHOICE: dict[str, Any] = {"dataset": "tiny", "measure": "nDCG@10", "a": "sure", "b": "lost"}
OF_SCIFACT: dict[str, Any] = {**CHOICE, "dataset": "scifact"}


@pytest.fixture(scope="module")
def cursor(tmp_path_factory: pytest.TempPathFactory) -> DuckDBPyConnection:
    """The tiny collection with two runs."""
    bench = filled.bench(tmp_path_factory.mktemp("queries"))
    filled.take(bench, RUNS)
    return open_version(bench.store).cursor()


def made_up(
    home: Path, *texts: tuple[str, str | None], dataset: str = "scifact", n_words: int = 1
) -> Store:
    """Queries alone, of which each has one relevant document, d1."""
    store = open_store(home)
    asked = DataFrame(texts, columns=["query_id", "text"]).assign(n_words=n_words)
    judged = DataFrame({"query_id": asked["query_id"], "doc_id": "d1", "relevance": 1})
    with store.publishing("made up") as publication:
        for kind, content in (("queries", asked), ("judgements", judged)):
            publication.add(kind, content, dataset=dataset, fingerprint="f", provenance={})
    return store


def listed(frame: DataFrame, *columns: str) -> list[tuple]:
    return list(frame[list(columns)].itertuples(index=False, name=None))


def test_datasets_with_runs_come_first_then_the_catalogue(cursor: DuckDBPyConnection) -> None:
    found = dataset_select.catalogue(cursor)
    assert listed(found, "dataset", "computed")[:2] == [("tiny", 2), (next(iter(DATASETS)), 0)]
    assert len(found) == len(DATASETS) + 1


def test_the_record_of_a_dataset_comes_back_whole(cursor: DuckDBPyConnection) -> None:
    found = next_steps.record(catalogue.facts(cursor, "tiny"))
    assert found == own("tiny", relevance=found.relevance)
    for name in ("scifact", "cqadupstack", "nq-dpr", "pydocs-numpy"):
        assert next_steps.record(catalogue.facts(cursor, name)) == DATASETS[name]


def test_statistics_count_what_is_loaded(cursor: DuckDBPyConnection) -> None:
    (row,) = dataset_select.statistics(cursor, ["tiny"], ["tiny"]).to_dict("records")
    hostile = len(HOSTILE.split())
    assert (row["n_documents"], row["n_queries"], row["n_judgements"]) == (6, 3, 5)
    assert row["relevant_per_query"] == pytest.approx(5 / 3)
    assert row["query_words"] == pytest.approx((4 + 5 + 2 + hostile) / 3)
    # Titles count: 1 + 7, 1 + 8, 9, the hostile one twice and 7 around it, 1 + 9, 1 + 9.
    assert row["document_words"] == pytest.approx((8 + 9 + 9 + 2 * hostile + 7 + 10 + 10) / 6)


def test_queries_without_texts_have_no_words(tmp_path: Path) -> None:
    store = made_up(tmp_path, ("q1", None), ("q2", None), n_words=0)
    found = dataset_select.statistics(open_version(store).cursor(), ["scifact"], ["scifact"])
    assert found["n_queries"].tolist() == [2]
    assert found["query_words"].isna().all()


def test_statistics_of_what_is_not_loaded_are_absent(cursor: DuckDBPyConnection) -> None:
    assert dataset_select.statistics(cursor, ["fever"], ["fever"]).isna().to_numpy().all()


def test_documents_are_counted_once_where_their_lengths_are_stored_too(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    lengths = DataFrame({"doc_id": ["d1", "d2"], "n_words": [3, 5]})
    with store.publishing("load") as publication:
        texts = lengths.assign(title="", text="")
        for kind, content in (("documents", texts), ("lengths", lengths)):
            publication.add(kind, content, dataset="scifact", fingerprint="f", provenance={})
    counted = dataset_select.statistics(open_version(store).cursor(), ["scifact"], ["scifact"])
    assert listed(counted, "n_documents", "document_words") == [(2, 4.0)]


def test_the_spread_has_quantiles_and_what_lies_at_the_ends(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    values = scores("nDCG@10", q1=0.0, q2=0.1, q3=0.5, q4=0.9999, q5=1.0)
    publish_run(store, "scifact", "bm25", hits(("q1", "d1", 1)), values)
    cursor = open_version(store).cursor()
    (row,) = dataset_select.spread(cursor, ["scifact"], "nDCG@10").to_dict("records")
    assert (row["n_queries"], row["at_0"], row["at_1"], row["p50"]) == (5, 1, 1, 0.5)
    assert (row["p25"], row["p75"]) == (pytest.approx(0.1), pytest.approx(0.9999))
    assert row["mean"] == pytest.approx(2.5999 / 5)
    steps = dataset_select.histogram(cursor, ["scifact"], "nDCG@10", 25)
    assert listed(steps, "step", "n_queries") == [(2, 1), (12, 1), (24, 1)]


def test_the_queries_of_all_parts_are_pooled(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    forums = DATASETS["cqadupstack"].parts[:2]
    for forum, value in zip(forums, (0.2, 0.4), strict=True):
        publish_run(store, forum, "bm25", hits(("q1", "d1", 1)), scores("nDCG@10", q1=value))
    pooled = dataset_select.spread(open_version(store).cursor(), forums, "nDCG@10")
    assert listed(pooled, "n_queries", "mean") == [(2, pytest.approx(0.3))]


def test_the_example_is_the_first_query_with_its_most_relevant_document(
    cursor: DuckDBPyConnection,
) -> None:
    (row,) = dataset_select.example(cursor, **TINY).to_dict("records")
    assert (row["query_id"], row["doc_id"], row["relevance"]) == ("q1", "d1", 2)
    assert (row["query"], row["title"]) == ("ships in the harbour", "Harbour")


def test_the_first_query_is_the_first_in_the_file_not_in_the_alphabet(tmp_path: Path) -> None:
    cursor = open_version(made_up(tmp_path, ("z", "late"), ("a", "early"))).cursor()
    found = dataset_select.example(cursor, "scifact", "scifact")
    assert listed(found, "query_id", "query", "doc_id") == [("z", "late", "d1")]
    assert found["text"].isna().all()


def test_a_dataset_that_is_not_loaded_has_no_example(cursor: DuckDBPyConnection) -> None:
    assert dataset_select.example(cursor, "fever", "fever").empty


def test_queries_come_by_their_difference_largest_first(cursor: DuckDBPyConnection) -> None:
    found = query_select.queries(cursor, **CHOICE, order="difference")
    # q3: 1 against nothing; q1: .760 against .480; q2: both .613.
    assert found["query_id"].tolist() == ["q3", "q1", "q2"]
    assert found["value_a"].round(3).tolist() == [1, 0.76, 0.613]
    assert found["value_b"].round(3).tolist() == [0, 0.48, 0.613]
    assert found["n_relevant"].tolist() == [1, 2, 2]


def test_queries_come_by_what_the_first_system_scores(cursor: DuckDBPyConnection) -> None:
    def order(name: str) -> list[str]:
        return query_select.queries(cursor, **CHOICE, order=name)["query_id"].tolist()

    assert order("lowest") == ["q2", "q1", "q3"]
    assert order("highest") == ["q3", "q1", "q2"]


def test_every_query_knows_its_neighbours(cursor: DuckDBPyConnection) -> None:
    found = query_select.queries(cursor, **CHOICE).fillna("")
    assert listed(found, "previous", "query_id", "next") == [
        ("", "q1", "q2"),
        ("q1", "q2", "q3"),
        ("q2", "q3", ""),
    ]


@pytest.mark.parametrize(
    ("words", "found"),
    [("HARBOUR", ["q1", "q3"]), ("Q2", ["q2"]), ("<script>", ["q3"]), ("%", []), ("q_", [])],
)
def test_words_are_found_in_ids_and_texts_letter_by_letter(
    cursor: DuckDBPyConnection, words: str, found: list[str]
) -> None:
    assert query_select.queries(cursor, **CHOICE, find=words)["query_id"].tolist() == found


def test_a_filter_leaves_out_the_chosen_query_too(cursor: DuckDBPyConnection) -> None:
    found = query_select.queries(cursor, **CHOICE, find="bridge", keep="q1")
    assert listed(found, "query_id", "n_found", "n_queries") == [("q2", 1, 3)]


def test_ids_that_are_numbers_are_sorted_as_numbers(tmp_path: Path) -> None:
    store = made_up(tmp_path, *[(name, None) for name in ("10", "9", "b", "a")])
    found = query_select.queries(open_version(store).cursor(), **OF_SCIFACT)
    assert found["query_id"].tolist() == ["9", "10", "a", "b"]


@pytest.mark.long
def test_a_picker_gets_200_queries_and_the_chosen_one(tmp_path: Path) -> None:
    store = made_up(tmp_path, *[(str(number), "words") for number in range(1, 301)])
    found = query_select.queries(open_version(store).cursor(), **OF_SCIFACT, keep="250")
    assert found["place"].tolist() == [*range(1, 201), 250]
    assert listed(found.tail(1), "previous", "next", "n_found") == [("249", "251", 300)]


def test_a_document_judged_for_another_query_is_still_a_hole(cursor: DuckDBPyConnection) -> None:
    found = query_select.listed(cursor, "tiny", "q1", ["lost", "sure"], 10)
    assert listed(found, "system", "rank", "doc_id") == [
        ("lost", 1, "d4"),
        ("lost", 2, "d1"),
        ("sure", 1, "d1"),
        ("sure", 2, "d6"),
    ]
    assert found["relevance"].isna().tolist() == [True, False, False, True]
    texts = query_select.documents(cursor, TINY["collection"], found["doc_id"].unique().tolist())
    assert sorted(texts["title"]) == sorted([HOSTILE, "Harbour", "Market"])


def test_the_hits_serve_ranks_below_the_stored_extract(cursor: DuckDBPyConnection) -> None:
    of = {"dataset": "tiny", "query_id": "q1", "systems": ["lost", "sure"]}
    for depth in (1, 10, 100):
        found = query_select.listed(cursor, **of, depth=depth)
        assert listed(found, "system", "rank", "doc_id") == [
            row
            for row in [("lost", 1, "d4"), ("lost", 2, "d1"), ("sure", 1, "d1"), ("sure", 2, "d6")]
            if row[1] <= depth
        ]
    assert query_select.listed(cursor, "tiny", "q1", ["nosuch"], 100).empty


def test_a_document_is_found_wherever_systems_rank_it(cursor: DuckDBPyConnection) -> None:
    systems = ["sure", "lost"]
    found = query_select.places(cursor, "tiny", "q1", "d1", systems)
    assert listed(found, "system", "rank") == [("sure", 1), ("lost", 2)]
    assert query_select.places(cursor, "tiny", "q1", "d2", systems).empty
    assert query_select.places(cursor, "tiny", "q1", "d1", ["nosuch"]).empty


def test_the_judgements_of_a_query_come_with_the_most_relevant_first(
    cursor: DuckDBPyConnection,
) -> None:
    found = query_select.judged(cursor, "tiny", "q1")
    assert listed(found, "doc_id", "relevance") == [("d1", 2), ("d5", 1)]


def test_ranked_lists_without_texts_have_ids_alone(tmp_path: Path) -> None:
    store = made_up(tmp_path, ("q1", None))
    run = hits(("q1", "d2", 1), ("q1", "d1", 2))
    publish_run(store, "scifact", "bm25", run, scores("nDCG@10", q1=0.6))
    cursor = open_version(store).cursor()
    found = query_select.listed(cursor, "scifact", "q1", ["bm25"], 10)
    assert found["doc_id"].tolist() == ["d2", "d1"]
    assert query_select.documents(cursor, "scifact", ["d2", "d1"]).empty


def test_datasets_with_texts_come_first(tmp_path: Path) -> None:
    store = made_up(tmp_path, ("q1", None))
    for name in ("scifact", "fiqa"):
        publish_run(store, name, "bm25", hits(("q1", "d1", 1)), scores("nDCG@10", q1=0.6))
    text = DataFrame({"doc_id": ["d1"], "title": "", "text": "words", "n_words": 1})
    order = []
    for name in ("fiqa", "scifact"):
        with store.publishing("load") as publication:
            publication.add("documents", text, dataset=name, fingerprint="f", provenance={})
        order.append(catalogue.runs(open_version(store).cursor())["dataset"].tolist())
    known = [name for name in DATASETS if name in ("scifact", "fiqa")]
    assert order == [["fiqa", "scifact"], known]


def test_a_query_without_hits_has_no_rows(cursor: DuckDBPyConnection) -> None:
    assert query_select.listed(cursor, "tiny", "q3", ["lost"], 10).empty


def test_the_values_of_a_query_are_those_of_its_systems(cursor: DuckDBPyConnection) -> None:
    found = query_select.query_values(cursor, "tiny", "q3", ["lost", "sure"])
    chosen = found[found["measure"] == "Success@5"]
    assert listed(chosen, "system", "value") == [("lost", 0.0), ("sure", 1.0)]
    # Holes of a query without hits are absent.
    assert found.loc[found["measure"] == "Hole@10", "system"].tolist() == ["sure"]


def test_the_means_of_a_dataset_are_those_of_the_table(cursor: DuckDBPyConnection) -> None:
    found = dataset_select.means_of(cursor, ["tiny"]).set_index(["system", "measure"])
    values = pd.to_numeric(found["value"])
    assert values["sure", "Success@5"] == 1
    assert values["lost", "Success@5"] == pytest.approx(2 / 3)
    assert found["n_unanswered"].groupby("system").max().tolist() == [1, 0]


def test_printed_figures_are_found_by_dataset(cursor: DuckDBPyConnection) -> None:
    found = dataset_select.published_figures(cursor, ["scifact"])
    chosen = found[(found["source"] == "BEIR v4, Table 2") & (found["system"] == "colbert")]
    assert listed(chosen, "measure", "value") == [("nDCG@10", 0.671)]


def test_runs_and_their_origins_are_those_stored(cursor: DuckDBPyConnection) -> None:
    runs = [("tiny", "lost"), ("tiny", "sure")]
    assert listed(catalogue.runs(cursor), "dataset", "system") == runs
    origins = data_select.origins(cursor)
    assert listed(origins, "dataset", "system", "rows") == [(*runs[0], 3), (*runs[1], 4)]
    assert origins["command"].str.startswith("python -m compute").all()
