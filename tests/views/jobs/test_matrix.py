"""The matrix of recomputes as a figure, what a click on it chooses, and the words on progress."""

from dataclasses import replace
from typing import Any

import pandas as pd
import pytest
from pandas import DataFrame

from compute.jobs import Estimate, Job, Progress
from compute.jobs.matrix import CANNOT, STATES, UP_TO_DATE
from compute.jobs.queue import Names
from compute.views.jobs import matrix as figures
from compute.views.shared.theme import contrast, palette

COLUMNS = ["system", "dataset", "state", "remark", "task"]
CELLS = DataFrame(
    [
        ("bm25", "tiny", "up to date", "", ""),
        ("bm25", "nq", "cannot run here", "nq is <b>not</b> here", ""),
        ("minilm", "tiny", "missing", "", ""),
        ("minilm", "nq", "cannot run here", "nq is <b>not</b> here", ""),
    ],
    columns=COLUMNS,
)
JOB = Job("run-0", "run", "running", "2 systems on 1 dataset", created=0.0)


def _marks(figure: Any, mode: str) -> list[Any]:
    return [trace for trace in figure.data if trace.type == "scatter" and trace.mode == mode]


def _inks(figure: Any) -> dict[str, str]:
    """The ink of each word."""
    texts = _marks(figure, "text")
    return {word: trace.textfont.color for trace in texts for word in trace.text}


def _heat(figure: Any) -> Any:
    (heat,) = [trace for trace in figure.data if trace.type == "heatmap"]
    return heat


def _wide(systems: int) -> DataFrame:
    rows = [(f"s{n}", "tiny", STATES[n % len(STATES)], "", "") for n in range(systems)]
    return DataFrame(rows, columns=COLUMNS)


def test_every_state_is_a_colour_and_a_word() -> None:
    figure = figures.matrix(_wide(len(STATES)), chosen=[], theme="light")
    assert sorted(_heat(figure).z) == list(range(len(STATES)))
    assert set(_inks(figure)) == {*STATES} - {"cannot run here"} | {"<i>cannot run</i>"}


def test_stored_datasets_on_which_nothing_can_run_are_named() -> None:
    titles = {"nq": "NQ"}
    said = "Hidden (no documents stored): NQ."
    assert figures.not_at_hand(CELLS, ["nq", "tiny"], titles) == said
    assert figures.not_at_hand(CELLS, ["tiny"], titles) == ""
    assert "matrix" not in figures.nothing_to_do(CELLS.head(0), clickable=False)


def test_a_wide_matrix_has_signs_that_are_explained() -> None:
    cells = _wide(20)
    figure = figures.matrix(cells, chosen=[], theme="dark")
    assert set(_inks(figure)) == set(figures.SIGNS.values())
    assert "✓ up to date" in figures.signs(cells)
    assert figures.signs(CELLS) == ""


def test_what_is_shipped_can_be_computed_here() -> None:
    shipped = CELLS.assign(state="shipped")
    assert "precomputed result; can be recomputed" in figures.shipped(shipped)
    assert figures.shipped(CELLS) == ""
    assert figures.to_do(shipped, again=False)


def test_why_runs_are_out_of_date_is_said_the_commonest_reason_first() -> None:
    assert figures.outdated(CELLS) == ""
    remarks = ["settings have changed", "the files changed since.", "the files changed since."]
    stale = DataFrame({"state": ["out of date"] * 3, "remark": remarks})
    said = "2 runs out of date: the files changed since; 1 other reason in the tooltips."
    assert figures.outdated(stale) == said


def test_each_cell_says_what_it_is_and_names_from_outside_stay_text() -> None:
    figure: Any = figures.matrix(CELLS, chosen=[("bm25", "tiny")], theme="light")
    (overlay,) = _marks(figure, "markers")
    assert list(overlay.customdata[1]) == ["bm25", "nq"]
    assert "not&lt;/b&gt; here" in overlay.hovertext[1]
    assert "<b>not" not in overlay.hovertext[1]
    assert len(figure.layout.shapes) == 1


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_words_read_well_on_their_cells(theme: str) -> None:
    figure = figures.matrix(_wide(len(STATES)), chosen=[], theme=theme)
    colours = dict(zip(STATES, (colour for _, colour in _heat(figure).colorscale), strict=True))
    assert colours[CANNOT] == palette(theme).background
    for state, colour in colours.items():
        word = "<i>cannot run</i>" if state == CANNOT else state
        assert contrast(_inks(figure)[word], colour) >= 4.3, state


def test_a_click_adds_and_a_second_click_takes_away() -> None:
    assert figures.clicked([], [], ["bm25", "tiny"]) == (["bm25"], ["tiny"])
    assert figures.clicked(["bm25"], ["tiny"], ["bm25", "nq"]) == (["bm25"], ["tiny", "nq"])
    assert figures.clicked(["bm25"], ["tiny", "nq"], ["bm25", "nq"]) == (["bm25"], ["tiny"])
    assert figures.clicked(["a", "b"], ["tiny"], ["a", "tiny"]) == (["b"], ["tiny"])
    assert figures.clicked(["bm25"], ["tiny"], ["bm25", "tiny"]) == ([], [])


def test_what_is_up_to_date_is_done_only_again() -> None:
    assert figures.to_do(CELLS, again=False) == [("minilm", "tiny")]
    assert figures.to_do(CELLS, again=True) == [("bm25", "tiny"), ("minilm", "tiny")]
    left = figures.left_out(CELLS, [("minilm", "tiny")])
    unable = "(bm25 on nq, minilm on nq)"
    assert left == f"; skipped: 1 up to date, 2 cannot run here {unable}"
    assert figures.able(CELLS, "dataset") == ["tiny"]


def test_nothing_to_do_says_why() -> None:
    assert "Choose systems and datasets" in figures.nothing_to_do(CELLS[:0])
    assert "Now choose a dataset above" in figures.nothing_to_do(CELLS[:0], ["systems"])
    assert "nq is <b>not</b> here" in figures.nothing_to_do(CELLS[CELLS["state"] == CANNOT])
    assert "switch" in figures.nothing_to_do(CELLS[CELLS["state"] == UP_TO_DATE])
    busy = CELLS[CELLS["state"] == UP_TO_DATE]
    busy = pd.concat([busy, busy.assign(state="running"), busy.assign(state="queued")])
    assert figures.nothing_to_do(busy) == "Nothing to start: 1 up to date, 1 running, 1 queued."
    said = figures.nothing_to_do(pd.concat([busy, CELLS.iloc[1:2]]), able=["tiny"])
    assert said.endswith("1 cannot run here (nq is <b>not</b> here). Available on tiny.")
    assert figures.able_on(CELLS, ["minilm"]) == ["tiny"]


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0.2, "under 1 s"), (8.4, "8 s"), (99, "99 s"), (100, "2 min"), (4800, "1 h 20 min")],
)
def test_durations_in_words(seconds: float, words: str) -> None:
    assert figures.duration(seconds) == words


def test_a_step_tells_count_rate_and_time_left() -> None:
    progress = Progress("search", 1200, 3000, "queries", 60.0)
    assert figures.step(progress) == "search: 1,200 of 3,000 queries, 60 a second, 30 s left"
    assert figures.step(replace(progress, total=0, rate=None)) == "search: 1,200 queries"
    assert figures.step(replace(progress, unit="")) == "search"
    assert figures.step(None) == "begins"
    loading = Progress("index", 0, 0, "loading the model", None)
    assert figures.step(loading) == "index: loading the model"


def test_a_job_shows_how_long_it_is_at_work_and_when_it_was_last_heard_of() -> None:
    task = replace(JOB, state="running", system="a", dataset="b", title="a on b", started=100.0)
    assert figures.now([task], clock=148.0) == "a on b: begins, running for 48 s"
    assert figures.silence(2) == ""
    assert figures.silence(28) == "Last progress 28 s ago; still running."


def test_jobs_at_work_in_one_line() -> None:
    one = replace(JOB, targets=(("a", "b"),) * 20, counts={"done": 7, "failed": 1, "queued": 12})
    assert figures.at_work([one]) == "1 job running: 7 of 20 done, 1 failed"
    assert figures.at_work([one, one]).startswith("2 jobs running: 14 of 40 done")
    behind = replace(one, counts={"queued": 20})
    assert figures.at_work([one, behind]).startswith("2 jobs (1 waiting): 7 of 40 done")
    assert figures.at_work([behind]) == "1 job waiting: 0 of 20 done"
    assert figures.at_work([replace(one, state="done")]) == ""


def test_a_job_behind_others_is_queued_and_says_after_how_many_tasks() -> None:
    demo = replace(JOB, kind="demo", counts={"done": 5, "running": 1, "queued": 14})
    mine = replace(JOB, id="run-1", created=demo.created + 1, counts={"queued": 3})
    assert [figures.state(one) for one in (demo, mine)] == ["running", "queued"]
    assert figures.before(mine, [mine, demo]) == 15
    assert figures.before(demo, [mine, demo]) == 0
    assert figures.now([], 15) == "waits for a worker, after 15 tasks"
    assert figures.now([]) == "waits for a worker"
    assert figures.title(demo) == f"Demo: {JOB.title}"


def test_jobs_are_told_by_what_people_call_systems_and_datasets() -> None:
    # A dataset and a system have one name here.
    names = Names({"bm25": "BM25", "tiny": "a system"}, {"tiny": "Tiny"})
    pairs = ("bm25", "tiny"), ("own", "tiny")
    tasks = [
        replace(JOB, kind="run", title=f"{system} on tiny", system=system, dataset="tiny")
        for system, _ in pairs
    ]
    failed = replace(tasks[0], state="failed", error="no space")
    job = replace(JOB, targets=pairs, error="1 of 2 failed; bm25 on tiny: no space")
    assert figures.title(job, names) == "BM25, own on Tiny"
    assert figures.error(job, [failed, tasks[1]], names) == "1 of 2 failed; BM25 on Tiny: no space"
    assert figures.error(replace(job, error="its worker ended"), [failed], names) == (
        "its worker ended"
    )
    assert figures.now(tasks, 0, names) == "BM25 on Tiny: begins; own on Tiny: begins"
    table = figures.task_table(tasks, names)
    assert table["System"].tolist() == ["BM25", "own"] and set(table["Dataset"]) == {"Tiny"}


def test_estimates_say_what_they_do_not_know() -> None:
    assert figures.expected(Estimate(40, 0), 6) == "6 runs, about 40 s on one worker"
    assert figures.expected(Estimate(40, 2), 6).endswith(" without 2 that were never timed here")
    assert "no time estimate yet" in figures.expected(Estimate(0, 1), 1)


def test_the_table_of_tasks_says_what_became_of_each() -> None:
    failed = replace(JOB, state="failed", error="no room", system="a", dataset="b")
    done = replace(failed, state="done", error="", started=1.0, ended=9.0)
    table = figures.task_table([failed, done])
    assert list(table["Remark"]) == ["no room", "ran 8 s"]
    assert figures.times(done, 69.0) == "submitted 69 s ago, ran 8 s"


def test_the_log_shown_first_is_of_the_task_that_tells_most() -> None:
    done, failed, running = (
        replace(JOB, id=f"run-0.{state}", state=state) for state in ("done", "failed", "running")
    )
    assert figures.telling([done, failed, running]) == running.id
    assert figures.telling([done, failed]) == failed.id
    assert figures.telling([done]) == done.id
    assert figures.telling([done, done]) == ""


def test_a_job_is_tried_again_by_one_that_has_all_that_it_left() -> None:
    pairs = (("bm25", "tiny"), ("bm25", "nq"), ("minilm", "nq"))
    job = replace(JOB, state="cancelled", targets=pairs)
    done = replace(JOB, state="done", system="bm25", dataset="tiny")
    later = replace(JOB, created=5.0)
    assert figures.tried_again(job, [done], [job, replace(later, targets=pairs[1:])])
    assert not figures.tried_again(job, [done], [job, replace(later, targets=pairs[:2])])
    assert not figures.tried_again(job, [done], [job, replace(later, kind="x", targets=pairs)])
    assert not figures.tried_again(
        replace(job, created=9.0), [done], [replace(later, targets=pairs)]
    )
