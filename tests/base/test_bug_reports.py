from pathlib import Path

from compute.base import bug_reports
from compute.base.settings import Settings


def test_a_bug_lies_in_a_log_of_its_own(tmp_path: Path) -> None:
    try:
        raise ZeroDivisionError("the bug")
    except ZeroDivisionError as error:
        first = bug_reports.record(Settings(home=tmp_path), "here", error)
        second = bug_reports.record(Settings(home=tmp_path), "here", error)
    assert first[0] != second[0]
    for bug, log in (first, second):
        assert log
        words = log.read_text("utf-8")
        assert bug in words
        assert words.count("ZeroDivisionError: the bug") == 1
