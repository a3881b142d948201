"""From the comparison of two runs to the form that decides it, and back."""

from pathlib import Path

from playwright.sync_api import Page, expect

from tests.support.acting import go, settled
from tests.support.annotating import N_QUERIES, good_and_poor, judge_pair, pair_task
from tests.support.processes.dashboards import port, serving


def test_a_button_in_a_part_that_follows_judgements_opens_the_form(
    tmp_path: Path, page: Page
) -> None:
    bench = good_and_poor(tmp_path, N_QUERIES)
    task = pair_task(bench.store)
    judge_pair(bench.store, task, 20)
    with serving(bench.store.home, port(8790)) as address:
        go(page, f"{address}/compare?dataset=bare&a=good&b=poor")
        expect(page.get_by_text("After 20 judgements: good leads by .")).to_be_visible()
        page.get_by_role("button", name="Continue judging").click()
        page.wait_for_url(f"**/annotate?*task={task.id}*")
        settled(page)
        expect(page.get_by_text("Which of two systems is better on bare?").first).to_be_visible()
