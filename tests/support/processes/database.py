"""A PostgreSQL server of the tests' own, which only its socket folder leads to."""

import os
import shutil
import subprocess
import tempfile
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import psycopg
from psycopg import sql


def installed() -> bool:
    """Whether there is a server to start."""
    return all(map(shutil.which, ("initdb", "pg_ctl")))


@contextmanager
def server(*options: str, hosts: Sequence[str] = ()) -> Iterator[Path]:
    """The socket folder of a server, which ends with the block.

    Besides there it may listen with `options` of its own, for `hosts` as pg_hba.conf names them.
    """
    folder = Path(tempfile.mkdtemp(prefix="beirscope-"))
    # The server refuses to run as root.
    user = "postgres" if os.geteuid() == 0 else None
    if user:
        shutil.chown(folder, user)
    data, log = folder / "data", folder / "log"

    def call(*words: str) -> None:
        subprocess.run(words, check=True, user=user, cwd=folder, stdout=subprocess.DEVNULL)

    call("initdb", "-D", str(data), "-U", "postgres", "-A", "trust", "-N")
    with (data / "pg_hba.conf").open("a", encoding="utf-8") as allowed:
        allowed.writelines(f"{host}\n" for host in hosts)
    # Nothing need outlive the machine; a hundred databases of one test each are not cleaned up.
    quick = "-c fsync=off -c full_page_writes=off -c autovacuum=off"
    told = [f"-k {folder} -c listen_addresses='' {quick}", *options]
    call("pg_ctl", "-D", str(data), "-l", str(log), "-o", " ".join(told), "-w", "start")
    try:
        yield folder
    finally:
        call("pg_ctl", "-D", str(data), "-m", "immediate", "stop")
        shutil.rmtree(folder, ignore_errors=True)


def made(server: Path) -> str:
    """The address of an empty database, made now."""
    name = f"test_{uuid.uuid4().hex}"
    first = f"postgresql://postgres@/postgres?host={server}"
    with psycopg.connect(first, autocommit=True) as connection:
        connection.execute(sql.SQL("create database {}").format(sql.Identifier(name)))
    return f"postgresql://postgres@/{name}?host={server}"
