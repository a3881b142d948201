"""The matrix of systems and datasets that jobs fill, and the progress of jobs in words."""

import textwrap
from collections import Counter, defaultdict
from collections.abc import Collection, Hashable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import plotly.graph_objects as go
from pandas import DataFrame

from compute.base.words import counted, several
from compute.jobs import Estimate, Job, Progress
from compute.jobs.matrix import CANNOT, MISSING, SHIPPED, STALE, STATES, UP_TO_DATE, Target
from compute.jobs.queue import NAMES, Names, called
from compute.jobs.records import ACTIVE, DONE, FAILED, QUEUED, RUNNING, of_failed
from compute.views.shared import axes, narrow_lists, traces
from compute.views.shared.drawing import drawing, in_lists
from compute.views.shared.theme import Palette, escape, ink, palette

ROW, LOW_ROW = 28, 21
"""Pixels of a row, and pixels if there are many rows."""
MANY_ROWS, MANY_COLUMNS = 30, 9
FEWEST_COLUMNS = 7
"""Fewest columns that fill the width; with fewer, cells would become bars."""
SIGNS = {
    UP_TO_DATE: "✓",
    STALE: "~",
    SHIPPED: "∘",
    MISSING: "–",
    RUNNING: "▸",
    QUEUED: "…",
    FAILED: "✕",
    CANNOT: "·",
}
"""Signs that replace words if space is short; the caption explains them."""

USUAL = 6
"""Seconds without progress that are not reported; progress is polled every two seconds."""

Row = dict[Hashable, Any]


def able(cells: DataFrame, of: str) -> list[str]:
    """Return the systems or datasets (`of`, a column) of a matrix of which some cell ran or can
    run, in order."""
    return list(dict.fromkeys(cells.loc[cells["state"] != CANNOT, of]))


def to_do(cells: DataFrame, *, again: bool) -> list[Target]:
    """Return the chosen cells that a job would compute; `again`: also those up to date."""
    left_out = {CANNOT, QUEUED, RUNNING} | (set() if again else {UP_TO_DATE})
    wanted = cells[~cells["state"].isin(left_out)]
    return list(zip(wanted["system"], wanted["dataset"], strict=True))


def clicked(
    systems: Sequence[str], datasets: Sequence[str], cell: Sequence[str]
) -> tuple[list[str], list[str]]:
    """Return the chosen systems and datasets after a click on [system, dataset]. Deselecting a cell
    removes its dataset, or its system if no other dataset is chosen."""
    system, dataset = cell
    if system not in systems or dataset not in datasets:
        added = (*systems, system), (*datasets, dataset)
        return list(dict.fromkeys(added[0])), list(dict.fromkeys(added[1]))
    if len(datasets) > 1:
        return list(systems), [name for name in datasets if name != dataset]
    left = [name for name in systems if name != system]
    return left, list(datasets) if left else []


def left_out(cells: DataFrame, targets: Sequence[Target]) -> str:
    """Count the chosen cells that will not be computed: `; skipped: 2 up to date, 1 cannot run here
    (splade on nq)`."""
    wanted, skipped = set(targets), defaultdict(list)
    rows = zip(cells["system"], cells["dataset"], cells["state"], strict=True)
    for system, dataset, state in rows:
        if (system, dataset) not in wanted:
            skipped[state].append(f"{system} on {dataset}")
    unable = f" ({several(skipped[CANNOT], 2)})" if skipped[CANNOT] else ""
    words = [f"{len(skipped[state])} {state}" for state in STATES if skipped[state]]
    return f"; skipped: {', '.join(words)}{unable}" if words else ""


def not_at_hand(cells: DataFrame, stored: Collection[str], titles: Mapping[str, str]) -> str:
    """Name the stored datasets that a matrix hides because nothing can run on them."""
    out = set(cells["dataset"]) & set(stored) - set(able(cells, "dataset"))
    named = ", ".join(sorted(titles.get(name, name) for name in out))
    return f"Hidden (no documents stored): {named}." if named else ""


def able_on(cells: DataFrame, systems: Collection[str]) -> list[str]:
    """Return the datasets on which one of the systems ran or can run, in order."""
    return able(cells[cells["system"].isin(list(systems))], "dataset")


def nothing_to_do(
    cells: DataFrame,
    chosen: Collection[str] = (),
    *,
    clickable: bool = True,
    able: Sequence[str] = (),
) -> str:
    """Say why there is nothing to start, and what to do. `chosen`: which of "systems" and
    "datasets" are chosen. `clickable`: a matrix is drawn. `able`: datasets on which these can
    run."""
    if cells.empty:
        left = [noun for noun in ("systems", "datasets") if noun not in chosen]
        begin = f"Now choose a {left[0][:-1]}" if len(left) == 1 else "Choose systems and datasets"
        return f"{begin} above{' or in the matrix' * clickable}."
    states = set(cells["state"])
    why = next((remark for remark in cells.loc[cells["state"] == CANNOT, "remark"]), "")
    if states == {CANNOT}:
        return f"Cannot run here: {why.rstrip('.')}.{_available(able)}"
    if states <= {CANNOT, UP_TO_DATE}:
        return "Everything is up to date. To rerun it, switch on recomputing."
    counts = Counter(cells["state"])
    counted_states = ", ".join(f"{counts[s]} {s}" for s in STATES if counts[s])
    because = f" ({why}).{_available(able)}" if why else "."
    return f"Nothing to start: {counted_states}{because}"


def _available(datasets: Sequence[str]) -> str:
    return f" Available on {several(datasets, 3)}." if datasets else ""


def _lists(
    cells: DataFrame, *, titles: Mapping[str, str] = MappingProxyType({}), **_: object
) -> narrow_lists.Lists:
    """Return the systems of each dataset, in the matrix's order, with states and without ranks."""
    return narrow_lists.Lists(
        "Dataset",
        "System",
        [
            narrow_lists.Ranked(
                titles.get(str(dataset), str(dataset)),
                [
                    narrow_lists.Row(None, titles.get(system, system), state)
                    for system, state in zip(own["system"], own["state"], strict=True)
                ],
            )
            for dataset, own in cells.groupby("dataset", sort=False)
        ],
    )


@in_lists(_lists)
@drawing
def matrix(
    cells: DataFrame,
    *,
    chosen: Collection[Target],
    theme: str,
    titles: Mapping[str, str] = MappingProxyType({}),
) -> go.Figure:
    """Draw datasets as rows and systems as columns. `cells`: system, dataset, state, remark.
    `titles`: of systems and datasets by name. `chosen` cells have an outline. Points of the overlay
    carry [system, dataset] as customdata."""
    look = palette(theme)
    systems = list(dict.fromkeys(cells["system"]))
    datasets = list(dict.fromkeys(cells["dataset"]))
    rows = [
        row | {"x": systems.index(row["system"]), "y": datasets.index(row["dataset"])}
        for row in cells.to_dict("records")
    ]
    outlined = [_outline(row, look) for row in rows if (row["system"], row["dataset"]) in chosen]
    return go.Figure(
        data=[_fill(rows, look), *_words(rows, look, len(systems)), _overlay(rows)],
        layout={
            "shapes": outlined,
            **_axes(*([titles.get(name, name) for name in names] for names in (systems, datasets))),
        },
    )


def _colours(look: Palette) -> dict[str, str]:
    return {
        UP_TO_DATE: look.sequential[3],
        STALE: look.diverging[3],
        SHIPPED: look.sequential[1],
        MISSING: look.second,
        RUNNING: look.sequential[7],
        QUEUED: look.sequential[5],
        FAILED: look.loss,
        CANNOT: look.background,
    }


def _fill(rows: Sequence[Row], look: Palette) -> dict:
    stops = [_colours(look)[state] for state in STATES]
    places = {axis: [row[axis] for row in rows] for axis in ("x", "y")}
    return traces.cells(
        [STATES.index(row["state"]) for row in rows], stops, len(STATES) - 1, **places
    )


def _words(rows: Sequence[Row], look: Palette, width: int) -> list[dict]:
    inks = {state: ink(colour) for state, colour in _colours(look).items()}
    inks[CANNOT] = look.muted
    return traces.texts(
        [(row["x"], row["y"]) for row in rows],
        [_word(row["state"], width) for row in rows],
        [inks[row["state"]] for row in rows],
        13 if width <= 6 else 12,
    )


def _word(state: str, width: int) -> str:
    if width > MANY_COLUMNS:
        return SIGNS[state]
    return "<i>cannot run</i>" if state == CANNOT else state


def shipped(cells: DataFrame) -> str:
    """Explain what a shipped run is, if there is one."""
    came = "Shipped: precomputed result; can be recomputed."
    return came if cells["state"].eq(SHIPPED).any() else ""


def outdated(cells: DataFrame) -> str:
    """Say why runs are out of date, with the most common reason; empty if none is."""
    why = Counter(cells.loc[cells["state"] == STALE, "remark"])
    if not why:
        return ""
    (reason, n), *others = why.most_common()
    more = f"; {counted(len(others), 'other reason')} in the tooltips" if others else ""
    return f"{counted(n, 'run')} out of date: {reason.rstrip('.')}{more}."


def signs(cells: DataFrame) -> str:
    """Return the legend of the signs if a matrix is too wide for words; else empty."""
    if cells["system"].nunique() <= MANY_COLUMNS:
        return ""
    there = {SIGNS[state]: state for state in STATES if cells["state"].eq(state).any()}
    return ", ".join(f"{sign} {state}" for sign, state in there.items()) + "."


def _overlay(rows: Sequence[Row]) -> dict:
    x, y = [row["x"] for row in rows], [row["y"] for row in rows]
    cells = [[row["system"], row["dataset"]] for row in rows]
    return traces.targets(x, y, [_hover(row) for row in rows], cells)


def _hover(row: Row) -> str:
    where = f"<b>{escape(row['system'])}</b> on <b>{escape(row['dataset'])}</b>: {row['state']}"
    return "<br>".join([where, *(escape(line, 80) for line in textwrap.wrap(row["remark"], 70))])


def _outline(row: Row, look: Palette) -> dict:
    x, y = row["x"], row["y"]
    return traces.outline(look, (x - 0.48, x + 0.48), (y - 0.46, y + 0.46), 2)


def _axes(systems: Sequence[str], datasets: Sequence[str]) -> dict:
    row = LOW_ROW if len(datasets) > MANY_ROWS else ROW
    above = axes.height_of_names(systems, fewest=FEWEST_COLUMNS, longest=28)
    return {
        "xaxis": axes.names_across(systems, fewest=FEWEST_COLUMNS) | {"ticklabelstandoff": 0},
        "yaxis": axes.names_down(datasets, longest=32, ticklabelstandoff=6, ticks=""),
        "height": row * len(datasets) + 10 + above,
        "margin": {"l": 8, "r": 8, "t": 30, "b": 6},
        **axes.CLICKED,
    }


def duration(seconds: float) -> str:
    """Format a time: `8 s`, `3 min`, `1 h 20 min`."""
    if seconds < 1:
        return "under 1 s"
    if seconds < 99.5:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    hours, rest = divmod(minutes, 60)
    return f"{hours} h {rest} min" if hours else f"{minutes} min"


def step(progress: Progress | None) -> str:
    """Describe a task's progress: `search: 120 of 300 queries, 55 a second, 3 s left`, or without
    numbers `index: loading the model`."""
    if progress is None:
        return "begins"
    if not progress.unit:
        return progress.step
    if not (progress.done or progress.total):
        return f"{progress.step}: {progress.unit}"
    of = f" of {progress.total:,}" if progress.total else ""
    words = [f"{progress.step}: {progress.done:,}{of} {progress.unit}"]
    if progress.rate:
        rate = f"{progress.rate:,.0f}" if progress.rate >= 10 else f"{progress.rate:.1f}"
        words.append(f"{rate} a second")
    if progress.seconds_left is not None:
        words.append(f"{duration(progress.seconds_left)} left")
    return ", ".join(words)


def now(
    tasks: Sequence[Job], before: int = 0, names: Names = NAMES, clock: float | None = None
) -> str:
    """Describe a job's current progress; `before` is the number of unfinished tasks of earlier
    jobs. With `clock` (seconds since 1970), also state how long each task has been running."""
    running = [one for one in tasks if one.state == RUNNING]
    words = "; ".join(
        f"{called(one, names)}: {step(one.progress)}{_for(one, clock)}" for one in running
    )
    return words or "waits for a worker" + f", after {counted(before, 'task')}" * (before > 0)


def _for(task: Job, clock: float | None) -> str:
    """State how long a task has been running at `clock`."""
    if clock is None or task.started is None:
        return ""
    return f", running for {duration(max(clock - task.started, 0))}"


def silence(seconds: float) -> str:
    """State the time without progress of a job whose worker is alive; empty while it is normal."""
    if seconds < USUAL:
        return ""
    return f"Last progress {duration(seconds)} ago; still running."


def before(job: Job, found: Sequence[Job]) -> int:
    """Return the number of unfinished tasks of jobs submitted earlier."""
    earlier = [one for one in found if one.active and one.created < job.created]
    return sum((one.counts or {}).get(state, 0) for one in earlier for state in ACTIVE)


def state(job: Job) -> str:
    """Return the state of a job: queued until a worker has begun its first task."""
    began = any(number for name, number in (job.counts or {}).items() if name != QUEUED)
    return QUEUED if job.counts and job.state == RUNNING and not began else job.state


def title(job: Job, names: Names = NAMES) -> str:
    """Return the title of a job; the demo, which starts by itself, is marked."""
    return f"{'Demo: ' * (job.kind == 'demo')}{called(job, names)}"


def error(job: Job, tasks: Sequence[Job], names: Names) -> str:
    """Say why a job failed, with the title of the first failed task."""
    failed = [task for task in tasks if task.state == FAILED]
    if not failed or job.error != of_failed(job, failed, failed[0].title):
        return job.error
    return of_failed(job, failed, called(failed[0], names))


def times(job: Job, clock: float) -> str:
    """Say how long before `clock` (seconds since 1970) a job was submitted, and how long it ran."""
    ago = f"submitted {duration(max(clock - job.created, 0))} ago"
    return ", ".join(words for words in (ago, took(job)) if words)


def took(job: Job) -> str:
    """Say how long a finished job ran; empty before its end."""
    if job.started is None or job.ended is None:
        return ""
    return f"ran {duration(job.ended - job.started)}"


def expected(estimate: Estimate, runs: int) -> str:
    """Estimate a time: `6 runs, about 40 s on one worker without 2 that were never timed here`."""
    words = f"{runs:,} run{'s' * (runs != 1)}"
    if runs == estimate.unknown:
        return f"{words}; no time estimate yet"
    words += f", about {duration(max(estimate.seconds, 1))} on one worker"
    never = f"{estimate.unknown} that {'was' if estimate.unknown == 1 else 'were'} never timed here"
    return f"{words} without {never}" if estimate.unknown else words


def tried_again(job: Job, tasks: Sequence[Job], found: Sequence[Job]) -> bool:
    """Return true if a later job of the same kind contains all unfinished tasks of this one."""
    done = {(task.system, task.dataset) for task in tasks if task.state == DONE}
    undone = set(job.targets) - done
    later = (other for other in found if other.created > job.created and other.kind == job.kind)
    return bool(undone) and any(undone <= set(other.targets) for other in later)


def at_work(found: Sequence[Job]) -> str:
    """Summarise the active jobs: `2 jobs (1 waiting): 7 of 20 done`; empty if there are none."""
    active = [job for job in found if job.active]
    if not active:
        return ""
    total = sum(len(job.targets) for job in active)
    ended = Counter[str]()
    for job in active:
        ended.update(job.counts or {})
    words = [f"{ended[DONE]} of {total} done"]
    words += [f"{ended[FAILED]} failed"] * (ended[FAILED] > 0)
    waiting = sum(state(job) == QUEUED for job in active)
    now = {0: "running", len(active): "waiting"}.get(waiting, f"({waiting} waiting)")
    return f"{counted(len(active), 'job')} {now}: {', '.join(words)}"


def telling(tasks: Sequence[Job]) -> str:
    """Return the id of the task with the most informative log: running, failed, or the only one."""
    for state in (RUNNING, FAILED):
        if of_state := [one.id for one in tasks if one.state == state]:
            return of_state[0]
    return tasks[0].id if len(tasks) == 1 else ""


def task_table(tasks: Sequence[Job], names: Names = NAMES) -> DataFrame:
    """Return a job's tasks as a page shows them: System, Dataset, State, Remark."""
    shown = [
        (names.systems.get(one.system, one.system), names.datasets.get(one.dataset, one.dataset))
        for one in tasks
    ]
    rows = [(*pair, one.state, _remark(one)) for pair, one in zip(shown, tasks, strict=True)]
    return DataFrame(rows, columns=["System", "Dataset", "State", "Remark"])


def _remark(task: Job) -> str:
    return step(task.progress) if task.state == RUNNING else task.error or took(task)
