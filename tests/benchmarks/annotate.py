"""Times the annotation form in a real browser: key to next document, and to saved.

    python -m tests.benchmarks.annotate HOME [DATASET [KEYS]]      (default: pydocs-networkx 60)

HOME is a home folder with runs on the dataset; it is copied first. Keys are pressed once a second,
then ten of them 60 ms apart. The bars: the next document within 50 ms and an answer saved and
acknowledged within 300 ms at the 95th percentile, no key lost.
"""

import os
import shutil
import sys
import tempfile
from pathlib import Path

import numpy as np
from playwright.sync_api import Page, sync_playwright

from compute import queries
from compute.annotation import grades, tasks
from compute.annotation.tasks import Plan, Task
from compute.reading import open_version
from compute.serve import free_port
from compute.settings import Settings
from compute.store import Store
from tests.browser.conftest import FLAGS, WAIT, chromium, serving

CLOCK = """
    const [put, drop] = [Storage.prototype.setItem, Storage.prototype.removeItem];
    const since = {};
    window.shown = []; window.saved = [];
    Storage.prototype.setItem = function (name, value) {
        since[name] = performance.now();
        return put.call(this, name, value);
    };
    Storage.prototype.removeItem = function (name) {
        if (name.startsWith("beirscope.answers."))
            window.saved.push(performance.now() - since[name]);
        return drop.call(this, name);
    };
    window.addEventListener("keydown", event => {
        const pressed = event.timeStamp;
        const painted = new MessageChannel();
        painted.port1.onmessage = () => window.shown.push(performance.now() - pressed);
        requestAnimationFrame(() => painted.port2.postMessage(0));
    }, true);
"""
"""From a key to the frame that shows the next document; from an answer to its acknowledgement."""


def made(store: Store, dataset: str, n_pairs: int) -> Task:
    with open_version(store).cursor() as cursor:
        runs = queries.annotate.judgeable(cursor)
        systems = tuple(runs.loc[runs["dataset"] == dataset, "system"])
        plan = Plan(
            title="Benchmark",
            dataset=dataset,
            systems=systems,
            depth=10,
            n_pairs=n_pairs,
            order="impact",
            seed=0,
            grades=grades.of_levels([1]),
        )
        tops = queries.annotate.tops(cursor, dataset, systems, plan.depth)
        return tasks.make(store, plan, tops, queries.annotate.judged(cursor, dataset), "benchmark")


def sit_down(page: Page, address: str) -> None:
    page.goto(address)
    page.get_by_role("textbox", name="Your name").fill("benchmark")
    page.keyboard.press("Enter")
    page.locator(".document").wait_for()
    page.evaluate("window.shown = []")


def press(page: Page, keys: int, apart: int) -> None:
    """Press keys so many milliseconds apart, and wait until all is saved."""
    for number in range(keys):
        page.keyboard.press("01"[number % 2])
        page.wait_for_timeout(apart)
    page.get_by_text("all saved").wait_for()


def told(page: Page, what: str) -> str:
    shown = np.array(page.evaluate("window.shown.splice(0)"))
    saved = np.array(page.evaluate("window.saved.splice(0)"))
    times = (
        f"{name} p50 {np.percentile(of, 50):.0f} ms, p95 {np.percentile(of, 95):.0f} ms"
        for name, of in (("next document", shown), ("saved", saved))
    )
    return f"{what}: {'; '.join(times)} ({len(saved)} saved of {len(shown)} keys)"


def main(home: Path, dataset: str = "pydocs-networkx", keys: str = "60") -> None:
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as play:
        copied = Path(shutil.copytree(home, Path(folder) / "home", ignore=lambda *_: {"caches"}))
        store = Store(Settings(home=copied))
        task = made(store, dataset, int(keys) + 12)
        browser = play.chromium.launch(executable_path=chromium(), args=FLAGS)
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        page.set_default_timeout(WAIT)
        page.add_init_script(CLOCK)
        with serving(copied, free_port(8860)) as address:
            sit_down(page, f"{address}/annotate?task={task.id}")
            press(page, int(keys), 1000)
            print(told(page, f"{keys} keys a second apart"))  # noqa: T201 - what a benchmark is for
            press(page, 10, 60)
            print(told(page, "10 keys 60 ms apart"))  # noqa: T201 - what a benchmark is for
        rows = store.added_judgements()
        load = os.getloadavg()[0]
        print(f"{len(rows)} rows; load {load:.1f} on {os.cpu_count()} cores")  # noqa: T201
        browser.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])
