"""Tasks: their pairs are fixed when they are made; grades, guideline, and what is refused."""

from pathlib import Path

import pandas as pd
import pytest

from compute.__main__ import main
from compute.base.errors import Missing, Unavailable, WrongInput
from compute.judgements.orders import Framed
from compute.judgements.tasks import grades, tasks
from compute.store import state
from tests.support.annotating import NOTHING, guidelines, made, plan, tops
from tests.support.storage import judgement, open_store


def pairs(store, task) -> list[tuple[str, str]]:
    frame = tasks.pairs(store, task.id)
    assert list(frame["place"]) == list(range(1, len(frame) + 1))
    return list(frame[["query_id", "doc_id"]].itertuples(index=False, name=None))


def test_a_task_has_what_nobody_judged_in_its_order(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    official = pd.DataFrame({"query_id": ["q1"], "doc_id": ["d1"], "relevance": [0]})
    task = tasks.make(store, plan(depth=1), Framed(tops()), official, "maker")
    # Only the top 1 of each system: d1 of one, d3 of two; (q1, d1) is judged.
    assert sorted(pairs(store, task)) == [("q1", "d3"), ("q2", "d1"), ("q2", "d3")]
    assert task.n_pairs == 3


def test_the_same_plan_gives_the_same_pairs_with_ids_that_say_nothing(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    first, second = (made(store, order="random", double_share=0.5) for _ in range(2))
    one, other = (tasks.pairs(store, task.id) for task in (first, second))
    same = ["place", "query_id", "doc_id", "labels"]
    pd.testing.assert_frame_equal(one[same], other[same])
    assert set(one["id"]).isdisjoint(other["id"])
    assert one["id"].str.fullmatch("[0-9a-f]{16}").all()
    assert list(one["labels"]).count(2) == 3


def test_a_task_comes_back_as_it_was_planned(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    asked = plan(n_pairs=4, annotators=("ada", "bob"), double_share=0.25, guideline="*Look*")
    task = tasks.make(store, asked, Framed(tops()), NOTHING, "maker")
    assert tasks.task(store, task.id) == task
    assert (task.title, task.systems, task.grades) == (asked.title, asked.systems, asked.grades)
    assert (task.annotators, task.guideline, task.guideline_version) == (
        ("ada", "bob"),
        "*Look*",
        1,
    )
    assert task.admits("ada") and not task.admits("cyd")
    assert made(store).admits("cyd")


@pytest.mark.parametrize("value", ["systems = '{'", "grades = '[1]'", "annotators = x'ff'"])
def test_a_damaged_row_of_a_task_is_told(
    tmp_path: Path, value: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    store = open_store(tmp_path)
    task = made(store)
    monkeypatch.setenv("BEIRSCOPE_HOME", str(store.home))
    assert main(["check", "--store"]) == 0
    with state.writing(store.engine) as connection:
        connection.exec_driver_sql(f"update annotation_tasks set {value}")
    with pytest.raises(Unavailable, match=f"task {task.id} in the state is damaged"):
        tasks.tasks(store)
    assert main(["check", "--store"]) == 2
    assert "annotation_tasks" in (said := capsys.readouterr().out) or "is damaged" in said


def test_a_changed_guideline_is_a_new_version(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    task = made(store, guideline="first")
    assert tasks.change_guideline(store, task.id, "second", "ada") == 2
    assert tasks.change_guideline(store, task.id, "second", "ada") == 2
    versions = guidelines(store, task.id)
    assert list(versions["text"]) == ["first", "second"]
    assert list(versions["person"]) == ["maker", "ada"]
    assert tasks.task(store, task.id).guideline_version == 2


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"title": "  "}, "name"),
        ({"systems": ()}, "at least one system"),
        ({"depth": 0}, "choose a depth from 1 to"),
        ({"n_pairs": 0}, "ask for 1 to"),
        ({"order": "nonsense"}, "no order 'nonsense'; known: impact"),
        ({"double_share": 1.5}, "between 0 and 1"),
        ({"double_share": 0.5, "annotators": ("ada",)}, "second assessor"),
        ({"guideline": "x" * 20_001}, "20,000 characters"),
        ({"systems": ("absent",)}, "choose a larger depth, or other systems"),
    ],
)
def test_a_plan_that_cannot_be_followed_is_refused(
    tmp_path: Path, changes: dict[str, object], said: str
) -> None:
    store = open_store(tmp_path)
    with pytest.raises(WrongInput, match=f"(?i){said}"):
        tasks.make(store, plan(**changes), Framed(tops()), NOTHING, "maker")
    assert tasks.tasks(store) == []


def test_a_task_that_is_not_there_is_missing(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    with pytest.raises(Missing, match="choose one from the list"):
        tasks.task(store, "nothing")
    with pytest.raises(Missing):
        tasks.change_guideline(store, "nothing", "text", "ada")


def test_what_was_added_is_judged_already_and_official_judgements_win(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    store.add_judgements(judgement("q1", "d1", 1).assign(source="person"))
    store.add_judgements(judgement("q1", "d2", 1).assign(source="person"))
    store.add_judgements(judgement("q1", "d3", 1).assign(source="person"))
    store.add_judgements(judgement("q1", "d3", None).assign(source="withdrawn"))
    official = pd.DataFrame({"query_id": ["q1"], "doc_id": ["d1"], "relevance": [0]})
    found = tasks.judged(store, "tiny", official)
    rows = sorted(found.itertuples(index=False, name=None))
    assert rows == [("q1", "d1", 0, True), ("q1", "d2", 1, False)]


def test_grades_follow_the_levels_of_a_dataset() -> None:
    assert grades.of_levels([1]) == ((0, "Not relevant"), (1, "Relevant"))
    assert [name for _, name in grades.of_levels([0, 1, 2])][1:] == [
        "Partly relevant",
        "Highly relevant",
    ]
    assert grades.of_levels([-1, 0, 5])[5] == (5, "Grade 5")
    assert grades.of_levels([]) == grades.of_levels([1])


def test_grades_are_edited_as_lines() -> None:
    lines = grades.lines(((0, "No"), (2, "Yes, fully")))
    assert grades.parsed(lines + "\n\n −1: Spam ") == ((-1, "Spam"), (0, "No"), (2, "Yes, fully"))
    assert grades.keys(grades.parsed(lines)) == ["0", "2"]
    assert grades.keys(((-1, "Spam"), (0, "No"))) == ["1", "2"]


@pytest.mark.parametrize(
    "text", ["", "1 Yes", "yes\nno", "1 Yes\n1 No", "1\n2", f"0 No\n1 {'y' * 41}"]
)
def test_other_lines_are_no_grades(text: str) -> None:
    with pytest.raises(WrongInput):
        grades.parsed(text)
