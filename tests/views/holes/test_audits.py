"""Audits on the Holes page: what differs, whether the order survives, what waits to be settled."""

from pathlib import Path

import pytest
from pandas import DataFrame

from compute.base.settings import Settings
from compute.judgements import ADJUDICATION
from compute.judgements.tasks import grades, tasks
from compute.judgements.tasks.tasks import Task
from compute.reading.database import open_version
from compute.store.store import Store
from compute.views.annotate import select
from compute.views.holes import audits
from compute.views.page import Button, Widget
from tests.support.annotating import plan
from tests.support.holes import EVIL, RUNS, fill, found, heads, judge, shown, words
from tests.views.records import written


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return fill(tmp_path)


def made(home: Path) -> Task:
    """An audit of q1's d1 (2), q2's d2 and d3 (1) and q3's d6 (1), beside unjudged documents."""
    store = Store(Settings(home=home))
    asked = {"order": "sampled", "measure": "nDCG@10", "goal": "audit", "systems": tuple(RUNS)}
    asked |= {"n_pairs": 8, "grades": grades.of_levels([0, 1, 2]), "title": EVIL}
    cursor = open_version(store).cursor()
    tops = select.StoredTops(cursor, "tiny")
    judged = tasks.judged(store, "tiny", select.judged(cursor, "tiny"))
    return tasks.make(store, plan(**asked), tops, judged, "maker")


@pytest.mark.long
def test_an_audit_shows_what_differs_and_whether_the_order_survives(home: Path) -> None:
    head = "Audit of official judgements"
    assert head not in heads(shown(home, dataset="tiny"))
    task = made(home)
    of = shown(home, dataset="tiny")
    assert head in heads(of) and "Estimated scores (sample)" not in heads(of)
    assert f"None of the audited labels is judged yet (0 keys; {task.n_pairs} to" in words(*of)
    assert set(written(found(of, "audit-labels"))["95% CI"]) == {"–"}, "no interval from 0 to 1"
    # All is judged: q3's d6 is not relevant, the others are as they are.
    judge(home, ("q1", "d1", 2), ("q2", "d2", 1), ("q2", "d3", 1), ("q3", "d6", 0))
    judge(home, ("q1", "d4", 0), ("q1", "d6", 0))
    of = shown(home, dataset="tiny")
    assert "4 official judgements audited" in words(*of)
    rates = found(of, "audit-labels").shown
    assert rates["Label"].tolist() == ["1 Partly relevant", "2 Highly relevant", "all relevant"]
    assert rates["Graded differently"].tolist() == [1, 0, 1]
    assert rates["Share"].tolist() == pytest.approx([1 / 3, 0, 1 / 4])
    flips = found(of, "audit-flips").shown
    assert flips["Probability of a flip"].tolist() == [0] and flips["Ahead"].tolist() == ["sure"]
    ranks = found(of, "audit-ranks").shown
    assert ranks["Worst rank"].tolist() == [1, 2]


@pytest.mark.long
def test_a_disputed_label_is_settled_like_a_disagreement(home: Path) -> None:
    made(home)
    judge(home, ("q1", "d1", 2), ("q2", "d2", 1), ("q2", "d3", 1), ("q3", "d6", 0))
    judge(home, ("q1", "d4", 0), ("q1", "d6", 0))
    of = shown(home, dataset="tiny")
    assert "1 disagreement to settle" in {one.label for one in of if isinstance(one, Button)}
    (form,) = [one for one in of if isinstance(one, Widget) and one.name == "settle"]
    (row,) = form.values["rows"]
    assert row["labels"] == {"official judgement": 1, "ada": 0}
    assert found(of, "audit-labels").rows["wrong_low"].isna().tolist() == [True, False, True]
    assert written(found(of, "audit-labels"))["Wrong: 95% CI"].iloc[0] == "–"
    settled = DataFrame([{name: row[name] for name in ("dataset", "query_id", "doc_id")}])
    settled = settled.assign(relevance=0, person="bob", source=ADJUDICATION)
    Store(Settings(home=home)).add_judgements(settled.assign(task="", guideline_version=""))
    of = shown(home, dataset="tiny")
    assert found(of, "audit-labels").shown["Wrong"].tolist() == [1, 0, 1]


def test_an_audit_of_runs_that_changed_still_has_its_rates(home: Path) -> None:
    made(home)
    judge(home, ("q1", "d1", 2), ("q2", "d2", 1), ("q2", "d3", 1), ("q3", "d6", 0))
    judge(home, ("q1", "d4", 0), ("q1", "d6", 0))
    with Store(Settings(home=home)).publishing("gone") as parts:
        for kind in ("hits", "top", "scores"):
            parts.remove(kind, "tiny", "sure")
    of = shown(home, dataset="tiny")
    assert audits.CHANGED in words(*of)
    assert found(of, "audit-labels").shown["Audited"].tolist() == [3, 1, 4]
