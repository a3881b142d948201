"""Several servers behind nginx, as the papers say: people judge, servers are killed and updated."""

import itertools
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from compute.base.settings import Settings
from compute.intake import imports
from compute.judgements.tasks import queue
from compute.judgements.tasks.queue import Annotator
from compute.judgements.tasks.tasks import Task
from compute.reading.ahead import OUTGROWN
from compute.recompute import run
from compute.store.store import Store
from tests.browser.test_annotate import DATASET, Judging, check_all_saved_once, saved
from tests.support.acting import FLAGS, chromium, go, settled
from tests.support.corpora import write_many
from tests.support.processes import knocking, networks, several
from tests.support.processes.dashboards import WAIT
from tests.support.processes.jobbing import until
from tests.support.processes.several import ADDRESS, SERVERS, Site

PEOPLE = [f"ann{number}@lab.example.org" for number in range(8)]
ANSWERS = """
    const [put, drop] = [Storage.prototype.setItem, Storage.prototype.removeItem];
    window.kept = JSON.parse(sessionStorage.getItem("kept") ?? "[]"); window.acknowledged = {};
    const ours = name => name.startsWith("beirscope.answers.");
    Storage.prototype.setItem = function (name, value) {
        if (ours(name)) window.kept.push(JSON.parse(value).entry);
        put.call(sessionStorage, "kept", JSON.stringify(window.kept));
        return put.call(this, name, value);
    };
    Storage.prototype.removeItem = function (name) {
        if (ours(name)) window.acknowledged[name.split(".").pop()] = Date.now();
        return drop.call(this, name);
    };
"""
"""Notes the answers that the browser puts aside, and when each was acknowledged."""


@dataclass
class Busy:
    """The servers, what is judged there, and a browser that reaches them."""

    site: Site
    judging: Judging
    browser: Browser
    whole: bool
    """Everything as the papers say; else the dashboards alone, and people who have signed in."""

    def sit_down(self, who: str, server: str, task: Task) -> Page:
        """Somebody whose pages begin on a server opens a task."""
        form = f"{ADDRESS}/annotate?task={task.id}"
        context = self.browser.new_context(reduced_motion="reduce", ignore_https_errors=True)
        context.set_default_timeout(WAIT)
        context.add_init_script(ANSWERS)
        cookies = {"beirscope": server}
        if not self.whole:
            name, _, said = knocking.cookie(ADDRESS, who).partition("=")
            cookies[name] = said
        known = [{"name": name, "value": said, "url": ADDRESS} for name, said in cookies.items()]
        context.add_cookies(known)  # pyrefly: ignore
        page = context.new_page()
        if self.whole:
            sign_in(page, form, who)
        page.goto(form)
        page.locator(".document").wait_for()
        assert serving(context) == server
        return page

    def start(self, *servers: str) -> None:
        """Start servers, and wait until they answer."""
        for server in servers:
            (self.site.start if self.whole else self.site.look)(server)
        self.site.ready()


def sign_in(page: Page, form: str, who: str) -> None:
    go(page, form)
    page.get_by_role("button", name="Sign in").click()
    page.get_by_role("link", name=who).click()
    expect(page.get_by_text("lab.example.org, annotator.")).to_be_visible()


def serving(context: BrowserContext) -> str:
    """The server that somebody's pages live on."""
    return next(one["value"] for one in context.cookies() if one["name"] == "beirscope")


@contextmanager
def busied(browser: Browser, whole: bool) -> Iterator[Busy]:
    reason = several.missing()
    if reason and os.environ.get("BEIRSCOPE_REQUIRE_BROWSER"):
        pytest.fail(reason)
    if reason or not networks.possible():
        pytest.skip(reason or "this account cannot make network namespaces here: run it as root")
    folder = Path(tempfile.mkdtemp(prefix="beirscope-"))
    people = {who: {"email_verified": True} for who in PEOPLE}
    try:
        with several.site(folder, people) as site:
            script = folder / "chromium"
            words = " ".join(f"'{word}'" for word in [*site.network.under(), chromium()])
            script.write_text(f'#!/bin/sh\nexec {words} "$@"\n', "utf-8")
            script.chmod(0o700)
            inside = browser.browser_type.launch(executable_path=script, args=FLAGS)
            found = Busy(site, filled(site), inside, whole)
            found.start(*SERVERS)
            yield found
            inside.close()
    finally:
        shutil.rmtree(folder)


def filled(site: Site) -> Judging:
    """What is stored, taken in at a desk that shares it all."""
    desk = site.folder / "desk"
    desk.mkdir()
    (desk / "parts").symlink_to(site.folder / "shared" / "parts")
    now = Settings(home=desk, state=site.state, latency_queries=0)
    bench = run.Bench(Store(now), now)
    source = write_many(site.folder / DATASET, 100, title="Note")
    dataset = imports.import_dataset(bench, DATASET, path=source).dataset
    places = [(q, n) for q in range(20) for n in range(20)]
    lists = [f"q{q} Q0 d{(q + 7 * n) % 100} 1 {20 - n} own\n" for q, n in places]
    file = site.folder / "lists.txt"
    file.write_text("".join(lists), encoding="utf-8")
    imports.import_run(bench, file, dataset, system="own")
    return Judging(bench.store)


def kept(pages: list[Page]) -> list[str]:
    """The answers that all have given, by name."""
    return [entry for page in pages for entry in page.evaluate("window.kept")]


def judges(page: Page, before: int) -> bool:
    """Have somebody press a key, unless they have given more answers than before."""
    if page.evaluate("window.kept.length") == before:
        page.keyboard.press("1")
    return page.evaluate("window.kept.length") > before


def after_a_kill(busy: Busy, pages: list[Page], server: str) -> list[tuple[bool, float]]:
    """Kill a server while all judge; for each whether their pages were there, and how many seconds
    later the first answer that they gave afterwards was acknowledged."""
    there = [serving(page.context) == server for page in pages]
    given = [page.evaluate("window.kept.length") for page in pages]
    busy.site.kill(server)
    killed = 1000 * time.time()
    for key in "101":
        for page in pages:
            page.keyboard.press(key)
    found = []
    for page, before in zip(pages, given, strict=True):
        # A key that was pressed before its document was in sight was not counted.
        until(lambda page=page, before=before: judges(page, before), "an answer")
        page.wait_for_function("n => window.acknowledged[window.kept[n]]", arg=before)
        at = page.evaluate("n => window.acknowledged[window.kept[n]]", before)
        found.append((at - killed) / 1000)
    for page in pages:
        saved(page)
        assert serving(page.context) != server
    return list(zip(there, found, strict=True))


def check(busy: Busy, task: Task, pages: list[Page]) -> None:
    """All that was given is there once; nobody holds what another one holds."""
    check_all_saved_once(busy.judging, task, kept(pages))
    assert len(busy.judging.store.added_judgements()) == len(kept(pages))
    people = [Annotator(who) for who in PEOPLE[: len(pages)]]
    hands = [queue.before(busy.judging.store, task, who).held for who in people]
    held = [pair.id for pair in itertools.chain(*hands)]
    assert held and len(held) == len(set(held))


def seated(busy: Busy, people: int) -> tuple[Task, list[Page]]:
    """A task, and people who judge it at one server and the other in turn."""
    task = busy.judging.task(DATASET, n_pairs=350, depth=20, order="random", seed=people)
    sides = zip(PEOPLE[:people], itertools.cycle(SERVERS), strict=False)
    return task, [busy.sit_down(who, server, task) for who, server in sides]


@pytest.mark.long
def test_two_people_lose_nothing_when_a_server_is_killed(browser: Browser) -> None:
    with busied(browser, whole=False) as busy:
        task, pages = seated(busy, 2)
        waited = after_a_kill(busy, pages, "one")
        check(busy, task, pages)
        say(waited, [], len(kept(pages)))


@pytest.mark.soak
def test_eight_people_lose_nothing_when_servers_are_killed_and_updated(browser: Browser) -> None:
    with busied(browser, whole=True) as busy:
        task, pages = seated(busy, 8)
        watching = pages[1].context.new_page()
        go(watching, f"{ADDRESS}/dataset?dataset={DATASET}&judgements=added")
        seen, waited = [], []
        for server in [*SERVERS] * 2:
            for back in SERVERS.keys() - busy.site.running.keys():
                busy.start(back)
                move(pages[1::2], watching, back)
            seen += [seen_after(busy, pages[0], watching) for _ in range(5)]
            waited += after_a_kill(busy, pages, server)
        # What a page had made lies on the server that its socket leads to.
        take_a_file(watching)
        make_way(busy, pages)
        check(busy, task, pages)
        say(waited, seen, len(kept(pages)))


def move(pages: list[Page], watching: Page, server: str) -> None:
    """Have people load their pages anew, from a server that is back, and somebody who looks on."""
    for page in pages:
        page.context.add_cookies([{"name": "beirscope", "value": server, "url": ADDRESS}])
        page.reload()
        page.locator(".document").wait_for()
        assert serving(page.context) == server
    watching.reload()
    settled(watching)


def seen_after(busy: Busy, page: Page, watching: Page) -> float:
    """Have somebody judge; seconds from when that is acknowledged to a page that counts it, which
    another server draws."""
    page.keyboard.press("1")
    saved(page)
    n = len(busy.judging.store.added_judgements())
    words = f"{n} added judgement{'s' if n > 1 else ''} ("
    shows = "words => document.body.innerText.includes(words) && Date.now()"
    at = watching.wait_for_function(shows, arg=words).json_value()
    return (at - max(page.evaluate("Object.values(window.acknowledged)"))) / 1000


def take_a_file(page: Page) -> None:
    settled(page)
    page.get_by_role("button", name="Export").first.click()
    csv = page.get_by_role("button", name="CSV", exact=True).first
    expect(csv).to_be_visible()
    settled(page)
    with page.expect_download() as arriving:
        csv.click()
    assert arriving.value.path().stat().st_size


def say(waited: list[tuple[bool, float]], seen: list[float], given: int) -> None:
    """The figures; `pytest -s` shows them."""
    for there, where in ((True, "the killed server"), (False, "the other one")):
        seconds = sorted(second for was, second in waited if was == there)
        shown = " ".join(f"{second:.2f}" for second in seconds) or "nobody"
        sys.stdout.write(f"\nfrom the kill to the next acknowledged answer, {where}, s: {shown}")
    shown = " ".join(f"{second:.2f}" for second in sorted(seen)) or "not looked at"
    sys.stdout.write(f"\nfrom an answer saved to a page of the other server, s: {shown}")
    sys.stdout.write(f"\n{given} answers given, each saved once\n")


def make_way(busy: Busy, pages: list[Page]) -> None:
    """Start a server anew as one of the next version while all judge at the other, which is old."""
    (new,) = SERVERS.keys() - busy.site.running.keys()
    (old,) = SERVERS.keys() & busy.site.running.keys()
    busy.site.look(new, "newer")
    until(lambda: busy.site.serves(new), "the updated server")
    until(lambda: not busy.site.serves(old), "the old server to make way")
    assert OUTGROWN in busy.site.said(old)
    assert busy.site.answer(old) == (503, f"{OUTGROWN}\n".encode())
    for page in pages:
        before = page.evaluate("window.kept.length")
        until(lambda page=page, before=before: judges(page, before), "an answer")
        saved(page)
        assert serving(page.context) == new
    # Started again as it is, it says so again.
    busy.site.kill(old)
    busy.site.start(old)
    until(lambda: busy.site.answer(old).status == 503, "the old server")
