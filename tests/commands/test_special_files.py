"""Pipes, devices, sockets and empty paths are refused at once, wherever a path is taken in."""

import os
import shutil
import socket
from pathlib import Path

import pytest

from compute.__main__ import main
from compute.base.errors import WrongInput
from compute.commands import app, options
from compute.datasets import layout
from tests.commands.arguments import arguments
from tests.support import filled
from tests.support.tiny import write_tiny

INPUTS = (
    ["check", "ODD"],
    ["import-dataset", "ODD", "--name", "x"],
    ["import-dataset", "--qrels", "ODD", "--name", "x"],
    ["import-dataset", "--qrels", "judged", "--queries", "ODD", "--name", "x"],
    ["import-run", "ODD", "--dataset", "tiny"],
    ["add-texts", "bare", "ODD"],
    ["import-labels", "ODD", "--dataset", "tiny"],
    ["import-grades", "ODD", "--dataset", "tiny", "--machine", "m"],
    ["leakage", "--dataset", "tiny", "--training", "ODD", "--name", "t"],
    ["judgements", "import", "ODD", "--dataset", "tiny"],
    ["judgements", "withdraw", "ODD", "--dataset", "tiny"],
    ["gate", "ODD", "ODD", "--dataset", "tiny"],
    ["restore", "ODD"],
)


@pytest.fixture
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BEIRSCOPE_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("BEIRSCOPE_DATASETS", "")
    monkeypatch.chdir(tmp_path)
    filled.tiny(tmp_path / "home")
    Path("judged").write_text("q1 0 d1 1\n", "utf-8")
    assert main(["import-dataset", "--qrels", "judged", "--name", "bare"]) == 0


@pytest.mark.long
@pytest.mark.usefixtures("_home")
def test_what_is_no_file_is_refused(capfd: pytest.CaptureFixture[str]) -> None:
    os.mkfifo("pipe")
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind("socket")
        for odd in ("pipe", "socket", "/dev/zero", "/dev/full"):
            for words in INPUTS:
                capfd.readouterr()
                assert main([odd if word == "ODD" else word for word in words]) == 2, (odd, words)
                out, err = capfd.readouterr()
                assert odd in out + err and "bug" not in out + err, (odd, words, out, err)


@pytest.mark.parametrize("name", ["corpus.jsonl", "queries.jsonl", "qrels/test.tsv"])
def test_neither_is_what_lies_in_a_folder(tmp_path: Path, name: str) -> None:
    folder = write_tiny(tmp_path / "tiny")
    (folder / name).unlink()
    os.mkfifo(folder / name)
    with (
        pytest.raises(WrongInput, match="a pipe, a device or a socket"),
        layout.files(folder).open(name),
    ):
        pass
    shutil.rmtree(folder)


def test_no_path_of_a_command_may_be_empty() -> None:
    every = [one for name in app.NAMES for one in arguments(name)]
    taken = [one for one in every if one.hint in (Path, Path | None)]
    assert {one.parameter.converter for one in taken} == {options.path} and len(taken) > 10
    assert main(["import-dataset", "--name", "x", "--runs", ""]) == 2


def test_the_working_folder_is_not_taken_for_an_empty_word(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["import-run", "", "--dataset", "tiny"]) == 2
    assert "the path is empty: name a file or a folder" in capsys.readouterr().err


@pytest.mark.usefixtures("_home")
@pytest.mark.parametrize("name", ["home.json", "parts/identity.json", "settings.toml"])
def test_neither_is_what_lies_in_the_home(
    tmp_path: Path, name: str, capfd: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "home" / name
    file.unlink(missing_ok=True)
    os.mkfifo(file)
    capfd.readouterr()
    assert main(["datasets"]) == 2
    out, err = capfd.readouterr()
    assert str(file) in out + err and "bug" not in out + err


@pytest.mark.usefixtures("_home")
def test_a_pipe_in_the_place_of_a_part_or_of_its_checksums_is_not_read(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    home = tmp_path / "home"
    (home / "checksums.txt").unlink()
    os.mkfifo(home / "checksums.txt")
    assert main(["check", "--store"]) == 0
    part = next(home.glob("parts/documents/*.parquet"))
    part.unlink()
    os.mkfifo(part)
    capfd.readouterr()
    assert main(["check", "--store"]) == 2
    assert "tiny" in capfd.readouterr().out
