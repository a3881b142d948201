"""The look-ups by folder: the list that guards addresses, and what a server imports beforehand."""

import subprocess
import sys

import pytest

from compute.base.settings import PROJECT
from pages._frame import gate, menu
from pages._shared import page_files

SCRIPT = """
import sys
from pages._frame import server
server.prepare()
print(*sorted(name for name in sys.modules if name.startswith("pages.")))
"""

ENDING = """
import atexit
from pages._shared import reading
opening = []
# What is registered first is called last.
atexit.register(lambda: print(opening[0].is_alive()))
opening.append(reading.AHEAD.stay())
"""


def test_every_page_of_the_table_is_found_and_nothing_else() -> None:
    found = [file.relative_to(PROJECT).as_posix() for file in page_files.PAGES]
    assert found == sorted(f"pages/{name}.py" for name in menu.PAGES)
    assert sorted(gate._PAGES) == [f"/{file[6:-3]}" for file in found]


@pytest.mark.long
def test_a_server_has_imported_what_stands_behind_the_pages() -> None:
    """Nothing of it is left for the first person who opens a page."""
    answer = subprocess.run(
        [sys.executable, "-c", SCRIPT], cwd=PROJECT, capture_output=True, text=True, check=True
    )
    behind = {
        ".".join(file.relative_to(PROJECT).with_suffix("").parts)
        for folder in ("_*.py", "_*/*.py")
        for file in PROJECT.glob(f"pages/{folder}")
        if file.stem != "__init__"
    }
    assert behind <= set(answer.stdout.split())
    assert len(behind) > 40


@pytest.mark.long
def test_a_server_ends_after_the_thread_that_opens_new_versions() -> None:
    """Ended inside a library of C++, it would take the process with it by a signal."""
    answer = subprocess.run(
        [sys.executable, "-c", ENDING], cwd=PROJECT, capture_output=True, text=True, check=True
    )
    assert answer.stdout.split() == ["False"]
