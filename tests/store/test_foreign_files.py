"""Nothing that was not made here is removed, emptied or moved, wherever links lead."""

import os
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pandas as pd
import pytest

from compute.base import files, locks
from compute.base.errors import Conflict, WrongInput
from compute.base.settings import Settings
from compute.evaluate.runs import Run
from compute.jobs import backups
from compute.recompute import unpublished_hits
from compute.recompute.unpublished_hits import Draft
from compute.store import caches, trash
from compute.store.store import Store
from tests.support.storage import hits, open_store, publish_run, scores

PLACES = ("tmp", "uploads", "caches", "drafts", "trash", "logs", "parts/hits", "parts/shards")
OLD = (datetime.now(UTC) - timedelta(days=400)).timestamp()
SOON = datetime.now(UTC) + timedelta(days=2)
RUN, SCORES = hits(("q1", "d1", 1)), scores("nDCG@10", q1=1.0)
HEX, OTHER = "b" * 64, "c" * 64


def foreign(place: Path) -> None:
    """What a person may keep in a folder, some of it named nearly as ours is."""
    for name in (
        "thesis/chapter.txt",
        "notes.txt",
        ".draft.tmp",
        "2020-01-31/hits/notes.parquet",
        f"{SOON:%Y-%m-%d}/hits/notes.txt",
        f"2020-01-31/{HEX[:32]}/{HEX[:32]}.parquet",
        f"{HEX}.aside.d/chapter.txt",
        f"state-{HEX}.sqlite.txt",
        "own-12345678/chapter.txt",
        "thesis.lock",
        OTHER,
        f"{HEX}.d/chapter.txt",
        f"hits/{OTHER[:32]}.parquet",
        f"thesis/hits/{OTHER[:32]}.parquet",
        f"2020-01-31/hits/{HEX[:32]}.parquet/chapter.txt",
    ):
        file = place / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("mine", "utf-8")
    for path in (*place.rglob("*"), place):
        os.utime(path, (OLD, OLD))


def kept(place: Path) -> dict[str, str]:
    """All files below a folder that hold what `foreign` wrote."""
    found = ((path, path.read_bytes()) for path in place.rglob("*") if path.is_file())
    return {str(path.relative_to(place)): "mine" for path, content in found if content == b"mine"}


def keep_house(store: Store, backup: Path) -> None:
    """All that removes something: housekeeping, drafts, caches above their limit, a backup."""
    publish_run(store, "d", "s", RUN, SCORES, "old")
    backups.back_up(store, backup)
    publish_run(store, "d", "s", RUN, SCORES, "new")
    backups.back_up(store, backup)
    now = store.settings
    draft = Draft(Run(pd.DataFrame({"rank": [1]}), 0, 0, 0), {})
    unpublished_hits.keep(now, "a" * 64, draft)
    with caches.folder(now, "a" * 64, lambda folder: (folder / "x").write_bytes(b"x" * 100)):
        pass
    assert caches.trim(now) == ["a" * 64]
    store.tidy(SOON)
    trash.sweep(store.home, datetime.now(UTC) + timedelta(days=100), wanted=1 << 60)
    trash.empty(store.home)


@pytest.mark.parametrize("is_linked", [False, True], ids=["folder", "link"])
def test_foreign_files_stay_in_every_place_of_a_home(tmp_path: Path, is_linked: bool) -> None:
    home, big = tmp_path / "home", tmp_path / "big"
    places = [home / place for place in PLACES] + [tmp_path / "backup" / "parts" / "hits"]
    for number, place in enumerate(places):
        place.parent.mkdir(parents=True, exist_ok=True)
        if is_linked:
            foreign(big / str(number))
            place.symlink_to(big / str(number))
        else:
            foreign(place)
    store = open_store(home)
    publish_run(store, "d", "s", RUN, SCORES, "first")
    named = [f"{name}.parquet/chapter.txt" for name in (HEX, HEX[:32])]
    if is_linked:  # there even what has a name of ours is somebody's
        named += ["own-12345678.lock", f"{OTHER[:32]}.parquet", f"{OTHER}.tar"]
    files = [place / name for place in places for name in named]
    backup = (".draft.tmp", "state-mine.sqlite", f"state-{HEX}.sqlite/chapter.txt")
    for file in (*files, *(tmp_path / "backup" / name for name in backup)):
        file.parent.mkdir(exist_ok=True)
        file.write_text("mine")
        os.utime(file, (OLD, OLD))
        os.utime(file.parent, (OLD, OLD))
    before = kept(tmp_path)
    keep_house(
        Store(Settings(home=home, cache_bytes=1), shipped=home / "none"), tmp_path / "backup"
    )
    assert kept(tmp_path) == before
    assert [part.damage for part in store.parts()] == [""] * 3


def test_links_under_names_of_our_own_are_neither_followed_nor_removed(tmp_path: Path) -> None:
    home, big = tmp_path / "home", tmp_path / "big"
    foreign(big)
    store = open_store(home)
    folders = [f"caches/{HEX}{end}" for end in ("", ".gone", ".aside")]
    files = [f"{at}/{HEX[:32]}.parquet" for at in ("parts/hits", "trash/2020-02-29/hits")]
    files += [f"drafts/{HEX}.parquet", f"../backup/state-{HEX}.sqlite", "tmp/own-12345678.lock"]
    leads = dict.fromkeys(files, big / "notes.txt")
    leads |= dict.fromkeys((*folders, "trash/2020-01-31", "tmp/own-87654321"), big)
    for name, target in leads.items():
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).symlink_to(target)
        os.utime(home / name, (OLD, OLD), follow_symlinks=False)
    (home / "tmp" / "own-12345678").mkdir()
    (home / "tmp" / "own-87654321.lock").touch()
    stay = [*leads, "tmp/own-12345678", "tmp/own-87654321.lock"]
    before = kept(big)
    keep_house(
        Store(Settings(home=home, cache_bytes=1), shipped=home / "none"), tmp_path / "backup"
    )
    assert kept(big) == before
    assert [name for name in stay if not os.path.lexists(home / name)] == []
    store.close()


def test_a_home_behind_a_link_is_kept_tidy(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "home").symlink_to(tmp_path / "real")
    store = open_store(tmp_path / "home")
    publish_run(store, "d", "s", RUN, SCORES, "old")
    publish_run(store, "d", "s", RUN, SCORES, "new")
    assert len(store.tidy(datetime.now(UTC) + timedelta(hours=2))) == 3


def test_a_file_that_a_link_leads_to_is_never_emptied(tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    mine.write_text("mine")
    for name in (".whole.tmp", "some.lock"):
        (tmp_path / name).symlink_to(mine)
    with files.written_aside(tmp_path / "whole", alone=True) as file:
        file.write(b"new")
    with pytest.raises(Conflict, match="is not a plain file"), locks.sole(tmp_path / "some.lock"):
        pass
    assert mine.read_text() == "mine"


def test_nothing_is_written_to_a_file_that_a_link_in_the_place_of_checksums_leads_to(
    tmp_path: Path,
) -> None:
    mine = tmp_path / "mine"
    mine.write_text("mine\n" * 5000)
    store = open_store(tmp_path / "home")
    (store.home / "checksums.txt").unlink(missing_ok=True)
    (store.home / "checksums.txt").symlink_to(mine)
    publish_run(store, "d", "s", RUN, SCORES)
    assert not any(store.verify(part, anew=True).damage for part in store.parts())
    store.parts()
    store.forget_checksums([])
    assert (store.home / "checksums.txt").is_symlink()
    assert mine.read_text() == "mine\n" * 5000


def test_a_backup_never_tidies_the_parts_of_its_home(tmp_path: Path) -> None:
    store = open_store(tmp_path / "home")
    publish_run(store, "d", "s", RUN, SCORES)
    (tmp_path / "backup").mkdir()
    (tmp_path / "backup" / "parts").symlink_to(store.home / "parts")
    with pytest.raises(WrongInput, match="contain each other"):
        backups.back_up(store, tmp_path / "backup")
    shutil.rmtree(tmp_path / "backup")
