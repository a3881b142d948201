import re

import pandas as pd
import pytest

from compute.base.errors import WrongInput
from compute.datasets.qrels import as_trec, is_qrels, read, read_qrels
from compute.datasets.shapes import How, held

ROWS = [("1", "d1", 2), ("01", "d2", 0), ("01", "d1", -1)]
TREC = "1 0 d1 2\n01 0 d2 0\n01 0 d1 -1\n"
BEIR = "query-id\tcorpus-id\tscore\n1\td1\t2\n01\td2\t0\n01\td1\t-1\n"


def written(tmp_path, text: str):
    file = tmp_path / "qrels"
    file.write_bytes(text.encode())
    return file


def rows(frame: pd.DataFrame) -> list[tuple]:
    return list(frame.itertuples(index=False, name=None))


@pytest.mark.parametrize(
    "text",
    [
        TREC,
        TREC.replace(" 0 ", " 0.5  "),
        TREC.replace(" ", "\t"),
        TREC.replace("\n", " \r\n"),
        "\ufeff# a remark\n" + TREC,
        BEIR,
        BEIR.replace("\n", "\r\n"),
        "\ufeff" + BEIR,
        "\n" + BEIR,
        BEIR + "1\td1\t2\n",
    ],
)
def test_both_kinds_of_qrels_are_read(tmp_path, text):
    assert rows(read_qrels(written(tmp_path, text))) == ROWS


@pytest.mark.parametrize(
    ("header", "order"),
    [("corpus-id\tquery-id\tscore", (1, 0, 2)), ("Relevance\tdocid\tqid", (2, 1, 0))],
)
def test_columns_are_read_by_their_names(tmp_path, header, order):
    lines = [row.split("\t") for row in BEIR.splitlines()[1:]]
    text = "".join("\t".join(line[at] for at in order) + "\n" for line in lines)
    assert rows(read_qrels(written(tmp_path, f"{header}\n{text}"))) == ROWS


def test_names_that_contradict_their_places_are_refused(tmp_path):
    file = written(tmp_path, "corpus-id\ttopics\tscore\nd1\tq1\t1\n")
    told = "have the names 'corpus-id', 'topics', 'score'; the first line must be query-id"
    with pytest.raises(WrongInput, match=told):
        read_qrels(file)
    assert len(read_qrels(written(tmp_path, "a\tb\tc\nq1\td1\t1\n"))) == 1


def test_beir_ids_may_hold_blanks(tmp_path):
    file = written(tmp_path, "query-id\tcorpus-id\tscore\nq 1\ta document\t1\n")
    assert rows(read_qrels(file)) == [("q 1", "a document", 1)]


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (TREC + "1 0 d3\n", "line 4: 3 columns where a qrels line has 4"),
        (TREC + "1 0 d3 1.5\n", "line 4: relevance is '1.5', not a whole number"),
        (TREC + "1 0 d3 high\n", "line 4: relevance is 'high', not a whole number"),
        (TREC + "1 0 d3 3000000000\n", "line 4: relevance is '3000000000', too large a number"),
        (BEIR + "1\td3\t-3000000000\n", "line 5: relevance is '-3000000000', too large"),
        (BEIR + "1\td3\n", "line 5: 2 columns where a qrels line has 3"),
        (BEIR + "1\td3\tx\n", "line 5: relevance is 'x', not a whole number"),
    ],
)
def test_wrong_line_is_named(tmp_path, text, fault):
    file = written(tmp_path, text)
    with pytest.raises(WrongInput, match=re.escape(f"{file}, {fault}")):
        read_qrels(file)


def test_qrels_without_their_header_are_refused(tmp_path):
    file = written(tmp_path, "1\td1\t2\n01\td2\t0\n")
    with pytest.raises(WrongInput, match="begins with '1 d1 2'; '01 d2 0', which may be either"):
        read_qrels(file)
    assert rows(read_qrels(file, How("judgements"))) == [("1", "d1", 2), ("01", "d2", 0)]


def test_a_pair_judged_twice_differently_is_refused(tmp_path):
    with pytest.raises(WrongInput, match="query '1' and document 'd1' have two different"):
        read_qrels(written(tmp_path, TREC + "1 0 d1 1\n"))


def test_a_document_judged_by_subtopic_has_its_highest_grade_and_keeps_them(tmp_path):
    found = read(written(tmp_path, "1 1 d1 0\n1 2 d1 2\n1 a d1 1\n1 1 d2 0\n1 1 d2 0\n"))
    assert rows(found.judgements) == [("1", "d1", 2), ("1", "d2", 0)]
    assert found.subtopics is not None
    assert rows(found.subtopics) == [
        ("1", "d1", "1", 0),
        ("1", "d1", "2", 2),
        ("1", "d1", "a", 1),
        ("1", "d2", "1", 0),
    ]
    with pytest.raises(WrongInput, match="query '1' and document 'd1' have two different"):
        read(written(tmp_path, "1 1 d1 0\n1 2 d1 2\n1 1 d1 1\n"))


def test_iterations_and_rounds_are_no_subtopics(tmp_path):
    rounds = "".join(f"1 {n % 5}.5 d{n} {n % 2}\n" for n in range(50))
    assert read(written(tmp_path, rounds)).subtopics is None
    assert read(written(tmp_path, rounds + "1 7 d0 0\n")).subtopics is None
    assert read(written(tmp_path, BEIR)).subtopics is None
    # One pair of fifty that a later round judged anew is a mistake still.
    with pytest.raises(WrongInput, match="have two different judgements"):
        read(written(tmp_path, rounds + "1 7 d0 1\n"))


@pytest.mark.parametrize("text", [TREC, BEIR])
def test_queries_whose_id_begins_like_a_comment_are_kept(tmp_path, text):
    changed = text.replace("01", "#1")
    assert rows(read_qrels(written(tmp_path, changed))) == [
        ("1", "d1", 2), ("#1", "d2", 0), ("#1", "d1", -1),
    ]  # fmt: skip
    assert len(read_qrels(written(tmp_path, "#1 0 d1 1\n"))) == 1


@pytest.mark.parametrize(
    ("text", "answer"),
    [(TREC, True), (BEIR, True), ("q1 Q0 d1 1 2.0 t\n", False), ("a b c d\n", False), ("", False)],
)
def test_qrels_are_known_by_their_first_line(tmp_path, text, answer):
    assert is_qrels(written(tmp_path, text)) == answer


def test_empty_qrels_are_refused(tmp_path):
    with pytest.raises(WrongInput, match="no qrels line in it"):
        read_qrels(written(tmp_path, ""))


def test_written_qrels_come_back(tmp_path):
    frame = pd.DataFrame(ROWS, columns=["query_id", "doc_id", "relevance"])
    assert as_trec(frame) == TREC
    assert rows(read_qrels(written(tmp_path, TREC))) == ROWS


def test_id_that_qrels_cannot_carry_is_refused():
    frame = pd.DataFrame([("q 1", "d", 1)], columns=["query_id", "doc_id", "relevance"])
    with pytest.raises(WrongInput, match="does not allow"):
        as_trec(frame)


def kind(file):
    found = held(file, How())
    assert found is not None
    return found.kind


def test_small_whole_numbers_that_no_ranking_orders_so_are_grades(tmp_path):
    """Few grades that rise down a list tell it; sorted from the best on they may be scores."""
    file = written(tmp_path, "q1\td1\t0\nq1\td2\t2\nq1\td3\t0\n")
    assert kind(file) == "qrels"
    file = written(tmp_path, "q1\td1\t2\nq1\td2\t0\nq1\td3\t0\n")
    assert kind(file) == ""
    assert len(read_qrels(file)) == 3, "who gives a file as judgements has said so"
