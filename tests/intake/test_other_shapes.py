import json
from pathlib import Path

import pytest

from compute.__main__ import main
from compute.base.errors import WrongInput
from compute.datasets import Dataset
from compute.datasets.shapes import How
from compute.intake import doctor, imports, machine_grade_import
from compute.recompute import run
from compute.store.loading import Bench
from tests.support.tiny import QUERIES

SCORES = {"q1": {"d1": 0.9, "d2": 0.1 + 0.2, "d5": 1 / 3}, "q2": {"d2": 1e-9, "d3": 7e8}}
TREC = "".join(f"{q} Q0 {d} 1 {s!r} t\n" for q, docs in SCORES.items() for d, s in docs.items())
TEXTS = {query["_id"]: query["text"] for query in QUERIES}
CHUNKS = {"q1": {"d1#0": 0.512, "d5#1": 0.912, "d1#7": 0.812, "d2": 0.712}}


def written(folder: Path, name: str, content: object) -> Path:
    file = folder / name
    text = content if isinstance(content, str) else json.dumps(content)
    file.write_text(text, encoding="utf-8")
    return file


def hits(outcome: run.Outcome) -> list[list[object]]:
    return run.read(outcome.hits)[["query_id", "doc_id", "rank", "score"]].values.tolist()


@pytest.mark.long
def test_scores_are_those_of_the_same_run_as_trec(
    bench: Bench, tiny: Dataset, tmp_path: Path
) -> None:
    trec = imports.import_run(bench, written(tmp_path, "t", TREC), tiny)
    csv = "qid,docno,score\n" + "".join(
        f"{q},{d},{s!r}\n" for q, docs in SCORES.items() for d, s in docs.items()
    )
    found = (
        [{"_id": d, "_score": s} for d, s in SCORES["q1"].items()],
        [{"_id": d, "_score": s} for d, s in SCORES["q2"].items()],
    )
    details = {
        q: {"hits": [{"hit": hit, "rating": None} for hit in one]}
        for q, one in zip(SCORES, found, strict=True)
    }
    for name, content in {
        "mine.json": SCORES,
        "two.csv": csv,
        "mteb.json": {"default": {"test": SCORES}},
        "rank_eval.json": {"details": details},
    }.items():
        file = written(tmp_path, name, content)
        outcome = imports.import_run(bench, file, tiny)
        assert outcome.hits.system == name.partition(".")[0]
        assert hits(outcome) == hits(trec)
        assert run.read(outcome.scores)["value"].tolist() == run.read(trec.scores)["value"].tolist()
        report = doctor.check(file, against=doctor.known(bench.store, tiny))
        assert (report.kind, report.refused) == ("run", False)


def test_queries_are_found_by_their_texts(bench: Bench, tiny: Dataset, tmp_path: Path) -> None:
    lists = {TEXTS["q1"]: ["d1", "d5"], TEXTS["q2"].replace(" ", "  "): ["d3"]}
    rows = [
        {"query": text, "retrieved_ids": ids, "expected": ["d2"]} for text, ids in lists.items()
    ]
    file = written(tmp_path, "lists.json", rows)
    outcome = imports.import_run(bench, file, tiny)
    assert hits(outcome) == [["q1", "d1", 1, -1.0], ["q1", "d5", 2, -2.0], ["q2", "d3", 1, -1.0]]
    report = doctor.check(file, against=doctor.known(bench.store, tiny))
    assert (report.kind, report.refused) == ("run and qrels", False)
    taken = machine_grade_import.import_file(bench, file, tiny, "golden")
    assert run.read(taken.part).values.tolist() == [["q1", "d2", 1], ["q2", "d2", 1]]
    file = written(tmp_path, "odd.json", [*rows, {"query": "unheard of", "retrieved_ids": ["d1"]}])
    told = "1 of 3 query texts are not query texts of tiny, such as 'unheard of': write"
    with pytest.raises(WrongInput, match=told):
        imports.import_run(bench, file, tiny)


def test_a_golden_set_becomes_a_dataset_with_its_texts(bench: Bench, tmp_path: Path) -> None:
    rows = [{"id": q, "query": text, "expected_ids": ["d1"]} for q, text in TEXTS.items()]
    loaded = imports.import_dataset(bench, "gold", qrels=written(tmp_path, "g.json", rows))
    assert dict(run.read(loaded.queries)[["query_id", "text"]].values.tolist()) == TEXTS
    words = "qid,docno,grade\nq1,d1,relevant\nq1,d2,partial\n"
    file = written(tmp_path, "words.csv", words)
    loaded = imports.import_dataset(bench, "words", qrels=file)
    told = "words were read as grades: 'partial' is 1, 'relevant' is 2"
    assert imports.remarks(loaded) == [told]
    file = written(
        tmp_path, "fractions.csv", words.replace("relevant", "1.5").replace("partial", "0")
    )
    with pytest.raises(WrongInput, match="--levels"):
        imports.import_dataset(bench, "fractions", qrels=file)
    loaded = imports.import_dataset(bench, "fractions", qrels=file, how=How(rounded=True))
    assert loaded.judgements.provenance["command"].endswith("--round --name fractions")


@pytest.mark.long
def test_chunks_are_folded_by_their_best_rank_if_asked(
    bench: Bench, tiny: Dataset, tmp_path: Path
) -> None:
    only = {"q1": {doc: score for doc, score in CHUNKS["q1"].items() if "#" in doc}}
    file = written(tmp_path, "chunks.json", only)
    with pytest.raises(WrongInput, match=r"chunks of documents of tiny, as 'd5#1' of 'd5'.*--fold"):
        imports.import_run(bench, file, tiny)
    report = doctor.check(file, against=doctor.known(bench.store, tiny))
    assert [one.what for one in report.findings if one.refused] == ["chunks of documents"]
    known = doctor.known(bench.store, tiny)
    assert not doctor.check(file, against=known, how=How(fold=True)).refused
    folded = [["q1", "d5", 1, 0.912], ["q1", "d1", 2, 0.812]]
    outcome = imports.import_run(bench, file, tiny, how=How(fold=True))
    assert hits(outcome) == folded
    about = outcome.hits.provenance
    assert about["folded"] == "3 chunks to 2 documents, each at its best rank"
    assert about["command"].endswith("--system chunks --fold")
    table = written(tmp_path, "table.tsv", "d1#0\td3\nd1#7\td3\nd5#1\td4\n")
    outcome = imports.import_run(bench, file, tiny, how=How(fold=table), system="by_table")
    assert hits(outcome) == [["q1", "d4", 1, 0.912], ["q1", "d3", 2, 0.812]]
    both = imports.import_run(
        bench, written(tmp_path, "both.json", CHUNKS), tiny, how=How(fold=True)
    )
    assert hits(both) == [*folded, ["q1", "d2", 3, 0.712]]
    with pytest.raises(WrongInput, match="no document id has the form of a chunk"):
        imports.import_run(bench, written(tmp_path, "t", TREC), tiny, how=How(fold=True))


def test_what_ir_metadata_says_is_kept(bench: Bench, tiny: Dataset, tmp_path: Path) -> None:
    said = (
        "# ir_metadata.start\n# tag: t\n# method:\n#   name: bm25\n# ir_metadata.end\n# no more\n"
    )
    outcome = imports.import_run(bench, written(tmp_path, "t", said + TREC), tiny)
    assert outcome.hits.provenance["ir_metadata"] == "tag: t\nmethod:\n  name: bm25"


@pytest.mark.long
def test_commands_ask_and_are_told(
    bench: Bench, tiny: Dataset, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch
) -> None:
    monkeypatch.setenv("BEIRSCOPE_HOME", str(bench.settings.home))
    file = str(written(tmp_path, "pairs.tsv", "q1\td1\t1\nq1\td5\t2\nq2\td2\t1\n"))
    assert main(["import-run", file, "--dataset", "tiny"]) == 2
    asked = "The file begins with 'q1 d1 1'; 'q1 d5 2'; 'q2 d2 1'"
    assert asked in (told := capsys.readouterr().err) and "add --as run or --as judge" in told
    assert main(["import-run", file, "--dataset", "tiny", "--as", "run"]) == 0
    assert (part := bench.store.part("hits", "tiny", "pairs"))
    assert part.provenance["command"].endswith("--system pairs --as run")
    words = ["judgements", "import", file, "--dataset", "tiny", "--person", "ada"]
    assert main(words) == 2 and asked in capsys.readouterr().err
    assert main([*words, "--as", "judgements"]) == 0
    assert "3 pairs with an official judgement are unchanged" in capsys.readouterr().out
    assert main(["check", file]) == 2 and asked in capsys.readouterr().out
    assert main(["check", file, "--as", "judgements", "--dataset", "tiny"]) == 0


@pytest.mark.long
def test_what_is_exported_comes_back(
    bench: Bench, tiny: Dataset, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch
) -> None:
    monkeypatch.setenv("BEIRSCOPE_HOME", str(bench.settings.home))
    first = imports.import_run(bench, written(tmp_path, "mine", TREC), tiny)
    export = ["export", "run", "--dataset", "tiny", "--system", "t", "--out"]
    for form in ("beir", "mteb", "golden"):
        file = tmp_path / f"{form}.json.gz"
        assert main([*export, str(file), "--format", form]) == 0
        back = imports.import_run(bench, file, tiny)
        same = ["query_id", "doc_id", "rank"]
        assert run.read(back.hits)[same].equals(run.read(first.hits)[same])
    judged = imports.import_dataset(bench, "back", qrels=tmp_path / "golden.json.gz")
    assert len(run.read(judged.judgements)) == 5
    assert main(["export", "figures", "--all", str(tmp_path / "f"), "--format", "beir"]) == 2
    more = written(tmp_path, "more.csv", "query_id,doc_id,relevance\nq1,d3,2\nq1,d4,0\n")
    given = ["--dataset", "tiny", "--person", "ada"]
    assert main(["judgements", "import", str(more), *given]) == 0
    out = tmp_path / "added.json"
    asked = ["judgements", "export", str(out), *given, "--source", "import"]
    assert main(asked) == 0
    assert json.loads(out.read_text()) == {"q1": {"d3": 2, "d4": 0}}
