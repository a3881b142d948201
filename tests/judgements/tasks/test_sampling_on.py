"""Sampling on: what nobody judged is drawn anew, and all batches together make the estimates."""

from pathlib import Path

import numpy as np
import pytest
from pandas import DataFrame
from sqlalchemy import text

from compute.base.errors import Conflict, Missing, WrongInput
from compute.base.settings import Settings
from compute.evaluate.estimates.frames import Frame
from compute.jobs import removing
from compute.judgements.tasks import estimated, queue, samples, sampling_on, tasks
from compute.judgements.tasks.estimated import Estimated
from compute.judgements.tasks.tasks import Task
from compute.reading.database import open_version
from compute.store import state
from compute.store.migrations import STEPS
from compute.store.store import Store
from compute.views.annotate.select import StoredTops, judged
from tests.support import sampling as made_up
from tests.support.annotating import ADA, BOB, answer
from tests.support.annotating import made as other_task

World = tuple[Store, Frame, np.ndarray]


@pytest.fixture
def world(tmp_path: Path) -> World:
    return made_up.fill(tmp_path / "home")


def on(store: Store, task: Task, n: int, systems: tuple[str, ...] = ()) -> Task:
    cursor = open_version(store).cursor()
    official = judged(cursor, made_up.DATASET)
    known = tasks.judged(store, made_up.DATASET, official)
    tops = StoredTops(cursor, made_up.DATASET)
    return sampling_on.sample_on(store, task, systems or task.systems, n, tops, known)


def told(store: Store, task: Task) -> Estimated:
    cursor = open_version(store).cursor()
    frame = StoredTops(cursor, made_up.DATASET).frame(task.systems, task.depth)
    known = tasks.judged(store, made_up.DATASET, judged(cursor, made_up.DATASET))
    return estimated.estimated(store, task, frame, known)


def by_person(store: Store, pairs: DataFrame, relevance: int = 0) -> None:
    more = {"person": "cyd", "task": "", "guideline_version": "1", "source": "person"}
    store.add_judgements(
        pairs.assign(dataset=made_up.DATASET, relevance=relevance, entry=None, **more)
    )


def test_the_next_batch_is_drawn_from_what_nobody_judged(world: World) -> None:
    store, frame, grades = world
    task = made_up.make(store, frame, n_pairs=60)
    made_up.judge(store, task, frame, grades, 40)
    open_ones = tasks.pairs(store, task.id).iloc[40:]
    elsewhere = open_ones.iloc[5:25][["query_id", "doc_id"]]
    by_person(store, elsewhere)
    after = on(store, task, 30)
    first, second = samples.stored(store, task.id)
    assert (first.done, second.done, second.number, second.seed) == (0, 40, 2, task.seed + 1)
    assert after.n_pairs == 70 and after.systems == frame.systems
    known = set(frame.rows(tasks.pairs(store, task.id).iloc[:40])) | set(frame.rows(elsewhere))
    assert not known & set(frame.rows(second.pairs)), "judged by whomever, never drawn again"
    # Handed out are the 30, in the order in which they were drawn.
    hand = queue.exchange(store, after, BOB, ahead=100)
    offered = DataFrame([(one.query_id, one.doc_id) for one in hand.held[-30:]])
    assert offered.to_numpy().tolist() == second.first(30).to_numpy().tolist()
    wanted = tasks.pairs(store, task.id).set_index("id")["labels"]
    assert set(wanted[open_ones["id"]]) <= {0, 1} and wanted.sum() == 70
    assert len(set(tasks.pairs(store, task.id)["place"])) == len(wanted)


def test_what_somebody_holds_meanwhile_is_answered_and_goes_to_nobody_else(world: World) -> None:
    store, frame, _ = world
    task = made_up.make(store, frame)
    held = queue.exchange(store, task, ADA).held
    after = on(store, task, 5)
    placed = {tuple(row) for row in samples.stored(store, task.id)[1].first(5).to_numpy().tolist()}
    late = next(pair for pair in held if (pair.query_id, pair.doc_id) not in placed)
    queue.exchange(store, after, ADA, [answer(late.id)])
    assert (store.added_judgements()["doc_id"] == late.doc_id).sum() == 1
    for pair in queue.exchange(store, after, BOB, ahead=100).held:
        assert (pair.query_id, pair.doc_id) in placed


@pytest.mark.long
def test_both_batches_make_the_estimates_and_the_first_alone_until_the_second_begins(
    world: World,
) -> None:
    store, frame, grades = world
    task = made_up.make(store, frame, n_pairs=100)
    made_up.judge(store, task, frame, grades, 100)
    before = told(store, task)
    assert (before.n_waiting, len(before.batches)) == (0, 1)
    task = on(store, task, 80)
    between = told(store, task)
    assert between.estimates.means.tolist() == before.estimates.means.tolist()
    assert (between.n_waiting, len(between.batches)) == (80, 2)
    made_up.judge(store, task, frame, grades, 80)
    after = told(store, task)
    assert (after.n, after.n_judged, after.n_waiting) == (180, 180, 0)
    error = [one.estimates.scores()["error"].mean() for one in (before, after)]
    assert error[1] < 0.75 * error[0]
    task = on(store, task, 5000)
    made_up.judge(store, task, frame, grades, told(store, task).n_waiting)
    seen = (frame.rank > 0) & (frame.rank <= 10)
    truth = (seen * (grades > 0)[:, None]).sum(axis=0) / 10 / len(frame.queries)
    found = told(store, task).estimates
    assert found.means == pytest.approx(truth) and found.is_census


@pytest.mark.long
def test_a_system_that_came_later_is_known_from_the_next_batch_on(world: World) -> None:
    store, frame, grades = world
    some = frame.systems[:2]
    task = made_up.make(store, frame, systems=some, n_pairs=80)
    made_up.judge(store, task, frame, grades, 80)
    task = on(store, task, 120, frame.systems)
    assert task.systems == frame.systems
    assert [batch.systems for batch in samples.stored(store, task.id)] == [some, frame.systems]
    nothing = told(store, task).estimates.scores()
    assert ((nothing["high"] - nothing["low"]).to_numpy()[2:] > 0.2).all(), "a range till then"
    made_up.judge(store, task, frame, grades, 120)
    found = told(store, task)
    assert (found.n, found.estimates.systems) == (200, frame.systems)
    scores = found.estimates.scores()
    assert ((scores["high"] - scores["low"]) < 0.25).all()
    assert not found.estimates.low.any(), "nothing is left to a range"


@pytest.mark.long
def test_when_runs_change_the_next_batch_stands_alone(world: World, tmp_path: Path) -> None:
    store, frame, grades = world
    task = made_up.make(store, frame, n_pairs=60)
    made_up.judge(store, task, frame, grades, 60)
    store, frame, grades = made_up.fill(tmp_path / "home", n_queries=31)
    with pytest.raises(Missing, match="sample have changed"):
        told(store, task)
    task = on(store, task, 50)
    made_up.judge(store, task, frame, grades, 50)
    found = told(store, task)
    assert (found.n, found.n_left_out, len(found.batches)) == (50, 1, 1)


@pytest.mark.long
def test_a_system_whose_run_was_removed_is_left_out_of_the_next_batch(world: World) -> None:
    store, frame, grades = world
    task = made_up.make(store, frame, n_pairs=60)
    made_up.judge(store, task, frame, grades, 60)
    removing.remove(store, made_up.DATASET, "s3")
    with pytest.raises(Missing, match="sample have changed"):
        told(store, task)
    task = on(store, task, 50)
    assert task.systems == ("s0", "s1", "s2")
    assert told(store, task).estimates.systems == ("s0", "s1", "s2")


@pytest.mark.long
def test_what_cannot_be_sampled_on_is_refused(world: World) -> None:
    store, frame, _ = world
    with pytest.raises(Missing, match="not drawn as a sample"):
        on(store, other_task(store), 10)
    task = made_up.make(store, frame)
    with pytest.raises(WrongInput, match="No ranked lists for the evaluated queries: absent"):
        on(store, task, 10, ("absent",))
    with pytest.raises(WrongInput, match="Ask for 1 to"):
        on(store, task, 0)
    by_person(store, frame.pairs)
    with pytest.raises(WrongInput, match="Everything in the top 10 of these systems is judged"):
        on(store, task, 10)


@pytest.mark.long
def test_two_who_sample_on_at_once_draw_one_batch(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, frame, _ = world
    task = made_up.make(store, frame)
    draw = samples.draw

    def meanwhile(*given: object) -> samples.Drawn:
        monkeypatch.setattr(samples, "draw", draw)
        on(store, task, 10)
        return draw(*given)  # pyrefly: ignore

    monkeypatch.setattr(samples, "draw", meanwhile)
    with pytest.raises(Conflict, match="has just extended this task"):
        on(store, task, 20)
    assert len(samples.stored(store, task.id)) == 2


def test_batches_from_before_belong_to_the_systems_of_their_task(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path)
    place = next(n for n, step in enumerate(STEPS) if "annotation_draws" in str(step)) + 1
    older = state.open_state(settings, STEPS[:place])
    columns = "id, title, dataset, systems, depth, n_pairs, ordering, seed, grades, annotators"
    row = """'t', 'Old', 'tiny', '["one", "two"]', 10, 1, 'sampled', 7, '[]', '[]', 0, 'ada', ''"""
    with state.writing(older) as connection:
        for statement in (
            f"insert into annotation_tasks ({columns}, double_share, person, created)"
            f" values ({row})",
            "insert into annotation_batches values ('t', 1, 'f', 1, 0, 7, 'ranks-1', 0, '')",
            "insert into annotation_draws values ('t', 1, 1, 'q1', 'd1', 0.5, 0.7)",
        ):
            connection.execute(text(statement))
    older.dispose()
    (batch,) = samples.stored(Store(settings, tmp_path / "none"), "t")
    assert (batch.systems, batch.done, len(batch.pairs)) == (("one", "two"), 0, 1)
