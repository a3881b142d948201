"""What a command imports before it answers: whoever asks for help waits for no library of others.

Nothing here measures time; it holds what time was saved by.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from compute import commands, jobs, judgements
from compute.__main__ import COMMANDS
from compute.base.settings import PROJECT
from compute.commands import choices
from compute.judgements import exchange

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
try:
    main(sys.argv[1:])
except SystemExit:
    pass
print()
print(json.dumps(sorted(sys.modules)))
"""


@pytest.mark.parametrize(
    ("words", "absent"),
    [
        (["--help"], NEVER | FRAMES | ARRAYS | {"sqlalchemy"}),
        (["show", "--help"], NEVER | FRAMES | ARRAYS | {"sqlalchemy"}),
        (["nothing"], NEVER | FRAMES | ARRAYS | {"sqlalchemy"}),
        (["datasets"], NEVER | FRAMES | ARRAYS),
        (["systems"], NEVER | FRAMES),
        (["check", "README.md"], NEVER),
        (["show", "scores", "--published"], NEVER),
        (["gate", "README.md", "README.md", "--dataset", "x"], NEVER - {"scipy"}),
    ],
)
def test_a_command_imports_only_what_it_uses(
    words: list[str], absent: set[str], tmp_path: Path
) -> None:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, *words],
        cwd=PROJECT,
        env=os.environ | {"BEIRSCOPE_HOME": str(tmp_path / "home")},
        capture_output=True,
        text=True,
        check=True,
    )
    loaded = {name.split(".")[0] for name in json.loads(done.stdout.splitlines()[-1])}
    assert loaded & absent == set()


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_is_a_function(name: str) -> None:
    assert callable(commands.named(COMMANDS[name].does))


@pytest.mark.parametrize("name", choices.SHOWN)
def test_what_is_shown_is_a_function(name: str) -> None:
    assert callable(commands.named(choices.SHOWN[name]))


def test_options_take_what_the_tables_of_the_rooms_hold() -> None:
    # What a machine judges is queued by a command of its own.
    assert tuple(jobs.KINDS) == (*choices.KINDS, "judge")
    assert tuple(judgements.RULES) == choices.RULES
    assert tuple(judgements.SOURCES) == choices.SOURCES
    assert judgements.HUMAN == choices.HUMAN
    assert exchange.FORMATS == choices.FORMATS
