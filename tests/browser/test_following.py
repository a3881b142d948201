"""Two people judge a sampled task while somebody has Holes open: the picture narrows by itself."""

import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np
import pytest
from pandas import DataFrame
from playwright.sync_api import Browser, BrowserContext, Page, TimeoutError, expect

from compute.evaluate.estimates.frames import Frame
from compute.judgements.machine_grades import KIND
from compute.judgements.tasks import queue
from compute.judgements.tasks.queue import Annotator
from compute.judgements.tasks.tasks import Task
from compute.store.store import Store
from tests.support import sampling as made_up
from tests.support.acting import go, settled
from tests.support.processes.dashboards import WAIT, port, serving

NAMES = ("bob", "cyd")
KEYS, BEFORE = int(os.environ.get("BEIRSCOPE_KEYS", "12")), 120
"""Pressed in the browser, and judged before; that is enough for intervals."""
ACKNOWLEDGED = """
    const drop = Storage.prototype.removeItem;
    window.saved = [];
    Storage.prototype.removeItem = function (name) {
        if (name.startsWith("beirscope.answers.")) window.saved.push(Date.now());
        return drop.call(this, name);
    };
"""
"""Notes when each answer was acknowledged: the form then lets go of it."""
DRAWN = """() => {
    const number = (words, at) => Number((words.match(at) ?? [0, "0"])[1].replace(",", ""));
    window.drawn = {};
    window.opened = "once";
    const look = () => {
        const words = document.querySelector("[data-testid=stMain]").innerText;
        const plot = document.querySelector(".st-key-estimates .js-plotly-plot");
        // Judged are those of the sample, and those behind a document that waits.
        const judged = number(words, /([\\d,]+) of [\\d,]+ sampled documents judged/)
            + number(words, /([\\d,]+) judged documents? after it/);
        const widths = name => plot?._fullData?.filter(one => one.name === name)
            .flatMap(one => one.x.map((x, n) => n % 3 === 1 ? x - one.x[n - 1] : 0))
            .reduce((sum, one) => sum + one, 0);
        window.drawn[judged] ??= [Date.now(), widths("possible range"), widths("95% CI")];
        requestAnimationFrame(look);
    };
    look();
}"""
"""Notes when the page first showed so many judged documents, and how wide its picture was."""


class Sampled(NamedTuple):
    """A task, and what is true."""

    store: Store
    task: Task
    frame: Frame
    grades: np.ndarray


@pytest.fixture(scope="module")
def sampled(tmp_path_factory: pytest.TempPathFactory) -> Sampled:
    """A sampled task that is begun, and a machine's grades of its collection."""
    store, frame, grades = made_up.fill(tmp_path_factory.mktemp("following") / "home")
    task = made_up.make(store, frame, n_pairs=220)
    made_up.judge(store, task, frame, grades, BEFORE)
    wrong = np.random.default_rng(3).random(len(grades)) < 0.2
    told = frame.pairs.assign(relevance=np.where(wrong, 1 - (grades > 0), grades).astype(int))
    with store.publishing("grades") as parts:
        about = {"dataset": made_up.DATASET, "system": "gpt", "fingerprint": "g"}
        parts.add(KIND, told, **about, provenance={"file": "gpt.csv"})
    return Sampled(store, task, frame, grades)


@pytest.fixture(scope="module")
def address(sampled: Sampled) -> Iterator[str]:
    with serving(sampled.store.home, port(8780)) as found:
        yield found


@pytest.fixture
def contexts(browser: Browser) -> Iterator[list[BrowserContext]]:
    """Three browsers that share nothing."""
    found = [browser.new_context(reduced_motion="reduce") for _ in range(3)]
    for one in found:
        one.set_default_timeout(WAIT)
    yield found
    for one in found:
        one.close()


def judging(context: BrowserContext, address: str, task: Task, name: str) -> Page:
    page = context.new_page()
    page.add_init_script(ACKNOWLEDGED)
    go(page, f"{address}/annotate?task={task.id}")
    page.get_by_role("textbox", name="Your name").fill(name)
    page.keyboard.press("Enter")
    page.locator(".document").wait_for()
    return page


def truth(of: Sampled, name: str) -> str:
    """The key for the document that is before somebody."""
    pair = queue.before(of.store, of.task, Annotator(name)).held[0]
    row = of.frame.rows(DataFrame([(pair.query_id, pair.doc_id)], columns=["query_id", "doc_id"]))
    return str(int(of.grades[row[0]]))


def judged_by_both(of: Sampled, people: list[Page], watching: Page, n: int) -> float:
    """Have both press a key, for the nth time from 0; milliseconds from when both are acknowledged
    to the picture that counts all that is judged."""
    for page, name in zip(people, NAMES, strict=True):
        page.keyboard.press(truth(of, name))
    for page in people:
        page.wait_for_function("n => window.saved.length === n", arg=n + 1)
    rows = of.store.added_judgements()
    judged = len(rows[["query_id", "doc_id"]].drop_duplicates())
    watching.wait_for_function("n => window.drawn[n]", arg=judged)
    saved = max(page.evaluate("window.saved.at(-1)") for page in people)
    return watching.evaluate("n => window.drawn[n][0]", judged) - saved


def choose(page: Page, label: str, title: str) -> None:
    """Open a list until it stays open: the rest of the page may be drawn anew meanwhile."""
    option = page.get_by_role("option", name=title, exact=True)
    for _ in range(WAIT // 1000):
        page.get_by_role("combobox", name=label).click()
        with suppress(TimeoutError):
            option.click(timeout=1000)
            return
    raise AssertionError(f"no {title} in the list {label}")


@pytest.mark.long
def test_the_picture_narrows_while_two_people_judge(
    sampled: Sampled, address: str, contexts: list[BrowserContext]
) -> None:
    store, task = sampled.store, sampled.task
    watching = contexts[0].new_page()
    go(watching, f"{address}/holes?dataset={made_up.DATASET}&machine=gpt")
    expect(watching.locator(".st-key-estimates .js-plotly-plot")).to_be_visible()
    expect(watching.get_by_text("It graded")).to_be_visible()
    watching.evaluate(DRAWN)
    people = [
        judging(context, address, task, name)
        for context, name in zip(contexts[1:], NAMES, strict=True)
    ]
    late = [judged_by_both(sampled, people, watching, n) for n in range(KEYS // 2)]
    told: dict[str, Any] = watching.evaluate("window.drawn")
    assert watching.evaluate("window.opened") == "once", "nothing was loaded anew"
    first, last = told[str(BEFORE)], told[max(told, key=int)]
    assert last[1] < first[1], "possible range"
    # After few judgements an interval may be as wide: another estimate has another spread.
    assert last[2] < first[2] * (1 if KEYS >= 60 else 1.1), "the intervals"
    assert len(store.added_judgements()) == BEFORE + KEYS, "nothing is lost"
    # The rest of the page comes after, and what somebody then chooses stays chosen.
    expect(watching.get_by_text(f"{BEFORE + KEYS} added judgements (3 assessors)")).to_be_visible()
    settled(watching)
    steps = watching.evaluate("history.length")
    choose(watching, "Estimated measure", "DCG@10")
    watching.wait_for_url("**estimated=DCG*")
    settled(watching)
    judged_by_both(sampled, people, watching, KEYS // 2)
    settled(watching)
    expect(watching.get_by_role("combobox", name="Estimated measure")).to_have_value("DCG@10")
    assert "estimated=DCG%4010" in watching.url
    assert watching.evaluate("history.length") == steps + 1
    shown = np.quantile(late, [0.5, 0.95, 1]).round().astype(int).tolist()
    sys.stdout.write(
        "\nfrom acknowledgement to picture, ms: p50 {}, p95 {}, max {}\n".format(*shown)
    )
