"""Small disks of a test's own, to be filled and made read-only."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

FILLING = "filling"
"""The file that takes up the room."""


@contextmanager
def disk(folder: Path, megabytes: int) -> Iterator[Path]:
    """An empty disk of this size, for the with-block; the test is skipped where none can be had."""
    with _mounted(folder, "-t", "tmpfs", "-o", f"size={megabytes}m", "beirscope"):
        yield folder


@contextmanager
def again(folder: Path, at: Path) -> Iterator[Path]:
    """The folder once more under another name, where it can be made read-only."""
    with _mounted(at, "--bind", str(folder)):
        yield at


def fill(folder: Path, leave: int = 0) -> None:
    """Take up the room of the disk, but for so many bytes."""
    with (folder / FILLING).open("ab", buffering=0) as file:
        free = os.statvfs(folder)
        room = free.f_bavail * free.f_frsize - leave
        if room > 0:
            os.posix_fallocate(file.fileno(), file.tell(), room)


def empty(folder: Path) -> None:
    """Give the room back."""
    (folder / FILLING).unlink()


def read_only(folder: Path) -> None:
    """Let nobody write where a folder is `again`; no file may be open there."""
    _remount(folder, "ro")


def writable(folder: Path) -> None:
    """Let everybody write there."""
    _remount(folder, "rw")


@contextmanager
def _mounted(folder: Path, *words: str) -> Iterator[None]:
    folder.mkdir()
    done = _mount(*words, str(folder))
    if done.returncode:
        pytest.skip(f"no disk of the test's own can be mounted here: {done.stderr.strip()}")
    try:
        yield
    finally:
        # What tests leave open, such as connections to SQLite, would hold it back.
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


def _remount(folder: Path, how: str) -> None:
    done = _mount("-o", f"remount,bind,{how}", str(folder))
    assert not done.returncode, done.stderr


def _mount(*words: str) -> "subprocess.CompletedProcess[str]":
    try:
        return subprocess.run(["mount", *words], capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return subprocess.CompletedProcess(words, 1, "", "there is no command mount")
