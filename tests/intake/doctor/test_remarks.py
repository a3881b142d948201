"""What changes the numbers of a run is said by `check` and by the import, in the same words."""

import json
from pathlib import Path

import pytest

from compute.__main__ import main
from compute.base.errors import WrongInput
from compute.datasets import Dataset
from compute.intake import doctor, imports, upload_process
from compute.intake.doctor import known
from compute.intake.uploads import Upload
from compute.store.loading import Bench
from tests.support.tiny import write_tiny

# The first is the file's own best, and the last in Beirscope's order: the scores are distances.
DISTANCES = "".join(f"q1 Q0 d{place} {place} {place / 10} knn\n" for place in range(1, 7))
TIED = "q1 Q0 d1 1 2 t\nq1 Q0 d2 2 2 t\nq1 Q0 d3 3 1 t\n"
CHANGING = (
    *("top 10 without", "lower scores", "rank contradicts", "tied with", "unknown document"),
    *("query ids that are known", "document ids that are known"),
)


def checked(bench: Bench, row: Dataset, file: Path) -> list[str]:
    """What `check` says of all that changes numbers."""
    report = doctor.check(file, against=known(bench.store, row))
    return sorted(
        f"{finding.what}: {finding.example} → {finding.treatment}"
        for finding in report.findings
        if finding.what.startswith(CHANGING)
    )


def said(bench: Bench, row: Dataset, file: Path, text: str) -> list[str]:
    """What the import says, which `check` says as well."""
    file.write_text(text, encoding="utf-8")
    remarks = imports.import_run(bench, file, row).hits.provenance.get("remarks", [])
    assert sorted(remarks) == checked(bench, row, file)
    return remarks


def test_distances_are_told_by_the_import_with_what_to_do(
    bench: Bench, tiny: Dataset, tmp_path: Path
) -> None:
    lower, contradicted = said(bench, tiny, tmp_path / "run", DISTANCES)
    assert lower == (
        "lower scores look better: scores rise with the ranks in 5 of 5 steps, as query 'q1', 0.1"
        " before 0.2 → the highest score ranks first: if low scores are good, as for"
        " distances, negate them"
    )
    assert contradicted.startswith("rank contradicts score: query 'q1', rank 1 before 2, score 0.1")


@pytest.mark.long
@pytest.mark.parametrize("rank", ["0", "-", "1"])
def test_ranks_that_say_nothing_leave_the_order_of_the_lines(
    bench: Bench, tiny: Dataset, tmp_path: Path, rank: str
) -> None:
    lines = "".join(f"q1 Q0 d{place} {rank} {place} knn\n" for place in range(1, 7))
    (lower,) = said(bench, tiny, tmp_path / "run", lines)
    assert "scores rise with the lines in 5 of 5 steps" in lower


def test_fewer_than_half_of_the_steps_rising_is_no_remark(
    bench: Bench, tiny: Dataset, tmp_path: Path
) -> None:
    scores = (6, 7, 5, 6, 4, 3)
    lines = "".join(f"q1 Q0 d{place} 0 {score} knn\n" for place, score in enumerate(scores))
    assert not any("scores rise" in remark for remark in said(bench, tiny, tmp_path / "run", lines))


def test_lists_that_are_only_turned_round_are_no_distances(
    bench: Bench, tiny: Dataset, tmp_path: Path
) -> None:
    worst_first = "".join(f"q1 Q0 d{n} {7 - n} {n} s\n" for n in range(1, 7))
    assert said(bench, tiny, tmp_path / "run", worst_first) == []


def test_the_share_of_tied_hits_is_told(bench: Bench, tiny: Dataset, tmp_path: Path) -> None:
    (tied,) = said(bench, tiny, tmp_path / "run", TIED)
    assert tied == (
        "tied with another hit: 2 of 3 hits, as query 'q1', score 2 → ranked by document id,"
        " descending, as trec_eval does"
    )


JUDGED = {
    "capitals": ("Doc-1", "doc-1", "'doc-1' is 'Doc-1' in the judgements, in another case"),
    "form": ("caf\u00e9", "cafe\u0301", r"'cafe\u0301' is 'caf\xe9' in the judgements, in another"),
    "zeros": ("007", "7", "'7' is '007' in the judgements, except for leading zeros"),
    "prefix": ("MED-14", "14", "'14' is 'MED-14' in the judgements, except for a prefix"),
    "address": ("x/Abc", "abc", "'abc' is 'x/Abc' in the judgements, except for a prefix"),
}


@pytest.mark.long
@pytest.mark.parametrize("how", JUDGED)
def test_where_no_hit_is_judged_the_nearest_pair_of_ids_is_told(
    bench: Bench, tmp_path: Path, how: str
) -> None:
    theirs, own, words = JUDGED[how]
    qrels = tmp_path / "qrels"
    qrels.write_text(f"q1 0 {theirs} 1\nq1 0 else 0\n", encoding="utf-8")
    row = imports.import_dataset(bench, "bare", qrels=qrels).dataset
    (told,) = said(bench, row, tmp_path / "run", f"q1 Q0 {own} 1 2 s\nq1 Q0 zz 2 1 s\n")
    assert told.startswith(
        "top 10 without judgements: 0 of 2 top-10 hits are judged; its document "
    )
    assert words in told
    assert told.endswith("another spelling of ids? Unjudged counts as not relevant")


@pytest.mark.long
@pytest.mark.parametrize("qrels", ["q1 0 a 0\nq2 0 b -1\n", "q1 0 a 1\nq2 0 a 1\n"])
def test_a_collection_that_begins_with_placeholders_is_not_the_wrong_one(
    bench: Bench, tmp_path: Path, qrels: str
) -> None:
    (tmp_path / "qrels").write_text(qrels, encoding="utf-8")
    row = imports.import_dataset(bench, "bare", qrels=tmp_path / "qrels").dataset
    (told,) = said(bench, row, tmp_path / "run", "q1 Q0 A 1 2 s\nq2 Q0 x 1 2 s\n")
    assert told == (
        "top 10 without judgements: 0 of 2 top-10 hits are judged → the judgements are"
        " placeholders (none above 0, or one document for all queries): judge some documents."
        " Unjudged counts as not relevant"
    )
    assert told.partition(" → ")[2] in str(doctor.check_all([tmp_path])[1].findings)


def test_only_the_top_10_of_judged_queries_are_asked_for(bench: Bench, tmp_path: Path) -> None:
    qrels = tmp_path / "qrels"
    qrels.write_text("q1 0 a 1\n", encoding="utf-8")
    row = imports.import_dataset(bench, "bare", qrels=qrels).dataset
    lines = "".join(f"q1 Q0 x{place} {place} {90 - place} s\n" for place in range(1, 14))
    (told,) = said(bench, row, tmp_path / "run", f"{lines}q1 Q0 a 14 1 s\n")
    assert "0 of 10 top-10 hits are judged → wrong dataset, or another" in told
    assert said(bench, row, tmp_path / "other", "q1 Q0 a 1 9 o\nq1 Q0 x 2 8 o\n") == []


def test_the_top_10_is_by_scores_of_32_bits_as_runs_are_ranked(
    bench: Bench, tmp_path: Path
) -> None:
    """All eleven scores are equal there, so that the last name in the alphabet is first."""
    (tmp_path / "qrels").write_text("q1 0 z 1\n", encoding="utf-8")
    row = imports.import_dataset(bench, "bare", qrels=tmp_path / "qrels").dataset
    lines = "".join(f"q1 Q0 x{place} {place} 1.00000001 s\n" for place in range(1, 11))
    told = said(bench, row, tmp_path / "run", f"{lines}q1 Q0 z 11 1 s\n")
    assert not any("top 10 without judgements" in one for one in told)


def test_qrels_whose_columns_are_exchanged_are_recognised(
    bench: Bench, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    qrels, run = tmp_path / "qrels", tmp_path / "run"
    qrels.write_text("d1 0 q1 1\nd2 0 q2 1\n", encoding="utf-8")
    run.write_text("q1 Q0 d1 1 2 s\nq2 Q0 d2 1 2 s\n", encoding="utf-8")
    row = imports.import_dataset(bench, "turned", qrels=qrels).dataset
    words = "the judgements' queries are documents of the run: exchange the columns of the qrels"
    with pytest.raises(Exception, match=f"is a query of turned: {words}"):
        imports.import_run(bench, run, row)
    report = doctor.check(run, against=known(bench.store, row))
    assert report.findings[0].treatment == words
    # Numbers are ids of both, so that the queries are known.
    qrels.write_text("1 0 2 1\n3 0 1 1\n2 0 3 1\n", encoding="utf-8")
    row = imports.import_dataset(bench, "numbers", qrels=qrels).dataset
    (told,) = said(bench, row, run, "2 Q0 1 1 2 s\n1 Q0 3 1 2 s\n3 Q0 2 1 1 s\n")
    assert f"0 of 3 top-10 hits are judged; {words}" in told


def test_check_beside_the_only_qrels_file_says_it_too(tmp_path: Path) -> None:
    for name, text in (("a.run", "q1 Q0 D1 1 2 s\n"), ("qrels", "q1 0 d1 1\n")):
        (tmp_path / name).write_text(text, encoding="utf-8")
    report, _ = doctor.check_all([tmp_path / "a.run", tmp_path / "qrels"])
    (finding,) = report.findings
    assert finding.what == "top 10 without judgements"
    assert "its document 'D1' is 'd1' in the judgements" in finding.example


@pytest.mark.long
def test_the_command_and_the_page_say_the_remarks_each_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("BEIRSCOPE_HOME", str(tmp_path / "home"))
    assert main(["import-dataset", str(write_tiny(tmp_path / "tiny")), "--name", "tiny"]) == 0
    file = tmp_path / "knn.run"
    file.write_text(DISTANCES, encoding="utf-8")
    for _ in range(2):
        capsys.readouterr()
        assert main(["import-run", str(file), "--dataset", "tiny"]) == 0
        out = capsys.readouterr().out
        assert "\n  remark: lower scores look better: scores rise" in out
        assert "\n  remark: rank contradicts score: query 'q1'" in out
    order = {"dataset": "tiny", "systems": ["knn"], "options": {}}
    (answer,) = upload_process.ask("take runs", [Upload("knn.run", file)], **order)
    assert "; lower scores look better: scores rise" in answer["said"]


def test_ids_that_only_case_or_normal_form_tells_apart_are_remarked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("BEIRSCOPE_HOME", str(tmp_path / "home"))
    folder = write_tiny(tmp_path / "tiny")
    assert doctor.check(folder).findings == ()
    with (folder / "corpus.jsonl").open("a", encoding="utf-8") as corpus:
        for name in ("D1", "caf\u00e9", "cafe\u0301", "12"):
            corpus.write(json.dumps({"_id": name, "title": "", "text": "Some text."}) + "\n")
    (finding,) = doctor.check(folder).findings
    assert finding.what == "document ids that differ only in case or Unicode's normal form"
    assert (finding.count, finding.refused) == (2, False)
    assert finding.example == "'d1' and 'D1'"
    assert main(["import-dataset", str(folder), "--name", "tiny"]) == 0
    assert "remark: 2 pairs of document ids that differ only in case" in capsys.readouterr().out


SPELT = {
    "float": ("7.0", "7", "except for a suffix"),
    "quotes": ('"007"', "007", "except for a prefix and a suffix"),
    "ending": ("007.txt", "007", "except for a suffix"),
    "brackets": ("[007]", "007", "except for a prefix and a suffix"),
    "bytes": ("b'007'", "007", "except for a prefix and a suffix"),
    "mark": ("\u200f007", "007", "except for a prefix"),
    "path": ("docs/007", "007", "except for a prefix"),
    "zeros": ("7", "007", "except for leading zeros"),
    "prefix": ("q7", "7", "except for a prefix"),
    "hidden": ("\u200b007", "007", "except for a prefix"),
    "form": ("cafe\u0301", "caf\u00e9", "in another normal form of Unicode"),
    "case": ("Doc", "doc", "in another case"),
}


@pytest.mark.parametrize(
    "how",
    [
        # The other ways are met where no hit is judged, too.
        pytest.param(how, marks=() if how in ("quotes", "hidden") else pytest.mark.long)
        for how in SPELT
    ],
)
def test_ids_written_otherwise_are_told_where_they_are_half_of_them(
    bench: Bench, tmp_path: Path, how: str
) -> None:
    """Of documents without a corpus and with one, and of queries; then of all queries."""
    own, theirs, way = SPELT[how]
    said_pair = f"{own!r} is {theirs!r}" if how not in ("form", "hidden", "mark") else ascii(own)
    (tmp_path / "qrels").write_text(f"q1 0 {theirs} 1\nq1 0 b 1\n{theirs} 0 b 1\n", "utf-8")
    row = imports.import_dataset(bench, "bare", qrels=tmp_path / "qrels").dataset
    (told,) = said(bench, row, tmp_path / "run", f"q1 Q0 {own} 1 3 s\nq1 Q0 b 2 2 s\n")
    assert told.startswith("document ids that are known ones in a different spelling: its document")
    assert f"{said_pair}" in told
    assert f"in the judgements, {way}; in all 1 of 1 unknown ids → " in told
    (told,) = said(bench, row, tmp_path / "other", f"{own} Q0 b 1 3 o\nq1 Q0 b 1 3 o\n")
    assert told.startswith("query ids that are known ones in a different spelling: its query ")
    assert f"in bare, {way}; in all 1 of 1 unknown ids → " in told
    (tmp_path / "all").write_text(f"{own} Q0 b 1 3 a\n", "utf-8")
    with pytest.raises(WrongInput, match=r"another dataset\? its query ") as caught:
        imports.import_run(bench, tmp_path / "all", row)
    assert way in str(caught.value)


def test_documents_that_the_corpus_lacks_are_told_by_the_import_too(
    bench: Bench, tiny: Dataset, tmp_path: Path
) -> None:
    run = "q1 Q0 D1 1 3 s\nq1 Q0 d2 2 2 s\nq1 Q0 nowhere 3 1 s\n"
    told = said(bench, tiny, tmp_path / "run", run)
    otherwise, unknown = (one for one in told if one.startswith(("document", "unknown")))
    assert "its document 'D1' is 'd1' in tiny, in another case" in otherwise
    assert "in all 1 of 2 unknown ids" in otherwise
    assert unknown == "unknown document: 2 documents, as 'D1'; 2 hits in all → kept, as unjudged"
    (tmp_path / "none").write_text("q1 Q0 x 1 3 n\n", "utf-8")
    with pytest.raises(WrongInput, match="its first is 'x', and that of tiny 'd1'"):
        imports.import_run(bench, tmp_path / "none", tiny)


def test_other_documents_are_no_known_ones(bench: Bench, tmp_path: Path) -> None:
    """Unjudged documents are nothing to remark; chance makes few of many ids nearly equal."""
    judged = "q1 0 FT911-1 1\nq1 0 numpy.linalg 1\nq1 0 2101.00051 1\nq1 0 clueweb-00-1 0\n"
    (tmp_path / "qrels").write_text(judged, "utf-8")
    row = imports.import_dataset(bench, "bare", qrels=tmp_path / "qrels").dataset
    others = ["WSJ911-1", "numpy.linalg.norm", "2101.0005", "clueweb-01-1", "FT911-10", "1"]
    lines = "".join(f"q1 Q0 {name} 2 {n} s\n" for n, name in enumerate(others))
    assert not any(
        "otherwise: its" in told
        for told in said(bench, row, tmp_path / "run", f"{lines}q1 Q0 FT911-1 1 9 s\n")
    )
    many = "".join(
        f"q{n} Q0 a 1 61 m\n" + "".join(f"q{n} Q0 u{n}-{k} 1 {50 - k} m\n" for k in range(10, 21))
        for n in range(1, 17)
    )
    lines = "".join(f"q{n} 0 a 1\n" for n in range(1, 17)) + "q1 0 Apple 1\n"
    (tmp_path / "qrels").write_text(lines, "utf-8")
    row = imports.import_dataset(bench, "wiki", qrels=tmp_path / "qrels").dataset
    run = f"q1 Q0 APPLE 1 62 m\n{many}"
    assert said(bench, row, tmp_path / "wiki", run) == []


def test_the_file_whose_columns_are_exchanged_is_named(bench: Bench, tmp_path: Path) -> None:
    (tmp_path / "qrels").write_text("q1 0 d1 1\nq1 0 d2 0\nq1 0 d3 1\n", "utf-8")
    row = imports.import_dataset(bench, "bare", qrels=tmp_path / "qrels").dataset
    (tmp_path / "run").write_text("".join(f"d{n} Q0 q1 1 {n} s\n" for n in (1, 2, 3)), "utf-8")
    with pytest.raises(WrongInput, match="the run's queries are judged documents: exchange its"):
        imports.import_run(bench, tmp_path / "run", row)
    report = doctor.check(tmp_path / "run", against=known(bench.store, row))
    assert "exchange its first and third columns" in report.findings[0].treatment
