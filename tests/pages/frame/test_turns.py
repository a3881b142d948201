"""Pages are drawn a few at a time."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from pages._frame import turns


def test_no_more_are_drawn_at_once_and_the_next_waits_for_a_turn() -> None:
    drawn, leave = list[int](), threading.Event()
    all_in = threading.Barrier(turns.AT_ONCE + 1)

    def draw(number: int) -> None:
        with turns.turn():
            drawn.append(number)
            if number < turns.AT_ONCE:
                all_in.wait(60)
                assert leave.wait(60)

    with ThreadPoolExecutor(turns.AT_ONCE + 1) as pool:
        works = [pool.submit(draw, number) for number in range(turns.AT_ONCE)]
        all_in.wait(60)
        works.append(pool.submit(draw, turns.AT_ONCE))
        assert len(drawn) == turns.AT_ONCE
        leave.set()
        for work in works:
            work.result(60)
    assert len(drawn) == turns.AT_ONCE + 1


def test_a_page_that_fails_leaves_its_turn() -> None:
    for _ in range(2 * turns.AT_ONCE):
        with pytest.raises(ZeroDivisionError), turns.turn():
            raise ZeroDivisionError


def test_nobody_waits_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns, "LONGEST", 0.01)
    with turns.turn(), turns.turn(), turns.turn():
        for _ in range(turns.AT_ONCE):
            with turns.turn():
                pass
    assert turns._TURNS._value == turns.AT_ONCE
