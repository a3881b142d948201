"""Parts in a bucket: whole or not there, whatever the server and the way to it do."""

import logging
import os
import shutil
import subprocess
import sys
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from pyarrow.fs import FileSelector, S3FileSystem

from compute.__main__ import main
from compute.base.errors import Conflict, Unavailable
from compute.base.settings import PROJECT, Settings
from compute.reading.database import open_version, write_database
from compute.store import backups, damage
from compute.store import store as store_module
from compute.store.store import Store
from tests.support.processes import s3
from tests.support.storage import hits, open_store, publish_run, scores

RUN = hits(("q1", "d1", 1), ("q1", "d2", 2))
SCORES = scores("nDCG@10", q1=1.0)
DAY = timedelta(days=1)


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """A server of S3."""
    with s3.server() as address:
        yield address


@pytest.fixture
def place(server: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """An empty place there, which the environment leads to."""
    for name, value in s3.environment(server).items():
        monkeypatch.setenv(name, value)
    return f"s3://{s3.BUCKET}/{uuid.uuid4().hex}"


@pytest.fixture
def there(server: str) -> S3FileSystem:
    """PyArrow's own way to the server."""
    return s3.client(server)


@pytest.fixture
def way(server: str, place: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[s3.Way]:
    """A way to the server, which the environment leads to."""
    with s3.way(server) as made:
        monkeypatch.setenv("AWS_ENDPOINT_URL", made.address)
        yield made


def lying(there: S3FileSystem, place: str) -> set[str]:
    """The names of the objects at a place, but for the mark."""
    root = place.removeprefix("s3://")
    found = there.get_file_info(FileSelector(root, recursive=True, allow_not_found=True))
    return {one.path[len(root) + 1 :] for one in found if one.is_file} - {"identity"}


def count(store: Store) -> int:
    with closing(open_version(store)) as reading:
        found = reading.cursor().execute("select count(*) from hits").fetchone()
    assert found is not None
    return found[0]


def large(n: int = 400_000) -> pd.DataFrame:
    """A run of some megabytes."""
    chance = np.random.default_rng(1)
    names = [f"d{number}" for number in chance.integers(0, 1 << 60, n)]
    frame = pd.DataFrame({"query_id": "q1", "doc_id": names, "rank": np.arange(1, n + 1)})
    return frame.assign(score=chance.random(n)).astype({"rank": "int32"})


@pytest.fixture
def emptied(place: str, tmp_path: Path) -> Callable[[Store], Store]:
    """The same home as a machine has that has read nothing yet."""

    def make(store: Store) -> Store:
        store.close()
        for kind in store.home.glob("parts/*/"):
            shutil.rmtree(kind)
        return open_store(store.home, parts_at=place)

    return make


def test_a_publication_lies_there_and_comes_back_from_there(
    place: str, there: S3FileSystem, tmp_path: Path, emptied: Callable[[Store], Store]
) -> None:
    store = open_store(tmp_path / "home", parts_at=place)
    publish_run(store, "d", "s", RUN, SCORES)
    parts = store.parts()
    assert lying(there, place) == {f"{part.kind}/{part.id}.parquet" for part in parts}
    store = emptied(store)
    assert not any(part.file.exists() or part.damage for part in store.parts())
    assert count(store) == 2
    assert all(part.file.exists() for part in store.parts())
    # Who asks for one part has that alone come.
    store = emptied(store)
    wanted = damage.wanted(store, "scores", "d", "s")
    assert wanted.path.stat().st_size == wanted.bytes
    assert [part.kind for part in store.parts() if part.file.exists()] == ["scores"]
    assert not write_database(store).exists()


@pytest.mark.long
def test_two_homes_share_a_bucket(
    place: str, there: S3FileSystem, tmp_path: Path, postgres: str
) -> None:
    one, two = (open_store(tmp_path / name, postgres, parts_at=place) for name in ("one", "two"))

    def work(store: Store, system: str) -> None:
        for round_ in range(3):
            publish_run(store, "d", system, RUN, SCORES, f"{round_}")

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(work, (one, two), ("a", "b")))
    assert count(one) == count(two) == 4
    assert {part.fingerprint for part in two.parts()} == {"2"}
    later = datetime.now(UTC) + 8 * DAY
    one.tidy(later)
    live = {part.name for part in two.parts()}
    assert {name for name in lying(there, place) if name[:6] != "trash/"} == live
    assert len(lying(there, place)) == 18
    # What was replaced is gone from there, so a machine that is late sees that, and no damage.
    assert count(two) == 4
    two.tidy(later + 31 * DAY)
    assert lying(there, place) == live


@pytest.mark.long
def test_a_slow_server_is_waited_for(
    way: s3.Way, place: str, tmp_path: Path, emptied: Callable[[Store], Store]
) -> None:
    way.pause = 0.02
    store = open_store(tmp_path / "home", parts_at=place)
    publish_run(store, "d", "s", RUN, SCORES)
    assert count(emptied(store)) == 2


@pytest.mark.parametrize(
    "cut",
    [*(pytest.param(n, marks=pytest.mark.long) for n in (3_000, 200_000)), 6_000_000],
)
def test_an_upload_that_breaks_off_publishes_nothing(
    way: s3.Way, place: str, there: S3FileSystem, tmp_path: Path, cut: int
) -> None:
    store = open_store(tmp_path / "home", parts_at=place)
    publish_run(store, "d", "s", RUN, SCORES, "before")
    before = lying(there, place)
    way.up = cut
    with pytest.raises(Unavailable, match=r"cannot be used \(NETWORK_CONNECTION during") as told:
        publish_run(store, "d", "s", large(), SCORES, "after")
    assert s3.SECRET not in str(told.value) and "\n" not in str(told.value)
    assert {part.fingerprint for part in store.parts()} == {"before"}
    assert (store.version(), count(store)) == (1, 2)
    # Of what else came nothing is halved.
    way.up = None
    assert not [n for n in lying(there, place) - before if n.startswith("hits")]
    publish_run(store, "d", "s", large(), SCORES, "after")
    assert count(store) == 400_000


@pytest.mark.long
@pytest.mark.parametrize("cut", [100, 700, 60_000, 3_000_000])
def test_a_download_that_breaks_off_leaves_nothing(
    way: s3.Way, place: str, tmp_path: Path, emptied: Callable[[Store], Store], cut: int
) -> None:
    store = open_store(tmp_path / "home", parts_at=place)
    publish_run(store, "d", "s", large(), SCORES)
    store = emptied(store)
    way.down = cut
    with pytest.raises(Unavailable, match="cannot be used"):
        store.parts("hits")[0].path.exists()
    assert not list(store.home.glob("parts/*/*")) and not list(store.home.glob("parts/*/.*"))
    assert not any(part.damage for part in store.parts())
    way.down = None
    assert count(store) == 400_000


@pytest.mark.long
def test_a_server_that_refuses_is_said_in_one_sentence(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with s3.server("another-key") as address:
        for name, value in s3.environment(address).items():
            monkeypatch.setenv(name, value)
        place = f"s3://{s3.BUCKET}/refused"
        store = open_store(tmp_path / "home", parts_at=place)
        with pytest.raises(Unavailable, match=r"cannot be used \(\w+ during \w+\)") as told:
            publish_run(store, "d", "s", RUN, SCORES)
        assert s3.KEY not in str(told.value)
    with pytest.raises(Unavailable, match=r"\(NETWORK_CONNECTION during"):
        publish_run(store, "d", "s", RUN, SCORES)
    assert (store.version(), store.parts()) == (0, [])
    assert not [file for file in store.home.glob("parts/*/*") if file.is_file()]
    # Housekeeping waits for a better day.
    with caplog.at_level(logging.WARNING):
        store.tidy()
    assert "it is not tidied" in caplog.text


def test_what_is_here_is_read_without_the_server(way: s3.Way, place: str, tmp_path: Path) -> None:
    store = open_store(tmp_path / "home", parts_at=place)
    publish_run(store, "d", "s", RUN, SCORES)
    way.close()
    assert count(open_store(tmp_path / "home", parts_at=place)) == 2


KILLED = """
import sys
from pathlib import Path
from tests.support.processes.publisher import arm
from tests.support.storage import hits, open_store, publish_run, scores
store = open_store(Path(sys.argv[1]), parts_at=sys.argv[2])
arm("before the commit", 1)
publish_run(store, "d", "s", hits(("q9", "d9", 1)), scores("nDCG@10", q9=0.0), "after")
"""


@pytest.mark.long
def test_a_kill_between_upload_and_commit_shows_nothing(
    place: str, there: S3FileSystem, tmp_path: Path, server: str
) -> None:
    store = open_store(tmp_path / "home", parts_at=place)
    publish_run(store, "d", "s", RUN, SCORES, "before")
    kept = lying(there, place)
    words = [sys.executable, "-c", KILLED, str(store.home), place]
    own = {**os.environ, **s3.environment(server)}
    assert subprocess.run(words, cwd=PROJECT, env=own).returncode == -9
    left = lying(there, place) - kept
    assert len(left) == 3
    assert (store.version(), count(store)) == (1, 2)
    store.tidy(datetime.now(UTC) + 6 * DAY)
    assert lying(there, place) == kept | left
    at = datetime.now(UTC) + 8 * DAY
    store.tidy(at)
    assert lying(there, place) == kept | {f"trash/{at.date()}/{name}" for name in left}


@pytest.mark.long
def test_what_is_lost_there_comes_back_from_here_or_the_trash(
    place: str, there: S3FileSystem, tmp_path: Path
) -> None:
    store = open_store(tmp_path / "home")
    publish_run(store, "d", "s", RUN, SCORES)
    store.close()
    # A home whose parts lay in it alone so far.
    store = open_store(tmp_path / "home", parts_at=place)
    store.tidy()
    live = {part.name for part in store.parts()}
    assert lying(there, place) == live
    root = place.removeprefix("s3://")
    for name in live:
        there.move(f"{root}/{name}", f"{root}/trash/2026-01-31/{name}")
        (store.home / "parts" / name).unlink()
    store.tidy()
    assert lying(there, place) == live
    assert count(store) == 2


@pytest.mark.long
def test_damage_here_is_mended_from_there_and_damage_there_is_damage(
    place: str, there: S3FileSystem, tmp_path: Path, emptied: Callable[[Store], Store]
) -> None:
    store = open_store(tmp_path / "home", parts_at=place)
    publish_run(store, "d", "s", RUN, SCORES)
    store.parts("hits")[0].path.write_bytes(b"cut")
    assert count(store) == 2
    root, (part,) = place.removeprefix("s3://"), store.parts("hits")
    with there.open_output_stream(f"{root}/{part.name}") as file:
        file.write(b"x" * part.bytes)
    there.delete_file(f"{root}/{store.parts('scores')[0].name}")
    store = emptied(store)
    assert count(store) == 0
    found = {part.kind: part.damage for part in store.parts()}
    assert found["scores"] == "lost" and found["hits"].startswith("damaged: its content")
    with pytest.raises(Unavailable, match="hits of s on d left out"):
        damage.wanted(store, "hits", "d", "s")
    publish_run(store, "d", "s", RUN, SCORES)
    assert count(store) == 2


def test_a_bucket_belongs_to_one_state(
    place: str, there: S3FileSystem, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    store = open_store(tmp_path / "home", parts_at=place)
    publish_run(store, "d", "s", RUN, SCORES)
    other = open_store(tmp_path / "other", parts_at=place)
    before = lying(there, place)
    with pytest.raises(Conflict, match="holds the parts of another state"):
        publish_run(other, "d", "s", RUN, SCORES)
    with pytest.raises(Conflict, match="another state"):
        other.tidy(datetime.now(UTC) + 8 * DAY)
    assert lying(there, place) == before
    elsewhere = open_store(store.home, parts_at=f"{place}-mistyped")
    for part in elsewhere.parts():
        part.file.unlink()
    with pytest.raises(Unavailable, match="has no part of this state"):
        count(elsewhere)


@pytest.mark.long
def test_a_backup_takes_from_there_and_what_is_restored_comes_there(
    place: str, there: S3FileSystem, tmp_path: Path, emptied: Callable[[Store], Store]
) -> None:
    store = open_store(tmp_path / "home", parts_at=place)
    publish_run(store, "d", "s", RUN, SCORES)
    store = emptied(store)
    outcome = backups.back_up(store, tmp_path / "backup", lambda _: None)
    assert (len(outcome.parts), outcome.left_out) == (3, [])
    anew = Settings(home=tmp_path / "new", parts_at=f"{place}-anew")
    backups.restore(anew, tmp_path / "backup", lambda _: None, leave_out=False)
    restored = open_store(anew.home, parts_at=anew.parts_at)
    restored.tidy()
    assert lying(there, anew.parts_at) == lying(there, place)
    assert count(restored) == 2


def write(there: S3FileSystem, place: str, name: str, content: bytes = b"") -> None:
    """Put an object there past the project; PyArrow makes one of no bytes as it ends an upload."""
    with there.open_output_stream(f"{place.removeprefix('s3://')}/{name}") as file:
        file.write(content)


@pytest.mark.long
def test_an_object_whose_upload_was_cut_off_is_damage_and_is_put_again(
    place: str, there: S3FileSystem, tmp_path: Path, emptied: Callable[[Store], Store]
) -> None:
    store = open_store(tmp_path / "home", parts_at=place)
    publish_run(store, "d", "s", RUN, SCORES)
    (run,), (scored,) = store.parts("hits"), store.parts("scores")
    kept = run.path.read_bytes()
    write(there, place, run.name)
    write(there, place, scored.name, b"cut")
    store = emptied(store)
    assert count(store) == 0
    found = {part.kind: part.damage for part in store.parts()}
    assert found["hits"].startswith("damaged") and found["scores"].startswith("damaged")
    # Who has it whole brings it there; the other one is what it was.
    run.file.write_bytes(kept)
    store.tidy()
    assert count(emptied(store)) == 2
    info = there.get_file_info(f"{place.removeprefix('s3://')}/{scored.name}")
    assert info.size == 3


def test_a_mark_that_was_cut_off_is_made_anew(
    place: str, there: S3FileSystem, tmp_path: Path
) -> None:
    write(there, place, "identity")
    store = open_store(tmp_path / "home", parts_at=place)
    publish_run(store, "d", "s", RUN, SCORES)
    assert count(store) == 2


def test_of_two_states_that_find_a_place_free_one_has_it(
    place: str, there: S3FileSystem, tmp_path: Path
) -> None:
    store = open_store(tmp_path / "home", parts_at=place)
    publish_run(store, "d", "s", RUN, SCORES)
    write(there, place, "identity", b"of-another-state-that-looked-at-the-same-time")
    with pytest.raises(Conflict, match="holds the parts of another state"):
        publish_run(store, "d", "s", RUN, SCORES, "after")
    assert {part.fingerprint for part in store.parts()} != {"after"}


def test_what_is_not_beirscopes_stays_where_it_is(
    place: str, there: S3FileSystem, tmp_path: Path
) -> None:
    theirs = {
        *("reports/2025/q1.csv", "trash/notes.txt", "trash/2025-99-99/q1.csv", "two/identity"),
        f"two/hits/{'0' * 32}.parquet",
    }
    for name in theirs:
        write(there, place, name, b"somebody's")
    store = open_store(tmp_path / "home", parts_at=place)
    publish_run(store, "d", "s", RUN, SCORES)
    for days in (9, 50):
        store.tidy(datetime.now(UTC) + days * DAY)
    assert lying(there, place) == theirs | {part.name for part in store.parts()}


def test_content_that_changed_here_comes_anew_before_it_is_called_damaged(
    place: str, tmp_path: Path
) -> None:
    store = open_store(tmp_path / "home", parts_at=place)
    publish_run(store, "d", "s", RUN, SCORES)
    store.close()
    (part,) = store.parts("hits")
    turned = bytearray(part.path.read_bytes())
    turned[10] ^= 0xFF
    part.file.write_bytes(turned)
    store = open_store(store.home, parts_at=place)
    assert damage.wanted(store, "hits", "d", "s").path.read_bytes() != turned
    part.file.write_bytes(turned)
    outcome = backups.back_up(store, tmp_path / "backup", lambda _: None)
    assert (len(outcome.parts), outcome.left_out) == (3, [])


def test_what_was_lost_for_a_while_is_there_again(
    place: str,
    there: S3FileSystem,
    tmp_path: Path,
    emptied: Callable[[Store], Store],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    store = open_store(tmp_path / "home", parts_at=place)
    publish_run(store, "d", "s", RUN, SCORES)
    store = emptied(store)
    root, name = place.removeprefix("s3://"), store.parts("hits")[0].name
    there.move(f"{root}/{name}", f"{root}/elsewhere")
    assert count(store) == 0
    there.move(f"{root}/elsewhere", f"{root}/{name}")
    assert count(store) == 0 and store.parts("hits")[0].damage == "lost"
    # A minute later.
    monkeypatch.setattr(store_module, "ASKED_AGAIN", 0.0)
    assert count(store) == 2


@pytest.mark.parametrize(
    "address",
    [
        "minio.example:9000",
        "htp://minio:9000",
        "http://[::1",
        "http://a:b@minio",
        "http://minio/way",
    ],
)
def test_an_address_of_a_server_that_is_none_is_refused(
    monkeypatch: pytest.MonkeyPatch, place: str, tmp_path: Path, address: str
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", address)
    store = open_store(tmp_path / "home", parts_at=place)
    with pytest.raises(
        Unavailable, match=r"^AWS_ENDPOINT_URL is not like http://host:9000"
    ) as told:
        publish_run(store, "d", "s", RUN, SCORES)
    assert address not in str(told.value)
    assert store.parts() == []


def test_the_check_names_every_part_that_is_lost(
    place: str,
    there: S3FileSystem,
    tmp_path: Path,
    emptied: Callable[[Store], Store],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    store = open_store(tmp_path / "home", parts_at=place)
    publish_run(store, "d", "s", RUN, SCORES)
    for part in store.parts()[:2]:
        there.delete_file(f"{place.removeprefix('s3://')}/{part.name}")
    emptied(store).close()
    monkeypatch.setenv("BEIRSCOPE_HOME", str(store.home))
    monkeypatch.setenv("BEIRSCOPE_PARTS_AT", place)
    assert main(["check", "--store"]) == 2
    said = capsys.readouterr().out
    assert said.count("lost") == 2 and "3 parts" in said and "2 damaged" in said
