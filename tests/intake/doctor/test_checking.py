"""`check`: everything wrong is counted with one example; nothing is changed."""

import json
import os
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compute.__main__ import main
from compute.base.errors import BeirscopeError, Missing
from compute.intake import doctor
from tests.support.tiny import write_tiny
from tests.support.worlds import CASES


def found(report: doctor.Report) -> dict[str, int]:
    return {finding.what: finding.count for finding in report.findings}


def test_a_sound_folder_is_counted(tmp_path: Path) -> None:
    report = doctor.check(write_tiny(tmp_path / "tiny"))
    assert not report.refused
    assert report.kind == "BEIR folder"
    assert report.findings == ()
    assert report.counts["documents"] == 6
    assert report.counts["queries"] == 3
    assert report.counts["test judgements"] == 5
    assert report.counts["test relevance 2"] == 1


def test_every_kind_is_counted_with_its_first_line(tmp_path: Path) -> None:
    folder = write_tiny(tmp_path / "tiny")
    with (folder / "corpus.jsonl").open("a", encoding="utf-8") as corpus:
        corpus.write('{"text": "a"}\n{"text": "b"}\nnot JSON\n{"_id": "d1", "text": "again"}\n')
        corpus.write('{"_id": "d8", "title": "only", "text": " "}\n{"_id": "d9", "text": ""}\n')
    with (folder / "qrels/test.tsv").open("a", encoding="utf-8") as qrels:
        qrels.write("q9\td1\t1\nq1\tghost\t1\nq2\tghost\t0\nq1\tghost\t0\nq3\td6\n")
    before = {file: file.read_bytes() for file in folder.rglob("*.*")}
    report = doctor.check(folder)
    assert report.refused
    assert found(report) == {
        "missing _id": 2,
        "broken JSON": 1,
        "repeated _id": 1,
        "unknown query": 1,
        "wrong number of columns": 1,
        "pair judged twice, differently": 1,
        "document with a title only": 1,
        "empty document": 1,
        "judgement of a document not in the corpus": 2,
    }
    examples = {finding.what: finding.example for finding in report.findings}
    places = {finding.what: str(finding.where) for finding in report.findings}
    assert (places["missing _id"][-19:], examples["missing _id"]) == (
        "corpus.jsonl line 7",
        "no _id",
    )
    assert places["unknown query"].endswith("test.tsv line 7")
    assert places["pair judged twice, differently"].endswith("test.tsv line 10")
    assert "no query 'q9'" in examples["unknown query"]
    assert "'ghost'" in examples["judgement of a document not in the corpus"]
    assert {file: file.read_bytes() for file in folder.rglob("*.*")} == before


def test_judgements_of_unknown_documents_are_counted_as_an_import_counts_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = write_tiny(tmp_path / "tiny")
    with (folder / "qrels/test.tsv").open("a") as file:
        file.write("q1\tphantom\t1\nq2\tghost\t1\nq3\tghost\t0\n")
    (folder / "qrels/dev.tsv").write_text("query-id\tcorpus-id\tscore\nq1\tghost\t1\n", "utf-8")
    of = "judgement of a document not in the corpus"
    assert found(doctor.check(folder)) == {f"{of} (test)": 3, f"{of} (dev)": 1}
    monkeypatch.setenv("BEIRSCOPE_HOME", str(tmp_path / "home"))
    assert main(["import-dataset", str(folder), "--name", "tiny"]) == 0
    assert "8 judgements, 3 for documents outside the corpus" in capsys.readouterr().out


def test_a_broken_split_that_no_import_takes_unasked_stops_nothing(tmp_path: Path) -> None:
    folder = write_tiny(tmp_path / "tiny")
    (folder / "qrels/dev.tsv").write_text("query-id\tcorpus-id\tscore\nq9\td1\t1\nq1\n", "utf-8")
    report = doctor.check(folder)
    assert not report.refused
    assert found(report)["unknown query"] == 1
    (folder / "qrels/dev.tsv").write_bytes(b"\xff\xfe\x00")
    assert not doctor.check(folder).refused
    (folder / "qrels/test.tsv").write_bytes(b"\xff\xfe\x00")
    assert doctor.check(folder).refused


def test_a_missing_header_is_told_and_the_rest_still_read(tmp_path: Path) -> None:
    folder = write_tiny(tmp_path / "tiny")
    qrels = folder / "qrels/test.tsv"
    qrels.write_text(qrels.read_text("utf-8").partition("\n")[2], "utf-8")
    report = doctor.check(folder)
    assert found(report)["no header"] == 1
    assert report.counts["documents"] == 6


@pytest.mark.parametrize("name", ["corpus.jsonl", "queries.jsonl"])
def test_a_missing_file_is_a_finding(tmp_path: Path, name: str) -> None:
    folder = write_tiny(tmp_path / "tiny")
    (folder / name).unlink()
    report = doctor.check(folder)
    assert report.refused
    assert any(name.split("/")[0] in str(finding) for finding in report.findings)


def test_a_query_without_relevant_document_and_an_empty_one_are_remarked(tmp_path: Path) -> None:
    folder = write_tiny(tmp_path / "tiny")
    queries = folder / "queries.jsonl"
    queries.write_text(queries.read_text("utf-8") + '{"_id": "q4", "text": ""}\n', "utf-8")
    with (folder / "qrels/test.tsv").open("a", encoding="utf-8") as qrels:
        qrels.write("q4\td1\t-1\n")
    report = doctor.check(folder)
    assert not report.refused
    assert found(report) == {"empty query": 1, "query without relevant document": 1}


def test_all_collections_of_a_folder_are_counted_apart(tmp_path: Path) -> None:
    write_tiny(tmp_path / "all/android")
    write_tiny(tmp_path / "all/unix")
    counts = doctor.check(tmp_path / "all").counts
    assert counts["android: documents"] == counts["unix: documents"] == 6


def test_what_reading_a_collection_passes_over_is_remarked(tmp_path: Path) -> None:
    folder = write_tiny(tmp_path / "tiny")
    for name, old, new in (
        ("corpus.jsonl", '"d6"', "7"),
        ("corpus.jsonl", '{"_id": "d1"', '\ufeff{"_id": "d1"'),
        ("corpus.jsonl", '"d5"', '"007"'),
        ("corpus.jsonl", '"d4"', '"q1"'),
        ("queries.jsonl", "\n", "\r\n"),
        ("qrels/test.tsv", "d6", "7"),
    ):
        file = folder / name
        file.write_bytes(file.read_bytes().replace(old.encode(), new.encode()))
    report = doctor.check(folder)
    assert not report.refused
    assert found(report) == {
        "Windows line ends": 3,
        "byte order mark": 1,
        "id is a number": 1,
        "document ids that are the same number": 1,
        "document named like a query": 1,
        "judgement of a document not in the corpus": 1,  # d5
    }


def test_a_key_that_stands_twice_is_refused(tmp_path: Path) -> None:
    folder = write_tiny(tmp_path / "tiny")
    queries = folder / "queries.jsonl"
    queries.write_text('{"_id": "q1", "text": "a", "text": "b"}\n', "utf-8")
    report = doctor.check(folder)
    assert found(report)["repeated key"] == 1


def test_several_collections_are_imported_one_by_one(tmp_path: Path) -> None:
    write_tiny(tmp_path / "all/android")
    write_tiny(tmp_path / "all/unix")
    assert found(doctor.check(tmp_path / "all")) == {"several collections": 1}


def test_a_run_file_is_counted(tmp_path: Path) -> None:
    file = tmp_path / "some.run"
    file.write_text("q1 Q0 d1 1 3.0 t\nq1 Q0 d2 2 3.0 t\nq1 Q0 d1 3 1 t\nq2 Q0 q2 1 5 t\n", "utf-8")
    report = doctor.check(file)
    assert (report.kind, report.refused) == ("run", False)
    assert report.counts["hits"] == 4
    assert report.counts["longest list"] == 3
    assert found(report) == {
        "document twice in a list": 1,
        "tied with another hit": 2,
        "document named like its query": 1,
    }


def test_a_broken_run_is_refused_with_its_line(tmp_path: Path) -> None:
    file = tmp_path / "some.run"
    file.write_text("q1 Q0 d1 1 3.0 t\nq1 Q0 d2 2 nan t\n", "utf-8")
    report = doctor.check(file)
    assert report.refused
    assert report.findings[0].where == doctor.Where(str(file), 2)


@pytest.mark.parametrize(
    "text", ["q1 0 d1 1\nq1 0 d2 0\n", "query-id\tcorpus-id\tscore\nq1\td1\t1\nq1\td2\t0\n"]
)
def test_qrels_are_counted(tmp_path: Path, text: str) -> None:
    file = tmp_path / "qrels.tsv"
    file.write_text(text, "utf-8")
    report = doctor.check(file)
    assert (report.kind, report.refused) == ("qrels", False)
    assert report.counts["judgements"] == 2
    assert report.counts["relevance 1"] == 1


def test_what_is_nothing_of_this_is_said(tmp_path: Path) -> None:
    file = tmp_path / "letter.txt"
    file.write_text("Dear all,\n", "utf-8")
    report = doctor.check(file)
    assert (report.kind, report.refused) == ("unreadable", True)
    assert "begins neither like a TREC run" in report.findings[0].example
    with pytest.raises(Missing, match="does not exist"):
        doctor.check(tmp_path / "nowhere")
    (tmp_path / "empty").mkdir()
    assert doctor.check(tmp_path / "empty").refused


def test_topics_in_xml_are_called_so(tmp_path: Path) -> None:
    file = tmp_path / "topics.xml"
    file.write_text('<?xml version="1.0"?>\n<topics task="x">\n</topics>\n', "utf-8")
    report = doctor.check(file)
    assert (report.kind, report.refused) == ("unreadable", True)
    assert "XML, such as topics, not a run or qrels" in report.findings[0].example


def test_without_a_split_test_the_option_is_named(tmp_path: Path) -> None:
    folder = write_tiny(tmp_path / "tiny")
    test = folder / "qrels/test.tsv"
    (folder / "qrels/val.tsv").write_text(test.read_text("utf-8"), "utf-8")
    assert found(doctor.check(folder)) == {}
    test.rename(folder / "qrels/dev.tsv")
    report = doctor.check(folder)
    assert (report.refused, found(report)) == (False, {"no split test": 1})
    assert "import it with --split dev or --split val" in report.findings[0].treatment


def test_one_finding_is_told_as_one(tmp_path: Path) -> None:
    folder = write_tiny(tmp_path / "tiny")
    corpus = folder / "corpus.jsonl"
    corpus.write_text(corpus.read_text("utf-8") + "{\n", "utf-8")
    assert "refused: broken JSON, once: " in "\n".join(doctor.check(folder).lines())
    corpus.write_text(corpus.read_text("utf-8") + "{\n", "utf-8")
    assert "refused: broken JSON, 2 times; first: " in "\n".join(doctor.check(folder).lines())


def test_a_run_whose_queries_begin_like_comments_is_a_run(tmp_path: Path) -> None:
    file = tmp_path / "some.run"
    file.write_text("#1 Q0 d1 1 3.0 t\n#2 Q0 d2 1 3.0 t\n", "utf-8")
    assert doctor.check(file).counts["hits"] == 2


def test_a_report_prints_and_survives_json(tmp_path: Path) -> None:
    folder = write_tiny(tmp_path / "tiny")
    (folder / "corpus.jsonl").write_text("{\n", "utf-8")
    report = doctor.check(folder)
    record = json.loads(json.dumps(report.record()))
    assert record["refused"] is True
    assert record["findings"][0]["what"] == "broken JSON"
    assert report.lines()[-1] == "  cannot be imported"


@CASES
@given(
    data=st.binary(max_size=120)
    | st.lists(st.sampled_from(["q1", "0", "d1", "1.5", "\t", " ", "\n", "nan", "#"])).map(
        lambda parts: "".join(parts).encode()
    ),
    name=st.sampled_from(["x.txt", "x.zip", "x.gz", "x"]),
)
def test_no_file_at_all_is_a_bug(data: bytes, name: str) -> None:
    with TemporaryDirectory() as folder:
        file = Path(folder) / name
        file.write_bytes(data)
        try:
            doctor.check(file)
        except BeirscopeError as error:
            assert str(file) in str(error)


@pytest.mark.skipif(
    not os.environ.get("BEIRSCOPE_REFERENCE"), reason="BEIRSCOPE_REFERENCE is not set"
)
def test_reference_archives_and_runs_are_fit() -> None:
    folder = Path(os.environ["BEIRSCOPE_REFERENCE"])
    scifact = doctor.check(folder / "beir/scifact.zip")
    assert (scifact.refused, scifact.counts["words per document"]) == (False, 214.63)
    run = doctor.check(folder / "runs/trec-covid-round1/run1.gz")
    assert (run.refused, run.counts["queries"]) == (False, 30)
