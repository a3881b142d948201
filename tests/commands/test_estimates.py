"""What `show estimates` prints: the whole way from a sampled task to an interval."""

import json
from pathlib import Path

import numpy as np
import pytest

from compute.__main__ import main
from compute.base.settings import load
from compute.evaluate.estimates import corrected, intervals, prediction
from compute.evaluate.estimates.linearised import kind
from compute.judgements import sampling
from compute.judgements.tasks import queue, samples
from tests.support import sampling as made_up
from tests.support.annotating import ADA, BOB, answer
from tests.support.annotating import made as other_task


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BEIRSCOPE_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("BEIRSCOPE_SHIPPED_RESULTS", "false")


def told(capsys: pytest.CaptureFixture[str], *words: str) -> list[dict]:
    assert main(["estimates", "--json", *words]) == 0
    return json.loads(capsys.readouterr().out)


def truth(frame, grades: np.ndarray) -> np.ndarray:
    """P@10 of every system if everything was judged."""
    seen = (frame.rank > 0) & (frame.rank <= 10)
    return (seen * (grades > 0)[:, None]).sum(axis=0) / 10 / len(frame.queries)


@pytest.mark.long
def test_judged_in_the_queue_estimates_are_those_of_the_core_and_near_the_truth(
    capsys: pytest.CaptureFixture[str],
) -> None:
    store, frame, grades = made_up.fill(load().home)
    task = made_up.make(store, frame)
    made_up.judge(store, task, frame, grades, 150)
    rows = told(capsys, "--task", task.id)
    # The core by itself: the same order drawn anew, its first 150 with their grades.
    known = np.full(frame.n, np.nan)
    _, first = np.unique(frame.query, return_index=True)
    known[first[::3]] = grades[first[::3]]
    given, levels = prediction.features(frame), np.array([1.0, 2.0])
    shares = corrected.predicted(frame, given, known, levels)[:, 0]
    size = sampling.sizes(frame, kind("P@10"), shares)
    order = sampling.order(size, ~np.isnan(known), task.seed)
    known[order.rows[:150]] = grades[order.rows[:150]]
    sample = corrected.corrected(frame, given, known, [order.first(150)], levels)
    core = intervals.estimates(frame, kind("P@10"), sample)
    found = {row["system"]: row for row in rows}
    for row in core.scores().to_dict("records"):
        own = found[row["system"]]
        assert (own["n_judged"], own["enough"], own["seed"]) == (150, True, task.seed)
        same = {
            "estimate": "mean",
            "error": "error",
            "estimate_low": "low",
            "estimate_high": "high",
        }
        for name, of_core in same.items():
            assert own[name] == pytest.approx(row[of_core], abs=1e-9)
    for system, real in zip(frame.systems, truth(frame, grades), strict=True):
        own = found[system]
        assert own["estimate_low"] < real < own["estimate_high"]
        assert own["low"] <= real <= own["high"]
        assert own["estimate_high"] - own["estimate_low"] < (own["high"] - own["low"]) / 2
    pairs = told(capsys, "--task", task.id, "--pairs")
    wanted = core.pairs()
    assert [row["low"] for row in pairs] == pytest.approx(wanted["low"].tolist(), abs=1e-9)
    assert [row["separable"] for row in pairs] == (
        wanted["low"].gt(0) | wanted["high"].lt(0)
    ).tolist()


@pytest.mark.long
@pytest.mark.parametrize("measure", ["P@10", "nDCG@10"])
def test_all_judged_the_estimate_is_the_score(
    measure: str, capsys: pytest.CaptureFixture[str]
) -> None:
    store, frame, grades = made_up.fill(load().home, n_queries=6)
    task = made_up.make(store, frame, n_pairs=5000, measure=measure)
    made_up.judge(store, task, frame, grades, task.n_pairs)
    for row in told(capsys, "--task", task.id):
        for name in ("value", "low", "high", "estimate_low", "estimate_high"):
            assert row[name] == pytest.approx(row["estimate"])


@pytest.mark.long
def test_before_enough_is_judged_no_interval_is_told(
    capsys: pytest.CaptureFixture[str],
) -> None:
    store, frame, grades = made_up.fill(load().home, n_queries=6)
    task = made_up.make(store, frame)
    made_up.judge(store, task, frame, grades, 5)
    for row in told(capsys, "--task", task.id):
        assert row["low"] < row["high"] and row["estimate_low"] is row["estimate_high"] is None
        assert row["low"] <= row["estimate"] <= row["high"] and row["error"] > 0
        assert (row["enough"], row["n_judged"]) == (False, 5)
    assert {row["separable"] for row in told(capsys, "--task", task.id, "--pairs")} == {False}
    assert main(["estimates", "--task", task.id]) == 0


@pytest.mark.long
def test_other_measures_are_read_from_the_same_sample(capsys: pytest.CaptureFixture[str]) -> None:
    store, frame, grades = made_up.fill(load().home)
    task = made_up.make(store, frame)
    made_up.judge(store, task, frame, grades, 150)
    place = np.where((frame.rank > 0) & (frame.rank <= 10), 1 / np.log2(frame.rank + 1), 0)
    dcg = dict(zip(frame.systems, grades @ place / len(frame.queries), strict=True))
    for row in told(capsys, "--task", task.id, "--measure", "DCG@10"):
        real = dcg[row["system"]]
        assert row["estimate_low"] < real < row["estimate_high"] and row["low"] <= real
        assert row["low"] == row["value"] and real <= row["high"] and row["measure"] == "DCG@10"
        assert row["like_low"] < row["estimate"] < row["like_high"]
        assert 1 <= row["rank_low"] <= row["rank_high"] <= 4
    for row in told(capsys, "--task", task.id, "--measure", "AP@10"):
        assert (row["enough"], row["estimate"], row["rank_low"]) == (False, None, None)
        assert 0 <= row["low"] < row["high"] <= 1
    assert main(["estimates", "--task", task.id, "--measure", "P@20"]) == 2
    assert "P@20 is deeper than the sample" in capsys.readouterr().err


@pytest.mark.long
def test_a_wanted_half_width_takes_so_many_judgements_more(
    capsys: pytest.CaptureFixture[str],
) -> None:
    store, frame, grades = made_up.fill(load().home)
    task = made_up.make(store, frame)
    made_up.judge(store, task, frame, grades, 100)
    more = [
        told(capsys, "--task", task.id, "--half-width", width)[0]["judgements_more"]
        for width in ("1", ".08", ".04", ".0001")
    ]
    assert more[0] == 0 < more[1] < more[2] < more[3] < frame.n
    assert main(["scores", "--half-width", ".1"]) == 2
    assert "Unknown option: --half-width" in capsys.readouterr().err


@pytest.mark.long
def test_more_is_drawn_by_a_command(capsys: pytest.CaptureFixture[str]) -> None:
    store, frame, grades = made_up.fill(load().home)
    task = made_up.make(store, frame, systems=frame.systems[:3], n_pairs=90)
    made_up.judge(store, task, frame, grades, 90)
    last = frame.systems[3]
    assert main(["tasks", "extend", task.id, "--pairs", "70", "--add", last]) == 0
    said = capsys.readouterr().out
    assert "70 documents drawn for Holes" in said and "batch 2; 90 earlier judgements count" in said
    made_up.judge(store, task, frame, grades, 70)
    rows = told(capsys, "--task", task.id)
    assert {row["system"] for row in rows} == {*frame.systems}
    for row in rows:
        assert (row["n_judged"], row["n_waiting"], row["seed"]) == (160, 0, "7, 8")
    assert main(["tasks", "extend", task.id, "--pairs", "5", "--add", "nothing"]) == 2
    assert "unknown system 'nothing': systems on scifact: s0" in capsys.readouterr().err


@pytest.mark.long
def test_what_all_who_answered_skip_is_passed_over(capsys: pytest.CaptureFixture[str]) -> None:
    store, frame, _ = made_up.fill(load().home, n_queries=6)
    task = made_up.make(store, frame, annotators=("ada", "bob"))
    (first, second) = queue.exchange(store, task, ADA, ahead=2).held
    answers = [answer(first.id, "skip"), answer(second.id)]
    queue.exchange(store, task, ADA, answers, ahead=0)
    row = told(capsys, "--task", task.id)[0]
    assert (row["n_judged"], row["n_behind"], row["waits_for"]) == (1, 0, ""), "bob never came"
    (_, third) = queue.exchange(store, task, BOB, ahead=2).held
    queue.exchange(store, task, BOB, [answer(third.id)], ahead=0)
    row = told(capsys, "--task", task.id)[0]
    assert (row["n_judged"], row["n_behind"], row["waits_for"]) == (0, 2, "bob")
    queue.exchange(store, task, BOB, [answer(first.id, "skip")], ahead=0)
    assert told(capsys, "--task", task.id)[0]["n_judged"] == 2


@pytest.mark.long
def test_a_machine_stands_beside_people_and_moves_nothing_unless_named(
    capsys: pytest.CaptureFixture[str],
) -> None:
    store, frame, grades = made_up.fill(load().home)
    task = made_up.make(store, frame)
    made_up.judge(store, task, frame, grades, 150)
    before = told(capsys, "--task", task.id)
    graded = frame.pairs.assign(relevance=grades.astype("int32"))
    with store.publishing("graded") as parts:
        named = {"dataset": made_up.DATASET, "system": "right", "fingerprint": "f"}
        parts.add("machine_grades", graded, **named, provenance={"file": "right.qrels"})
    assert told(capsys, "--task", task.id) == before
    real = dict(zip(frame.systems, truth(frame, grades), strict=True))
    for row in told(capsys, "--task", task.id, "--machine", "right"):
        assert row["machine"] == pytest.approx(real[row["system"]], abs=1e-9)
        assert row["corrected_high"] - row["corrected_low"] < row["people_high"] - row["people_low"]
    assert isinstance(told(capsys, "--task", task.id, "--machine", "right", "--pairs"), list)
    assert main(["estimates", "--task", task.id, "--machine", "wrong"]) == 2
    assert "no judgement set 'machine:wrong'" in capsys.readouterr().err


def test_what_cannot_be_estimated_is_one_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    store, frame, _ = made_up.fill(load().home, n_queries=6)
    task = made_up.make(store, frame)
    faults = {
        ("estimates",): "give its id with --task",
        ("estimates", "--task", "none"): "no judging task none",
        ("estimates", "--task", other_task(store).id): "not drawn as a sample",
        ("estimates", "--task", task.id, "--published"): "Unknown option: --published",
        ("scores", "--task", task.id): "Unknown option: --task",
    }
    for words, sentence in faults.items():
        assert main(words) == 2
        said = capsys.readouterr().err
        assert sentence in said and len(said.splitlines()) == 1
    assert samples.stored(store, task.id)[0].frame == frame.identity
