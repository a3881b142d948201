import os
import re
from pathlib import Path

import pytest

from compute.base.errors import WrongInput
from compute.datasets.qrels import as_beir, as_trec, form_of, is_qrels, read_qrels
from compute.datasets.reading import open_path
from compute.datasets.shapes import How
from compute.intake import doctor
from tests.support.ranked_lists import read_trec
from tests.support.tiny import write_tiny

REFERENCE = os.environ.get("BEIRSCOPE_REFERENCE", "")
HEADER = "query-id\tcorpus-id\tscore\n"
QUERIES, DEEP = ("q1", "q2", "q3"), range(1, 13)
MSMARCO = "".join(f"{q}\td{n}\t{n}\n" for q in QUERIES for n in DEEP)
FROM_0 = "".join(f"{q}\td{n}\t{n - 1}\n" for q in QUERIES for n in DEEP)
TOP_3 = "".join(f"{q}\td{n}\t{n}\n" for q in QUERIES for n in (1, 2, 3))
TEVATRON = "".join(f"{q}\td{n}\t{30 - 1.5 * n}\n" for q in QUERIES for n in (1, 3, 5))
IMPACTS = "".join(f"{q}\td{n}\t{9000 - 17 * n}\n" for q in QUERIES for n in DEEP)
COLBERT = "".join(f"{q}\td{n}\t{n}\t{40 - n}\n" for q in QUERIES for n in DEEP)
RANKINGS = {
    "MS MARCO's": MSMARCO,
    "from 0": FROM_0,
    "three hits each": TOP_3,
    "Tevatron's": TEVATRON,
    "one score": "q1\td1\t22.5\n",
    "whole scores": IMPACTS,
    "ColBERT's": COLBERT,
    "under a header": HEADER + MSMARCO,
    "scores under a header": HEADER + TEVATRON,
    "whole scores under a header": HEADER + IMPACTS,
    "a rank by name": "qid\tpid\trank\nq1\td1\t1\n",
    "in any order": HEADER + "".join(sorted(MSMARCO.splitlines(keepends=True))),
    "most lists short": HEADER + MSMARCO + "q4\td1\t1\nq5\td1\t1\nq6\td1\t1\n",
    "ranks with gaps": HEADER
    + "".join(f"{q}\td{n}\t{n + n // 5}\n" for q in QUERIES for n in DEEP),
    "distances": HEADER + "".join(f"{q}\td{n}\t{17 * n}\n" for q in QUERIES for n in DEEP),
    "made TREC's": "".join(f"{q} 0 d{n} {n}\n" for q in QUERIES for n in DEEP),
}
ONE_EACH = "q1\td1\t1\nq2\td2\t1\n"
PERHAPS = {"one each": ONE_EACH, "two at most": "q1\td1\t1\nq1\td4\t2\nq2\td3\t1\n"}
JUDGEMENTS = {
    "one each under a header": HEADER + ONE_EACH,
    "one each in TREC's columns": "q1 0 d1 1\nq2 0 d2 1\n",
    "grades that count up": HEADER + TOP_3,
    "grades that count up in TREC's columns": "".join(
        f"{q} 0 d{n} {n}\n" for q in QUERIES for n in (1, 2, 3)
    ),
    "documents that count up": "".join(f"{q} 0 {n} 1\n" for q in QUERIES for n in DEEP),
    "grades to 100, by document": HEADER
    + "".join(f"{q}\td{n}\t{5 * (n * 7 % 20)}\n" for q in QUERIES for n in DEEP),
    "grades that fall": HEADER + "".join(f"{q}\td{n}\t{4 - n}\n" for q in QUERIES for n in (1, 2)),
}


def written(folder: Path, text: str) -> Path:
    file = folder / "ranking.tsv"
    file.write_text(text)
    return file


@pytest.mark.long
@pytest.mark.parametrize("text", RANKINGS.values(), ids=RANKINGS)
def test_a_ranking_is_no_judgements_and_is_read_as_one(tmp_path: Path, text: str) -> None:
    file = written(tmp_path, text)
    with pytest.raises(WrongInput, match=r"import-run.*add --as judgements") as error:
        read_qrels(file)
    assert "header" not in str(error.value)
    assert not is_qrels(file)
    n = text.count("\n") - bool({*text.split()} & {"query-id", "qid"})
    _, hits = read_trec(file, how=How("run"))
    assert len(hits) == n
    assert doctor.check(file, how=How("run")).counts["hits"] == n
    assert len(read_qrels(file, How("judgements", rounded=True))) == n


def test_ranks_score_where_nothing_else_does(tmp_path: Path) -> None:
    lists = {}
    for name in ("MS MARCO's", "from 0", "ColBERT's", "in any order", "made TREC's"):
        _, hits = read_trec(written(tmp_path, RANKINGS[name]), how=How("run"))
        hits = hits.sort_values(["query_id", "score"], ascending=[True, False])
        lists[name] = hits[["query_id", "doc_id"]].values.tolist()
    assert all(found == lists["MS MARCO's"] for found in lists.values())


def test_it_is_said_why_a_file_looks_like_a_ranking(tmp_path: Path) -> None:
    told = {
        MSMARCO: "column 3 counts 1, 2, 3 … in 3 of 3 queries",
        COLBERT: "column 3 counts 1, 2, 3 … in 3 of 3 queries",
        TEVATRON: "column 3 contains scores such as 28.5",
        IMPACTS: "column 3 contains scores that fall, such as 8983;"
        " grades are accepted if lines are sorted by document",
    }
    for text, why in told.items():
        fault = form_of(text.splitlines()).fault
        assert fault == f"looks like a ranking, not judgements ({why})"
        with pytest.raises(WrongInput, match=re.escape(f"not judgements ({why})")):
            read_qrels(written(tmp_path, text))


@pytest.mark.parametrize("text", PERHAPS.values(), ids=PERHAPS)
def test_where_it_may_be_either_it_is_asked_with_the_first_lines(tmp_path: Path, text: str) -> None:
    file = written(tmp_path, text)
    begins = "; ".join(repr(" ".join(line.split())) for line in text.splitlines())
    for read in (read_qrels, read_trec):
        with pytest.raises(WrongInput) as error:
            read(file)
        assert f"is it a run or judgements? The file begins with {begins}, which" in str(
            error.value
        )
        assert str(error.value).endswith("add --as run or --as judgements")
    (found,) = doctor.check(file).findings
    assert found.refused and found.what == "run or judgements?"
    assert not is_qrels(file)
    assert len(read_qrels(file, How("judgements"))) == text.count("\n")
    assert len(read_qrels(written(tmp_path, HEADER + text))) == text.count("\n")


def test_grades_that_fall_without_a_header_only_lack_it() -> None:
    for grades in ((1, 0), (2, 1, 0)):
        lines = [f"{q}\td{grade}\t{grade}" for q in QUERIES for grade in grades]
        assert form_of(lines).remedy == "put the header above it"


def test_words_in_the_place_of_grades_are_no_scores(tmp_path: Path) -> None:
    with pytest.raises(WrongInput, match="line 2: relevance is 'yes', not a whole number"):
        read_qrels(written(tmp_path, HEADER + "q1\td1\tyes\nq1\td2\tno\n"))


@pytest.mark.long
@pytest.mark.parametrize("text", JUDGEMENTS.values(), ids=JUDGEMENTS)
def test_judgements_are_no_ranking(tmp_path: Path, text: str) -> None:
    file = written(tmp_path, text)
    assert len(read_qrels(file)) == text.removeprefix(HEADER).count("\n")
    assert is_qrels(file) and not doctor.check(file).refused


def test_a_ranking_is_no_judgements_in_a_collection_either(tmp_path: Path) -> None:
    folder = write_tiny(tmp_path / "tiny")
    ranking = "".join(f"q1\td{n}\t{n}\n" for n in DEEP)
    for text in (ranking, HEADER + ranking):
        (folder / "qrels" / "test.tsv").write_text(text)
        with pytest.raises(WrongInput, match="looks like a ranking"):
            open_path(folder).judgements()
        told = [found for found in doctor.check(folder).findings if found.refused]
        assert [found.what for found in told] == ["ranking, not judgements"]


@pytest.mark.long
@pytest.mark.skipif(not REFERENCE, reason="BEIRSCOPE_REFERENCE is not set")
def test_real_judgements_are_never_taken_for_a_ranking() -> None:
    files = sorted((Path(REFERENCE) / "beir" / "topics-qrels").glob("qrels*"))
    assert len(files) == 28
    for file in files:
        rows = read_qrels(file)
        for order in (["query_id", "relevance"], ["query_id", "doc_id"]):
            for ascending in (True, False):
                rows = rows.sort_values(order, ascending=ascending)
                forms = [form_of(write(rows[:20_000]).splitlines()) for write in (as_trec, as_beir)]
                assert [form.fault for form in forms] == ["", ""], file
