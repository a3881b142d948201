from pathlib import Path

from compute import bugs
from compute.settings import Settings


def test_a_bug_lies_in_a_log_of_its_own(tmp_path: Path) -> None:
    try:
        raise ZeroDivisionError("the bug")
    except ZeroDivisionError as error:
        first = bugs.record(Settings(home=tmp_path), "here", error)
        second = bugs.record(Settings(home=tmp_path), "here", error)
    assert first[0] != second[0]
    for bug, log in (first, second):
        assert log
        words = log.read_text("utf-8")
        assert bug in words
        assert words.count("ZeroDivisionError: the bug") == 1
