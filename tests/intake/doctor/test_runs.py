"""What `check` tells of runs and qrels, alone and beside a dataset."""

import gzip
from pathlib import Path

import pyarrow as pa
import pytest

from compute.__main__ import main
from compute.base.errors import BeirscopeError, Missing
from compute.datasets import Dataset
from compute.intake import doctor, imports
from compute.intake.doctor import Known, Where, known, lines
from compute.store.loading import Bench


def written(folder: Path, text: str | bytes, name: str = "file") -> Path:
    file = folder / name
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return file


def told(report: doctor.Report) -> dict[str, tuple[int, int]]:
    """What was found, how often, and on which line first."""
    return {finding.what: (finding.count, finding.where.line) for finding in report.findings}


def ids(*names: str) -> pa.ChunkedArray:
    return pa.chunked_array([pa.array(names, pa.large_string())])


RUNS = {
    "tied with another hit": ("q Q0 a 1 2 s\nq Q0 b 2 2 s\nq Q0 c 3 1 s\n", (2, 2)),
    "document twice in a list": ("q Q0 a 1 3 s\n\nq Q0 b 2 2 s\nq Q0 a 3 1 s\n", (1, 4)),
    "the same rank everywhere": ("q Q0 a 0 3 s\nq Q0 b 0 2 s\n", (2, 1)),
    "rank is not a number": ("q Q0 a x 3 s\nq Q0 b y 2 s\n", (2, 1)),
    "rank contradicts score": ("q Q0 a 2 3 s\nq Q0 b 1 2 s\n", (1, 2)),
    "list not sorted by score": ("q Q0 a 2 2 s\nq Q0 b 1 3 s\np Q0 a 1 9 s\n", (1, 2)),
    "list in pieces": ("q Q0 a 1 3 s\np Q0 a 1 3 s\nq Q0 b 2 2 s\n", (1, 3)),
    "document named like its query": ("q Q0 q 1 3 s\n", (1, 1)),
    "query ids that are the same number": ("1 Q0 a 1 3 s\n01 Q0 a 1 3 s\n", (1, 2)),
    "document ids that are the same number": ("q Q0 0 1 3 s\nq Q0 00 2 2 s\n", (1, 2)),
    "control character in a document id": ("q Q0 \x1b[2J 1 3 s\n", (1, 1)),
    "tag that changes": ("q Q0 a 1 3 s\nq Q0 b 2 2 t\n", (1, 2)),
    "no tag": ("q Q0 a 1 3\n", (1, 1)),
    "byte order mark": ("\ufeffq Q0 a 1 3 s\n", (1, 0)),
    "Windows line ends": ("q Q0 a 1 3 s\r\nq Q0 b 2 2 s\r\n", (2, 0)),
    "blank line or comment": ("# by hand\nq Q0 a 1 3 s\n\n", (2, 0)),
}
BROKEN_RUNS = {
    "wrong number of columns": ("q Q0 a 1 3 s\nq Q0 b 2\nq Q0 c\n", (2, 2)),
    "score not a finite number": ("q Q0 a 1 nan s\nq Q0 b 2 inf s\nq Q0 c 3 high s\n", (3, 1)),
    "not UTF-8": (b"q Q0 a 1 3 s\nq Q0 \xff 2 2 s\n", (1, 2)),
    "NUL character": ("q Q0 a\0 1 3 s\n", (1, 1)),
    "several runs in one file": ("q Q0 a 1 3 s\nq Q0 a 1 3 t\n", (1, 2)),
}


@pytest.mark.parametrize("what", RUNS)
def test_what_an_import_takes_in_is_remarked(tmp_path: Path, what: str) -> None:
    text, found = RUNS[what]
    report = doctor.check(written(tmp_path, text))
    assert (report.kind, report.refused) == ("run", False)
    assert told(report)[what] == found


@pytest.mark.parametrize("what", BROKEN_RUNS)
def test_what_an_import_does_not_take_in_is_refused(tmp_path: Path, what: str) -> None:
    text, found = BROKEN_RUNS[what]
    report = doctor.check(written(tmp_path, text))
    assert report.refused
    assert told(report)[what] == found


@pytest.mark.parametrize(
    ("content", "example"),
    [
        ("", "the file is empty"),
        (
            gzip.compress(b"q Q0 a 1 3 s\n" * 99, mtime=0)[:40],
            "cannot be read (Truncated compressed",
        ),
        (b"PK\x03\x04", "a zip archive, not UTF-8 text"),
    ],
)
def test_what_cannot_be_read_is_a_report_too(
    tmp_path: Path, content: str | bytes, example: str
) -> None:
    report = doctor.check(written(tmp_path, content))
    assert (report.kind, report.refused) == ("unreadable", True)
    assert example in report.findings[0].example


def test_every_wrong_line_of_a_long_file_is_counted(tmp_path: Path) -> None:
    sound = [f"q{n} Q0 d 1 1 s" for n in range(50_000)]
    for at in (7, 20_000, 20_001, 49_999):
        sound[at] = "q Q0 d 1 one s"
    report = doctor.check(written(tmp_path, "\n".join(sound)))
    assert told(report) == {"score not a finite number": (4, 8)}
    assert report.counts["hits"] == 49_996


def test_a_file_of_wrong_lines_is_not_read_to_its_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lines, "ENOUGH", 20)
    report = doctor.check(written(tmp_path, "q Q0 a 1 x s\n" * 50))
    assert told(report)["score not a finite number"] == (20, 1)
    assert "20 lines are wrong" in report.findings[1].example


KNOWN = Known("mine", ids("q1", "02", "q3"), ids("a", "b", "07"), depth=2)


@pytest.mark.filterwarnings("error")
def test_scores_that_are_infinite_in_32_bits_are_refused_and_smaller_ones_are_not(
    tmp_path: Path,
) -> None:
    file = written(tmp_path, "q Q0 a 1 1e300 s\nq Q0 b 2 1e39 s\nq Q0 c 3 3.4028235e38 s\n")
    assert told(doctor.check(file)) == {"score not a finite number": (2, 1)}


def test_topics_are_called_topics_however_many_words_their_first_line_has(tmp_path: Path) -> None:
    for head in ('<topics task="x" batch="1" size="2">', '<topic a="1" b="2" c="3" d="4" e="5">'):
        report = doctor.check(written(tmp_path, f"{head}\n<topic number='1'>\n"))
        assert (report.kind, report.findings[0].what) == ("unreadable", "XML")
    assert doctor.check(written(tmp_path, "<q 0 d1 1\n")).kind == "qrels"


def test_a_run_is_held_against_the_ids_of_its_dataset(tmp_path: Path) -> None:
    text = "q1 Q0 a 1 5 s\nq1 Q0 b 2 4 s\nq1 Q0 7 3 3 s\n2 Q0 a 1 3 s\n"
    report = doctor.check(written(tmp_path, text), against=KNOWN)
    assert not report.refused
    assert told(report) == {
        "query ids that are known ones in a different spelling": (1, 4),
        "unknown query": (1, 4),
        "missing query": (2, 0),
        "hit below rank 2": (1, 1),
        "document ids that are known ones in a different spelling": (1, 3),
        "unknown document": (1, 3),
    }


@pytest.mark.parametrize("text", ["x Q0 a 1 3 s\n", "q1 Q0 x 1 3 s\nx Q0 a 1 3 s\n"])
def test_a_run_on_another_dataset_is_refused(tmp_path: Path, text: str) -> None:
    report = doctor.check(written(tmp_path, text), against=KNOWN)
    assert report.refused
    assert report.findings[0].what == "run on another dataset"


QRELS = {
    "query without relevant document": ("q 0 a 0\np 0 a 1\n", (1, 1)),
    "relevance below 0": ("q 0 a 1\nq 0 b -1\n", (1, 2)),
    "pair judged again with the same grade": ("q 0 a 1\nq 0 a 1\n", (1, 2)),
    "document named like its query": ("q 0 q 1\n", (1, 1)),
    "query ids that are the same number": ("1 0 a 1\n01 0 a 1\n", (1, 2)),
}
BROKEN_QRELS = {
    "pair judged twice, differently": ("q 0 a 1\nq 0 a 2\n", (1, 2)),
    "relevance not a whole number": ("q 0 a 0.5\nq 0 b 1\n", (1, 1)),
    "relevance too large": ("q 0 a 9999999999\n", (1, 1)),
    "no data": ("query-id\tcorpus-id\tscore\n", (1, 0)),
}


@pytest.mark.parametrize("what", QRELS | BROKEN_QRELS)
def test_qrels_are_told(tmp_path: Path, what: str) -> None:
    text, found = (QRELS | BROKEN_QRELS)[what]
    report = doctor.check(written(tmp_path, text))
    assert (report.kind, report.refused) == ("qrels", what in BROKEN_QRELS)
    assert told(report)[what] == found


def test_qrels_are_held_against_a_dataset(tmp_path: Path) -> None:
    text = "q1 0 a 1\nx 0 y 1\nx 0 z 0\nx 0 z 0\nq1 0 y 0\n"
    report = doctor.check(written(tmp_path, text), against=KNOWN)
    assert told(report) == {
        "pair judged again with the same grade": (1, 4),
        "judgement of an unknown query": (2, 2),
        "judgement of a document not in the corpus": (3, 2),
    }


def test_a_folder_of_runs_has_one_report_for_each(tmp_path: Path) -> None:
    packed = pa.compress(b"q Q0 a 1 3 s\n", codec="zstd", asbytes=True)
    for name, content in (("b.zst", packed), ("a.txt", b"q 0 a 1\n"), (".c", b"")):
        written(tmp_path, content, name)
    reports = doctor.check_all([tmp_path, tmp_path / "b.zst"])
    assert [Path(report.path).name for report in reports] == ["a.txt", "b.zst", "b.zst"]
    assert [report.kind for report in reports] == ["qrels", "run", "run"]
    with pytest.raises(Missing, match="nowhere does not exist"):
        doctor.check_all([tmp_path / "nowhere"])


@pytest.mark.long
@pytest.mark.parametrize(
    "text",
    [
        "q1 Q0 d1 1 3 s\nq1 Q0 d2 2 2 s\n",
        "q1 Q0 d1 1 3 s\nx Q0 d2 2 2 s\n",
        "x Q0 d1 1 3 s\n",
        "q1 Q0 x 1 3 s\n",
        "q1 Q0 d1 1 3 s\nq1 Q0 d1 2 2 t\n",
        "q1 Q0 d1 1 nan s\n",
    ],
)
def test_an_import_does_what_the_report_says(
    bench: Bench, tiny: Dataset, tmp_path: Path, text: str
) -> None:
    file = written(tmp_path, text)
    report = doctor.check(file, against=known(bench.store, tiny))
    try:
        outcome = imports.import_run(bench, file, tiny)
    except BeirscopeError:
        assert report.refused
    else:
        assert not report.refused
        left_out = told(report).get("unknown query", (0, 0))[0]
        assert outcome.hits.rows == report.counts["hits"] - left_out


def test_the_command_takes_several_files_and_a_dataset(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("BEIRSCOPE_HOME", str(tmp_path / "home"))
    good = written(tmp_path, "q Q0 a 1 3 s\n", "good")
    bad = written(tmp_path, "q Q0 a 1 3\x1b[2J s\n", "bad\x1b[2J\n")
    assert main(["check", str(good)]) == 0
    assert main(["check", str(good), str(bad)]) == 2
    said = capsys.readouterr().out
    assert all(line.isprintable() for line in said.splitlines())
    assert f"{tmp_path}/bad\\x1b[2J\\n line 1: score is '3\\x1b[2J'" in said
    assert main(["check", str(good), "--dataset", "nothing"]) == 2
    assert "no dataset 'nothing'" in capsys.readouterr().err


def test_a_place_is_a_file_and_a_line() -> None:
    assert (str(Where("run", 3)), str(Where("run"))) == ("run line 3", "run")


def test_runs_are_held_against_the_only_qrels_beside_them(tmp_path: Path) -> None:
    run = written(tmp_path, "q1 Q0 a 1 2 s\nq1 Q0 q1 2 1 s\nx Q0 a 1 1 s\n", "a.run")
    other = written(tmp_path, "y Q0 a 1 2 t\n", "b.run")
    judged = written(tmp_path, "q1 0 a 1\nq1 0 b 0\nq2 0 a 1\n", "qrels.txt")
    first, second, qrels = doctor.check_all([run, other, judged])
    itself = {"document named like its query": (1, 2)}
    assert told(first) == {"unknown query": (1, 3), "missing query": (1, 0)} | itself
    missing = next(f for f in first.findings if f.what == "missing query")
    assert missing.example == "query 'q2' of qrels.txt"
    assert second.refused and told(qrels) == {}
    again = written(tmp_path, "q9 0 a 1\n", "others.txt")
    assert told(doctor.check_all([run, judged, again])[0]) == itself
