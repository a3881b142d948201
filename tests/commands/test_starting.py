"""What a command imports before it answers: whoever asks for help waits for no library of others.

Nothing here measures time; it holds what time was saved by.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from compute.__main__ import main
from compute.base.settings import PROJECT
from compute.commands import app, old

NEVER = {
    "datasketch",
    "dbos",
    "faiss",
    "jnius",
    "networkx",
    "plotly",
    "pyserini",
    "scipy",
    "sentence_transformers",
    "sklearn",
    "statsmodels",
    "streamlit",
    "torch",
    "transformers",
}
"""What none of the commands below has a use for."""
FRAMES = {"duckdb", "pandas"}
ARRAYS = {"numpy", "pyarrow"}
SCRIPT = """
import json, sys
from compute.__main__ import main
for words in json.loads(sys.argv[1]):
    main(words)
    print()
    print("then", json.dumps(sorted(sys.modules)))
"""
COMMANDS: list[tuple[list[str], set[str]]] = [
    *(
        (words, NEVER | FRAMES | ARRAYS | {"sqlalchemy"})
        for words in (["--help"], ["admin", "--help"], ["nothing"])
    ),
    (["datasets"], NEVER | FRAMES | ARRAYS),
    (["systems"], NEVER | FRAMES),
    (["check", "README.md"], NEVER),
    (["scores", "--published"], NEVER),
    (["gate", "README.md", "README.md", "--dataset", "x"], NEVER - {"scipy"}),
]
"""Each with what it must not import: fewer from one to the next, so that one process runs all."""


@pytest.mark.long
def test_a_command_imports_only_what_it_uses(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, json.dumps([words for words, _ in COMMANDS])],
        cwd=PROJECT,
        env=os.environ | {"BEIRSCOPE_HOME": str(tmp_path / "home")},
        capture_output=True,
        text=True,
        check=True,
    )
    told = [line for line in done.stdout.splitlines() if line.startswith("then ")]
    for line, (words, absent) in zip(told, COMMANDS, strict=True):
        loaded = {name.split(".")[0] for name in json.loads(line.removeprefix("then "))}
        assert loaded & absent == set(), words


def test_every_command_is_a_function_with_help() -> None:
    for name in app.NAMES:
        command: Any = app.parser()
        for word in name.split(" "):
            command = command[word]
        assert callable(command.default_command) and command.help, name


@pytest.mark.parametrize("words", old.OLD)
def test_an_old_spelling_is_that_of_a_command(words: str) -> None:
    renewed, hint = old.renewed(words.split(" "))
    assert words == "show" or (app.name_of(renewed) and hint.startswith(f"`{words}` is now `"))


def test_an_old_spelling_hints_and_does_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("BEIRSCOPE_HOME", str(tmp_path))
    published = ["--published", "--dataset", "scifact"]
    for before, now in (
        (["show", "scores", *published], ["scores", *published]),
        (["show", *published, "scores"], ["scores", *published]),
        (["show", "scores", "--slice", "words"], ["slices", "--slice", "words"]),
        (["overlap"], ["overlap", "compute"]),
        (["lengths", "nothing"], ["lengths", "compute", "nothing"]),
        (["adopt"], ["admin", "adopt"]),
        (["show", "jobs", "--json"], ["jobs", "list", "--json"]),
    ):
        status = main(now)
        expected = capsys.readouterr()
        assert main(before) == status
        told = capsys.readouterr()
        assert told.out == expected.out
        hint, rest = told.err.split("\n", 1)
        assert rest == expected.err and hint.endswith("the next version removes the old spelling")


@pytest.mark.long
def test_a_command_yields_to_readers_but_a_dashboard_does_not(tmp_path: Path) -> None:
    """Started from a shell, a command has a lower priority; called by our own code, it has not."""
    script = (
        "import os, sys; from compute.__main__ import main;"
        "sys.argv[1:] = [sys.argv[1], '--help']; before = os.nice(0);"
        "main(['datasets', '--help']); within = os.nice(0); main();"
        "print('nice', within - before, os.nice(0) - before)"
    )
    env = {**os.environ, "BEIRSCOPE_HOME": str(tmp_path)}
    for name, lower in (("datasets", 10), ("serve", 0)):
        words = ["nice", "-n", "1", sys.executable, "-c", script, name]
        said = subprocess.run(words, cwd=PROJECT, env=env, capture_output=True, text=True).stdout
        assert said.splitlines()[-1].split() == ["nice", "0", str(lower)]
