"""Homes that older versions made: nothing is lost, changed or computed again.

`tests/homes/README.md` says what is in them.
"""

import io
import json
import shutil
import sqlite3
import tarfile
from collections.abc import Callable
from contextlib import closing
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
import pytest

from compute import jobs
from compute.__main__ import main
from compute.base.files import untar
from compute.base.settings import Settings, load
from compute.commands import app
from compute.commands import old as old_spellings
from compute.judgements.tasks import tasks
from compute.store import freshness
from compute.store.migrations import STEPS
from compute.store.store import Store
from tests.commands.arguments import options
from tests.homes.make import SETTINGS, take_in
from tests.support.pages import opened
from tests.support.processes.jobbing import ended, worker

HOMES = Path(__file__).parent / "homes"
FORMATS = {"d6a32ce": 1, "c66f3ea": 3}
"""The formats of the homes, by the commit that made them."""
COPY = f"state-before-{len(STEPS)}.sqlite"


class Old(NamedTuple):
    """A home as its own version left it, and what that said of it."""

    version: str
    home: Path
    said: dict[str, Any]


def said_by(version: str) -> dict[str, Any]:
    return json.loads((HOMES / f"{version}.json").read_text("utf-8"))


@pytest.fixture(scope="module")
def migrated(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """The home of a version as today's opened it, made once."""
    folder = tmp_path_factory.mktemp("old")

    @cache
    def made(version: str) -> Path:
        with tarfile.open(HOMES / f"{version}.tar.gz") as packed:
            untar(packed, folder / version)
        Store(Settings(home=folder / version), shipped=folder / "nothing").close()
        return folder / version

    return made


@pytest.fixture(params=FORMATS)
def old(
    request: pytest.FixtureRequest,
    migrated: Callable[[str], Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Old:
    home = shutil.copytree(migrated(request.param), tmp_path / "home")
    monkeypatch.setenv("BEIRSCOPE_HOME", str(home))
    monkeypatch.setenv("BEIRSCOPE_STATE", "")
    # Without Java nothing can be searched again.
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    return Old(request.param, home, said_by(request.param))


@pytest.fixture
def store(old: Old, tmp_path: Path) -> Store:
    """The home, opened by today's version beside nothing that ships."""
    return Store(load(), shipped=tmp_path / "nothing")


def listed(store: Store) -> list[list[Any]]:
    return [[*part.identity, part.fingerprint, part.rows] for part in store.parts()]


def format_of(state: Path) -> int:
    with closing(sqlite3.connect(state)) as connection:
        return connection.execute("select max(format) from steps").fetchone()[0]


def test_a_home_is_migrated_once_with_a_copy_beside_it(old: Old, store: Store) -> None:
    assert format_of(old.home / COPY) == old.said["format"] == FORMATS[old.version]
    assert format_of(old.home / "state.sqlite") == len(STEPS)
    store.close()
    kept = (old.home / COPY).stat()
    again = Store(load(), shipped=old.home / "nothing")
    assert listed(again) == old.said["parts"]
    assert [file.name for file in old.home.glob("state-before-*")] == [COPY]
    assert (old.home / COPY).stat().st_mtime_ns == kept.st_mtime_ns


def test_the_copy_is_a_home_to_go_back_to(old: Old, store: Store, tmp_path: Path) -> None:
    """What the older version would find: its own rows, in a file that is whole."""
    with closing(sqlite3.connect(old.home / COPY)) as copy:
        live = copy.execute("select count(*) from parts where retired_version is null")
        assert live.fetchone() == (len(old.said["parts"]),)
        added = copy.execute("select count(*) from added_judgements")
        assert added.fetchone() == (len(old.said["added"]),)
        assert copy.execute("pragma integrity_check").fetchone() == ("ok",)


def test_every_part_is_whole_and_none_is_out_of_date(old: Old, store: Store) -> None:
    parts = store.parts()
    assert listed(store) == old.said["parts"]
    assert not any(store.verify(part).damage for part in parts)
    fresh, stale = freshness.split(parts)
    assert (fresh, stale) == (parts, [])


def systems(old: Old) -> list[str]:
    """The systems of the catalogue, or made of others, that have a run."""
    return [p[2] for p in old.said["parts"] if p[:2] == ["hits", "tiny"] and p[2] != "mine"]


@pytest.mark.long
def test_nothing_is_computed_again(
    old: Old, store: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    version = store.version()
    for system in systems(old):
        assert main(["run", system, "tiny"]) == 0
        assert "(up to date)" in capsys.readouterr().out, system
    assert main(["rescore", "tiny", "judged"]) == 0
    told = capsys.readouterr().out.splitlines()
    assert len(told) == len(systems(old)) + 2
    assert all(line.endswith("(up to date)") for line in told)
    assert (store.version(), listed(store)) == (version, old.said["parts"])


def test_no_job_is_started_for_what_is_there(old: Old, store: Store) -> None:
    started = jobs.start(store, "run", systems(old), ["tiny"])
    assert (started.job, len(started.up_to_date)) == ("", len(systems(old)))
    counted = {part[0] for part in old.said["parts"]}
    for kind, made in (("lengths", "length_counts"), ("overlap", "overlap")):
        if made in counted:
            assert not jobs.start(store, kind, [], ["tiny", "half"]).job


def test_scores_are_what_they_were(
    old: Old, store: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    found = []
    for name in ("judged", "tiny"):
        assert main(["scores", "--dataset", name, "--json"]) == 0
        found += json.loads(capsys.readouterr().out)
    rows = [[row[name] for name in ("dataset", "system", "measure", "value")] for row in found]
    assert sorted(rows) == sorted(old.said["scores"])


def test_jobs_are_listed(old: Old, store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["jobs", "list", "--json"]) == 0
    told, before = json.loads(capsys.readouterr().out), old.said["jobs"]
    assert [job["state"] for job in before] == ["queued", "done"]
    assert [{name: job[name] for name in before[0]} for job in told] == before


@pytest.mark.parametrize(
    "old", ["c66f3ea", pytest.param("d6a32ce", marks=pytest.mark.long)], indirect=True
)
def test_a_job_that_was_queued_is_done(old: Old, store: Store) -> None:
    queued, _ = old.said["jobs"]
    with worker(store.settings):
        done = ended(store.settings, queued["job"])
    assert (done.state, done.error) == ("done", "")
    assert listed(store) == old.said["parts"], "all of its scores are up to date"


def test_added_judgements_are_what_they_were(old: Old, store: Store) -> None:
    now = json.loads(store.added_judgements().to_json(orient="records"))
    before = old.said["added"]
    assert [{name: row[name] for name in before[0]} for row in now] == before
    assert all(row["imported"] is None for row in now), "people gave them here"


def test_tasks_go_on_where_they_were(old: Old, store: Store) -> None:
    """Format 1 had none; the answers of format 3 are among its added judgements."""
    found = tasks.tasks(store)
    assert [task.title for task in found] == ["Holes of tiny"] * (old.said["format"] >= 3)
    answered = {row["task"] for row in old.said["added"]} - {"query-page"}
    assert {task.id for task in found} == answered


@pytest.mark.parametrize("old", ["c66f3ea"], indirect=True)
def test_files_are_exported_as_before(old: Old, store: Store, tmp_path: Path) -> None:
    before = old.said["exported"]
    for system in ("bm25", "mine"):
        out = tmp_path / f"{system}.run"
        words = ["--dataset", "tiny", "--system", system, "--out", str(out)]
        assert main(["export", "run", *words]) == 0
        assert out.read_text("utf-8") == before[f"{system}.exported.run"]
    for name in ("added.csv", "added.qrels"):
        assert main(["judgements", "export", str(tmp_path / name), "--dataset", "tiny"]) == 0
    assert (tmp_path / "added.qrels").read_text("utf-8") == before["added.qrels"]
    was = pd.read_csv(io.StringIO(before["added.csv"]), dtype="str", keep_default_na=False)
    now = pd.read_csv(tmp_path / "added.csv", dtype="str", keep_default_na=False)
    pd.testing.assert_frame_equal(now[list(was)], was)


@pytest.mark.long
@pytest.mark.parametrize("old", ["c66f3ea"], indirect=True)
def test_files_that_were_exported_are_taken_in(old: Old, store: Store, tmp_path: Path) -> None:
    for name, content in old.said["exported"].items():
        (tmp_path / name).write_text(content, "utf-8")
    saved = store.judgement_version()
    assert main(["judgements", "import", str(tmp_path / "added.csv"), "--dataset", "tiny"]) == 0
    assert store.judgement_version() == saved, "each of them is here already"
    run = str(tmp_path / "bm25.exported.run")
    assert main(["import-run", run, "--dataset", "tiny", "--system", "copy"]) == 0
    both = [store.part("scores", "tiny", system) for system in ("bm25", "copy")]
    first, second = (part and values(part.path) for part in both)
    assert first == second


def values(scores: Path) -> list[tuple[Any, ...]]:
    frame = pd.read_parquet(scores, columns=["query_id", "measure", "value"])
    return sorted(frame.itertuples(index=False, name=None))


@pytest.mark.long
def test_what_is_taken_in_today_has_the_same_fingerprints(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where this fails, every home of users counts as changed, or `tests/support/tiny.py` is."""
    home = tmp_path / "home"
    home.mkdir()
    (home / "settings.toml").write_text(SETTINGS, "utf-8")
    monkeypatch.setenv("BEIRSCOPE_HOME", str(home))
    take_in(tmp_path)
    found = listed(Store(load(), shipped=tmp_path / "nothing"))
    taken = {"documents", "queries", "judgements", "lengths", "length_counts"}
    for version in FORMATS:
        before = said_by(version)["parts"]
        mine = [part for part in found if part[:3] in [one[:3] for one in before]]
        wanted = [one for one in before if (one[0] in taken and not one[2]) or one[2] == "mine"]
        assert mine == wanted, version


def test_what_it_shipped_is_read(old: Old, tmp_path: Path) -> None:
    other = Settings(home=tmp_path / "other", threads=1)
    store = Store(other, shipped=old.home / "precomputed")
    parts = store.parts()
    assert all(part.shipped and not store.verify(part).damage for part in parts)
    assert freshness.split(parts) == (parts, [])
    runs = {part.system for part in parts if part.kind == "scores"}
    assert runs == {"mine", *systems(old)}


def addresses() -> list[tuple[str, dict[str, Any]]]:
    return [(version, page) for version in FORMATS for page in said_by(version)["pages"]]


@pytest.mark.long
@pytest.mark.parametrize(
    ("version", "shown_at"),
    addresses(),
    ids=lambda given: given if isinstance(given, str) else given["page"],
)
def test_addresses_show_what_they_showed(
    version: str,
    shown_at: dict[str, Any],
    migrated: Callable[[str], Path],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("BEIRSCOPE_HOME", str(migrated(version)))
    page, address, shown = (shown_at[name] for name in ("page", "address", "shown"))
    app = opened(page, **address)
    assert not [one.value for one in app.warning if "here is called" in one.value]
    if page == "query":
        # Two pickers became one of up to four.
        assert app.session_state["_systems"] == [address["a"], address["b"]]
        shown = {key: value for key, value in shown.items() if key not in "ab"}
    assert {key: app.session_state[key] for key in shown} == shown


@pytest.mark.parametrize("version", FORMATS)
def test_commands_options_and_settings_have_their_names(version: str) -> None:
    before = said_by(version)
    assert set(before["settings"]) <= set(Settings.__dataclass_fields__)
    now: dict[str, set[str]] = {}
    for name in app.NAMES:
        spellings = [name, *(words for words, new in old_spellings.OLD.items() if new == name)]
        for one in spellings:
            now.setdefault(one.split(" ")[0], set()).update(options(name))
    for command, words in before["commands"].items():
        assert {*words} - {"--help", "-h"} <= now[command], command


def test_settings_of_the_home_count(old: Old) -> None:
    now = load()
    assert (now.depth, now.threads, now.java_memory) == (50, 1, "1g")
