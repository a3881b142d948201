"""Every command that a document or a message names can be typed as it stands there."""

import re
import shlex
from pathlib import Path

import pytest

from compute.base.settings import PROJECT
from compute.commands import app

PAPERS = [PROJECT / "README.md", PROJECT / "CONTRIBUTING.md", *sorted(PROJECT.glob("docs/*.md"))]
SOURCES = [*sorted(PROJECT.glob("compute/**/*.py")), *sorted(PROJECT.glob("pages/**/*.py"))]
PROGRAM = re.compile(r"(?:\bpython -m compute|\bbeirscope) +(.*)")
"""A line of code that runs a command."""
NAMED = re.compile(r"\bpython -m compute\s+(?!COMMAND)([a-z][a-z-]*)(?:[\s`\"]+([a-z-]+))?")
"""A command in a sentence."""


def _lines(paper: Path) -> list[str]:
    """Commands of the code blocks of a paper, those over several lines as one."""
    text = paper.read_text("utf-8").replace("\\\n", " ")
    code = [line.strip() for line in text.splitlines() if line.startswith("    ")]
    found = [PROGRAM.search(line) for line in code]
    return [match[1] for match in found if match and re.match("[a-z]", match[1])]


@pytest.mark.parametrize("paper", PAPERS, ids=lambda paper: paper.name)
def test_commands_of_documents_are_parsed(paper: Path) -> None:
    for line in _lines(paper):
        words = shlex.split(line, comments=True)
        end = next((n for n, word in enumerate(words) if re.match(r"[|&;>]|\d?>", word)), None)
        assert app.name_of(words[:end]), line
        app.parsed(words[:end])


def test_there_are_commands_in_documents() -> None:
    assert sum(len(_lines(paper)) for paper in PAPERS) > 30


def test_a_sentence_names_commands_in_their_new_spelling() -> None:
    for file in (*PAPERS, *SOURCES):
        text = re.sub(r'"\s*\n\s*f?"', "", file.read_text("utf-8"))
        for words in NAMED.findall(text):
            assert app.name_of(words), (file, words)
