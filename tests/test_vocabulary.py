"""The glossary's phrases are held out of help, documents, docstrings, comments and messages."""

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

from compute.base.settings import PROJECT

PHRASES = {
    r"t(?:old|ell|ells|elling) (?:\w+ )?apart": "not significantly different from; distinguish",
    r"nobody (?:has )?judged": "unjudged",
    r"\banew\b(?!`)": "again; recompute; rerun",
    r"\bkinds? of quer(?:y|ies)\b": "query group",
    r"\bin the place of\b": "instead of; replace",
    r"\bwhoever\b(?! it claims)": "the person who; everybody who",
    r"\bhow (?:sure|alike)\b": "confidence; similarity",
    r"\bby likeness\b": "by similarity",
    r"\bchange places\b": "the order flips",
    r"\bt(?:ake|akes|aken|ook) in\b(?! (?:total|parallel|turn))": "import; add",
    r"\bt(?:ake|akes|aken|ook) (?:\w+ )?back\b": "withdraw; undo",
    r"\bhand(?:s|ed)? on\b": "export; pass",
    r"\bmend(?:s|ed)?\b": "fix",
    r"(?:these|those|them|ones|\b(?:run|type|measure|quer|document|system)\w*) alone\b": "only",
    r"\bhave a machine\b": "with an LLM",
    r"\bwhat (?:is|was|are) (?:judged|compared|drawn|published|asked|said|taken)\b": "a noun",
    r"\bwhat stands\b|\bas it stands\b": "the noun; unchanged",
    r"\bto be had\b": "available",
    r"\bwhere nobody\b": "if nobody",
    r"\bmade again\b": "recomputed; rebuilt",
    r"\bwhole or not at all\b": "atomically",
    r"\bin small letters\b": "in lower case",
    r"\bat work\b": "running",
    r"\btakes? (?:the place|for)\b": "replace; read as",
    r"\border (?:could|can) turn\b": "the order could flip",
    r"\b(?:between|holds?|with|without|a) blanks?\b(?! lines?)": "space",
}
"""Phrases, as expressions, and the words to use instead."""
FIRST = re.compile(r"(?:What|Who|Whose|Whoever|That which|Those|Hands|Says)\b")
"""Beginnings of a docstring that describe a noun instead of naming it."""
PAPERS = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"]
PAPERS += [f"docs/{file.name}" for file in sorted((PROJECT / "docs").glob("*.md"))]
ROOMS = sorted(
    str(folder.relative_to(PROJECT))
    for folder in [*(PROJECT / "compute").iterdir(), PROJECT / "compute"]
    if folder.is_dir() and folder.name not in ("__pycache__", "views")
)


def _found(text: str) -> list[str]:
    """Each phrase of the glossary in a text, with the words around it and those to use."""
    plain = " ".join(text.split())
    return [
        f"{plain[max(0, match.start() - 40) : match.end() + 30]!r}: say {better}"
        for phrase, better in PHRASES.items()
        for match in re.finditer(phrase, plain, re.IGNORECASE)
    ]


def _files(room: str) -> list[Path]:
    """Modules of a room; of `compute` only those in no room."""
    found = (PROJECT / room).glob("*.py" if room == "compute" else "**/*.py")
    return sorted(file for file in found if file.name != "deciding.py")


def _texts(file: Path) -> Iterator[tuple[int, str]]:
    """Line and text of every string and block of comments of a module."""
    source = file.read_text("utf-8")
    comments: list[tuple[int, str]] = []
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            line, words = token.start[0], token.string.lstrip("# ")
            if comments and comments[-1][0] == line - 1 - comments[-1][1].count("\n"):
                comments[-1] = comments[-1][0], f"{comments[-1][1]}\n{words}"
            else:
                comments.append((line, words))
    yield from comments
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value:
            yield node.lineno, node.value


@pytest.mark.parametrize("paper", PAPERS)
def test_a_paper_has_none_of_the_phrases(paper: str) -> None:
    assert _found((PROJECT / paper).read_text("utf-8")) == []


@pytest.mark.long
@pytest.mark.parametrize("room", ROOMS)
def test_a_room_has_none_of_the_phrases(room: str) -> None:
    told = [
        f"{file.relative_to(PROJECT)}:{line}: {one}"
        for file in _files(room)
        for line, text in _texts(file)
        for one in _found(text)
    ]
    assert told == []


@pytest.mark.long
@pytest.mark.parametrize("room", ROOMS)
def test_a_docstring_begins_with_a_noun_or_a_verb(room: str) -> None:
    told = [
        f"{file.relative_to(PROJECT)}:{node.body[0].lineno}: {text[:60]}"
        for file in _files(room)
        for node in ast.walk(ast.parse(file.read_text("utf-8")))
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
        and (text := ast.get_docstring(node) or "")
        and FIRST.match(text)
    ]
    assert told == []
