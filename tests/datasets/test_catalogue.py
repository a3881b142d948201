"""The catalogue: every dataset the papers name, once, with the facts that decide its scores."""

import csv
import json
from dataclasses import replace

import pytest

from compute.base.errors import Conflict, Missing, WrongInput
from compute.datasets import DATASETS, Dataset, dataset
from compute.datasets.catalogue import PUBLISHED, catalogue, counterpart, own


def _named(file: str) -> set[str]:
    with (PUBLISHED / file).open(encoding="utf-8", newline="") as stream:
        return {row["dataset"] for row in csv.DictReader(stream)}


@pytest.mark.parametrize(
    "file", ["datasets.csv", "datasets_pl.csv", "datasets_other.csv", "results.csv"]
)
def test_every_published_dataset_has_a_row(file: str) -> None:
    assert _named(file) - set(DATASETS) == set()


def test_rows_by_group() -> None:
    groups = [row.group for row in DATASETS.values()]
    printed = {
        "BEIR": 19 + 15 + 12,
        "BEIR-PL": 13 + 12,
        "PolEval": 6,
        "Open-domain QA": 3,
        "PyDocs": 5,
    }
    assert {group: groups.count(group) for group in printed} == printed


def test_three_rows_as_printed() -> None:
    scifact, robust, polish = DATASETS["scifact"], DATASETS["robust04"], DATASETS["quora-pl"]
    assert (scifact.title, scifact.n_documents, scifact.document_words) == ("SciFact", 5183, 213.63)
    assert scifact.md5 == "5f7d1de60b170fc8027bb7898e2efca1"
    assert (robust.public, robust.archive, robust.n_queries) == (False, None, 249)
    assert (polish.language, polish.query_words, polish.task) == (
        "pl",
        8.13,
        "Duplicate-Question Retrieval",
    )


def test_sizes_of_beir_pl_are_those_in_print_and_beside_them_those_of_beir() -> None:
    printed = ["8.8M", "171K", "3.6K", "2.68M", "5.2M", "57K", "9K", "382K", "547K", "523K"]
    printed += ["4.63M", "25K", "5K"]
    rows = [row for row in DATASETS.values() if row.group == "BEIR-PL" and row.n_documents]
    factors = {"K": 1_000, "M": 1_000_000}
    assert [row.n_documents for row in rows] == [
        round(float(number[:-1]) * factors[number[-1]]) for number in printed
    ]
    stack = DATASETS["cqadupstack-pl"]
    assert "BEIR has 457,199" in stack.note
    assert not DATASETS[stack.parts[0]].note
    assert "6,980 queries of dev" in DATASETS["msmarco-pl/test"].note


def test_zero_shot_datasets_of_the_paper_are_18_and_each_counts_once() -> None:
    english = [row for row in DATASETS.values() if row.group == "BEIR" and row.zero_shot]
    assert len(english) == 18
    assert not any("/" in row.name or row.collection == "msmarco" for row in english)


def test_self_hits_leave_where_queries_are_documents() -> None:
    dropping = {row.name for row in DATASETS.values() if row.drop_self and row.group != "PyDocs"}
    assert dropping == {"arguana", "quora", "quora/dev", "arguana-pl", "quora-pl"}
    assert all(row.drop_self for row in DATASETS.values() if row.group == "PyDocs")


@pytest.mark.parametrize("name", ["cqadupstack", "cqadupstack-pl"])
def test_cqadupstack_is_the_mean_of_twelve_rows(name: str) -> None:
    parts = DATASETS[name].parts
    assert len(parts) == 12
    assert f"{name}/android" in parts
    assert all(DATASETS[part].collection == part for part in parts)


def test_a_split_shares_the_corpus_and_a_name_without_one_is_test_or_for_msmarco_dev() -> None:
    train = DATASETS["nfcorpus/train"]
    assert (train.collection, train.split) == ("nfcorpus", "train")
    assert (train.n_documents, train.query_words) == (3633, None)
    assert DATASETS["nfcorpus/dev"].n_queries == 324
    assert DATASETS["nfcorpus"].split == "test"
    assert DATASETS["msmarco"].split == "dev"
    assert DATASETS["msmarco/test"].split == "test"
    assert DATASETS["msmarco-pl/test"].collection == "msmarco-pl"


def test_open_domain_sets_have_no_split_to_run_on() -> None:
    without = {row.name for row in DATASETS.values() if not row.has_split}
    assert without == {"nq-dpr", "entity-questions", "triviaqa"}


@pytest.mark.parametrize("row", DATASETS.values(), ids=list(DATASETS))
def test_a_record_survives_json(row: Dataset) -> None:
    assert Dataset.from_record(json.loads(json.dumps(row.record()))) == row


@pytest.mark.parametrize("record", [{"name": "x"}, {"shoe_size": 43}])
def test_a_broken_record_is_refused(record: dict[str, object]) -> None:
    with pytest.raises(WrongInput, match="record"):
        Dataset.from_record(record)


def test_a_name_twice_is_refused() -> None:
    with pytest.raises(Conflict, match="'scifact'"):
        catalogue([DATASETS["scifact"], DATASETS["scifact"]])


def test_an_archive_without_its_md5_is_refused() -> None:
    with pytest.raises(WrongInput, match="scifact has an archive without an md5"):
        catalogue([replace(DATASETS["scifact"], md5=None)])


def test_an_unknown_name_is_answered_with_near_ones() -> None:
    with pytest.raises(Missing, match=r"did you mean .*scifact"):
        dataset("scifcat")
    with pytest.raises(Missing, match="python -m compute datasets"):
        dataset("zzzzzzzz")


def test_own_datasets_are_found_beside_the_catalogue() -> None:
    assert own("mine", language="zh").language == "zh"
    assert own("mine", language="unknown").language == "unknown"
    with pytest.raises(WrongInput, match="language 'Chinese!': give an ISO code, such as en or zh"):
        own("mine", language="Chinese!")
    mine = own("mine/dev", language="pl", drop_self=True)
    assert (mine.collection, mine.split, mine.group) == ("mine", "dev", "own")
    assert dataset("mine/dev", {"mine/dev": mine}) is mine
    assert dataset("scifact", {"mine/dev": mine}) is DATASETS["scifact"]


@pytest.mark.parametrize("name", ["", "../x", "a b", "a/b/c", "/a", "a\n", "é", "-x", ".."])
def test_own_names_that_cannot_stand_in_an_address_are_refused(name: str) -> None:
    with pytest.raises(WrongInput, match="dataset name"):
        own(name)


def test_own_may_not_take_a_catalogue_name() -> None:
    with pytest.raises(Conflict, match="choose another"):
        own("scifact")


@pytest.mark.parametrize("name", ["scifact/mine", "msmarco-pl", "poleval-wiki-trivia/x"])
def test_an_own_name_may_not_enter_a_collection_of_the_catalogue(name: str) -> None:
    with pytest.raises(Conflict, match="of the catalogue"):
        own(name)


@pytest.mark.parametrize(
    ("english", "polish"),
    [
        ("scifact", "scifact-pl"),
        ("cqadupstack/android", "cqadupstack-pl/android"),
        ("webis-touche2020", "webis-touche2020-pl"),
    ],
)
def test_the_same_dataset_in_the_other_language(english: str, polish: str) -> None:
    assert counterpart(english) == polish
    assert counterpart(polish) == english
