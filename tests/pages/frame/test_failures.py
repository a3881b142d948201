"""What a page says of an error: a value that no widget offers is no bug."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest


def _page() -> None:
    from pages._shared import failures

    def deserialize(value: str) -> int:
        return ["offered"].index(value)

    try:
        deserialize("forged")
    except ValueError as error:
        failures.show_failure(error)


def _broken() -> None:
    from pages._shared import failures

    try:
        ["offered"].index("asked by us")
    except ValueError as error:
        failures.show_failure(error)


@pytest.mark.parametrize(("page", "logs"), [(_page, 0), (_broken, 1)])
def test_a_forged_value_is_refused_and_a_bug_is_logged_once(
    page: object, logs: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BEIRSCOPE_HOME", str(tmp_path))
    for _ in range(3):  # sessions
        app = AppTest.from_function(page, default_timeout=60).run()  # type: ignore[arg-type]
        (said,) = app.error
        assert ("reload the page" in said.value) == (not logs)
        assert ("bug " in said.value) == bool(logs)
    assert len([*tmp_path.glob("logs/bug-*.log")]) == logs
