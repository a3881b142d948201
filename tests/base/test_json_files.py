"""JSON of files: whatever is in one, the answer is a sentence."""

import re
from pathlib import Path

import pytest

from compute.base import json_files
from compute.base.errors import WrongInput
from compute.base.settings import PROJECT


@pytest.mark.parametrize("text", ["[" * 100_000, "{", "", "1" * 5000, '"\ud800'])
def test_what_cannot_be_read_is_the_fault_of_the_file(tmp_path: Path, text: str) -> None:
    file = tmp_path / "x.json"
    file.write_bytes(text.encode("utf-8", "surrogatepass"))
    with pytest.raises(ValueError):
        json_files.parsed(file.read_bytes())
    with pytest.raises(WrongInput, match=f"^{file} is not valid JSON .*: fix or remove it$"):
        json_files.read(file)


def test_no_file_is_read_past_it() -> None:
    past = re.compile(r"json\.loads?\([^()]*(read_text|read_bytes|open)\(")
    sources = [*PROJECT.glob("compute/**/*.py"), *PROJECT.glob("pages/**/*.py")]
    assert [str(file) for file in sources if past.search(file.read_text("utf-8"))] == []
