"""Datasets that begin without judgements, and how these come to them."""

import json
from pathlib import Path

import pytest

from compute.__main__ import main
from compute.base.errors import Conflict, WrongInput
from compute.datasets.shapes import How
from compute.intake import doctor, imports
from compute.recompute.run import read
from compute.store import freshness
from compute.store.loading import Bench, Loaded
from tests.support.tiny import write_tiny
from tests.support.unjudged import ROWS, TEXTS, unjudged, written

COLUMNS = ["query_id", "text"]


def scores(bench: Bench, loaded: Loaded, system: str = "a") -> dict[str, float]:
    """nDCG@10 by query of a run that shows."""
    fresh, stale = freshness.split(bench.store.parts())
    assert not stale
    (part,) = [one for one in fresh if (one.kind, one.system) == ("scores", system)]
    rows = read(part)
    rows = rows[rows["measure"] == "nDCG@10"]
    return dict(zip(rows["query_id"], rows["value"], strict=True))


def test_runs_make_a_dataset_of_their_queries_and_of_the_texts_they_have(
    bench: Bench, tmp_path: Path
) -> None:
    loaded = unjudged(bench, tmp_path)
    assert (loaded.judgements.rows, loaded.dataset.relevance) == (0, "")
    assert read(loaded.queries)[["query_id", "text"]].values.tolist() == [
        ["q1", "one wing"],
        ["q2", "two wings"],
        ["q3", "three"],
    ]
    assert loaded.documents is not None
    documents = read(loaded.documents)
    assert dict(documents[["doc_id", "text"]].values.tolist()) == TEXTS
    assert scores(bench, loaded) == {}
    made = "import-dataset --runs a.json b.json --name bare"
    assert loaded.queries.provenance["command"] == f"python -m compute {made}"


def test_texts_of_queries_may_come_from_a_file(bench: Bench, tmp_path: Path) -> None:
    run = tmp_path / "plain.run"
    run.write_text("q1 Q0 d1 1 2 t\nq2 Q0 d9 1 2 t\n")
    topics = tmp_path / "topics"
    topics.write_text("".join(f"<top><num>q{n}<title>{n}<narr>of {n}</top>" for n in (2, 1, 7)))
    loaded = imports.import_dataset(bench, "topical", files=[(run, How())], queries=topics)
    assert loaded.documents is None
    assert dict(read(loaded.queries)[COLUMNS].values.tolist()) == {
        "q1": "1",
        "q2": "2",
    }
    told = [["q2", "of 2"], ["q1", "of 1"]]
    assert loaded.narratives and read(loaded.narratives)[COLUMNS].to_numpy().tolist() == told
    # Judgements that come later have no topics; these stay.
    qrels = tmp_path / "qrels"
    qrels.write_text("q1 0 d1 1\n")
    judged = imports.import_dataset(bench, "topical", qrels=qrels)
    assert judged.narratives == loaded.narratives
    topics.write_text("q2\ttwo\n")
    with pytest.raises(WrongInput, match="lacks the texts of 1 of 2 queries of the runs"):
        imports.import_dataset(bench, "another", files=[(run, How())], queries=topics)


@pytest.mark.long
def test_judgements_that_come_later_score_the_runs(bench: Bench, tmp_path: Path) -> None:
    loaded = unjudged(bench, tmp_path)
    qrels = tmp_path / "qrels"
    qrels.write_text("q1 0 d1 1\nq2 0 d3 0\nq2 0 d4 1\n")
    judged = imports.import_dataset(bench, "bare", qrels=qrels)
    assert judged.queries.fingerprint == loaded.queries.fingerprint
    assert judged.documents == loaded.documents
    assert (judged.judgements.rows, judged.dataset.relevance) == (3, "Binary")
    made = loaded.queries.provenance["command"]
    again = f"{made} && python -m compute import-dataset --qrels qrels --name bare"
    assert judged.queries.provenance["command"] == again
    assert imports.replaced(bench.store, judged) == ""
    assert scores(bench, judged) == {"q1": 1.0, "q2": 0.0}, "q3 is not judged"
    with pytest.raises(WrongInput, match="none of its queries is a query of other"):
        other = unjudged(bench, tmp_path, name="other")
        qrels.write_text("x 0 d1 1\n")
        imports.import_dataset(bench, other.dataset.name, qrels=qrels)


@pytest.mark.long
def test_judgements_bring_queries_that_no_run_answers(bench: Bench, tmp_path: Path) -> None:
    unjudged(bench, tmp_path)
    rows = {"q1": {"d2": 1}, "new": {"d1": 1}}
    judged = imports.import_dataset(
        bench, "bare", qrels=written(tmp_path / "qrels.json", rows), how=How("judgements")
    )
    assert read(judged.queries)["query_id"].tolist() == ["q1", "q2", "q3", "new"]
    assert scores(bench, judged) == pytest.approx({"q1": 0.6309, "new": 0.0}, abs=1e-4)


@pytest.mark.long
def test_judgements_may_call_queries_by_their_texts(bench: Bench, tmp_path: Path) -> None:
    unjudged(bench, tmp_path)
    rows = [{"query": "one  wing", "expected": ["d1"]}]
    judged = imports.import_dataset(bench, "bare", qrels=written(tmp_path / "qrels.json", rows))
    assert judged.queries.rows == 3
    assert scores(bench, judged) == {"q1": 1.0}


def test_judgements_beside_runs_keep_their_texts(bench: Bench, tmp_path: Path) -> None:
    qrels = tmp_path / "qrels"
    qrels.write_text("q1 0 d1 1\n")
    files = [(written(tmp_path / "a.json", ROWS["a"]), How())]
    loaded = imports.import_dataset(bench, "both", qrels=qrels, files=files)
    assert read(loaded.queries)["text"].tolist() == ["one wing"]
    assert loaded.documents is not None and loaded.judgements.rows == 1


def test_a_folder_without_qrels_is_taken_in(bench: Bench, tmp_path: Path) -> None:
    folder = write_tiny(tmp_path / "tiny")
    (folder / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\n")
    report = doctor.check(folder)
    assert not report.refused and "no judgement" in {one.what for one in report.findings}
    empty = imports.import_dataset(bench, "tiny", path=folder)
    for file in (folder / "qrels").iterdir():
        file.unlink()
    report = doctor.check(folder)
    assert not report.refused and "no qrels" in {one.what for one in report.findings}
    loaded = imports.import_dataset(bench, "tiny", path=folder)
    assert loaded.judgements.rows == empty.judgements.rows == 0
    assert loaded.queries.rows == len((folder / "queries.jsonl").read_text().splitlines())


def test_an_empty_qrels_needs_runs(bench: Bench, tmp_path: Path) -> None:
    qrels = tmp_path / "qrels"
    qrels.write_text("query-id\tcorpus-id\tscore\n")
    with pytest.raises(WrongInput, match="contains no judgement: add some, or also give runs"):
        imports.import_dataset(bench, "none", qrels=qrels)
    files = [(written(tmp_path / "a.json", ROWS["a"]), How())]
    assert imports.import_dataset(bench, "none", qrels=qrels, files=files).judgements.rows == 0
    with pytest.raises(Conflict):
        imports.import_dataset(bench, "none", files=files, new=True)


@pytest.mark.long
def test_commands_say_what_is_lacking(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("BEIRSCOPE_HOME", str(tmp_path / "home"))
    runs = [str(written(tmp_path / f"{name}.json", rows)) for name, rows in ROWS.items()]
    assert main(["import-dataset", "--name", "bare", "--runs", *runs]) == 0
    told = capsys.readouterr().out
    assert "bare: 6 documents, 3 queries, 0 judgements" in told
    assert "a on bare: 9 hits, no scores: nothing is judged yet" in told
    lacking = "import-dataset --qrels FILE --name bare"
    for words in (
        ["scores", "--dataset", "bare"],
        ["holes"],
        ["power", "--dataset", "bare"],
        ["gate", "a", "b", "--dataset", "bare"],
        ["compare", "a", "b", "--dataset", "bare"],
        ["export", "figure", "order", "--dataset", "bare", "--out", str(tmp_path / "x.pdf")],
    ):
        assert main(words) != 0
        told = capsys.readouterr().err
        assert lacking in told and len(told.splitlines()) == 1, words
    assert main(["import-run", runs[0], "--dataset", "nowhere"]) == 2
    assert "import-dataset --runs FILES" in capsys.readouterr().err
    assert main(["import-dataset", "--name", "bare", "--runs", runs[0]]) == 2
    assert "import-run FILES --dataset bare adds runs to it" in capsys.readouterr().err
    assert main(["check", runs[0], "--dataset", "bare"]) == 0
    qrels = tmp_path / "qrels"
    qrels.write_text("q1 0 d1 1\n")
    assert main(["import-dataset", "--qrels", str(qrels), "--name", "bare"]) == 0
    capsys.readouterr()
    assert main(["scores", "--dataset", "bare", "--measure", "RR@10", "--json"]) == 0
    assert {row["value"] for row in json.loads(capsys.readouterr().out)} == {1.0}


def test_what_stands_twice_in_runs_is_counted_and_named(bench: Bench, tmp_path: Path) -> None:
    rows = [
        {
            "query_id": q,
            "query": q,
            "retrieved_ids": ["d1", "d2"],
            "retrieved_contexts": [text, "b"],
        }
        for q, text in (("q1", "one"), ("q2", "another"), ("q1", "one"))
    ]
    files = [written(tmp_path / "a.json", rows), written(tmp_path / "b.json", rows[1:2])]
    loaded = imports.import_dataset(bench, "twice", files=[(file, How()) for file in files])
    told = [
        "1 query in several rows; the first list is kept: 'q1'",
        "1 document with several texts; the first is kept: 'd1'",
    ]
    other = "1 text of documents that differ from earlier files: 'd1'"
    assert [*told, other] == imports.remarks(loaded)[-4:-1]
    found = doctor.check(files[0], home=bench.settings.home)
    assert told == [one.what for one in found.findings][:2]
    assert doctor.check(files[1], home=bench.settings.home).findings == ()
