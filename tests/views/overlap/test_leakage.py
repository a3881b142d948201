"""What systems score without the queries that a training set holds."""

from pathlib import Path

import pytest

from compute.datasets import Dataset
from compute.intake import leakage as intake
from compute.jobs import removing
from compute.reading.database import open_version
from compute.store.loading import Bench
from compute.views.overlap import leakage
from tests.support import filled
from tests.support.tiny import QUERIES
from tests.views.records import under

RUNS = {
    "good": "q1 Q0 d1 1 2 t\nq2 Q0 d2 1 2 t\nq3 Q0 d1 1 1 t\n",
    "one": "q1 Q0 d1 1 2 t\nq2 Q0 d6 1 2 t\n",
}


@pytest.fixture
def compared(bench: Bench, tiny: Dataset, tmp_path: Path) -> Bench:
    """Two runs, one of them called as the training set is, which holds q1."""
    filled.add(bench, tiny, RUNS)
    (tmp_path / "train").write_text(str(QUERIES[0]["text"]))
    intake.compare(bench, tiny, "one", files=[tmp_path / "train"])
    return bench


def test_the_changes_are_those_of_the_means_by_hand(compared: Bench) -> None:
    with open_version(compared.store).cursor() as cursor:
        found = leakage.changes(cursor, "RR@10").set_index(["left_out", "system"])
        sets = leakage.sets(cursor)
    both = found.loc["query or document"]
    assert both["n_found"].to_list() == [1, 1]
    # RR@10 of q1, q2, q3: good has 1, 1, 0 and one has 1, 0, 0. Without q1:
    assert both["value"].to_dict() == pytest.approx({"good": 2 / 3, "one": 1 / 3})
    assert both["value_without"].to_dict() == pytest.approx({"good": 1 / 2, "one": 0})
    assert both["change"].to_dict() == pytest.approx({"good": -1 / 6, "one": -1 / 3})
    assert list(both.index) == ["good", "one"], "the best without them first"
    assert leakage.said(sets, {"tiny": "Tiny"}) == (
        "one contains 1 of the 3 queries of Tiny and 0 of its 5 relevant documents (equal or"
        " near-equal); 1 query affected."
    )
    rows = leakage.shown(both.reset_index().assign(left_out="query"), {"one": "One"})
    shown = under(leakage.COLUMNS_SHOWN, rows)
    assert shown.iloc[1].to_list()[1:6] == ["1 of 3", "One", ".333", ".000", "−.333"]
    nothing_left = leakage.said(sets.assign(n_touched=3), {})
    assert nothing_left.endswith("3 queries affected, so no query would be left.")
    gone = both.reset_index().assign(left_out="query", value_without=float("nan"))
    assert leakage.shown(gone, {}).empty


def test_without_a_score_the_set_still_has_a_row(compared: Bench) -> None:
    with open_version(compared.store).cursor() as cursor:
        found = leakage.changes(cursor, "P@7")
    assert found["system"].isna().all()
    assert found["n_found"].to_list() == [1, 1]


def test_a_run_and_a_training_set_of_one_name_go_apart(compared: Bench, tiny: Dataset) -> None:
    store = compared.store
    gone = {part.kind for part in removing.remove(store, "tiny", "one")}
    assert "hits" in gone
    assert intake.KIND not in gone
    with open_version(store).cursor() as cursor:
        assert leakage.sets(cursor)["training"].to_list() == ["one"]
        names = cursor.execute("select name from systems where name = 'one'").fetchall()
    assert names == []
    (again,) = store.parts(intake.KIND)
    assert "1 leaked text" in removing.said(store, removing.planned(store, "tiny"), "tiny")
    assert again.rows == 1
