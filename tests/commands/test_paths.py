"""Homes and inputs under paths that programs take for something else: blanks, quotes, no ASCII."""

import json
from pathlib import Path

import pytest

from compute import jobs
from compute.__main__ import main
from compute.base.settings import load
from compute.store.store import Store
from tests.support.processes.jobbing import ended, worker
from tests.support.tiny import write_tiny

NAMES = [
    "it's 100%25 of ünï 日本#a:b;x=1",
    *(pytest.param(name, marks=pytest.mark.soak) for name in ('a"b', "-dash", "a\\b", "$HOME ~")),
    *(
        pytest.param(name, marks=pytest.mark.soak)
        for name in ("%s{0}", "a&b|c", "@file", "é\u0301")
    ),
]


@pytest.mark.long
@pytest.mark.parametrize("name", NAMES)
def test_a_home_works_wherever_it_lies(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    place = tmp_path / name
    place.mkdir()
    source = write_tiny(place / "tiny")
    monkeypatch.setenv("BEIRSCOPE_HOME", str(place / "a home"))
    monkeypatch.setenv("BEIRSCOPE_SHIPPED_RESULTS", "false")
    monkeypatch.setenv("LC_ALL", "C")
    run = place / "my run.run"
    run.write_text("q1 Q0 d1 1 1.0 mine\n", "utf-8")
    for words in (
        ["import-dataset", str(source), "--name", "tiny"],
        ["run", "bm25", "tiny"],
        ["run", "bm25-rm3", "tiny"],
        ["import-run", str(run), "--dataset", "tiny"],
        ["check", "--store"],
        ["check", str(source), str(run)],
        ["export", "run", "--dataset", "tiny", "--system", "bm25", "--out", str(place / "out.run")],
        ["admin", "snapshot", str(place / "all of it.duckdb")],
        ["admin", "backup", str(place / "kept here")],
    ):
        assert main(words) == 0, words
    job = jobs.start(Store(load()), "run", ["bm25-multifield"], ["tiny"]).job
    with worker(load()):
        assert ended(load(), job).state == "done"
    scores = []
    for home in ("a home", "restored"):
        monkeypatch.setenv("BEIRSCOPE_HOME", str(place / home))
        if home == "restored":
            assert main(["admin", "restore", str(place / "kept here")]) == 0
        capsys.readouterr()
        assert main(["scores", "--dataset", "tiny", "--json"]) == 0
        scores.append(json.loads(capsys.readouterr().out))
    kept = {row["system"] for row in scores[1]}
    assert kept == {"bm25", "bm25-rm3", "mine"}
    assert [row for row in scores[0] if row["system"] in kept] == scores[1]
