"""Slow answers are stored once for all processes, until a part behind them changes."""

import time
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from duckdb import DuckDBPyConnection
from pandas import DataFrame

from compute.datasets import dataset
from compute.judgements import Choice
from compute.reading import stored_answers
from compute.reading.questions import question
from compute.store.loading import Bench
from compute.store.own_datasets import own_datasets
from compute.store.store import Store
from compute.views.page.store_ask import opened
from tests.support import filled

RUN = "q1 Q0 d2 1 3.0 t\nq2 Q0 d6 1 1.0 t\nq3 Q0 d1 1 1.0 t\n"
CALLS: list[str] = []
THREADS = count(1)


@question(datasets=("dataset",), shows="runs")
def slow(cursor: DuckDBPyConnection, dataset: str, seconds: float = 0.03) -> DataFrame:
    """Return the scores of a dataset, slowly."""
    CALLS.append(dataset)
    time.sleep(seconds)
    return cursor.execute("select * from scores where dataset = ?", [dataset]).df()


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    bench = filled.bench(tmp_path)
    filled.take(bench, {"one": RUN})
    CALLS.clear()
    return bench


def asked(bench: Bench, choice: Choice | None = None, **parameters: Any) -> DataFrame:
    """The answer as in another process: in memory, answers are kept by settings."""
    store = Store(replace(bench.settings, threads=next(THREADS)))
    with opened(store, choice=choice, stores=True) as ask:
        return ask(slow, dataset="tiny", **parameters)


def files(bench: Bench) -> list[Path]:
    return sorted((bench.settings.home / "caches").glob("*.answer.parquet"))


@pytest.mark.long
def test_a_slow_answer_is_computed_once_for_all_processes(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, again = asked(bench), asked(bench)
    assert CALLS == ["tiny"] and len(first) > 0
    pd.testing.assert_frame_equal(first, again, check_exact=True)
    assert len(files(bench)) == 1
    # A quick one, and one that counts added judgements, stay in memory.
    monkeypatch.setattr(stored_answers, "SLOW", 60)
    asked(bench, seconds=0.01)
    monkeypatch.setattr(stored_answers, "SLOW", 0)
    asked(bench, Choice())
    assert len(files(bench)) == 1 and len(CALLS) == 3


@pytest.mark.long
def test_a_new_run_changes_the_answer_and_a_damaged_file_is_not_read(bench: Bench) -> None:
    before = asked(bench)
    filled.add(bench, dataset("tiny", own_datasets(bench.store)), {"other": RUN})
    after = asked(bench)
    assert set(after["system"]) == {"one", "other"} > set(before["system"])
    for damage in (lambda whole: whole[:60] + b"\xff" * 60 + whole[120:], lambda _: b""):
        for one in files(bench):
            one.write_bytes(damage(one.read_bytes()))
        pd.testing.assert_frame_equal(asked(bench), after)


def test_no_byte_of_a_damaged_footer_stops_a_page(tmp_path: Path) -> None:
    file = tmp_path / "x.answer.parquet"
    stored_answers.write(file, DataFrame({"query": ["q1", "q2"], "value": [0.5, 1.0]}))
    whole = file.read_bytes()
    for place in range(len(whole) // 4, len(whole)):
        file.write_bytes(whole[:place] + bytes([whole[place] ^ 0x20]) + whole[place + 1 :])
        stored_answers.read(file)  # raises nothing


def test_an_account_that_may_not_write_reads_what_is_stored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "x.answer.parquet"
    stored_answers.write(file, frame := DataFrame({"value": [0.5]}))

    def refuse(path: Path) -> None:
        raise PermissionError(1, "Operation not permitted", str(path))

    monkeypatch.setattr("os.utime", refuse)
    found = stored_answers.read(file)
    assert found is not None and found.equals(frame)


@pytest.mark.parametrize(
    ("column", "is_exact"),
    [
        ([0.1 + 0.2, float("nan"), -0.0], True),
        (["é", None, "x"], True),
        (pd.Categorical(["b", "a", None], ["b", "a"], ordered=True), True),
        ([[1, 2], [3], []], False),
        ([("a", 1), ("b", 2), ("c", 3)], False),
    ],
)
def test_only_what_a_file_holds_exactly_is_stored(
    tmp_path: Path, column: Any, is_exact: bool
) -> None:
    frame, file = DataFrame({"a": column}, index=[3, 1, 2]), tmp_path / "x.answer.parquet"
    stored_answers.write(file, frame)
    found = stored_answers.read(file)
    assert file.exists() == is_exact == (found is not None)
    if found is not None:
        pd.testing.assert_frame_equal(found, frame, check_exact=True)
    assert not [one for one in tmp_path.iterdir() if one != file]


def test_the_least_recently_used_are_deleted_above_the_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    caches = tmp_path / "caches"
    for number in range(4):
        file = stored_answers.file(tmp_path, number)
        stored_answers.write(file, DataFrame({"a": [number]}))
    other = caches / "a.parquet"
    other.write_bytes(b"x" * 10_000)
    time.sleep(0.02)
    assert stored_answers.read(stored_answers.file(tmp_path, 0)) is not None
    monkeypatch.setattr(stored_answers, "MOST", 2 * stored_answers.file(tmp_path, 0).stat().st_size)
    stored_answers.trim(tmp_path)
    left = [n for n in range(4) if stored_answers.file(tmp_path, n).exists()]
    assert left == [0, 3] and other.exists()
