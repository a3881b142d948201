"""Holes judged at the form, in a real browser: by keyboard, blind, and without losing a key."""

import re
import secrets
import shutil
import signal
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, WebSocket, WebSocketRoute, expect

from compute.base.settings import Settings
from compute.intake import imports
from compute.judgements.orders import NAMES
from compute.judgements.tasks import grades, queue, tasks
from compute.judgements.tasks.queue import Annotator
from compute.judgements.tasks.tasks import Plan, Task
from compute.reading.database import open_version
from compute.recompute import run
from compute.store.store import Store
from compute.views.annotate import select as annotate_select
from tests.support import disks
from tests.support.acting import FIGURE, heading, settled
from tests.support.annotating import answer
from tests.support.corpora import write_many
from tests.support.processes.dashboards import WAIT, port, serving, start_server
from tests.support.tiny import HOSTILE, write_tiny

DATASET = "many"
SENTINEL = f"zq{secrets.token_hex(6)}"
"""In the name of an imported system, and nowhere else."""
SCORE = "9173.8264"
TINY = {"q1": "145236", "q2": "231456", "q3": "465123"}
"""The numbers of the documents in the ranked lists of the tiny collection; q3's first is a hole."""
DOCUMENT = ".document"
KEPT = """
    const [put, drop] = [Storage.prototype.setItem, Storage.prototype.removeItem];
    window.kept = []; window.dropped = []; const ours = n => n.startsWith("beirscope.answers.");
    Storage.prototype.setItem = function (name, value) {
        if (ours(name)) window.kept.push(JSON.parse(value).entry);
        return put.call(this, name, value);
    };
    Storage.prototype.removeItem = function (name) {
        if (ours(name)) window.dropped.push(name.split(".").pop()); return drop.call(this, name);
    };
"""
"""Notes the answers that the browser puts aside, and those it drops as saved."""
SEEN = """
    window.pressed = [];
    window.addEventListener("keydown", ({ key }) => {
        if (!/^[01]$/.test(key)) return;
        const form = document.querySelector("[data-testid=stMain] .judge")
            ?? [...document.querySelectorAll("*")].map(at => at.shadowRoot?.querySelector(".judge"))
                .find(Boolean);
        const title = form?.querySelector(".work:not([hidden]) .title")?.textContent ?? null;
        window.pressed.push([title, Number(key)]);
    }, { capture: true });
"""
"""Notes each key with the title of the document that is in sight when it is pressed."""
KEPT_HERE = "Object.keys(localStorage).filter(k => k.startsWith('beirscope.answers.')).length"


@dataclass(frozen=True)
class Judging:
    """A home with something to judge."""

    store: Store

    def task(self, dataset: str, **changes: Any) -> Task:
        with open_version(self.store).cursor() as cursor:
            runs = annotate_select.judgeable(cursor)
            systems = tuple(runs.loc[runs["dataset"] == dataset, "system"])
            plan = {
                "title": "Some holes",
                "dataset": dataset,
                "systems": systems,
                "depth": 10,
                "n_pairs": 60,
                "order": "impact",
                "seed": 1,
                "grades": grades.of_levels([1]),
            }
            plan = Plan(**(plan | changes))  # pyrefly: ignore
            tops = annotate_select.StoredTops(cursor, dataset)
            official = annotate_select.judged(cursor, dataset)
            judged = tasks.judged(self.store, dataset, official)
            return tasks.make(self.store, plan, tops, judged, "maker")

    def titles(self) -> dict[str, str]:
        with open_version(self.store).cursor() as cursor:
            rows = cursor.execute("select title, doc_id from documents").fetchall()
        return dict(rows)


@pytest.fixture(scope="module")
def judging(tmp_path_factory: pytest.TempPathFactory) -> Judging:
    """Two collections with a run; the larger one has another, whose lists are three places on."""
    folder = tmp_path_factory.mktemp("judging")
    now = Settings(home=folder / "home", latency_queries=0)
    bench = run.Bench(Store(now), now)
    many = [(f"q{q}", f"d{(q + 7 * n) % 100}", n) for q in range(20) for n in range(10)]
    later = [(query, doc, (n + 3) % 10) for query, doc, n in many]
    tiny = [(query, f"d{d}", n) for query, all in TINY.items() for n, d in enumerate(all)]
    for name, source, lists in (
        (DATASET, write_many(folder / DATASET, 100, title="Note"), {"own": many, SENTINEL: later}),
        ("tiny", write_tiny(folder / "tiny"), {SENTINEL: tiny}),
    ):
        dataset = imports.import_dataset(bench, name, path=source).dataset
        for system, rows in lists.items():
            lines = [f"{query} Q0 {doc} 1 {float(SCORE) - rank} x\n" for query, doc, rank in rows]
            file = folder / "lists.txt"
            file.write_text("".join(lines), encoding="utf-8")
            imports.import_run(bench, file, dataset, system=system)
    return Judging(bench.store)


@pytest.fixture(scope="module")
def address(judging: Judging) -> Iterator[str]:
    with serving(judging.store.home, port(8760)) as found:
        yield found


def sit_down(page: Page, address: str, task: Task, name: str) -> None:
    """Open the task and say who judges, by keyboard alone."""
    page.goto(f"{address}/annotate?task={task.id}")
    field = page.get_by_role("textbox", name="Your name")
    field.wait_for()
    settled(page)
    for _ in range(60):
        if field.evaluate("field => field === document.activeElement"):
            break
        page.keyboard.press("Tab")
    expect(field).to_be_focused()
    page.keyboard.type(name)
    expect(field).to_have_value(name)
    page.keyboard.press("Enter")
    page.locator(DOCUMENT).wait_for()


def saved(page: Page) -> None:
    expect(page.get_by_text("all saved")).to_be_visible(timeout=WAIT)


def unsaved(page: Page, number: int) -> None:
    words = re.compile(f"{number} not yet saved: no space is left on the disk of")
    expect(page.get_by_text(words)).to_be_visible()


def rows(judging: Judging, task: Task) -> list[dict[Any, Any]]:
    return judging.store.added_judgements().query("task == @task.id").to_dict("records")


@pytest.mark.long
def test_thirty_holes_judged_by_keyboard_change_the_numbers(
    page: Page, address: str, judging: Judging
) -> None:
    task = judging.task(DATASET, n_pairs=30)
    numbers = f"{address}/dataset?dataset={DATASET}&measure=nDCG@10"
    sit_down(page, address, task, "ada")
    for done in range(30):
        expect(page.get_by_text(f"{done} of 30 judged", exact=True)).to_be_visible()
        expect(page.locator(".title")).to_be_visible()
        page.keyboard.press("10"[done % 2])
    expect(page.get_by_text("All done: 30 judged")).to_be_visible()
    saved(page)
    page.get_by_role("button", name="Effect on scores").click()
    expect(page.get_by_role("heading", name="Effect of added")).to_be_visible(timeout=WAIT)
    assert "/holes?" in page.url and f"dataset={DATASET}" in page.url
    given = rows(judging, task)
    assert len({(row["query_id"], row["doc_id"]) for row in given}) == 30
    assert [row["relevance"] for row in given] == [1, 0] * 15
    assert {row["person"] for row in given} == {"ada"} and {row["verified"] for row in given} == {0}
    page.goto(numbers)
    expect(page.get_by_role("radio", name="Official qrels", exact=True)).to_be_visible()
    settled(page)
    shown = page.locator(FIGURE).first
    before = shown.inner_text()
    page.get_by_role("radio", name="Official + added").click()
    expect(page.get_by_text("30 added judgements (1 assessor)")).to_be_visible()
    expect(shown).not_to_have_text(before)


def test_ten_quick_keys_are_all_saved_each_with_its_document(
    page: Page, address: str, judging: Judging
) -> None:
    task = judging.task(DATASET, n_pairs=40, order="random")
    sit_down(page, address, task, "bob")
    titles, pressed = judging.titles(), []
    for key in "1001110100":
        pressed.append((titles[page.locator(".title").inner_text()], int(key)))
        page.keyboard.press(key, delay=60)
    expect(page.get_by_text("10 of 40 judged")).to_be_visible()
    saved(page)
    assert [(row["doc_id"], row["relevance"]) for row in rows(judging, task)] == pressed


@pytest.mark.long
def test_keys_that_outrun_the_server_judge_what_is_in_sight_and_nothing_else(
    page: Page, address: str, judging: Judging
) -> None:
    task = judging.task(DATASET, n_pairs=60, order="random")
    page.add_init_script(SEEN)
    sit_down(page, address, task, "cat")
    for n in range(45):
        page.keyboard.press("10"[n % 3 == 0], delay=15)
    saved(page)
    titles = judging.titles()
    pressed = page.evaluate("window.pressed")
    wanted = [(titles[title], key) for title, key in pressed if title is not None]
    given = [(row["doc_id"], row["relevance"]) for row in rows(judging, task)]
    assert given == wanted and len(pressed) == 45


@pytest.mark.long
def test_two_windows_of_one_person_never_ask_for_a_document_twice(
    page: Page, address: str, judging: Judging
) -> None:
    task = judging.task(DATASET, n_pairs=20, order="random")
    sit_down(page, address, task, "fay")
    other = page.context.new_page()
    other.goto(f"{address}/annotate?task={task.id}")
    other.locator(DOCUMENT).wait_for()
    for here, there, keys in ((page, other, "111"), (other, page, "00")):
        for key in keys:
            here.keyboard.press(key)
        expect(there.locator(".title")).to_have_text(here.locator(".title").inner_text())
        saved(here)
    given = rows(judging, task)
    assert len({(row["query_id"], row["doc_id"]) for row in given}) == len(given) == 5


@pytest.mark.long
def test_leaving_for_the_list_saves_the_last_answers_and_lets_go_of_the_rest(
    page: Page, address: str, judging: Judging
) -> None:
    task = judging.task(DATASET, n_pairs=7, order="random")
    sit_down(page, address, task, "gil")
    # The last ones wait in the browser for the word about the first.
    for key in "110":
        page.keyboard.press(key)
    page.get_by_role("button", name="All tasks").click()
    expect(page.get_by_text("3 of 7 judgements made by 1 assessor · ")).to_be_visible()
    given = [(row["person"], row["relevance"]) for row in rows(judging, task)]
    assert given == [("gil", 1), ("gil", 1), ("gil", 0)]
    held = queue.overview(judging.store).set_index("task")["held"]
    assert held[task.id] == 0


def unheard(page: Page) -> list[bool]:
    """While the list holds something, the server hears nothing of what this page sends."""
    cut: list[bool] = []

    def pass_on(socket: WebSocketRoute) -> None:
        server = socket.connect_to_server()
        socket.on_message(lambda message: None if cut else server.send(message))

    page.route_web_socket(re.compile("/_stcore/stream"), pass_on)
    return cut


@pytest.mark.long
def test_an_answer_that_another_page_cut_off_is_saved_from_the_list(
    page: Page, address: str, judging: Judging
) -> None:
    task = judging.task(DATASET, n_pairs=9, order="random")
    cut = unheard(page)
    sit_down(page, address, task, "hal")
    cut.append(True)
    page.keyboard.press("1")
    page.wait_for_function(f"{KEPT_HERE} === 1")
    cut.clear()
    page.get_by_role("link", name="Leaderboard").click()
    heading(page, "Leaderboard")
    page.get_by_role("link", name="Judge").click()
    # Only this task of the list has nine pairs; those that hal held stay hal's for a while.
    expect(
        page.get_by_text("1 of 9 judgements made by 1 assessor, 8 being judged now")
    ).to_be_visible()
    (row,) = rows(judging, task)
    assert (row["person"], row["relevance"]) == ("hal", 1)
    page.wait_for_function(f"{KEPT_HERE} === 0")


@pytest.mark.long
def test_what_the_server_never_heard_of_is_sent_by_the_form_of_another_task(
    page: Page, address: str, judging: Judging
) -> None:
    first, other = (judging.task(DATASET, n_pairs=6, order="random") for _ in range(2))
    pair = queue.exchange(judging.store, other, Annotator("joy")).held[0]
    queue.exchange(judging.store, other, Annotator("joy"), [answer(pair.id, seconds=0.24)])
    cut = unheard(page)
    sit_down(page, address, first, "joy")
    cut.append(True)
    press([page], "10")
    expect(page.get_by_text("2 not yet saved")).to_be_visible()
    assert rows(judging, first) == []
    cut.clear()
    page.goto(f"{address}/annotate?task={other.id}")
    page.locator(DOCUMENT).wait_for()
    page.wait_for_function(f"{KEPT_HERE} === 0")
    assert [row["relevance"] for row in rows(judging, first)] == [1, 0]
    expect(page.get_by_text("1 of 6 judged", exact=True)).to_be_visible()
    assert len(rows(judging, other)) == 1


@pytest.mark.long
def test_somebody_else_comes_after_the_last_answer_is_saved(
    page: Page, address: str, judging: Judging
) -> None:
    task = judging.task(DATASET, n_pairs=6, order="random")
    sit_down(page, address, task, "ida")
    page.keyboard.press("1")
    page.get_by_role("button", name="Change").click()
    page.get_by_role("textbox", name="Your name").wait_for()
    page.wait_for_function(f"{KEPT_HERE} === 0")
    (row,) = rows(judging, task)
    assert (row["person"], row["relevance"]) == ("ida", 1)


@pytest.mark.long
def test_skip_unsure_note_and_undo_have_keys(page: Page, address: str, judging: Judging) -> None:
    task = judging.task(DATASET, n_pairs=5, order="depth")
    sit_down(page, address, task, "cyd")
    first = page.locator(".title").inner_text()
    page.keyboard.press("u")
    page.keyboard.press("n")
    page.keyboard.type("10 sz: no keys in here")
    page.keyboard.press("Enter")
    page.keyboard.press("1")
    page.keyboard.press("s")
    page.keyboard.press("0")
    expect(page.get_by_text("2 of 5 judged, 1 skipped")).to_be_visible()
    saved(page)
    for _ in range(3):
        page.keyboard.press("z")
    expect(page.locator(".title")).to_have_text(first)
    expect(page.get_by_text("0 of 5 judged", exact=True)).to_be_visible()
    saved(page)
    first_row = rows(judging, task)[0]
    assert (first_row["relevance"], first_row["unsure"]) == (1, 1)
    assert first_row["note"] == "10 sz: no keys in here"
    page.reload()
    expect(page.get_by_text("0 of 5 judged")).to_be_visible()
    expect(page.locator(".title")).to_have_text(first)
    sources = [row["source"] for row in rows(judging, task)]
    assert sources == ["person", "person", "withdrawn", "withdrawn"]


@pytest.mark.long
def test_a_hostile_document_and_guideline_stay_text(
    page: Page, address: str, judging: Judging
) -> None:
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    evil = f"{HOSTILE} ![pixel](http://evil.example/pixel.png) [out](http://evil.example/)"
    task = judging.task("tiny", guideline=evil, title=HOSTILE, order="depth")
    sit_down(page, address, task, "<b>dan</b>")
    expect(page.locator(".title")).to_have_text(HOSTILE)
    expect(page.locator(".guideline .body")).to_contain_text("![pixel](http://evil.example")
    assert page.locator(".judge").locator("script, b, a, img, iframe").count() == 0
    assert (
        page.locator("[data-testid=stMain] a[href*=javascript], [data-testid=stMain] b").count()
        == 0
    )
    assert not [url for url in asked if "evil.example" in url]


@pytest.mark.long
def test_an_annotator_learns_nothing_of_systems_order_or_others(
    page: Page, address: str, judging: Judging
) -> None:
    task = judging.task(DATASET, n_pairs=20, double_share=1.0, guideline="Judge *well*.")
    other, remark = f"zq{secrets.token_hex(6)}", f"zq{secrets.token_hex(6)}"
    theirs = queue.exchange(judging.store, task, Annotator(other))
    notes = [answer(pair.id, note=remark) for pair in theirs.held]
    queue.exchange(judging.store, task, Annotator(other), notes)
    frames: list[str] = []

    def keep(payload: str | bytes) -> None:
        frames.append(payload if isinstance(payload, str) else payload.decode("latin-1"))

    def listen(socket: WebSocket) -> None:
        socket.on("framesent", keep)
        socket.on("framereceived", keep)

    page.on("websocket", listen)
    page.goto(f"{address}/annotate")
    expect(page.get_by_role("button", name="Judge").first).to_be_visible()
    assert SENTINEL not in "\n".join([*frames, page.content()]), "the list is read by annotators"
    frames.clear()
    sit_down(page, address, task, "eve")
    for key in "10suz10":
        page.keyboard.press(key)
        saved(page)
    page.reload()
    page.locator(DOCUMENT).wait_for()
    shadow = page.locator(".judge").inner_html()
    seen = "\n".join([*frames, page.content(), shadow])
    assert "Judge" in seen and len(frames) > 10, "nothing was heard"
    assert page.locator(".title").inner_text() in seen
    for secret in (SENTINEL, SCORE[:4], other, remark):
        assert secret not in seen
    words = "|".join([*NAMES, "ranks?", "scores?", "depth", "pool", "systems?"])
    told = re.search(rf"\b({words})\b", seen, re.IGNORECASE)
    assert told is None, seen[max(0, told.start() - 80) : told.end() + 80]


@pytest.mark.long
@pytest.mark.parametrize("people", [2, pytest.param(4, marks=pytest.mark.soak)])
def test_people_at_once_lose_nothing_when_the_server_is_killed(
    browser: Browser, judging: Judging, people: int
) -> None:
    task = judging.task(DATASET, n_pairs=120, double_share=0.2, order="random", seed=3)
    at = port(8790)
    server = start_server(judging.store.home, at)
    try:
        pages = []
        for name in ("one", "two", "three", "four")[:people]:
            context = browser.new_context(reduced_motion="reduce")
            context.set_default_timeout(WAIT)
            context.add_init_script(KEPT)
            pages.append(context.new_page())
            sit_down(pages[-1], f"http://127.0.0.1:{at}", task, name)
        # The last one has not asked the server for anything yet.
        press(pages[:-1], "1011")
        server.send_signal(signal.SIGKILL)
        server.wait()
        survived = {row["entry"] for row in rows(judging, task)}
        for page in pages:
            assert set(page.evaluate("window.dropped")) <= survived, "acknowledged, but lost"
        press(pages, "010")
        kept = [entry for page in pages for entry in page.evaluate("window.kept")]
        assert len(kept) == 4 * (people - 1) + 3 * people and not set(kept) <= survived
        server = start_server(judging.store.home, at)
        for page in pages[: people // 2]:
            page.reload()
            page.locator(DOCUMENT).wait_for()
        for page, judged in zip(pages, [*[7] * (people - 1), 3], strict=True):
            saved(page)
            expect(page.get_by_text(f"{judged} of")).to_be_visible()
        check_all_saved_once(judging, task, kept)
        for page in pages:
            page.context.close()
    finally:
        server.kill()
        server.wait()


@pytest.mark.long
def test_answers_given_while_the_disk_is_full_are_saved_once_there_is_room(
    page: Page, judging: Judging, tmp_path: Path
) -> None:
    with disks.disk(tmp_path / "disk", 48) as folder:
        home = folder / "home"
        shutil.copytree(judging.store.home, home)
        small = Judging(Store(Settings(home=home)))
        task = small.task(DATASET, n_pairs=9, order="random")
        with serving(home, port(8790)) as at:
            sit_down(page, at, task, "kim")
            page.keyboard.press("1")
            saved(page)
            # The log of SQLite would have room for more: it is cut, so that none is left.
            with small.store.engine.connect() as connection:
                connection.exec_driver_sql("pragma wal_checkpoint(truncate)")
            disks.fill(folder)
            press([page], "0110")
            expect(
                page.get_by_text(re.compile("4 not yet saved: no space is left"))
            ).to_be_visible()
            assert len(rows(small, task)) == 1
            page.reload()
            expect(
                page.get_by_text(re.compile("4 not yet saved: no space is left"))
            ).to_be_visible()
            press([page], "1")
            expect(
                page.get_by_text(re.compile("5 not yet saved: no space is left"))
            ).to_be_visible()
            disks.empty(folder)
            saved(page)
            expect(page.get_by_text("6 of 9 judged", exact=True)).to_be_visible()
            page.wait_for_function(f"{KEPT_HERE} === 0")
        assert [row["relevance"] for row in rows(small, task)] == [1, 0, 1, 1, 0, 1]


def press(pages: list[Page], keys: str) -> None:
    for key in keys:
        for page in pages:
            page.keyboard.press(key)


def check_all_saved_once(judging: Judging, task: Task, kept: list[str]) -> None:
    given = rows(judging, task)
    assert sorted(row["entry"] for row in given) == sorted(kept)
    pairs = [(row["person"], row["query_id"], row["doc_id"]) for row in given]
    assert len(pairs) == len(set(pairs)), "a person was shown a pair twice"
    wanted = tasks.pairs(judging.store, task.id).set_index(["query_id", "doc_id"])["labels"]
    for query_id, doc_id in {pair[1:] for pair in pairs}:
        people = [pair for pair in pairs if pair[1:] == (query_id, doc_id)]
        assert len(people) <= wanted[query_id, doc_id]
