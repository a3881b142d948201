from pathlib import Path

import pytest

from compute.base import bug_reports
from compute.base.settings import Settings


def _recorded(home: Path, kind: type[Exception], words: str = "the bug") -> tuple[str, Path | None]:
    try:
        raise kind(words)
    except kind as error:
        return bug_reports.record(Settings(home=home), "here", error)


def test_a_bug_of_one_kind_is_logged_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = _recorded(tmp_path, ValueError, "0")
    assert {_recorded(tmp_path, ValueError, str(n)) for n in range(9)} == {first}
    assert len([*(tmp_path / "logs").iterdir()]) == 1
    monkeypatch.setattr(bug_reports, "PAUSE", 0)
    assert _recorded(tmp_path, ValueError, "0") != first


def test_a_bug_lies_in_a_log_of_its_own(tmp_path: Path) -> None:
    first = _recorded(tmp_path, ZeroDivisionError)
    try:
        raise ZeroDivisionError("the bug")
    except ZeroDivisionError as error:
        second = bug_reports.record(Settings(home=tmp_path), "here", error)
    assert first[0] != second[0]
    for bug, log in (first, second):
        assert log
        words = log.read_text("utf-8")
        assert bug in words
        assert words.count("ZeroDivisionError: the bug") == 1
