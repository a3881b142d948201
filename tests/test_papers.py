"""The papers name files and functions that there are."""

import re

import pytest

from compute.base.settings import PROJECT
from compute.datasets import DATASETS
from compute.evaluate.tolerance import TOLERANCE
from compute.views.about import contract
from tests.commands import reference

PAPERS = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"]
PAPERS += [f"docs/{file.name}" for file in sorted((PROJECT / "docs").glob("*.md"))]
MADE_UP = {"pages/x.py", "pages/judged.py", "pages/_judged/"}
"""What examples call a page."""
FILE = re.compile(r"`((?:compute|pages|tests|data|docs)/[\w/.*-]*|app\.py)`(?: `(\w+(?:\.\w+)?)`)?")


@pytest.mark.parametrize("paper", PAPERS)
def test_every_file_that_a_paper_names_is_there(paper: str) -> None:
    text = (PROJECT / paper).read_text("utf-8").replace("\n", " ").replace("   ", " ")
    named = [
        (file, name)
        for file, name in FILE.findall(text)
        if file not in MADE_UP and "judged/" not in file and "/x/" not in file and "_x" not in file
        # Users make it.
        if not file.startswith("data/local")
    ]
    lost = [file for file, _ in named if not list(PROJECT.glob(file))]
    assert lost == []
    absent = [
        (file, name)
        for file, name in named
        if name and file.endswith(".py")
        for text in [(PROJECT / file).read_text("utf-8")]
        if not re.search(rf"\b{name.rpartition('.')[2]}\b", text)
    ]
    assert absent == []


def test_architecture_names_functions() -> None:
    """The expression above finds what it is meant to find."""
    text = (PROJECT / "ARCHITECTURE.md").read_text("utf-8").replace("\n", " ").replace("   ", " ")
    assert len([name for _, name in FILE.findall(text) if name]) > 25


def test_the_reference_and_the_definitions_are_those_of_the_program() -> None:
    """`python -m tests.commands.reference` writes both again."""
    assert reference.REFERENCE.read_text("utf-8") == reference.reference()
    assert reference.METHODS.read_text("utf-8") == reference.methods()


def test_methods_name_the_datasets_and_the_tolerance() -> None:
    dropping = {(row.group, row.collection) for row in DATASETS.values() if row.drop_self}
    polish = {("BEIR-PL", "arguana-pl"), ("BEIR-PL", "quora-pl")}
    assert {pair for pair in dropping if pair[0] != "PyDocs"} == {
        ("BEIR", "arguana"),
        ("BEIR", "quora"),
        *polish,
    }
    assert f"differ by at most {TOLERANCE}," in " ".join(contract.RULES.split())
