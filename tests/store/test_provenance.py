"""Provenance: what made a result, told whole, and without what belongs to the machine alone."""

import hashlib
import json
import shlex
from pathlib import Path

import pytest

from compute.__main__ import main
from compute.base import settings
from compute.datasets import DATASETS, Dataset
from compute.intake import imports
from compute.reading.inputs import Inputs
from compute.store import provenance
from compute.store.loading import Bench
from compute.store.store import Store
from compute.views.about import tables as figures
from compute.views.about import view_provenance
from tests.support.storage import hits, publish_run, scores
from tests.support.tiny import write_tiny

LINES = "q1 Q0 d1 1 3.0 t\nq1 Q0 d1 2 2.0 t\nq1 Q0 d2 3 2.0 t\nq9 Q0 d3 1 1.0 t\n"
SECRET = "postgresql://ada:hunter2@db.example.org/beirscope"


@pytest.fixture
def run_file(tmp_path: Path) -> Path:
    file = tmp_path / "some.run"
    file.write_text(LINES, encoding="utf-8")
    return file


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        ("run 'ance(model=/home/ada/x)' nfcorpus", "run 'ance(model=…)' nfcorpus"),
        ("rerank(bm25,~/models/x,depth=100)", "rerank(bm25,…,depth=100)"),
        ("rrf(dense(/srv/a),dense(../b))", "rrf(dense(…),dense(…))"),
        ("import-run '/home/ada/my runs/a.run' --dataset tiny", "import-run … --dataset tiny"),
        ("read file:///srv/x y", "read … y"),
        ("title + ' ' + text, 3 words/s, and/or 1/2", "title + ' ' + text, 3 words/s, and/or 1/2"),
        ("https://example.org/a/b", "https://example.org/a/b"),
        ("dense(sentence-transformers/x)", "dense(sentence-transformers/x)"),
    ],
)
def test_paths_of_a_machine_go(told: str, expected: str) -> None:
    assert provenance.portable(told) == expected


def test_what_is_only_a_path_goes_with_its_key() -> None:
    about = {"path": "D:\\corpora", "root": "/srv/x", "files": [{"name": "a.zip", "path": "b c/d"}]}
    assert provenance.portable(about) == {"files": [{"name": "a.zip"}]}


def test_no_setting_is_in_a_record(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BEIRSCOPE_STATE", SECRET)
    assert settings.load().state == SECRET
    assert "hunter2" not in json.dumps(provenance.record(["run", "bm25", "tiny"], 1.0))


def test_an_imported_run_tells_its_file_and_what_was_left_out(
    bench: Bench, tiny: Dataset, run_file: Path, tmp_path: Path
) -> None:
    imports.import_run(bench, run_file, tiny, system="mine")
    (run,) = provenance.of_runs(bench.store, [("tiny", "mine"), ("tiny", "other")])
    assert run["command"].startswith("python -m compute import-run some.run --dataset tiny")
    assert run["file"] == {"file": "some.run", "sha256": hashlib.sha256(LINES.encode()).hexdigest()}
    assert run["treated"] == {"hits_of_other_queries": 1, "duplicates": 1}
    assert run["is_current"] and not run["shipped"]
    stored = bench.store.part("hits", "tiny", "mine")
    assert stored and run["fingerprints"]["hits"] == stored.fingerprint
    assert set(run["fingerprints"]) == {"queries", "judgements", "hits", "scores"}
    assert str(tmp_path) not in json.dumps(run)


def test_a_collection_tells_its_files_by_name_and_hash(
    bench: Bench, tiny: Dataset, tmp_path: Path
) -> None:
    (found,) = provenance.of_datasets(bench.store, ["tiny", "nowhere"])
    corpus = (tmp_path / "tiny" / "corpus.jsonl").read_bytes()
    files = {file["name"]: file["sha256"] for file in found["source"]["files"]}
    assert files["corpus.jsonl"] == hashlib.sha256(corpus).hexdigest()
    assert set(files) == {"corpus.jsonl", "queries.jsonl", "test.tsv"}
    assert found["rows"] == {"corpus": 6, "documents": 6, "queries": 3, "judgements": 5}
    assert [one["kind"] for one in found["counted"]] == ["length_counts"]
    assert str(tmp_path) not in json.dumps(found)


@pytest.mark.long
def test_the_commands_make_the_same_results_in_another_home(
    bench: Bench, tiny: Dataset, run_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    imports.import_run(bench, run_file, tiny, system="mine")
    shown = Inputs(frozenset({("tiny", "mine")}), frozenset({"tiny"}))
    first = view_provenance.record(bench.store, shown, version=(1, 0))
    monkeypatch.setenv("BEIRSCOPE_HOME", str(tmp_path / "another"))
    monkeypatch.chdir(tmp_path)
    for line in view_provenance.as_shell(first).splitlines():
        assert line.startswith("#") or main(shlex.split(line)[3:]) == 0
    again = view_provenance.record(Store(settings.load()), shown, version=(1, 0))
    assert [run["fingerprints"] for run in again["runs"]] == [
        run["fingerprints"] for run in first["runs"]
    ]
    assert again["collections"][0]["fingerprints"] == first["collections"][0]["fingerprints"]


def test_a_dataset_of_parts_stands_for_its_parts(bench: Bench) -> None:
    forum = DATASETS["cqadupstack"].parts[0]
    publish_run(bench.store, forum, "bm25", hits(("q1", "d1", 1)), scores("nDCG@10", q1=1.0))
    found = provenance.of_runs(bench.store, [("cqadupstack", "bm25"), (forum, "bm25")])
    assert [(run["dataset"], run["system"]) for run in found] == [(forum, "bm25")]


def test_a_run_on_a_replaced_collection_is_old_and_says_what_changed(
    bench: Bench, tiny: Dataset, run_file: Path, tmp_path: Path
) -> None:
    imports.import_run(bench, run_file, tiny, system="mine")
    other = write_tiny(tmp_path / "other")
    qrels = other / "qrels" / "test.tsv"
    qrels.write_text("query-id\tcorpus-id\tscore\nq1\td1\t1\n", encoding="utf-8")
    imports.import_dataset(bench, "tiny", path=other, replace=True)
    (run,) = provenance.of_runs(bench.store, [("tiny", "mine")])
    assert not run["is_current"]
    assert figures.remark(run) == figures.OLD
    chain = figures.chain_table(run, [], provenance.of_datasets(bench.store, ["tiny"])[0])
    assert dict(zip(chain["What"], chain["Now"], strict=True)) == {
        "corpus": "",
        "queries": "replaced since",
        "judgements": "replaced since",
        "run file": "",
    }


def test_a_run_of_other_runs_comes_after_them(bench: Bench) -> None:
    values = scores("nDCG@10", q1=1.0)
    for system in ("a", "b"):
        publish_run(bench.store, "tiny", system, hits(("q1", "d1", 1)), values, mark=system)
    about = {
        "command": "python -m compute run 'rrf(a,b)' tiny",
        "inputs": {"hits:b": "b", "hits:a": "a"},
    }
    with bench.store.publishing("fuse") as publication:
        publication.add(
            "hits",
            hits(("q1", "d1", 1)),
            dataset="tiny",
            system="rrf(a,b)",
            fingerprint="f",
            provenance=about,
        )
    shown = Inputs(frozenset({("tiny", "rrf(a,b)")}))
    found = view_provenance.record(bench.store, shown, version=(1, 0))
    assert [run["system"] for run in found["runs"]] == ["b", "a", "rrf(a,b)"]
    assert found["runs"][-1]["fingerprints"] == {"hits": "f", "hits:a": "a", "hits:b": "b"}
    assert view_provenance.as_shell(found).splitlines() == [
        "# there is no command for b on tiny",
        "# there is no command for a on tiny",
        "python -m compute run 'rrf(a,b)' tiny",
    ]


def test_a_name_from_outside_cannot_leave_its_comment(bench: Bench, tiny: Dataset) -> None:
    run = {
        "dataset": "tiny",
        "system": "x",
        "command": "python -m compute import-run 'a\nrm -rf b'",
        "file": {"file": "a\nrm -rf b\x1b[0m", "sha256": "00"},
        "scored": {},
    }
    assert view_provenance.as_shell({"runs": [run], "collections": []}).splitlines() == [
        "# a\\nrm -rf b\\x1b[0m has the SHA-256 00",
        "python -m compute import-run 'a\\nrm -rf b'",
    ]


def test_printed_tables_are_named_with_their_paper(bench: Bench) -> None:
    found = view_provenance.record(
        bench.store, Inputs(sources=frozenset({"BEIR v4, Table 2"})), version=(1, 0)
    )
    assert [row["table"] for row in found["in_print"]] == ["BEIR v4, Table 2"]
    assert found["in_print"][0]["paper"].startswith("BEIR v4")
    assert found["runs"] == [] and found["judgements"] == {"counted": "official"}
