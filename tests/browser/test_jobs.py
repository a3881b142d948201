"""A recompute from the Jobs page to the Leaderboard, by a real worker, in a real browser."""

import re
import shutil
import signal
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from compute import jobs
from compute.base.settings import Settings
from compute.store.store import Store
from compute.systems import SYSTEMS
from tests.support.acting import FIGURE, go, settled
from tests.support.processes.dashboards import port, serving
from tests.support.processes.jobbing import stop, until, worker

TITLE = SYSTEMS["bm25-multifield"].title
WATCH = """() => {
    window.seen = [];
    const look = () => {
        const text = document.querySelector('[data-testid=stMain]').innerText;
        for (const line of text.split('\\n'))
            if (!window.seen.includes(line)) window.seen.push(line);
    };
    new MutationObserver(look).observe(
        document.body, {subtree: true, childList: true, characterData: true});
}"""
"""Keeps every line that the page ever shows: some stand there for a moment only."""


def _choose(page: Page, label: str, name: str) -> None:
    settled(page)
    page.get_by_role("combobox", name=label).click()
    page.get_by_role("option", name=name, exact=True).click()
    page.keyboard.press("Escape")
    expect(page.get_by_role("option")).to_have_count(0)


def _step(settings: Settings) -> jobs.Progress | None:
    """The progress of the newest job, while a step of it runs."""
    return next((job.progress for job in jobs.listed(settings)), None)


@pytest.mark.long
def test_a_recompute_shows_its_progress_and_its_score_by_itself(
    page: Page, home: Path, tmp_path: Path
) -> None:
    """On a home of its own: the score must be missing at first, also when this is tried again."""
    settings = Settings(home=Path(shutil.copytree(home, tmp_path / "home")), threads=1)
    with worker(settings) as at_work, serving(settings.home, port(8800)) as dashboard:
        board = page.context.new_page()
        board.goto(f"{dashboard}/?numbers=Computed&group=own")
        expect(board.locator(FIGURE).first).to_contain_text("tiny")
        expect(board.locator(FIGURE).first).not_to_contain_text(TITLE)
        board.evaluate("window.sameDocument = true")

        page.goto(f"{dashboard}/jobs")
        expect(page.get_by_text("1 worker running")).to_be_visible()
        _choose(page, "Systems", TITLE)
        _choose(page, "Datasets", "tiny")
        page.evaluate(WATCH)
        start = page.get_by_role("button", name="Start")
        expect(start).to_be_enabled()
        settled(page)
        start.click()
        until(lambda: _step(settings), "a step of the recompute")
        # Its steps can be over sooner than the page looks again.
        stop(at_work, settings)
        step = page.get_by_text(re.compile(f"^{re.escape(TITLE)} on tiny: ")).first
        expect(step).to_be_visible()
        at_work.send_signal(signal.SIGCONT)
        expect(page.get_by_text(re.compile("1 of 1 done; .* ago, ran"))).to_be_visible()
        expect(page.get_by_text("Everything is up to date")).to_be_visible()
        assert "0 of 1 done" in page.evaluate("window.seen")

        expect(board.locator(FIGURE).first).to_contain_text(TITLE)
        assert board.evaluate("window.sameDocument"), "the document was loaded again"


def test_no_press_of_cancel_is_lost_while_the_queue_changes(
    page: Page, dashboard: str, home: Path
) -> None:
    store = Store(Settings(home=home))
    names = [f"bm25(k1=1.{n})" for n in range(1, 7)]
    queued = [jobs.start(store, "run", [name], ["tiny"]).job for name in names]
    others, pressed = queued[:3], queued[:2:-1]
    go(page, f"{dashboard}/jobs")
    for job, other in zip(pressed, others, strict=True):
        button = page.locator(f".st-key-cancel-{job} button")
        button.hover()
        page.mouse.down()
        jobs.cancel(store.settings, other)
        page.mouse.up()
        expect(button).to_have_count(0)
        expect(page.locator(f".st-key-retry-{job}")).to_be_visible()
    found = [jobs.job(store.settings, job) for job in queued]
    assert [job.state for job in found if job] == ["cancelled"] * 6
