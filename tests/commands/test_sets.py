"""Grades of machines and judgement sets on the command line."""

import json
import shutil
from pathlib import Path

import pandas as pd
import pytest

from compute.__main__ import main
from compute.base.settings import Settings
from compute.store.store import Store
from tests.support.holes import EVIL, fill, judge

CSV = "query_id,doc_id,grade\nq1,d4,2\nq1,d1,0\nq2,d2,1\nq2,d3,0\nq3,d6,1\n"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a home, and the grades that were taken into it."""
    folder = tmp_path_factory.mktemp("sets")
    home = fill(folder)
    judge(home, ("q1", "d4", 1))
    (folder / "g.csv").write_text(CSV, "utf-8")
    words = ["import-grades", str(folder / "g.csv"), "--dataset", "tiny", "--machine", "gpt"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BEIRSCOPE_HOME", str(home))
        patch.setenv("BEIRSCOPE_SHIPPED_RESULTS", "false")
        assert main(words) == 0
    return folder


@pytest.fixture
def home(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two runs on the tiny collection, a person's judgement and a machine's grades."""
    folder = shutil.copytree(made, tmp_path / "made") / "home"
    monkeypatch.setenv("BEIRSCOPE_HOME", str(folder))
    monkeypatch.setenv("BEIRSCOPE_SHIPPED_RESULTS", "false")
    return folder


def printed(capsys: pytest.CaptureFixture[str], *words: str) -> list[dict]:
    capsys.readouterr()
    assert main([*words, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def refused(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    capsys.readouterr()
    assert main([*words]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    return line


@pytest.mark.long
def test_what_was_taken_in_is_said(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    grades = ["import-grades", str(home.parent / "g.csv"), "--dataset", "tiny", "--machine", "gpt"]
    assert main(grades) == 0
    said = "gpt on tiny: 5 pairs of 3 queries (2 of grade 0, 2 of grade 1, 1 of grade 2)"
    assert capsys.readouterr().out == f"{said}; they were already stored\n"
    words = ["import-grades", "--run", "sure", "--dataset", "tiny", "--machine", "sure"]
    assert main([*words, "--quantiles", "0.5"]) == 0
    # Scores 3, 2, 1 and 1: half of them lie below 1.5.
    said = "sure on tiny: 4 pairs of 3 queries (2 of grade 0, 2 of grade 1); grades begin at the"
    assert capsys.readouterr().out.startswith(said + " scores 1.5")


@pytest.mark.long
def test_sets_are_listed_and_score(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = printed(capsys, "sets", "--dataset", "tiny")
    assert {row["set"]: row["n_pairs"] for row in rows} == {
        "official": 5,
        "added": 6,
        "person:ada": 1,
        "machine:gpt": 5,
    }
    words = ["scores", "--measure", "P@1", "--judgements"]
    by_machine = printed(capsys, *words, "machine:gpt")
    values = {row["system"]: row["value"] for row in by_machine}
    assert values == pytest.approx({EVIL: 2 / 3, "sure": 1 / 3})
    by_person = printed(capsys, *words, "person:ada")
    assert {row["system"]: (row["value"], row["n_queries"]) for row in by_person} == {
        EVIL: (1, 1),
        "sure": (0, 1),
    }
    assert printed(capsys, *words, "official") == printed(capsys, *words[:-1])


@pytest.mark.long
def test_two_sets_are_compared(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["sets", "--dataset", "tiny", "--measure", "P@1"]
    words += ["--compare", "official", "machine:gpt"]
    (row,) = printed(capsys, *words)
    assert (row["n_systems"], row["n_queries"], row["order_flips"]) == (2, 3, 1)
    # Both judged d1 for q1 and d2, d3 for q2 and d6 for q3: two with one grade.
    assert (row["pairs_in_both"], row["same_grade"]) == (4, 0.5)
    (pair,) = printed(capsys, *words, "--flips")
    assert {pair["system"], pair["other"]} == {EVIL, "sure"} and pair["flips"]
    grades = {(row["query_id"], row["doc_id"]): row for row in printed(capsys, *words, "--grades")}
    assert (grades["q1", "d1"]["left"], grades["q1", "d1"]["right"]) == (2, 0)
    assert (grades["q1", "d4"]["left"], grades["q1", "d4"]["right"]) == (None, 2)
    # Of a measure that no run was scored by.
    (row,) = printed(capsys, *words[:3], "--measure", "P@2", *words[5:])
    assert (row["measure"], row["n_systems"]) == ("P@2", 2)


@pytest.mark.long
def test_holes_and_power_are_by_a_set(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--dataset", "tiny", "--measure", "P@1", "--judgements", "machine:gpt"]
    rows = {row["system"]: row for row in printed(capsys, "holes", *words)}
    # The machine graded all that stands first, but q3 of the second run has no list at all.
    assert (rows["sure"]["value"], rows["sure"]["n_holes"]) == (pytest.approx(1 / 3), 0)
    assert (rows[EVIL]["value"], rows[EVIL]["n_holes"]) == (pytest.approx(2 / 3), 0)
    (pair,) = printed(capsys, "power", *words)
    assert abs(pair["difference"]) == pytest.approx(1 / 3)
    (official,) = printed(capsys, "power", *words[:-2])
    assert official["difference"] == pytest.approx(-2 * pair["difference"])


@pytest.mark.long
def test_a_table_is_exported_with_added_judgements(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, words = home.parent / "holes.csv", ["--dataset", "tiny", "--measure", "P@5"]
    words += ["--judgements", "added"]
    assert main(["export", "table", "holes", "--out", str(file), *words]) == 0
    expected = {row["system"]: row["value"] for row in printed(capsys, "holes", *words)}
    found = pd.read_csv(file).set_index("System")["P@5"]
    assert found.to_dict() == pytest.approx(expected)


def test_damaged_grades_are_named_where_they_are_missed(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (grades,) = Store(Settings(home=home)).parts("machine_grades")
    grades.path.write_bytes(bytes(grades.path.stat().st_size))
    for words in (["sets"], ["scores", "--judgements", "machine:gpt"]):
        capsys.readouterr()
        main([*words, "--dataset", "tiny"])
        assert "of gpt on tiny left out (damaged" in capsys.readouterr().err, words


def test_grades_are_removed_by_their_machine(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["remove", "tiny", "--machine", "gpt"]
    assert main(words) == 0
    assert "would remove 5 machine grades (" in capsys.readouterr().out
    assert main([*words, "--yes"]) == 0
    rows = printed(capsys, "sets")
    assert "machine:gpt" not in {row["set"] for row in rows}


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (
            ["scores", "--judgements", "machine:gtp"],
            "no judgement set 'machine:gtp': did you mean machine:gpt?",
        ),
        (
            ["estimates", "--judgements", "machine:gpt"],
            "Unknown option: --judgements: beirscope estimates --help explains it",
        ),
        (
            ["scores", "--published", "--judgements", "added"],
            "--judgements and --published exclude each other: leave one out",
        ),
        (
            ["scores", "--compare", "official", "added"],
            "Unknown option: --compare. Did you mean --measure? beirscope scores --help"
            " explains it",
        ),
        (
            ["sets", "--compare", "official", "added"],
            "--compare needs a dataset: add --dataset",
        ),
        (
            ["sets", "--compare", "official", "person:bob", "--dataset", "tiny"],
            "no judgement set 'person:bob' of tiny: did you mean person:ada?",
        ),
        (
            ["sets", "--flips"],
            "--flips and --grades need two sets: name them with --compare",
        ),
        (
            ["import-grades", "--dataset", "tiny", "--machine", "m"],
            "give either a file of grades, --run SYSTEM or --machines NAMES",
        ),
        (
            ["import-grades", "x", "--thresholds", "1", "--dataset", "tiny", "--machine", "m"],
            "--thresholds and --quantiles are for the scores of --run: leave them out",
        ),
        (
            ["remove", "tiny", "--system", "sure", "--machine", "gpt"],
            "--system, --machine, --training, --labels and --carried: give only one",
        ),
    ],
)
def test_wrong_words(
    home: Path, capsys: pytest.CaptureFixture[str], words: list[str], sentence: str
) -> None:
    assert refused(capsys, *words) == sentence
