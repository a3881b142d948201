"""Judging tasks by commands: from two runs to a verdict."""

import csv
import json
from pathlib import Path

import pytest

from compute.__main__ import main
from tests.support import filled

RUNS = {
    "A": "q1 Q0 d1 1 3 A\nq1 Q0 d6 2 2 A\nq2 Q0 d2 1 2 A\nq2 Q0 d5 2 1 A\nq3 Q0 d6 1 2 A\n",
    "B": "q1 Q0 d5 1 3 B\nq1 Q0 d3 2 2 B\nq2 Q0 d1 1 2 B\nq2 Q0 d4 2 1 B\nq3 Q0 d2 1 2 B\n",
}


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A home with a collection and two runs, and the working folder."""
    filled.having(tmp_path, RUNS)
    monkeypatch.setenv("BEIRSCOPE_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("BEIRSCOPE_DATASETS", "")
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def told(capsys: pytest.CaptureFixture[str]):
    """What a command prints as JSON."""

    def answer(*words: str):
        capsys.readouterr()
        assert main([*words, "--json"]) == 0
        return json.loads(capsys.readouterr().out)

    return answer


@pytest.mark.long
def test_from_two_runs_to_a_verdict(told, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["A", "B", "--dataset", "tiny"]
    (before,) = told("compare", *words, "--measure", "P@5")
    assert main(["tasks", "new", *words, "--goal", "differences", "--expect"]) == 0
    assert "of a difference from the baseline" in capsys.readouterr().out
    made = told("tasks", "new", *words, "--goal", "differences", "--assessors", "ada", "bob")
    (listed,) = told("tasks", "list")
    assert (listed["id"], listed["goal"], listed["wanted"]) == (
        made["task"],
        "differences",
        made["pairs"],
    )
    pairs = told("tasks", "status", made["task"], "--pairs")
    assert len(pairs) == made["pairs"] > 3
    with Path("judged.csv").open("w", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(["query_id", "doc_id", "relevance", "person"])
        rows.writerows([(one["query_id"], one["doc_id"], 1, "ada") for one in pairs])
    assert main(["judgements", "import", "judged.csv", "--dataset", "tiny"]) == 0
    (listed,) = told("tasks", "list")
    assert (listed["given"], listed["people"]) == (made["pairs"], 1)
    every = ["--source", "person", "import"]
    (after,) = told("compare", *words, "--measure", "P@5", "--judgements", "added", *every)
    # All that both returned is relevant now: A has 5 documents in 3 lists, B has 5, too.
    assert before["difference"] > 0 == pytest.approx(after["difference"])
    assert after["mean_a"] == pytest.approx(5 / 15) == after["mean_b"]
    assert "have the same mean P@5" in after["verdict"]
    estimates = told("estimates", "--task", made["task"], "--pairs", "--measure", "P@5", *every)
    assert [row["dataset"] for row in estimates] == ["tiny"]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["new", "A", "aa", "--dataset", "tiny"], "unknown system 'aa': did you mean A"),
        (
            ["new", "A", "--dataset", "tiny", "--goal", "order"],
            "One system has no difference or order",
        ),
        (["new", "A", "--dataset", "tiny", "--pairs", "0"], "it must be 1 or more"),
        (["new", "A", "--dataset", "tiny", "--goal", "rank"], 'Choose from: "scores", '),
        (["new", "A", "--dataset", "tiny", "--guideline", "no"], "no"),
        (["status", "none"], "no judging task none"),
    ],
)
def test_a_wrong_task_is_one_sentence(
    words: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    assert main(["tasks", *words]) == 2
    said = capsys.readouterr().err
    assert sentence in said and len(said.splitlines()) == 1


def test_a_task_is_followed_in_words(capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    assert main(["tasks", "new", "A", "B", "--dataset", "tiny", "--title", "Mine"]) == 0
    task, _, told = capsys.readouterr().out.partition(": ")
    assert told.startswith("Mine, ")
    assert main(["tasks", "status", task]) == 0
    assert capsys.readouterr().out.startswith("Mine: tiny · ")
    assert main(["tasks", "list"]) == 0
    assert task in capsys.readouterr().out


def _unjudged_audit(told, task: str) -> tuple[list[dict], dict]:
    return told("tasks", "status", task, "--pairs"), told("estimates", "--task", task)


@pytest.mark.long
def test_an_audit_says_how_many_labels_differ_and_whether_the_order_survives(
    told, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["A", "B", "--dataset", "tiny", "--goal", "audit", "--pairs", "12"]
    capsys.readouterr()
    assert main(["tasks", "new", *words, "--expect"]) == 0
    said = capsys.readouterr().out
    assert "Expected 95% margin of error" in said and "unjudged document" in said
    made = told("tasks", "new", *words)
    pairs, before = _unjudged_audit(told, made["task"])
    assert before["n_waiting"] == len(pairs) and before["pairs"] == []
    assert before["verdict"].startswith("None of the audited labels is judged yet")
    assert {row["low"] for row in before["rates"]} == {None}
    capsys.readouterr()
    for option in (["--pairs"], ["--machine", "m"], ["--half-width", ".02"]):
        assert main(["estimates", "--task", made["task"], *option]) == 2
    assert capsys.readouterr().err.count("leave out --pairs, --machine and --half-width") == 3
    with Path("judged.csv").open("w", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(["query_id", "doc_id", "relevance", "person"])
        rows.writerows([(one["query_id"], one["doc_id"], 0, "ada") for one in pairs])
    assert main(["judgements", "import", "judged.csv", "--dataset", "tiny"]) == 0
    asked = ["estimates", "--task", made["task"], "--source", "person", "import"]
    found = told(*asked, "--measure", "P@5")
    assert found["n_waiting"] == 0 and found["measure"] == "P@5"
    relevant = found["rates"][-1]
    assert relevant["n_differ"] == relevant["n_audited"] == relevant["n_labels"] > 0
    assert [row["system"] for row in found["systems"]] == ["A", "B"]
    capsys.readouterr()
    assert main(asked) == 0
    assert "official judgements audited (" in capsys.readouterr().out
    scores = told("scores", "--dataset", "tiny", "--measure", "P@5")
    assert {row["value"] for row in scores} == {row["score"] for row in found["systems"]}
    assert main(["tasks", "extend", made["task"], "--pairs", "3"]) == 2
