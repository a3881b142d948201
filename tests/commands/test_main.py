"""The command line, run as a person runs it."""

import json
import re
import shutil
from pathlib import Path

import pytest
from pandas import DataFrame

from compute.__main__ import main
from compute.base import printable
from compute.base.settings import PROJECT
from compute.commands import app, systems
from compute.commands.common import scored_by
from compute.commands.opening import open_whole
from tests.support.tiny import HOSTILE, write_tiny


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BEIRSCOPE_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("BEIRSCOPE_DATASETS", "")


TWO = [str(PROJECT / "README.md"), str(PROJECT / "Makefile")]
"""Files that are there, whatever they hold."""


@pytest.mark.parametrize("words", [[], ["show"], ["--help"]])
def test_without_a_command_all_are_listed(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words) == 0
    assert "import-dataset" in capsys.readouterr().out


@pytest.mark.long
def test_every_command_has_help(capsys: pytest.CaptureFixture[str]) -> None:
    for name in app.NAMES:
        assert main([*name.split(" "), "--help"]) == 0
        told = capsys.readouterr().out
        assert f"Usage: beirscope {name}" in told
        lines = [line for line in told.split("\n") if line.startswith("│") and "--" in line]
        assert not [one for one in lines if re.search(r"--[a-z-]+( [A-Z.=|[\]]+)* +│", one)], name


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["run", "bm25", "scifac"], "did you mean scifact"),
        (["run", "bm52", "scifact"], "no system 'bm52'"),
        (["run", "bm25(k1=x)", "scifact"], "k1"),
        (
            ["run", "seal", "scifact"],
            "seal is published figures only; systems that run here: bm25, ",
        ),
        (["jobs", "cancel"], "name a job to cancel"),
        (["import-run", *TWO, "--system", "x", "--dataset", "scifact"], "--system names a single"),
        (["run", "bm25", "bioasq"], "forbids downloading"),
        (["run", "bm25", "nq-dpr"], "only published figures"),
        (["check", "nowhere"], "nowhere does not exist"),
        (["import-dataset", "--name", "x"], "give either"),
        (["import-dataset", "nowhere", "--name", "x"], "nowhere does not exist"),
        (["import-run", "nowhere", "--dataset", "nothing"], "no dataset 'nothing'"),
        (["rescore", "nothing"], "no dataset 'nothing'"),
        (["admin", "snapshot", "/nowhere/at/all.duckdb"], "no folder"),
    ],
)
def test_wrong_input_is_one_sentence_and_status_2(
    words: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words) == 2
    said = capsys.readouterr().err
    assert sentence in said
    assert len(said.splitlines()) == 1
    assert "Traceback" not in said


def test_a_bug_is_logged_under_the_id_that_is_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken() -> object:
        raise ZeroDivisionError("the bug")

    monkeypatch.setattr(systems, "_trained", broken)
    assert main(["systems"]) == 1
    (log,) = (tmp_path / "home" / "logs").glob("bug-*.log")
    assert log.stem.removeprefix("bug-") in capsys.readouterr().err
    assert "ZeroDivisionError: the bug" in log.read_text("utf-8")


@pytest.mark.long
def test_a_collection_goes_from_folder_to_scores(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = write_tiny(tmp_path / "tiny")
    assert main(["check", str(folder)]) == 0
    assert main(["import-dataset", str(folder), "--name", "tiny"]) == 0
    assert "6 documents, 3 queries, 5 judgements" in capsys.readouterr().out
    assert main(["run", "bm25", "tiny"]) == 0
    assert main(["run", "bm25", "tiny"]) == 0
    assert "(up to date)" in capsys.readouterr().out
    assert main(["scores", "--dataset", "tiny", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert {row["measure"] for row in rows} >= {"nDCG@10", "R@100", "Hole@10"}
    assert all(row["n_queries"] == 3 for row in rows)
    assert main(["holes", "--dataset", "tiny", "--json"]) == 0
    (hole,) = json.loads(capsys.readouterr().out)
    assert 0 < hole["hole"] < 1
    lows = [hole[f"{name}low"] for name in ("collection_", "pool_", "")]
    assert 0 <= lows[0] <= lows[1] <= lows[2] <= hole["value"] <= hole["high"] <= 1
    assert main(["holes", "--dataset", "tiny", "--measure", "Bpref"]) == 2
    assert "no interval for Bpref; known: nDCG@k" in capsys.readouterr().err
    assert main(["holes", "--dataset", "tiny", "--measure", "P@1000"]) == 0
    assert main(["holes", "--dataset", "tiny", "--measure", "P@1500"]) == 2
    deep = "P@1500 is deeper than the list of bm25 on tiny (1,000 ranks)"
    assert deep in capsys.readouterr().err
    assert main(["rescore", "tiny", "--again"]) == 0
    assert (tmp_path / "home" / "beirscope.duckdb").exists()
    assert main(["admin", "snapshot", str(tmp_path / "all.duckdb")]) == 0
    size = (tmp_path / "all.duckdb").stat().st_size
    assert re.search(rf"all\.duckdb: \d+ parts, {size:,} bytes\n$", capsys.readouterr().out)


def test_published_figures_show_without_a_run(capsys: pytest.CaptureFixture[str]) -> None:
    words = [
        "scores",
        "--published",
        "--dataset",
        "trec-covid",
        "--system",
        "bm25-multifield",
    ]
    assert main([*words, "--measure", "nDCG@10", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    values = {row["value"] for row in rows if row["source"] == "BEIR v4, Table 2"}
    assert values == {0.656}


def test_a_column_of_large_whole_numbers_has_no_decimals(
    capsys: pytest.CaptureFixture[str],
) -> None:
    printable.show(DataFrame({"bytes": [4680476.0, None], "share": [1.0, 0.5]}), as_json=False)
    words = capsys.readouterr().out.split()
    assert words == ["bytes", "share", "4680476", "1.0000", "–", "0.5000"]


def test_tables_show_control_characters_as_codes() -> None:
    escape = f"\x1b[31m{HOSTILE}\x07\u202e\x9b"
    assert printable.printable(escape) == f"\\x1b[31m{HOSTILE}\\x07\\u202e\\x9b"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home that has a collection under the name tiny, and the collection."""
    place = tmp_path_factory.mktemp("made")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BEIRSCOPE_HOME", str(place / "home"))
        assert main(["import-dataset", str(write_tiny(place / "tiny")), "--name", "tiny"]) == 0
    return place


@pytest.fixture
def tiny(made: Path, tmp_path: Path) -> Path:
    """The collection, taken in under the name tiny; both are copies."""
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    return tmp_path / "tiny"


def _runs(tmp_path: Path, **texts: str) -> list[str]:
    files = [tmp_path / name for name in texts]
    for file, text in zip(files, texts.values(), strict=True):
        file.write_text(text, encoding="utf-8")
    return [str(file) for file in files]


@pytest.mark.long
def test_of_several_files_a_refused_one_stops_no_other(
    tiny: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    texts = {"a": "q1 Q0 d1 1 1 a\n", "qrels": "q1 0 d1 1\n", "z": "q1 Q0 d1 1 1 z\n"}
    assert main(["import-run", *_runs(tmp_path, **texts), "--dataset", "tiny"]) == 2
    said = capsys.readouterr()
    assert said.err.startswith(f"{tmp_path / 'qrels'} is a qrels file, not a run")
    assert len(said.err.splitlines()) == 1
    assert [line.split(" ")[0] for line in said.out.splitlines()] == ["a", "z", "2"]
    assert said.out.endswith("\n2 imported, 1 refused\n")


@pytest.mark.long
def test_a_file_given_twice_is_counted_once_and_a_list_in_pieces_is_told(
    tiny: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (file,) = _runs(tmp_path, a="q1 Q0 d1 1 3 a\nq2 Q0 d2 1 1 a\nq1 Q0 d3 1 2 a\n")
    assert main(["import-run", file, file, "--dataset", "tiny"]) == 0
    said = capsys.readouterr().out
    assert said.endswith("\n1 imported, 1 already stored, 0 refused\n")
    assert "list in pieces: query 'q1' again, after other queries, at hit 3 → brought" in said


@pytest.mark.long
def test_no_file_takes_the_name_that_another_has_by_right(
    tiny: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    texts = {"a.run": "q1 Q0 d1 1 1 mine\n", "mine.run": "q1 Q0 d1 1 2 mine\n"}
    assert main(["import-run", *_runs(tmp_path, **texts), "--dataset", "tiny"]) == 0
    said = capsys.readouterr()
    assert said.err == "2 files have the tag mine: they are named after their files, a, mine\n"
    assert [line.split(" ")[0] for line in said.out.splitlines()] == ["a", "mine", "2"]


@pytest.mark.long
def test_what_a_run_leaves_out_is_said(
    tiny: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = "q1 Q0 d1 1 3 t\nq1 Q0 d1 2 2 t\nq9 Q0 d1 1 2 t\nq9 Q0 d2 2 1 t\n"
    words = ["import-run", *_runs(tmp_path, some=lines), "--dataset", "tiny"]
    said = (
        "answers 1 of 3 queries; 2 hits of queries outside the split left out;"
        " 1 hit of documents that occur higher in the same list left out)\n"
    )
    assert main(words) == 0
    assert capsys.readouterr().out.endswith(f" ({said}")
    assert main(words) == 0
    assert capsys.readouterr().out.endswith(f" (up to date; {said}")
    assert main([*words, "--replace"]) == 0


FITTING_NOTHING = {
    "--dataset tin": "no scores of dataset 'tin': did you mean tiny?",
    "--system som": "no scores of system 'som': did you mean some?",
    "--dataset tiny --measure P@2000": (
        "P@2000 cannot be computed for some tiny: its stored hits end at rank 1,000"
    ),
    "--measure ndgc": "no measure 'ndgc'; known: nDCG@k",
    "--published --measure nDCG@30": "no scores of measure 'nDCG@30': did you mean",
    "--published --dataset tiny": "no scores of dataset 'tiny'",
}


@pytest.mark.long
def test_a_filter_that_fits_nothing_is_named(
    tiny: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["import-run", *_runs(tmp_path, some=ONE_HIT), "--dataset", "tiny"]) == 0
    capsys.readouterr()
    for words, sentence in FITTING_NOTHING.items():
        assert main(["scores", *words.split(" ")]) == 2
        said = capsys.readouterr().err
        assert sentence in said
        assert len(said.splitlines()) == 1


@pytest.mark.long
def test_scores_show_the_best_first_over_the_queries_that_count(
    tiny: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    texts = {"a": "q1 Q0 d5 1 1 a\n", "z": "q1 Q0 d1 1 2 z\nq2 Q0 d2 1 1 z\n"}
    assert main(["import-run", *_runs(tmp_path, **texts), "--dataset", "tiny"]) == 0
    capsys.readouterr()
    words = ["scores", "--dataset", "tiny", "--measure", "nDCG@10", "--json"]
    shown = {}
    for option in ((), ("--returned-only",)):
        assert main([*words, *option]) == 0
        rows = json.loads(capsys.readouterr().out)
        assert [row["system"] for row in rows] == ["z", "a"]
        assert rows[0]["value"] > rows[1]["value"]
        shown[option] = [row["n_queries"] for row in rows]
    assert shown == {(): [3, 3], ("--returned-only",): [2, 1]}


@pytest.mark.long
def test_other_content_under_a_name_says_what_it_replaced(
    tiny: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["import-dataset", str(tiny), "--name", "tiny"]
    assert main(words) == 0
    assert "replaced" not in capsys.readouterr().out
    with (tiny / "qrels" / "test.tsv").open("a", encoding="utf-8") as qrels:
        qrels.write("q3\td1\t1\n")
    assert main(words) == 2
    assert "(5 judgements would go)" in capsys.readouterr().err
    words.append("--replace")
    assert main(words) == 0
    said = capsys.readouterr().out
    assert said.endswith("\nreplaced the content of this name: 5 judgements\n")
    (tiny / "labels").write_text("q1\ttopic\tsea\nq2\ttopic\tland\n", encoding="utf-8")
    assert main(["import-labels", str(tiny / "labels"), "--dataset", "tiny"]) == 0
    with (tiny / "qrels" / "test.tsv").open("a", encoding="utf-8") as qrels:
        qrels.write("q3\td2\t1\n")
    assert main(words) == 0
    said = capsys.readouterr().out
    assert said.endswith("\nreplaced the content of this name: 6 judgements; 2 query labels stay\n")


def test_kinds_of_queries_are_of_one_dataset_that_there_is(
    capsys: pytest.CaptureFixture[str],
) -> None:
    for words, told in (((), "--slice needs a dataset"), (("--dataset", "x"), "no dataset 'x'")):
        assert main(["slices", "--slice", "words", *words]) == 2
        assert told in capsys.readouterr().err


def test_the_stored_datasets_alone_can_be_listed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["import-dataset", str(write_tiny(tmp_path / "tiny")), "--name", "tiny"]) == 0
    capsys.readouterr()
    assert main(["datasets", "--stored", "--json"]) == 0
    names = [row["dataset"] for row in json.loads(capsys.readouterr().out)]
    assert "tiny" in names and "fever" not in names


@pytest.mark.long
def test_runs_made_before_the_dataset_changed_are_named_not_shown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = write_tiny(tmp_path / "tiny")
    assert main(["import-dataset", str(folder), "--name", "tiny"]) == 0
    assert main(["run", "bm25", "tiny"]) == 0
    with (folder / "qrels" / "test.tsv").open("a", encoding="utf-8") as file:
        file.write("q1\td4\t1\n")
    assert main(["import-dataset", str(folder), "--name", "tiny", "--replace"]) == 0
    capsys.readouterr()
    main(["scores", "--dataset", "tiny", "--json"])
    assert "bm25 on tiny is out of date" in capsys.readouterr().err
    assert main(["rescore", "tiny"]) == 0
    assert main(["scores", "--dataset", "tiny", "--json"]) == 0
    said = capsys.readouterr()
    assert "left out" not in said.err
    assert '"bm25"' in said.out


@pytest.mark.long
def test_a_measure_that_is_not_stored_is_scored_and_then_shown(
    tiny: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = _runs(tmp_path, some="q1 Q0 d1 1 1 some\nq2 Q0 d1 1 2 some\nq2 Q0 d2 1 1 some\n")
    assert main(["import-run", *run, "--dataset", "tiny"]) == 0
    words = ["scores", "--dataset", "tiny", "--json", "--measure"]
    for measure, value in (("P@5", (0.2 + 0.2) / 3), ("RBP(p=0.5,rel=1)", (0.5 + 0.25) / 3)):
        capsys.readouterr()
        assert main([*words, measure]) == 0
        told = capsys.readouterr()
        assert told.err == f"scored 1 run by {measure}\n"
        (row,) = json.loads(told.out)
        assert row["value"] == pytest.approx(value)
        assert main([*words, measure]) == 0
        assert capsys.readouterr().err == ""


@pytest.mark.long
def test_stored_runs_are_scored_by_a_measure_that_is_named(
    tiny: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["import-run", *_runs(tmp_path, some=ONE_HIT), "--dataset", "tiny"]) == 0
    capsys.readouterr()
    assert main(["rescore", "tiny", "--measure", "Bpref", "--measure", "AP@1001"]) == 0
    told = capsys.readouterr()
    assert "Bpref 0.1667" in told.out
    assert (
        "AP@1001 cannot be computed for some tiny: its stored hits end at rank 1,000; raise"
        in told.err
    )
    assert main(["rescore", "tiny", "--measure", "map"]) == 2
    assert "no measure 'map' (here it is AP); known: " in capsys.readouterr().err


@pytest.mark.long
def test_many_runs_that_are_not_deep_enough_are_counted(tiny: Path, tmp_path: Path) -> None:
    runs = _runs(tmp_path, **dict.fromkeys("abcde", ONE_HIT))
    assert main(["import-run", *runs, "--dataset", "tiny"]) == 0
    told = scored_by(open_whole(), "AP@1001", "tiny")
    assert [line.split(":")[0] for line in told[:3]] == [
        f"AP@1001 cannot be computed for {n} tiny" for n in "abc"
    ]
    assert told[3:] == ["the same applies to 2 more runs"]


ONE_HIT = "q1 Q0 d1 1 1 some\n"
