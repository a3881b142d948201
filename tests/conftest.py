"""Fixtures that several test modules share."""

import os
import shutil
import subprocess
import tempfile
import uuid
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from psycopg import sql

from compute import imports
from compute.datasets import Dataset
from compute.loading import Bench
from compute.settings import Settings
from compute.store import Store
from tests.tiny import write_tiny

# For the processes that tests start: timing single queries starts one more Java for each run.
os.environ.setdefault("BEIRSCOPE_LATENCY_QUERIES", "0")


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    """A home of the test's own, into which nothing ships."""
    now = Settings(home=tmp_path / "home", threads=1, latency_queries=0)
    return Bench(Store(now, shipped=tmp_path / "nothing"), now)


@pytest.fixture
def tiny(bench: Bench, tmp_path: Path) -> Dataset:
    """The tiny collection, taken into that home."""
    return imports.import_dataset(bench, "tiny", path=write_tiny(tmp_path / "tiny")).dataset


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[Path]:
    """The socket folder of a PostgreSQL server of the tests' own."""
    initdb, control = shutil.which("initdb"), shutil.which("pg_ctl")
    if not initdb or not control:
        pytest.skip("no PostgreSQL server here: apt-get install postgresql, initdb on the PATH")
    folder = Path(tempfile.mkdtemp(prefix="beirscope-"))
    # The server refuses to run as root.
    user = "postgres" if os.geteuid() == 0 else None
    if user:
        shutil.chown(folder, user)
    data, log = folder / "data", folder / "log"

    def call(*words: str) -> None:
        subprocess.run(words, check=True, user=user, cwd=folder, stdout=subprocess.DEVNULL)

    call(initdb, "-D", str(data), "-U", "postgres", "-A", "trust", "-N")
    options = f"-k {folder} -c listen_addresses='' -c fsync=off"
    call(control, "-D", str(data), "-l", str(log), "-o", options, "-w", "start")
    try:
        yield folder
    finally:
        call(control, "-D", str(data), "-m", "immediate", "stop")
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def postgres(postgres_server: Path) -> str:
    """The address of an empty database."""
    name = f"test_{uuid.uuid4().hex}"
    server = f"postgresql://postgres@/postgres?host={postgres_server}"
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(sql.SQL("create database {}").format(sql.Identifier(name)))
    return f"postgresql://postgres@/{name}?host={postgres_server}"
