"""What a disk refuses, as one sentence, by whatever library it is met."""

import errno
import os
import sqlite3
import subprocess
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sqlalchemy import create_engine, text
from sqlalchemy.exc import OperationalError

from compute.base import bug_reports, disk_refusals
from compute.base.errors import Missing, Unavailable
from compute.base.settings import Settings
from tests.support import disks

HOME = Path("/somewhere/home")
MEMORY = (
    "there is not enough memory: end other programs, lower BEIRSCOPE_THREADS or import less"
    " at a time, then try again"
)


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (
            OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "/somewhere/home/x"),
            "no space is left on the disk of /somewhere/home/x: free some space, then try again",
        ),
        (
            OSError(errno.EDQUOT, os.strerror(errno.EDQUOT), "/somewhere/home/x"),
            "the disk quota is used up at /somewhere/home/x: free some space, then try again",
        ),
        (
            OSError(errno.EROFS, os.strerror(errno.EROFS), "/elsewhere/x"),
            "/elsewhere/x is on a read-only disk: make it writable, or choose another place",
        ),
        (
            PermissionError(errno.EACCES, os.strerror(errno.EACCES), "/somewhere/home"),
            "this account has no access to /somewhere/home: change its permissions, or set"
            " BEIRSCOPE_HOME to another folder",
        ),
        (
            duckdb.IOException('IO Error: Cannot open file "/a/b": Read-only file system'),
            "/a/b is on a read-only disk: make it writable, or choose another place",
        ),
        (
            RuntimeError("failed writing file '/a/b': No space left on device"),
            "no space is left on the disk of /a/b: free some space, then try again",
        ),
        (
            OSError(errno.EIO, os.strerror(errno.EIO), "/elsewhere/x.run"),
            "/elsewhere/x.run cannot be read or written: check its disk, or choose another place",
        ),
        (
            IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), "/somewhere/home/x"),
            "/somewhere/home/x must be a file: move the folder away, or set"
            " BEIRSCOPE_HOME to another folder",
        ),
        (
            OSError(errno.EMFILE, os.strerror(errno.EMFILE), "/somewhere/home/x"),
            "too many files are open at once: raise the limit (ulimit -n), then try again",
        ),
        (MemoryError(), MEMORY),
        (OSError(errno.ENOMEM, os.strerror(errno.ENOMEM)), MEMORY),
        (pa.ArrowMemoryError("malloc of size 64 failed"), MEMORY),
        (subprocess.CalledProcessError(-9, "python"), MEMORY),
        (RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried"), MEMORY),
        (OSError("Error: Could not reserve enough space for 9g object heap"), MEMORY),
    ],
)
def test_a_refusal_names_the_place_and_what_to_do(error: Exception, words: str) -> None:
    refused = disk_refusals.refusal(error, HOME)
    assert isinstance(refused, Unavailable)
    assert str(refused) == words


@pytest.mark.parametrize(
    "error",
    [
        FileNotFoundError(errno.ENOENT, "No such file or directory", "/x"),
        FileExistsError(errno.EEXIST, "File exists", "/"),
        subprocess.CalledProcessError(1, "python"),
        RecursionError("maximum recursion depth exceeded"),
        ZeroDivisionError("the bug"),
        RuntimeError("Permission denied by the server"),
        sqlite3.OperationalError("no such table: x"),
        Missing("No space left on device: what the project says itself stays"),
    ],
)
def test_what_no_disk_refused_is_left_alone(error: Exception) -> None:
    assert disk_refusals.refusal(error, HOME) is None


def test_what_stands_behind_an_error_counts(tmp_path: Path) -> None:
    try:
        try:
            raise OSError(errno.ENOSPC, "full", str(tmp_path))
        except OSError as error:
            raise ValueError("no part") from error
    except ValueError as error:
        assert str(tmp_path) in str(disk_refusals.refusal(error, HOME))


@pytest.mark.long
def test_what_lacks_memory_says_so_whatever_library_meets_it() -> None:
    small = duckdb.connect(config={"memory_limit": "10MB", "max_temp_directory_size": "0KB"})
    much = "select sum(hash(a.range)) from range(3000000) a group by a.range order by 1"
    for wants in (
        lambda: np.ones(2**50),
        lambda: pa.allocate_buffer(2**50),
        lambda: small.sql(much).fetchall(),
        lambda: bytearray(2**50),
    ):
        with pytest.raises(Exception) as raised:
            wants()
        assert str(disk_refusals.refusal(raised.value, HOME)) == MEMORY, raised.value


def test_what_is_in_the_way_of_a_folder_is_named(tmp_path: Path) -> None:
    (tmp_path / "locks").write_text("x")
    (tmp_path / "logs").symlink_to("nowhere")
    for name in ("locks", "logs"):
        for made in (tmp_path / name, tmp_path / name / "below"):
            with pytest.raises(OSError) as raised:
                made.mkdir(parents=True, exist_ok=True)
            said = str(disk_refusals.refusal(raised.value, tmp_path))
            assert said.startswith(f"{tmp_path / name} must be a folder")


def test_sqlite_duckdb_and_pyarrow_on_a_full_disk(tmp_path: Path) -> None:
    with disks.disk(tmp_path / "disk", 1) as folder:
        engine = create_engine(f"sqlite:///{folder / 'some.sqlite'}")
        with engine.begin() as connection:
            connection.execute(text("create table t (x)"))
        disks.fill(folder)
        with pytest.raises(OperationalError) as full, engine.begin() as connection:
            connection.execute(text("insert into t values (zeroblob(100000))"))
        engine.dispose()
        with pytest.raises(duckdb.Error) as written:
            duckdb.sql(f"copy (select * from range(100000)) to '{folder / 'x.parquet'}'")
        with pytest.raises(OSError) as arrow:
            pq.write_table(pa.table({"x": range(100_000)}), folder / "y.parquet")
        for raised in (full, written, arrow):
            refused = str(disk_refusals.refusal(raised.value, folder))
            assert refused.startswith(f"no space is left on the disk of {folder}")


def test_sqlite_on_a_read_only_disk(tmp_path: Path) -> None:
    with (
        disks.disk(tmp_path / "disk", 1) as folder,
        disks.again(folder, tmp_path / "again") as shown,
    ):
        with sqlite3.connect(folder / "some.sqlite") as connection:
            connection.execute("create table t (x)")
        connection.close()
        disks.read_only(shown)
        for file in ("some.sqlite", "new.sqlite"):
            with pytest.raises(sqlite3.OperationalError) as raised:
                sqlite3.connect(shown / file).execute("create table more (x)")
            refused = str(disk_refusals.refusal(raised.value, shown))
            assert refused.startswith(f"{shown} is on a read-only disk"), raised.value


def test_a_bug_is_told_even_where_its_log_cannot_be_written(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with disks.disk(tmp_path / "disk", 1) as folder:
        disks.fill(folder)
        told = bug_reports.said(Settings(home=folder), "here", ZeroDivisionError("the bug"))
    assert told.startswith("bug ")
    assert told.endswith(" in Beirscope, not in your input: its log could not be written")
    assert capfd.readouterr().err == ""
