"""What `show power` prints."""

import json
from pathlib import Path

import pytest

from compute.__main__ import main
from compute.base.settings import load
from compute.evaluate import power
from tests.support.storage import hits, open_store, publish_run, scores


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Three systems on twelve queries of SciFact: a and b differ on all, c is a but for one."""
    monkeypatch.setenv("BEIRSCOPE_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("BEIRSCOPE_SHIPPED_RESULTS", "false")
    store = open_store(load().home)
    values = {f"q{n}": 0.5 + (-1) ** n * n / 100 for n in range(12)}
    rows = {"a": values, "b": dict.fromkeys(values, 0.49), "c": values | {"q1": 0.9}}
    for system, own in rows.items():
        publish_run(store, "scifact", system, hits(("q0", "d", 1)), scores("nDCG@10", **own))


def told(capsys: pytest.CaptureFixture[str], *words: str) -> list[dict]:
    assert main(["power", "--json", *words]) == 0
    return json.loads(capsys.readouterr().out)


def test_power_shows_every_pair_corrected_and_alone(capsys: pytest.CaptureFixture[str]) -> None:
    rows = {row["a"] + row["b"]: row for row in told(capsys, "--dataset", "scifact")}
    assert set(rows) == {"ab", "ac", "bc"}
    row = rows["ab"]
    assert (row["measure"], row["n"], row["n_pairs"]) == ("nDCG@10", 12, 3)
    error = row["deviation"] / 12**0.5
    assert row["alone"] == pytest.approx(float(power.detectable(error, 12, 0.05, 12)))
    assert row["detectable"] > row["alone"]
    assert rows["ac"]["detectable"] is None, "one query that differs says nothing"


@pytest.mark.long
def test_power_says_the_queries_for_a_named_difference(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--system", "a", "--against", "b", "--difference"]
    (row,) = told(capsys, *words, ".02")
    assert row["queries_alone"] == power.queries_needed(0.02, row["deviation"], 0.05)
    assert row["queries"] > row["queries_alone"]
    (row,) = told(capsys, "--system", "c", "--against", "a", "--difference", ".02")
    assert row["queries"] is None
    assert main(["power", *words, ".02"]) == 0
    assert "queries_alone" in capsys.readouterr().out


@pytest.mark.long
@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["power", "--system", "d"], "no two of these systems have nDCG@10 on one dataset"),
        (["power", "--against", "\x1b[31m"], "no two of these systems"),
        (["power", "--dataset", "scifac"], "no scores of dataset 'scifac': did you mean scifact"),
        (["power", "--published"], "Unknown option: --published: beirscope power --help explains"),
        (["scores", "--difference", ".1"], "Unknown option: --difference: beirscope scores --help"),
    ],
)
def test_what_has_no_power_is_one_sentence(
    words: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words) == 2
    said = capsys.readouterr().err
    assert sentence in said and len(said.splitlines()) == 1


@pytest.mark.parametrize("wrong", ["0", "-1", "nan", "inf", "x"])
def test_a_named_difference_is_above_0(wrong: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["power", "--difference", wrong]) == 2
    assert "--difference" in capsys.readouterr().err
