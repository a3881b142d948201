"""Marks of a table: which systems are significantly better than a baseline, by dataset."""

import duckdb
import pytest

from compute.views.leaderboard import select_marks


def test_marks_are_of_one_side_and_corrected_over_the_systems_of_a_dataset() -> None:
    cursor = duckdb.connect()
    cursor.execute("create table datasets as select 'one' as name, []::varchar[] as parts")
    cursor.execute(
        "create table scores(dataset text, system text, query_id text, measure text, value double)"
    )
    # Twelve queries: `up` is better on all of them, `down` worse, `same` equal.
    rows = [
        ("one", system, f"q{n}", "nDCG@10", 0.5 + sign * (n + 1) / 100)
        for system, sign in (("base", 0), ("up", 1), ("down", -1), ("same", 0))
        for n in range(12)
    ]
    cursor.executemany("insert into scores values (?, ?, ?, ?, ?)", rows)
    asked = ("nDCG@10", ["one", "gone"], ["up", "down", "same"], "base")
    found = select_marks.against(cursor, *asked, 1).set_index("system")
    assert found["is_better"].to_dict() == {"down": False, "same": False, "up": True}
    # Of 2^12 signs two are as extreme, and three systems are compared.
    assert found["p"]["up"] == pytest.approx(3 * 2 / 2**12, abs=0.003)
    assert found["p"]["same"] == 1
    less = select_marks.against(cursor, *asked, -1).set_index("system")
    assert less["is_better"].to_dict() == {"down": True, "same": False, "up": False}
    assert select_marks.against(cursor, "P@10", *asked[1:], 1).empty
