import io
import json
import tarfile
import zipfile
from pathlib import Path

import pytest

from compute.__main__ import main
from compute.base.errors import WrongInput
from compute.intake import packed

RUNS = {
    "runs/a.run": "q1 Q0 d1 1 2.5 a\nq1 Q0 d2 2 1.5 a\n",
    "b.json": json.dumps({"q1": {"d2": 1.25, "d3": 0.5}}),
    ".hidden": "x",
    "__MACOSX/a.run": "x",
}
BEIR = {
    "wiki/corpus.jsonl": '{"_id": "d1", "title": "", "text": "one"}\n',
    "wiki/queries.jsonl": '{"_id": "q1", "text": "which"}\n',
}


def zipped(file: Path, content: dict[str, str]) -> Path:
    with zipfile.ZipFile(file, "w") as archive:
        for name, text in content.items():
            archive.writestr(name, text)
    return file


def tarred(file: Path, content: dict[str, str]) -> Path:
    with tarfile.open(file, "w:gz") as archive:
        for name, text in content.items():
            member = tarfile.TarInfo(name)
            member.size = len(text)
            archive.addfile(member, io.BytesIO(text.encode()))
    return file


@pytest.mark.parametrize("name", ["runs.zip", "runs.tar.gz"])
def test_an_archive_stands_for_the_files_in_it(tmp_path: Path, name: str) -> None:
    archive = (zipped if name.endswith("zip") else tarred)(tmp_path / name, RUNS)
    plain = tmp_path / "c.run"
    plain.write_text("q1 Q0 d9 1 1.5 c\n")
    with packed.opened([archive, plain], tmp_path / "home") as found:
        assert [file.name for file in found] == ["b.json", "a.run", "c.run"]
        assert found[1].read_text() == RUNS["runs/a.run"]
        assert found[0].parent.name == name
    assert not found[0].exists() and not [*(tmp_path / "home" / "tmp").iterdir()]


def test_a_collection_stays_packed_and_what_is_wrong_is_told(tmp_path: Path) -> None:
    home, wiki = tmp_path / "home", zipped(tmp_path / "wiki.zip", BEIR)
    with packed.opened([wiki], home) as found:
        assert found == [wiki]
    for name, content, told in (
        ("none.zip", {}, "contains no file"),
        ("out.zip", {"../x": "x"}, "leads out of the archive"),
        ("out.tar.gz", {"../x": "x"}, "leads out of the archive"),
    ):
        file = (zipped if name.endswith("zip") else tarred)(tmp_path / name, content)
        with pytest.raises(WrongInput, match=told), packed.opened([file], home):
            pass


@pytest.mark.long
def test_runs_and_judgements_come_in_at_once_by_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("BEIRSCOPE_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("BEIRSCOPE_SHIPPED_RESULTS", "false")
    qrels = tmp_path / "qrels.txt"
    qrels.write_text("q1 0 d1 1\n")
    runs, more = zipped(tmp_path / "r.zip", RUNS), tarred(tmp_path / "more.tar.gz", RUNS)
    words = ["import-dataset", "--runs", str(runs), "--qrels", str(qrels), "--name", "mine"]
    assert main(["check", str(more)]) == 0
    checked = capsys.readouterr().out
    assert "more.tar.gz/runs/a.run: run" in checked and str(tmp_path) not in checked
    assert main(words) == 0
    assert "2 imported, 0 refused" in capsys.readouterr().out
    assert main(["import-run", str(more), "--dataset", "mine", "--replace"]) == 0
    assert main(["scores", "--dataset", "mine", "--measure", "P@10", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out.partition("[")[2].join(["[", ""]))
    assert {row["system"] for row in rows} == {"a", "b"}


def test_an_archive_without_judgements_takes_those_beside_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("BEIRSCOPE_HOME", str(tmp_path / "home"))
    qrels = tmp_path / "qrels.txt"
    qrels.write_text("q1 0 d1 1\n")
    wiki = zipped(tmp_path / "wiki.zip", BEIR)
    assert main(["import-dataset", str(wiki), "--qrels", str(qrels), "--name", "wiki"]) == 0
    assert "wiki: 1 documents, 1 queries, 1 judgements" in capsys.readouterr().out
    judged = {"wiki/qrels/test.tsv": "query-id\tcorpus-id\tscore\nq1\td1\t1\n"}
    whole = zipped(tmp_path / "whole.zip", BEIR | judged)
    assert main(["import-dataset", str(whole), "--qrels", str(qrels), "--name", "two"]) == 2
    assert "has its own judgements" in capsys.readouterr().err
