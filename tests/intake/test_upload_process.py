"""Uploaded files are looked at and taken in by a process of its own; tables say what came of it."""

import io
import shutil
import subprocess
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from compute.datasets import Dataset
from compute.intake import imports, upload_process, uploads
from compute.store import run_versions
from compute.store.loading import Bench
from compute.store.own_datasets import own_datasets
from compute.views.data import importing as figures
from tests.support.processes import prepared
from tests.support.tiny import write_tiny

RUN = b"q1 Q0 d1 1 2.0 mine\nq1 Q0 d2 2 1.0 mine\nq2 Q0 d3 1 1.0 mine\n"
FILES = {
    "<b>good.run": RUN,
    "none.run": b"q1 Q0 d1 1 2.0 other\nq1 Q0 d2 2 nan other\n",
    "qrels.txt": b"q1 0 d1 1\n",
}


@pytest.fixture
def at_home(bench: Bench, tiny: Dataset, monkeypatch: pytest.MonkeyPatch) -> Bench:
    """The process finds the test's home as the dashboard's would, by the environment."""
    monkeypatch.setenv("BEIRSCOPE_HOME", str(bench.store.home))
    # It begins with what it imports: each would take a second for it.
    quick = SimpleNamespace(Popen=prepared.Popen, PIPE=subprocess.PIPE)
    monkeypatch.setattr(upload_process, "subprocess", quick)
    return bench


def asked(bench: Bench, wanted: str, files: dict[str, bytes], **about: object) -> list[dict]:
    content = [(name, io.BytesIO(data)) for name, data in files.items()]
    with uploads.kept(bench.settings, content) as kept:
        found = list(upload_process.ask(wanted, kept, **about))
    assert list((bench.store.home / "uploads").iterdir()) == []
    return found


@pytest.mark.long
def test_files_are_reported_under_their_own_names_and_then_taken_in(at_home: Bench) -> None:
    told = asked(at_home, "look", FILES, dataset="tiny")
    assert [answer["file"] for answer in told] == list(FILES)
    assert [answer["tag"] for answer in told] == ["mine", "other", ""]
    assert str(at_home.store.home) not in str(told)
    assert at_home.store.parts("hits", "tiny") == []
    refused = figures.refusals(told)
    assert [answer["file"] for answer in refused] == ["none.run", "qrels.txt"]
    assert "line 2" in refused[0]["said"]
    assert figures.stopped(told).startswith("none.run: ") and "line 2" in figures.stopped(told)
    options = {"replace": False, "drop_equal_ids": False}
    names = ["mine", "", "third"]
    told = asked(at_home, "take runs", FILES, dataset="tiny", systems=names, options=options)
    assert [answer["ok"] for answer in told] == [True, False, False]
    assert told[0]["said"].startswith("nDCG@10 ")
    assert told[1]["said"].startswith("none.run, line 2: score is 'nan'")
    (part,) = at_home.store.parts("hits", "tiny")
    assert (part.system, part.provenance["file"]) == ("mine", "<b>good.run")


@pytest.mark.long
def test_one_run_of_several_tags_is_remarked_and_taken_in_by_its_name(at_home: Bench) -> None:
    files = {
        "a.run": RUN.replace(b"d2 2 1.0 mine", b"d2 2 1.0 x"),
        "b.run": RUN.replace(b" mine", b""),
    }
    told = asked(at_home, "look", files, dataset="tiny")
    assert not any(answer["report"]["refused"] for answer in told)
    whats = [{finding["what"] for finding in answer["report"]["findings"]} for answer in told]
    assert "tag that changes" in whats[0] and "no tag" in whats[1]
    options = {"replace": False, "drop_equal_ids": False}
    names = {"dataset": "tiny", "systems": ["one", "two"], "options": options}
    assert all(answer["ok"] for answer in asked(at_home, "take runs", files, **names))
    assert {part.system for part in at_home.store.parts("hits", "tiny")} == {"one", "two"}


@pytest.mark.long
def test_a_dataset_comes_from_judgements_and_texts(at_home: Bench) -> None:
    files = {"qrels.txt": b"q1 0 d1 1\n", "topics.tsv": b"q1\twhat it asks\n"}
    kinds = [one["report"]["kind"] for one in asked(at_home, "look", files, dataset="")]
    assert kinds == ["qrels", "queries"]
    options = {"split": "", "language": "pl", "drop_self": False}
    order = {"as": ["qrels", "queries"], "name": "bare", "options": options}
    (told,) = asked(at_home, "take dataset", files, **order)
    assert told["said"] == "0 documents, 1 queries, 1 judgement"
    row = own_datasets(at_home.store)["bare"]
    assert (row.language, row.note) == ("pl", "Uploaded as qrels.txt, topics.tsv.")


@pytest.mark.long
def test_what_topics_hold_beside_the_texts_is_told_before_and_after(at_home: Bench) -> None:
    topics = b"<topic number='q1'><title>growth of <i>E. coli</i></title><x>n</x></topic>"
    files = {"qrels.txt": b"q1 0 d1 1\n", "topics.xml": topics}
    seen = asked(at_home, "look", files, dataset="")[1]["report"]
    told = "; ignored fields of the topics: '<i>' once, 'x' once"
    assert seen["counts"] == {"queries": 1}
    assert f"; {seen['findings'][0]['example']}" == told
    options = {"split": "", "language": "en", "drop_self": False}
    order = {"as": ["qrels", "queries"], "name": "bare", "options": options}
    (taken,) = asked(at_home, "take dataset", files, **order)
    assert taken["said"] == f"0 documents, 1 queries, 1 judgement{told}"


@pytest.mark.long
def test_all_files_of_a_dataset_come_in_at_once(at_home: Bench) -> None:
    """In whichever order they were chosen; without judgements the runs are enough."""
    files = {"a.run": RUN, "topics.tsv": b"q1\tone\nq2\ttwo\nq3\tthree\n", "b.run": RUN}
    options = {"split": "", "language": "en", "drop_self": False}
    order = {"as": ["run", "queries", "run"], "name": "bare", "options": options}
    told = asked(at_home, "take dataset", files, **order, systems=["one", "two"])
    assert [one["ok"] for one in told] == [True, True, True]
    assert "no judgements yet" in told[0]["said"]
    assert own_datasets(at_home.store)["bare"].note == "Uploaded as topics.tsv, a.run, b.run."
    assert {part.system for part in at_home.store.parts("hits", "bare")} == {"one", "two"}
    late = {"as": ["qrels"], "name": "bare", "systems": [], "options": {}, "new": False}
    (added,) = asked(at_home, "take dataset", {"q.txt": b"q1 0 d1 1\n"}, **late)
    assert added["ok"] and "1 judgement" in added["said"]
    judged = {"qrels.txt": b"q1 0 d1 1\n"} | files
    order |= {"as": ["qrels", *order["as"]], "name": "judged"}
    told = asked(at_home, "take dataset", judged, **order, systems=["one", "two"])
    assert [one["ok"] for one in told] == [True, True, True]
    assert "nDCG@10" in told[1]["said"]


@pytest.mark.long
def test_a_run_may_rerank_another_of_the_same_import(at_home: Bench) -> None:
    files, options = {"b.run": RUN, "a.run": RUN}, {"replace": False, "drop_equal_ids": False}
    order = {"dataset": "tiny", "systems": ["again", "first"], "options": options}
    told = asked(at_home, "take runs", files, **order, how=[{"after": "first"}, {}])
    assert [(answer["system"], answer["ok"]) for answer in told] == [("first", 1), ("again", 1)]
    (part,) = at_home.store.parts("hits", "tiny", "again")
    assert part.provenance["first_stage"] == "first"


@pytest.mark.long
def test_files_of_one_import_never_replace_each_other(at_home: Bench) -> None:
    files = {"a.run": RUN, "b.run": RUN.replace(b"2.0", b"9.0")}
    options = {"replace": True, "drop_equal_ids": False}
    names = ["mine", ""]
    told = asked(at_home, "take runs", files, dataset="tiny", systems=names, options=options)
    assert [answer["ok"] for answer in told] == [True, False]
    assert told[1]["said"].startswith("b.run: mine has another run on tiny")


@pytest.mark.long
def test_what_an_upload_replaces_is_kept_where_it_is_told_to(at_home: Bench) -> None:
    options = {"replace": True, "drop_equal_ids": False, "version": ["", "more"]}
    for run in (RUN, RUN.replace(b"2.0", b"9.0")):
        order = {"dataset": "tiny", "systems": ["mine"], "options": options}
        (told,) = asked(at_home, "take runs", {"a.run": run}, **order)
    assert told["said"].endswith("; version 2; the previous run is kept as mine@1")
    assert [part.system for part in run_versions.stored(at_home.store)] == ["mine@1"]


@pytest.mark.long
def test_a_new_dataset_takes_no_other_s_place(at_home: Bench) -> None:
    options = {"split": "", "language": "en", "drop_self": False}
    order = {"as": ["qrels"], "name": "tiny", "options": options}
    before = at_home.store.parts(dataset="tiny")
    (told,) = asked(at_home, "take dataset", {"qrels.txt": b"q1 0 d1 1\n"}, **order)
    assert (told["ok"], told["said"].partition(":")[0]) == (False, "tiny is already stored here")
    assert at_home.store.parts(dataset="tiny") == before


def test_what_cannot_be_begun_is_said_in_one_sentence(at_home: Bench) -> None:
    (told,) = asked(at_home, "look", {"x.run": RUN}, dataset="ghost")
    assert told["error"].startswith("no dataset 'ghost'")


def test_a_bug_is_told_as_one(at_home: Bench) -> None:
    (told,) = asked(at_home, "look", {"x.run": RUN}, dataset=["no", "word"])
    assert "in Beirscope, not in your input: please report" in told["error"]
    (log,) = (at_home.store.home / "logs").glob("bug-*.log")
    assert str(log) in told["error"] and "Traceback" in log.read_text("utf-8")


def test_tables_tell_what_is_in_files_and_what_is_wrong() -> None:
    where = {"file": "x", "line": 3}
    finding = {"what": "tied", "count": 2, "example": "e", "where": where, "treatment": "t"}
    counts = {"hits": 30000, "queries": 30, "shortest list": 44, "longest list": 98}
    reports = [
        {
            "path": "x",
            "kind": "run",
            "counts": counts,
            "refused": True,
            "findings": [finding | {"refused": False}, finding | {"what": "nan", "refused": True}],
        },
    ]
    (row,) = figures.contents(reports, ["run"]).to_dict("records")
    assert row["Content"] == "30,000 hits, 30 queries, lists of 44 to 98"
    assert row["Importable"] == "no"
    assert figures.troubles(reports)["Issue"].tolist() == ["nan", "tied"]
    assert figures.troubles(reports)["Line"].tolist() == ["3", "3"]
    assert figures.troubles([]).empty
    assert Path(figures.refusals([{"report": reports[0]}])[0]["file"]).name == "x"


def test_a_sound_file_in_the_wrong_place_is_sent_to_the_right_one() -> None:
    reports = [
        {"path": kind, "kind": kind, "counts": {}, "refused": False, "findings": []}
        for kind in ("run", "qrels")
    ]
    as_runs = figures.contents(reports, ["run"])["Importable"].tolist()
    assert as_runs == ["import it elsewhere: choose “A new dataset”", "yes"]
    as_dataset = figures.contents(reports, ["qrels"])["Importable"].tolist()
    assert as_dataset == ["import it elsewhere: choose its dataset", "yes"]
    alone = figures.contents(reports[:1], ["qrels"])["Importable"].tolist()
    assert alone == ["import it elsewhere: choose its dataset"]


def test_one_of_a_kind_is_not_many() -> None:
    counts = {"hits": 1, "queries": 1, "shortest list": 1, "longest list": 1}
    report = {"path": "x", "kind": "run", "counts": counts, "refused": False, "findings": []}
    (row,) = figures.contents([report], ["run"]).to_dict("records")
    assert row["Content"] == "1 hit, 1 query, lists of 1"


def test_results_name_no_option_of_the_command_line() -> None:
    said = "taken: name it (--system NAME), or put it there (--replace)"
    told = figures.results([{"file": "x", "ok": False, "said": said}])
    assert told["Result"].tolist() == ["taken: name it, or put it there"]
    assert "System" not in told
    run = {"file": "x", "ok": True, "said": "fine", "system": "bm25"}
    assert figures.results([run])["System"].tolist() == ["bm25"]


def test_names_that_several_runs_would_have_are_found() -> None:
    assert figures.repeated(["b", "a", "b", "c", "a"]) == ["b", "a"]
    assert figures.repeated(["a", "b"]) == []


def test_names_that_stored_runs_have_are_told_before_the_import() -> None:
    assert figures.taken(["a", "b"], {"c"}, "tiny", replace=False) == ""
    kept = figures.taken(["a", "b"], {"b"}, "tiny", replace=False)
    assert kept.startswith(
        "Already stored on tiny: b. Importing the same file again changes nothing;"
    )
    gone = figures.taken(["a", "b"], {"a", "b"}, "tiny", replace=True)
    assert gone == "Already stored on tiny: a, b. These files replace what is stored."
    version = figures.taken(["a"], {"a"}, "tiny", replace=True, as_version=True)
    assert version.endswith("tiny: a. The stored runs are kept as older versions.")


def reported(path: str, kind: str, **counts: float) -> dict[str, Any]:
    return {"path": path, "kind": kind, "refused": False, "findings": [], "counts": counts}


def test_files_that_have_no_place_stand_first() -> None:
    runs = [reported(f"{place}.run", "run", hits=3, queries=1) for place in range(21)]
    table = figures.contents([*runs, reported("qrels.txt", "qrels", judgements=1)], ["run"])
    assert table["File"].tolist()[:2] == ["qrels.txt", "0.run"]
    assert table["Importable"][0].startswith("import it elsewhere")
    assert table["Content"][1] == "3 hits, 1 query"


def test_an_archive_says_what_it_holds_and_which_judgements_there_are() -> None:
    counts = {"queries": 3, "dev queries": 1, "dev judgements": 1, "dev relevance 1": 1}
    archive = reported("mine.zip", "BEIR archive", **counts, **{"test queries": 2})
    archive["counts"]["test judgements"] = 1200
    assert figures.inside(archive).startswith("mine.zip holds 3 queries, 1 dev queries, ")
    assert figures.splits(archive) == {
        "dev": "1 judgement, 1 query",
        "test": "1,200 judgements, 2 queries",
    }
    assert figures.splits(reported("qrels.txt", "qrels", judgements=1)) == {}


@pytest.mark.long
def test_texts_are_added_from_an_archive_and_what_is_refused_says_why(
    at_home: Bench, tmp_path: Path
) -> None:
    (tmp_path / "qrels.txt").write_text("q1 0 d1 1\nq2 0 d2 1\n", "utf-8")
    imports.import_dataset(at_home, "alone", qrels=tmp_path / "qrels.txt")
    whole = shutil.make_archive(str(tmp_path / "tiny"), "zip", write_tiny(tmp_path / "beir"))
    archive = {"tiny.zip": Path(whole).read_bytes()}
    (answer,) = asked(at_home, "take texts", archive, dataset="alone")
    assert (answer["ok"], answer["file"]) == (True, "tiny.zip")
    assert answer["said"] == "texts of 6 documents and 2 queries"
    command = at_home.store.parts("documents", "alone")[0].provenance["command"]
    assert command == "python -m compute add-texts alone tiny.zip"
    (again,) = asked(at_home, "take texts", archive, dataset="alone")
    told = "tiny.zip has no narrative of a query of alone, whose texts are already here: "
    assert not again["ok"] and again["said"].startswith(told)
    topics = {"topics.txt": b"<top><num>q1<title>t<narr>n</top><top><num>q2<title>u</top>"}
    seen = asked(at_home, "look", topics, dataset="alone")[0]["report"]
    assert (seen["kind"], seen["counts"]) == ("queries", {"queries": 2, "narratives": 1})
    (added,) = asked(at_home, "take texts", topics, dataset="alone")
    assert (added["ok"], added["said"]) == (True, "narratives of 1 query")


@pytest.mark.long
def test_the_look_says_that_an_archive_is_another_collection(
    at_home: Bench, tmp_path: Path
) -> None:
    (tmp_path / "qrels.txt").write_text("q1 0 d1 1\nx7 0 z1 1\n", "utf-8")
    imports.import_dataset(at_home, "alone", qrels=tmp_path / "qrels.txt")
    whole = shutil.make_archive(str(tmp_path / "tiny"), "zip", write_tiny(tmp_path / "beir"))
    archive = {"tiny.zip": Path(whole).read_bytes()}
    (answer,) = asked(at_home, "look", archive, dataset="alone")
    (first, *_) = answer["report"]["findings"]
    assert answer["report"]["refused"] and first["refused"]
    (refused,) = asked(at_home, "take texts", archive, dataset="alone")
    # What the look says is what the button would have said.
    assert refused["said"] == f"tiny.zip: {first['example']}"
    assert first["example"].startswith("1 query of alone, as 'x7', ")
    assert figures.stopping(answer["report"]) == (
        f"{upload_process.STRANGE}: {first['example']}; {upload_process.ELSEWHERE}"
    )


def test_the_look_finds_nothing_wrong_with_the_texts_that_are_lacking(
    at_home: Bench, tmp_path: Path
) -> None:
    (tmp_path / "qrels.txt").write_text("q1 0 d1 1\n", "utf-8")
    imports.import_dataset(at_home, "alone", qrels=tmp_path / "qrels.txt")
    whole = shutil.make_archive(str(tmp_path / "tiny"), "zip", write_tiny(tmp_path / "beir"))
    (answer,) = asked(at_home, "look", {"tiny.zip": Path(whole).read_bytes()}, dataset="alone")
    assert figures.stopping(answer["report"]) == "" and not answer["report"]["refused"]


@pytest.mark.long
def test_documents_only_are_added_to_a_dataset_with_texts_of_its_queries(
    at_home: Bench, tmp_path: Path
) -> None:
    (tmp_path / "topics.tsv").write_text("q1\tone\nq2\ttwo\n", "utf-8")
    (tmp_path / "qrels.txt").write_text("q1 0 d1 1\nq2 0 d2 1\n", "utf-8")
    given = {"qrels": tmp_path / "qrels.txt", "queries": tmp_path / "topics.tsv"}
    imports.import_dataset(at_home, "asked", **given)
    imports.import_dataset(at_home, "bare", qrels=tmp_path / "qrels.txt")
    files = {"corpus.jsonl": (write_tiny(tmp_path / "beir") / "corpus.jsonl").read_bytes()}
    (seen,) = asked(at_home, "look", files, dataset="asked")
    assert (seen["report"]["kind"], seen["report"]["counts"]) == ("documents", {"documents": 6})
    assert not seen["report"]["findings"]
    for dataset, why in (("bare", "bare lacks the texts of its queries"), ("", "")):
        report = asked(at_home, "look", files, dataset=dataset)[0]["report"]
        assert report["kind"] == "documents" and why in figures.stopping(report)
        assert report["refused"] == bool(why)
    (answer,) = asked(at_home, "take texts", files, dataset="asked")
    assert answer["said"] == "texts of 6 documents and 2 queries"
    strange = {"corpus.jsonl": b'{"_id": "x", "title": "", "text": "y"}\n'}
    imports.import_dataset(at_home, "other", **given)
    (seen,) = asked(at_home, "look", strange, dataset="other")
    assert "0 of the 2 judged documents of other" in figures.stopping(seen["report"])
