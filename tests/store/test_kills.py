"""kill -9 of a publisher loses nothing acknowledged and shows nothing half-written.

`BEIRSCOPE_KILLS` says how often (5; `make soak` 30): at each named place in turn and at a seeded
delay, always in the same home, as killed processes leave it.
"""

import os
import random
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Timer

import pyarrow.parquet as pq
import pytest

from compute.base.settings import PROJECT
from compute.reading.database import open_version
from compute.store.store import Store
from tests.support.processes import prepared
from tests.support.processes.publisher import PLACES, ROWS
from tests.support.storage import hits, open_store, publish_run, scores
from tests.support.worlds import seeds

KILLS = int(os.environ.get("BEIRSCOPE_KILLS", "5"))
LONGEST = 60


@contextmanager
def publisher(home: Path, place: str, calls: int) -> Iterator[subprocess.Popen[str]]:
    """A publisher that is at work; it is killed at the end if it still is."""
    words = [
        sys.executable,
        "-m",
        "tests.support.processes.publisher",
        str(home),
        place,
        str(calls),
    ]
    process = prepared.Popen(words, cwd=PROJECT, stdout=subprocess.PIPE, text=True)
    watchdog = Timer(LONGEST, process.terminate)
    watchdog.start()
    try:
        yield process
    finally:
        watchdog.cancel()
        process.kill()
        process.communicate()


def said(process: subprocess.Popen[str], delay: float | None) -> list[tuple[int, str, int]]:
    """What the process acknowledged until it died: version, mark, judgement.

    With a delay it is killed that many seconds after its first acknowledgement.
    """
    lines: list[str] = []
    assert process.stdout is not None
    for line in process.stdout:
        lines.append(line)
        if delay is not None and len(lines) == 1:
            Timer(delay, process.kill).start()
    assert process.wait() == -9
    # A line without its end was never said.
    words = [line.split() for line in lines if line.endswith("\n")]
    return [(int(version), mark, int(judged)) for version, mark, judged in words]


def marks(store: Store, version: int) -> set[str]:
    """The one round that is live at a version, seen to be whole."""
    parts = store.parts(version=version)
    assert [part.kind for part in parts] in ([], ["hits", "scores", "top"])
    found = {part.fingerprint for part in parts}
    assert len(found) == bool(parts)
    for part in parts:
        table = pq.read_table(part.path)
        assert table.num_rows == part.rows == {"hits": ROWS, "scores": 1, "top": 10}[part.kind]
        assert set(table["query_id"].to_pylist()) == found
    return found


def watch(store: Store, process: subprocess.Popen[str]) -> int:
    """Read while the publisher is at work; returns how many versions were seen."""
    seen: set[int] = set()
    while process.poll() is None:
        version = store.version()
        if version not in seen:
            marks(store, version)
            seen.add(version)
    return len(seen)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """One home for all kills."""
    return open_store(tmp_path_factory.mktemp("kills") / "home")


@pytest.mark.long
@pytest.mark.parametrize("kill", seeds(KILLS))
def test_a_killed_publisher_loses_and_halves_nothing(store: Store, kill: int) -> None:
    chance = random.Random(kill)
    place = (*PLACES, "never")[kill % 5]
    delay = chance.uniform(0.0, 0.5) if place == "never" else None
    first = store.version() + 1
    with publisher(store.home, place, chance.randint(2, 60)) as process:
        with ThreadPoolExecutor(1) as pool:
            watched = pool.submit(watch, store, process)
            acknowledged = said(process, delay)
        assert watched.result() > 0
    published = set().union(*(marks(store, v) for v in range(first, store.version() + 1)))
    assert {mark for _, mark, _ in acknowledged} <= published
    # At most the round in which it died was published without its acknowledgement.
    assert len(published) - len(acknowledged) in (0, 1)
    judged = store.added_judgements().set_index("id")["query_id"]
    assert [judged[number] for _, _, number in acknowledged] == [m for _, m, _ in acknowledged]
    assert list(judged.index) == list(range(1, store.judgement_version() + 1))
    publish_run(store, "tiny", "bm25", hits(*after()), scores("nDCG@10", after=1.0), "after")
    with open_version(store).connection as connection:
        assert connection.execute("select count(*) from hits").fetchone() == (ROWS,)


def after() -> list[tuple[str, str, int]]:
    return [("after", f"d{rank}", rank) for rank in range(1, ROWS + 1)]


def test_two_publishers_and_their_readers_do_not_see_halves(tmp_path: Path) -> None:
    """Both are killed at any time; each round of each is whole or not there."""
    store = open_store(tmp_path / "home")
    with (
        publisher(store.home, "never", 1) as one,
        publisher(store.home, "never", 1) as two,
        ThreadPoolExecutor(3) as pool,
    ):
        saying = [pool.submit(said, process, 0.7) for process in (one, two)]
        assert pool.submit(watch, store, one).result() > 0
        acknowledged = {mark for told in saying for _, mark, _ in told.result()}
    published = set().union(*(marks(store, v) for v in range(1, store.version() + 1)))
    assert acknowledged <= published
    assert len(published) == store.version()
    store.tidy(datetime.now(UTC) + timedelta(hours=25))
    left = set(store.home.glob("parts/*/*"))
    assert left == {part.path for part in store.parts()}
