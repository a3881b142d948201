"""Folders of indexes: built once, whole or not at all, the least used go first."""

import errno
import os
import shutil
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from compute.base.errors import Unavailable
from compute.base.result_identity import fingerprint
from compute.base.settings import PROJECT, Settings
from compute.store import caches
from tests.support.processes import prepared


def name(number: int) -> str:
    return fingerprint("index", [str(number)])


def build(folder: Path) -> None:
    (folder / "deep").mkdir()
    (folder / "deep" / "file").write_bytes(b"x" * 100)


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """A home with room for all."""
    return Settings(home=tmp_path)


def stored(settings: Settings) -> set[str]:
    return {path.name for path in (settings.home / "caches").iterdir() if not path.suffix}


def used(settings: Settings, number: int, at: float) -> None:
    os.utime(settings.home / "caches" / f"{name(number)}.lock", (at, at))


def test_a_folder_is_built_once_and_stays(settings: Settings) -> None:
    calls: list[Path] = []

    def watched(folder: Path) -> None:
        calls.append(folder)
        build(folder)

    for _ in range(2):
        with caches.folder(settings, name(1), watched) as folder:
            assert (folder / "deep" / "file").stat().st_size == 100
            assert folder.name == name(1)
    assert len(calls) == 1


def test_those_who_want_it_at_once_build_it_once(settings: Settings) -> None:
    calls: list[Path] = []

    def watched(folder: Path) -> None:
        calls.append(folder)
        build(folder)

    def use(_: int) -> bool:
        with caches.folder(settings, name(1), watched) as folder:
            return (folder / "deep" / "file").exists()

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(use, range(8)))
    assert len(calls) == 1


def test_a_build_that_fails_leaves_nothing(settings: Settings) -> None:
    def fails(folder: Path) -> None:
        build(folder)
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError), caches.folder(settings, name(1), fails):
        pass
    assert stored(settings) == set()
    assert list((settings.home / "caches").glob("*.aside")) == []


@pytest.mark.long
def test_a_builder_that_was_killed_leaves_no_folder_to_be_used(settings: Settings) -> None:
    script = """
import os, signal, sys
from pathlib import Path
from compute.store import caches
from tests.support.processes import prepared
from compute.base.settings import Settings
def build(folder):
    (folder / "half").write_bytes(b"x")
    os.kill(os.getpid(), signal.SIGKILL)
with caches.folder(Settings(home=Path(sys.argv[1])), sys.argv[2], build):
    pass
"""
    words = [sys.executable, "-c", script, str(settings.home), name(1)]
    assert prepared.run(words, cwd=PROJECT).returncode == -9
    assert stored(settings) == set()
    with caches.folder(settings, name(1), build) as folder:
        # The next builder goes on where the dead one was.
        assert sorted(path.name for path in folder.iterdir()) == ["deep", "half"]


def test_the_least_used_go_above_the_setting(settings: Settings) -> None:
    for number in range(4):
        with caches.folder(settings, name(number), build):
            pass
        used(settings, number, 1000.0 + number)
    with caches.folder(settings, name(0), build):
        pass
    assert caches.trim(settings) == []
    assert caches.trim(replace(settings, cache_bytes=200)) == [name(1), name(2)]
    assert stored(settings) == {name(0), name(3)}


def test_a_folder_in_use_is_not_removed(settings: Settings) -> None:
    none = replace(settings, cache_bytes=0)
    with caches.folder(settings, name(1), build) as folder:
        assert caches.trim(none) == []
        assert (folder / "deep" / "file").exists()
    assert caches.trim(none) == [name(1)]


def test_what_dead_builders_left_goes_after_a_day(settings: Settings) -> None:
    with caches.folder(settings, name(1), build) as folder:
        for left in (f"{name(2)}.aside", f"{name(3)}.aside", f"{name(4)}.gone"):
            shutil.copytree(folder, folder.with_name(left))
        os.utime(folder.with_name(f"{name(2)}.aside"), (0, 0))
    caches.trim(settings)
    left = [path.name for path in (settings.home / "caches").iterdir() if path.suffix != ".lock"]
    # The build that was interrupted today may go on tomorrow.
    assert set(left) == {name(1), f"{name(3)}.aside"}


def test_only_a_fingerprint_names_a_folder(settings: Settings) -> None:
    with (
        pytest.raises(ValueError, match="is not a fingerprint"),
        caches.folder(settings, "../x", build),
    ):
        pass


def test_what_had_no_room_is_gone_on_with_and_what_failed_is_not(settings: Settings) -> None:
    found: list[bool] = []

    def fails(error: Exception) -> None:
        def attempt(folder: Path) -> None:
            found.append((folder / "encoded").exists())
            (folder / "encoded").write_bytes(b"hours")
            raise error

        with pytest.raises(type(error)), caches.folder(settings, name(1), attempt):
            pass

    fails(OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)))
    fails(Unavailable("more than the setting allows"))
    fails(RuntimeError("No space left on device"))
    fails(ValueError("a bug"))
    fails(ValueError("a bug"))
    assert found == [False, True, True, True, False]
