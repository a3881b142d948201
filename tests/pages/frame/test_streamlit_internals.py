"""What is used of Streamlit besides its public interface stands in one module."""

import re

from compute.base.settings import PROJECT
from pages._shared import streamlit_internals

PUBLIC = ("components.v2", "delta_generator")
IMPORTED = re.compile(r"^\s*from streamlit(?:\.([\w.]+))? import (.+)$", re.MULTILINE)


def test_it_was_read_in_the_sources_that_are_installed() -> None:
    """After an update read them again: each name, and whether a public way exists by then."""
    assert streamlit_internals.is_read_from()


def test_no_other_module_imports_it() -> None:
    found = {
        f"{file.relative_to(PROJECT)}: {line[0] or line[1]}"
        for file in [PROJECT / "app.py", *PROJECT.glob("pages/**/*.py")]
        for line in IMPORTED.findall(file.read_text())
        if line[0] not in PUBLIC and file.stem != "streamlit_internals"
    }
    assert not found
