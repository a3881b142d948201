"""Judgements with query texts: two kinds of files, one rule."""

import gzip
from pathlib import Path

import pytest

from compute.base.errors import Missing, WrongInput
from compute.datasets.without_documents import JudgedQueries

QRELS = "q1 0 d1 1\nq2 0 d2 0\n"
TEXTS = {
    "queries.jsonl": '{"_id": "q2", "text": "two"}\n{"_id": "q1", "text": "one, first"}\n',
    "topics.tsv": "q2\ttwo\n\nq1\tone, first\r\n",
    "topics.xml": (
        '<?xml version="1.0"?>\n<topics task="some">\n<topic number="q2"><query>two</query>\n'
        "<question>which?</question></topic>\n"
        '<topic number="q1"><title>one,\n first</title></topic>\n</topics>\n'
    ),
    "topics": (
        "<top>\n<num> Number: q2\n<title> Topic: two\n<desc> Description:\nMore.\n</top>\n\n"
        "<top>\n<num> Number: q1\n<title> one, first\n\n<narr> Narrative:\nMore.\n</top>\n"
    ),
}


def _source(tmp_path: Path, text: str | bytes) -> JudgedQueries:
    (tmp_path / "qrels").write_text(QRELS, "utf-8")
    file = tmp_path / "texts"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return JudgedQueries(tmp_path / "qrels", file)


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("packed", [False, True])
def test_queries_have_their_texts(tmp_path: Path, name: str, packed: bool) -> None:
    content = TEXTS[name].encode()
    origin = _source(tmp_path, gzip.compress(content) if packed else content)
    assert origin.queries().to_dict("list") == {
        "query_id": ["q2", "q1"],
        "text": ["two", "one, first"],
    }


def test_queries_of_other_splits_are_counted_not_asked(tmp_path: Path) -> None:
    origin = _source(tmp_path, TEXTS["topics.tsv"] + "q3\tthree\n")
    assert len(origin.all_queries()) == 3
    assert list(origin.queries()["query_id"]) == ["q2", "q1"]


def test_other_texts_are_another_source(tmp_path: Path) -> None:
    before = _source(tmp_path, TEXTS["topics.tsv"]).identity()
    assert _source(tmp_path, TEXTS["topics.tsv"] + "q3\tthree\n").identity() != before


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("q1\tone\n", "texts lacks the texts of 1 of 2 judged queries, such as 'q2': add them"),
        ("q1\tone\nq2 two\n", "texts line 2: no tab: write the query's id"),
        ("q1\tone\nq1\ttwo\n", "texts line 2: query 'q1' stands above already"),
        ('{"_id": "q1"}\n', "texts line 1: no text"),
        ("", "lacks the texts of 2 of 2 judged queries, such as 'q1'"),
        ("<topics></topics>", "texts has no <topic> or <top>"),
        ("<top>\n<title> one\n</top>", "texts line 1: a topic without a number"),
        ("\n<top>\n<num> q1\n<desc> one\n</top>", "texts line 2: topic 'q1' has no title"),
        (
            '<topic number="q1"><title>&lt;a&gt;</title></topic>',
            "1 of 2 judged queries, such as 'q2'",
        ),
    ],
)
def test_a_wrong_file_is_one_sentence(tmp_path: Path, text: str, fault: str) -> None:
    with pytest.raises(WrongInput, match=fault):
        _source(tmp_path, text).queries()


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "qrels").write_text(QRELS, "utf-8")
    with pytest.raises(Missing, match="no such file"):
        JudgedQueries(tmp_path / "qrels", tmp_path / "nowhere").queries()
