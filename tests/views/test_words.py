"""The words of pages: phrases of the field, short captions, short tooltips."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from compute.base.settings import PROJECT, Settings
from compute.exports.pages import PAGES
from compute.store.store import Store
from compute.views.page import Note, Table, parts
from compute.views.page.parts import Button
from compute.views.page.store_ask import opened
from tests.support import pages

PHRASES = (
    *("told apart", "tell apart", "nobody judged", "anew", "at work", "hangs on", "is ahead"),
    *("turn the order", "change places", "could turn", "own list", "only here", "the holes in"),
    *("kind of quer", "kinds of quer", "what counts", "how sure", "most alike", "how alike"),
    *(
        "draws of new",
        "takes in",
        "taken in",
        "take in",
        "came with the project",
        "could be chance",
    ),
    *(
        "by likeness",
        "as printed",
        "of them listed",
        "alone are",
        "alone is",
        "somebody",
        "whoever",
    ),
)
"""Of the glossary's other column: what no page says."""
ADDRESSES = {"Kinds of queries", "By likeness"}
"""Values in addresses that people keep."""
TOOLTIP, CAPTION = 40, 60
"""Words at most."""


def constants(file: Path) -> Iterator[str]:
    """The texts in a module that are no docstrings."""
    tree = ast.parse(file.read_text("utf-8"))
    told = {id(one.value) for one in ast.walk(tree) if isinstance(one, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in told:
            yield node.value


@pytest.mark.long
def test_pages_speak_the_language_of_the_field() -> None:
    found = [
        f"{file.relative_to(PROJECT)}: {text}"
        for folder in ("compute/views", "pages")
        for file in (PROJECT / folder).rglob("*.py")
        for text in constants(file)
        if text not in ADDRESSES
        and "\n" not in text
        and any(phrase in text.lower() for phrase in PHRASES)
    ]
    assert found == []


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("words")


@pytest.mark.long
@pytest.mark.usefixtures("shipped_results")
@pytest.mark.parametrize("name", [name for name in PAGES if name != "about"])
def test_captions_and_tooltips_are_short(name: str, home: Path) -> None:
    with opened(Store(Settings(home=home, threads=1))) as ask:
        found = parts(PAGES[name], ask)
    notes = [one for one in found if isinstance(one, Note)]
    shown, behind = [one.shown for one in notes], [one.behind() for one in notes]
    behind += [one.told for one in found if isinstance(one, Button)]
    behind += [column.told for one in found if isinstance(one, Table) for column in one.columns]
    assert [text for text in shown if len(text.split()) > CAPTION] == []
    assert [text for text in behind if len(text.split()) > TOOLTIP] == []


@pytest.mark.parametrize("name", ["annotate", "data", "jobs"])
def test_captions_and_tooltips_of_forms_are_short(
    name: str, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BEIRSCOPE_HOME", str(home))
    app = pages.opened(name)
    assert [one.value for one in app.caption if len(one.value.split()) > CAPTION + TOOLTIP] == []
    helps = [getattr(one.proto, "help", "") for one in app.main]
    assert [text for text in helps if len(text.split()) > TOOLTIP] == []
