"""Housekeeping moves to the trash, which is emptied late, by a command, or for want of room."""

import logging
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from compute.__main__ import main
from compute.store import trash
from tests.support.storage import hits, open_store, publish_run, scores

RUN = hits(("q1", "d1", 1))
SCORES = scores("nDCG@10", q1=1.0)
DAY = datetime(2026, 1, 31, 12, tzinfo=UTC)


def lying(place: Path) -> list[str]:
    """The files in a trash by day and kind."""
    return sorted(str(file.parent.relative_to(place)) for file in place.rglob("*.*"))


def thrown_away(home: Path, *days: datetime) -> list[Path]:
    """A file of 100 bytes in the trash for each of these days."""
    (home / "parts" / "hits").mkdir(parents=True)
    for day in days:
        file = home / "parts" / "hits" / f"{day.day:032}.parquet"
        file.write_bytes(b"x" * 100)
        trash.put(home, [file], day)
    return sorted(home.glob("trash/*/hits/*"))


def test_a_part_that_lies_in_its_place_again_is_not_overwritten(tmp_path: Path) -> None:
    home = tmp_path / "home"
    first, second = thrown_away(home, DAY, DAY + timedelta(days=1))
    again = home / "parts" / "hits" / first.name
    again.write_bytes(b"again")
    trash.put_back(home, [first, second])
    assert again.read_bytes() == b"again" and first.exists()
    assert (again.with_name(second.name)).exists() and not second.exists()


def test_superseded_parts_lie_in_the_trash_as_they_were(tmp_path: Path) -> None:
    store = open_store(tmp_path / "home")
    publish_run(store, "d", "s", RUN, SCORES, "old")
    old = {part.path: part.path.read_bytes() for part in store.parts()}
    publish_run(store, "d", "s", RUN, SCORES, "new")
    at = datetime.now(UTC) + timedelta(minutes=61)
    assert set(store.tidy(at)) == set(old)
    day = store.home / "trash" / at.date().isoformat()
    assert {day / path.relative_to(store.home / "parts") for path in old} == {
        file for file in day.rglob("*") if file.is_file()
    }
    for path, content in old.items():
        assert (day / path.relative_to(store.home / "parts")).read_bytes() == content


@pytest.mark.parametrize("is_shared", [False, True], ids=["own", "shared"])
def test_files_that_the_state_does_not_know_are_moved_once_and_never_deleted(
    tmp_path: Path, is_shared: bool
) -> None:
    home = tmp_path / "home"
    if is_shared:
        (tmp_path / "shared").mkdir()
        home.mkdir()
        (home / "parts").symlink_to(tmp_path / "shared")
    store = open_store(home)
    publish_run(store, "d", "s", RUN, SCORES)
    then = (datetime.now(UTC) - timedelta(hours=30)).timestamp()
    for name in (f"hits/{'b' * 32}.parquet", f"shards/{'c' * 64}.tar", f"top/.{'d' * 32}.tmp"):
        file = home / "parts" / name
        file.parent.mkdir(exist_ok=True)
        file.write_bytes(b"of another")
        os.utime(file, (then, then))
    assert len(store.tidy()) == 3
    place = tmp_path / "shared" / "trash" if is_shared else home / "trash"
    day = datetime.now(UTC).date().isoformat()
    assert lying(place) == [f"{day}/hits", f"{day}/shards", f"{day}/top"]
    for folder in (*place.rglob("*"), place):
        os.utime(folder, (then, then))
    assert store.tidy() == []
    assert len(lying(place)) == 3
    assert all(part.path.exists() for part in store.parts())
    store.close()
    assert len(open_store(home).parts()) == 3


def test_the_trash_keeps_a_file_for_30_days(tmp_path: Path) -> None:
    file, later = thrown_away(tmp_path, DAY, DAY + timedelta(days=1))
    trash.sweep(tmp_path, DAY + timedelta(days=30), wanted=0)
    assert file.exists()
    trash.sweep(tmp_path, DAY + timedelta(days=31), wanted=0)
    assert (file.parent.parent.exists(), later.exists()) == (False, True)


def test_the_oldest_go_first_where_room_is_wanted_and_this_is_said(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    _, middle, newest = thrown_away(tmp_path, *(DAY + timedelta(days=n) for n in range(3)))
    with caplog.at_level(logging.WARNING):
        trash.sweep(tmp_path, DAY, wanted=0)
        assert caplog.messages == []
        trash.sweep(tmp_path, DAY, wanted=100)
        assert sorted(tmp_path.glob("trash/*/hits/*")) == [middle, newest]
        trash.sweep(tmp_path, DAY, wanted=101)
    assert caplog.messages == [
        f"the disk is nearly full: deleted the oldest {n} of {tmp_path / 'trash'}"
        for n in ("1 file", "2 files")
    ]
    assert list(tmp_path.glob("trash/*")) == []


def test_a_command_says_what_is_in_the_trash_and_empties_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("BEIRSCOPE_HOME", str(tmp_path))
    thrown_away(tmp_path, DAY, DAY + timedelta(days=1))
    assert main(["admin", "trash"]) == 0
    told = f"2 files (200 bytes) in {tmp_path / 'trash'}: "
    assert capsys.readouterr().out == f"{told}--empty deletes them permanently\n"
    assert main(["admin", "trash", "--empty"]) == 0
    assert capsys.readouterr().out == f"{told}deleted\n"
    assert list((tmp_path / "trash").glob("*")) == []


def test_what_cannot_be_moved_stays_and_is_named(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "parts" / "hits").mkdir(parents=True)
    file = tmp_path / "parts" / "hits" / "a.parquet"
    file.touch()
    (tmp_path / "trash").touch()
    trash.put(tmp_path, [file], DAY)
    assert file.exists()
    assert f"{file} stays" in caplog.text
