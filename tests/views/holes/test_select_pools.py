"""What the Holes page reads and shows of the pool, on a tiny store."""

from pathlib import Path

import pytest

from compute.views.holes import select as holes_select
from tests.support.holes import (
    ASKED,
    BEST_OF_Q1,
    BEST_OF_Q2,
    EVIL,
    SECOND,
    by_system,
    cursor,
    fill,
    judge,
)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two runs; a document of one of them was judged relevant afterwards."""
    folder = fill(tmp_path_factory.mktemp("pools"))
    judge(folder, ("q1", "d6", 1))
    return folder


def test_systems_left_out_by_the_official_judgements(home: Path) -> None:
    with cursor(home, added=False) as official:
        found = by_system(holes_select.left_out(official, **ASKED))
    sure, evil = found["sure"], found[EVIL]
    assert sure["value"] == pytest.approx((2 / BEST_OF_Q1 + 1 / BEST_OF_Q2 + 1) / 3)
    # d3 for q2 and d6 for q3 are its own; q3 has nothing relevant then.
    assert sure["value_without"] == pytest.approx(2 / BEST_OF_Q1 / 3)
    assert sure["n_relevant_alone"] == 2
    assert evil["value_without"] == pytest.approx(2 * SECOND / BEST_OF_Q1 / 3)
    # Without d3 the other's d2 is the best there is for q2.
    assert (sure["place"], sure["place_without"], evil["place"]) == (1, 2, 2)


def test_lists_deeper_than_the_extract_are_read_too(home: Path) -> None:
    with cursor(home, added=False) as official:
        found = holes_select.left_out(official, **(ASKED | {"measure": "P@20"}))
    assert by_system(found)["sure"]["value"] == pytest.approx(3 / 20 / 3)


def test_who_gains_by_added_judgements(home: Path) -> None:
    with cursor(home, added=True) as both, cursor(home, added=False) as official:
        found = holes_select.gains(both, **ASKED)
        nothing = holes_select.gains(official, **ASKED)
    gained = by_system(found)
    assert found["system"].tolist() == ["sure", EVIL]
    counts = ["n_added", "n_added_relevant", "n_added_alone"]
    assert [gained["sure"][name] for name in counts] == [1, 1, 1]
    assert [gained[EVIL][name] for name in counts] == [0, 0, 0]
    assert gained[EVIL]["value_added"] < gained[EVIL]["value"]
    assert not nothing["n_added"].any()
    assert nothing["value"].tolist() == nothing["value_added"].tolist()
