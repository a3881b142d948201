"""Who may read what is made: the owner of a home, and the group that the home lets in."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from compute.__main__ import main
from compute.base import permissions
from tests.support.tiny import write_tiny


@pytest.fixture(autouse=True)
def _as_most_people_have_it() -> Iterator[None]:
    before = os.umask(0o022)
    yield
    os.umask(before)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("BEIRSCOPE_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def fill(tmp_path: Path) -> None:
    run = tmp_path / "some.run"
    run.write_text("q1 Q0 d1 1 3.0 one\n", encoding="utf-8")
    assert main(["import-dataset", str(write_tiny(tmp_path / "tiny")), "--name", "tiny"]) == 0
    assert main(["import-run", str(run), "--dataset", "tiny"]) == 0
    assert main(["jobs", "list"]) == 0


def modes(folder: Path) -> dict[str, set[int]]:
    """The permissions that folders and files below a folder have."""
    found: dict[str, set[int]] = {"folders": set(), "files": set()}
    for path in folder.rglob("*"):
        kind = "folders" if path.is_dir() else "files"
        found[kind].add(path.stat().st_mode & 0o777)
    return found


def test_a_home_that_we_make_is_its_owners_alone(home: Path, tmp_path: Path) -> None:
    fill(tmp_path)
    assert home.stat().st_mode & 0o777 == 0o700
    assert modes(home) == {"folders": {0o700}, "files": {0o600}}
    assert {"state.sqlite", "jobs.sqlite", "beirscope.duckdb"} <= {
        file.name for file in home.iterdir()
    }


@pytest.mark.long
@pytest.mark.parametrize(
    ("was", "folders", "files"),
    [(0o770, 0o770, 0o660), (0o755, 0o750, 0o640), (0o700, 0o700, 0o600)],
)
def test_a_home_that_was_there_keeps_the_rights_of_its_group(
    home: Path, tmp_path: Path, was: int, folders: int, files: int
) -> None:
    home.mkdir()
    home.chmod(was)
    fill(tmp_path)
    assert home.stat().st_mode & 0o777 == was
    assert modes(home) == {"folders": {folders}, "files": {files}}


def test_parts_that_machines_share_are_for_the_group_of_their_folder(
    home: Path, tmp_path: Path
) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o770)
    home.mkdir(mode=0o700)
    (home / "parts").symlink_to(shared)
    fill(tmp_path)
    assert modes(shared) == {"folders": {0o770}, "files": {0o660}}


@pytest.mark.long
def test_a_file_for_elsewhere_has_the_usual_permissions(home: Path, tmp_path: Path) -> None:
    fill(tmp_path)
    out, snapshot = tmp_path / "one.run", tmp_path / "all.duckdb"
    asked = ["--dataset", "tiny", "--system", "one", "--out", str(out)]
    assert main(["export", "run", *asked]) == 0
    assert main(["admin", "snapshot", str(snapshot)]) == 0
    usual = tmp_path / "usual"
    usual.touch()
    permissions.usual(usual)
    assert {file.stat().st_mode for file in (out, snapshot)} == {usual.stat().st_mode}
    assert usual.stat().st_mode & 0o777 == 0o666 & ~permissions._USUAL


def test_what_every_account_can_read_is_said(tmp_path: Path) -> None:
    home, secrets = tmp_path / "home", tmp_path / "secrets.toml"
    home.mkdir(mode=0o750)
    assert permissions.open_to_others(home, [secrets]) == []
    secrets.touch(mode=0o640)
    assert permissions.open_to_others(home, [secrets]) == []
    secrets.chmod(0o644)
    home.chmod(0o755)
    assert permissions.open_to_others(home, [secrets]) == [
        f"{home} can be read by every account of this machine: chmod -R o= {home}",
        f"{secrets} can be read by every account of this machine: chmod 600 {secrets}",
    ]
