from collections.abc import Callable
from threading import Barrier, Thread

from compute.base.bounded_cache import Kept, key


def counted(made: list[str], value: str) -> Callable[[], str]:
    def make() -> str:
        made.append(value)
        return value

    return make


def test_what_was_used_last_is_kept_up_to_so_many_bytes() -> None:
    kept, made = Kept(10, len), list[str]()
    for value in ("aaaa", "bbbb", "aaaa", "cccc", "aaaa", "bbbb"):
        assert kept.of(value, counted(made, value)) == value
        assert kept.held <= 10
    # b went for c: a was used after it.
    assert made == ["aaaa", "bbbb", "cccc", "bbbb"]


def test_a_value_of_another_state_goes_for_the_new_one() -> None:
    kept, made = Kept(100, len), list[str]()
    for state, value in ((1, "aaaa"), (1, "aaaa"), (2, "bb"), (2, "bb"), (1, "aaaa")):
        assert kept.of("key", counted(made, value), state) == value
        assert kept.held == len(value)
    assert made == ["aaaa", "bb", "aaaa"]


def test_what_is_too_large_is_made_each_time_and_drives_nothing_out() -> None:
    kept, made = Kept(10, len, 4), list[str]()
    for value in ("aa", "b" * 5, "b" * 5, "aa"):
        kept.of(value, counted(made, value))
    assert made == ["aa", "bbbbb", "bbbbb"]
    assert kept.held == 2


def test_without_a_largest_the_last_value_stays_whatever_its_size() -> None:
    kept, made = Kept(10, len), list[str]()
    for value in ("aa", "b" * 50, "b" * 50):
        kept.of(value, counted(made, value))
    assert made == ["aa", "b" * 50]


def test_what_several_ask_for_at_once_is_made_once() -> None:
    kept, made, begin = Kept(10, len), list[str](), Barrier(4)

    def ask() -> None:
        begin.wait()
        kept.of("a", counted(made, "a"))

    threads = [Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert made == ["a"]


def test_keys_tell_apart_what_equality_does_not() -> None:
    assert len({key({"k": value}) for value in (1, 1.0, True, "1", [1], (1,))}) == 6
    assert key({"a": [1, {"b": 2}], "c": 3}) == key({"c": 3, "a": [1, {"b": 2}]})
