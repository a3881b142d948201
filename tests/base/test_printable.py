"""What a terminal shows of numbers."""

import json

import pytest
from pandas import DataFrame

from compute.base import printable


def test_no_zero_has_a_sign(capsys: pytest.CaptureFixture[str]) -> None:
    frame = DataFrame({"system": ["a", "b"], "low": [-0.0, -0.00004], "n": [1, 2]})
    printable.show(frame, as_json=False)
    assert [line.split() for line in capsys.readouterr().out.splitlines()[1:]] == [
        ["a", "0.0000", "1"],
        ["b", "0.0000", "2"],
    ]
    printable.show(frame, as_json=True)
    written = capsys.readouterr().out
    assert "-0.0," not in written
    assert [row["low"] for row in json.loads(written)] == [0, -0.00004], "as exact as it is"
