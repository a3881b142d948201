"""A damaged, lost or cut part is left out and named with what makes it again; the rest works."""

import contextlib
import hashlib
import json
import os
import random
import shutil
import sqlite3
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sqlalchemy import text

from compute.__main__ import main
from compute.base import settings
from compute.base.errors import Unavailable
from compute.exports import shipping
from compute.intake import imports
from compute.reading.database import open_version
from compute.store import checksums, damage, provenance, state
from compute.store.loading import Bench
from compute.store.migrations import STEPS
from compute.store.store import Part, Store
from compute.views.about.tables import FOUND, remark
from pages._shared import reading
from tests.support.pages import opened, visited
from tests.support.storage import hits, judgement, open_store, publish_run, scores
from tests.support.tiny import write_tiny

RUN = "q1 Q0 d1 1 3.0 t\nq1 Q0 d2 2 2.0 t\nq2 Q0 d3 1 1.0 t\nq3 Q0 d6 1 1.0 t\n"
FLIPS = int(os.environ.get("BEIRSCOPE_FLIPS", "150"))
PAGES = ("leaderboard", "dataset", "compare", "query", "holes", "annotate")


def _made(bench: Bench, folder: Path) -> Path:
    """A home with two collections and two imported runs on each; their sources stay beside it."""
    file = folder / "some.run"
    file.write_text(RUN, encoding="utf-8")
    for name in ("tiny", "other"):
        row = imports.import_dataset(bench, name, path=write_tiny(folder / name)).dataset
        for system in ("mine", "yours"):
            imports.import_run(bench, file, row, system=system)
    return bench.store.home


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of such a home."""
    folder = tmp_path_factory.mktemp("damage")
    now = settings.Settings(home=folder / "home", threads=1, latency_queries=0)
    store = Store(now, shipped=folder / "nothing")
    _made(Bench(store, now), folder)
    store.close()
    return folder


@pytest.fixture
def home(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of it, as commands and pages find it."""
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    monkeypatch.setenv("BEIRSCOPE_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


@pytest.fixture
def written(bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The same, no copy: this machine knows its files, for it wrote them."""
    monkeypatch.setenv("BEIRSCOPE_HOME", str(bench.store.home))
    return _made(bench, tmp_path)


def part(kind: str, dataset: str = "tiny", system: str = "") -> Part:
    """A live part as a process finds it that has just started."""
    (found,) = Store(settings.load()).parts(kind, dataset, system)
    return found


def flipped(path: Path, bit: int) -> None:
    """Turn one bit of a file over."""
    with path.open("r+b") as file:
        file.seek(bit // 8)
        (byte,) = file.read(1)
        file.seek(bit // 8)
        file.write(bytes([byte ^ 1 << bit % 8]))


def touched(path: Path, times: int) -> None:
    """Make the file younger than every earlier look at it, however coarse the clock."""
    at = path.stat().st_mtime_ns + times
    os.utime(path, ns=(at, at))


def turned(path: Path) -> None:
    """Turn over the first bit that leaves a readable file of other rows, as a bad copy may."""
    right = pq.read_table(path)
    for bit in range(8 * path.stat().st_size):
        flipped(path, bit)
        with contextlib.suppress(pa.ArrowException, OSError):
            rows = pq.read_table(path)
            if rows.schema == right.schema and rows.num_rows == right.num_rows and rows != right:
                return
        flipped(path, bit)
    raise AssertionError(path)


@pytest.mark.long
@pytest.mark.parametrize("words", [[], ["--judgements", "added"]], ids=["official", "added"])
def test_a_readable_file_of_wrong_rows_is_left_out_at_the_first_look(
    home: Path, words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    (home / "caches" / "means.parquet").unlink(missing_ok=True)
    kind, system = ("judgements", "") if words else ("scores", "mine")
    turned(part(kind, system=system).path)
    main(["scores", "--dataset", "tiny", "--measure", "nDCG@10", *words])
    shown = capsys.readouterr()
    assert f"{damage.named(kind, 'tiny', system)} left out (damaged" in shown.err
    assert "mine" not in shown.out


def test_added_judgements_beside_damaged_official_ones_name_the_damage(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    part("judgements").path.write_bytes(b"PAR1")
    assert main(["judgements", "export", str(home / "a.csv"), "--dataset", "tiny"]) == 2
    assert "judgements of tiny left out (damaged" in capsys.readouterr().err


@pytest.mark.parametrize("value", ["'abc'", "2"])
def test_a_damaged_judgement_is_named_beside_what_counts_the_others(
    home: Path, value: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for doc_id in ("d2", "d4"):
        Store(settings.load()).add_judgements(judgement("q1", doc_id, 1).assign(source="person"))
    with sqlite3.connect(home / "state.sqlite") as connection:
        connection.execute(f"update added_judgements set relevance = {value} where doc_id = 'd2'")
    file = str(home.parent / "a.csv")
    show = ["scores", "--dataset", "tiny", "--judgements", "added"]
    for words in (["judgements", "export", file, "--dataset", "tiny"], show):
        assert main(words) == 0
        assert "lost or changed (by id): 1; restore" in capsys.readouterr().err
    assert "d4" in Path(file).read_text("utf-8")


@pytest.mark.long
def test_everything_else_works_beside_a_part_that_was_overwritten(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    part("scores", system="mine").path.write_bytes(b"PAR1")
    (home / "caches" / "means.parquet").unlink(missing_ok=True)
    assert main(["scores", "--measure", "nDCG@10", "--json"]) == 0
    shown = capsys.readouterr()
    rows = {(row["dataset"], row["system"]) for row in json.loads(shown.out)}
    assert {("tiny", "yours"), ("other", "mine"), ("other", "yours")} <= rows
    assert ("tiny", "mine") not in rows
    assert "scores of mine on tiny left out (damaged: 4 bytes" in shown.err
    assert "python -m compute rescore tiny" in shown.err
    run = str(tmp_path / "some.run")
    assert main(["import-run", run, "--dataset", "other", "--system", "third"]) == 0
    assert "ug " not in capsys.readouterr().err
    assert main(["admin", "snapshot", str(tmp_path / "all.duckdb")]) == 0
    whole = sum(not stored.damage for stored in Store(settings.load()).parts())
    assert f"all.duckdb: {whole} parts, " in capsys.readouterr().out
    assert main(["rescore", "tiny"]) == 0
    assert not part("scores", system="mine").damage
    assert "ug " not in capsys.readouterr().err


@pytest.mark.long
def test_a_cut_run_is_not_up_to_date_and_is_imported_anew(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for kind in ("hits", "top"):
        file = part(kind, system="mine").path
        os.truncate(file, file.stat().st_size // 2)
        assert main(["scores", "--dataset", "tiny"]) == 0
        again = "python -m compute import-run some.run --dataset tiny --system mine"
        assert f"{kind} of mine on tiny left out (damaged" in (told := capsys.readouterr().err)
        assert again in told
        words = ["import-run", str(tmp_path / "some.run"), "--dataset", "tiny"]
        assert main([*words, "--system", "mine", "--replace"]) == 0
        assert "up to date" not in capsys.readouterr().out
        assert not part(kind, system="mine").damage
    assert main([*words, "--system", "mine", "--replace"]) == 0
    assert "up to date" in capsys.readouterr().out


def test_a_flipped_run_is_imported_anew_though_nobody_looked_for_damage(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = part("hits", system="mine").path
    flipped(file, 8 * 40)
    touched(file, 1)
    run = str(tmp_path / "some.run")
    assert main(["import-run", run, "--dataset", "tiny", "--system", "mine"]) == 0
    assert "up to date" not in capsys.readouterr().out
    assert part("hits", system="mine").path != file


def test_nothing_leaves_with_a_bit_turned_over(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for kind in ("hits", "scores"):
        file = part(kind, system="mine").path
        # Inside the values: every reader takes the file for whole.
        flipped(file, 8 * 40)
        touched(file, 1)
        with pytest.raises(Unavailable, match=f"{kind} of mine on tiny left out"):
            shipping.ship(Store(settings.load()), ["tiny"], folder=tmp_path / "shipped")
        assert not (tmp_path / "shipped").exists()
        flipped(file, 8 * 40)
        touched(file, 2)
    flipped(part("scores", system="yours").path, 8 * 40)
    touched(part("scores", system="yours").path, 1)
    assert main(["admin", "snapshot", str(tmp_path / "all.duckdb")]) == 0
    assert "scores of yours on tiny left out (damaged" in capsys.readouterr().err
    words = ["export", "run", "--dataset", "other", "--system", "mine", "--out"]
    flipped(part("hits", "other", "mine").path, 8 * 40)
    touched(part("hits", "other", "mine").path, 1)
    assert main([*words, str(tmp_path / "some.txt")]) == 2
    assert "hits of mine on other left out (damaged" in capsys.readouterr().err


@pytest.mark.long
def test_a_lost_import_advises_import_and_lost_judgements_their_source(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    part("hits", system="mine").path.unlink()
    part("judgements", "other").path.unlink()
    assert main(["rescore", "tiny"]) == 0
    assert "hits of mine on tiny left out (lost): python -m compute import-run some.run" in (
        capsys.readouterr().err
    )
    assert main(["rescore"]) == 0
    run = str(tmp_path / "some.run")
    capsys.readouterr()
    assert main(["import-run", run, "--dataset", "other"]) == 2
    assert "judgements of other left out (lost): python -m compute import-dataset other" in (
        capsys.readouterr().err
    )
    assert main(["import-dataset", str(tmp_path / "other"), "--name", "other"]) == 0
    capsys.readouterr()
    assert main(["scores", "--dataset", "other"]) == 0
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    "kind",
    [
        "hits",
        *(
            pytest.param(one, marks=pytest.mark.long)
            for one in ("queries", "top", "scores", "judgements", "documents")
        ),
    ],
)
def test_pages_draw_beside_damage_and_name_it(home: Path, kind: str) -> None:
    system = "mine" if kind in ("hits", "top", "scores") else ""
    part(kind, system=system).path.write_bytes(b"PAR1")
    for name in PAGES:
        # No page takes it for a bug: `opened` sees to that.
        app = opened(f"pages/{name}.py", dataset="tiny", query_id="q1", numbers="Computed")
        told = " ".join(warning.value for warning in app.warning).replace("\\", "")
        # Annotators must not read the names of systems.
        assert (name != "annotate") == (f"{kind} of" in told)
    for name in ("dataset", "query"):
        address = {"dataset": "other", "query_id": "q1", "systems": "mine"}
        assert not opened(f"pages/{name}.py", **address).error


@pytest.mark.long
def test_a_page_that_meets_damage_names_it_and_shows_the_rest_the_next_time(home: Path) -> None:
    address = {"dataset": "tiny", "query_id": "q1", "numbers": "Computed"}
    assert not opened("pages/query.py", **address).error
    # The thread beside the first page has read every file: it will not find this one's damage.
    reading.verify().join()
    file = part("top", system="mine").path
    # As long as before: only what reads it can tell.
    file.write_bytes(bytes(file.stat().st_size))
    touched(file, 1)
    left_out = "top of mine on tiny left out"
    # No other test asks for this measure: what was read of one copy of the home is kept for all.
    address["measure"] = "P@5"
    [said] = visited("holes", **address).error
    assert left_out in said.value.replace("\\", "")
    app = opened("pages/holes.py", **address)
    assert not app.error
    assert left_out in app.warning[0].value.replace("\\", "")


@pytest.mark.parametrize(
    "kind",
    ["hits", *(pytest.param(one, marks=pytest.mark.long) for one in ("judgements", "scores"))],
)
def test_every_flipped_bit_is_found(home: Path, kind: str) -> None:
    system = "" if kind == "judgements" else "mine"
    found = part(kind, system=system)
    whole, chance = found.path.read_bytes(), random.Random(kind)
    for number in range(FLIPS):
        bit = chance.randrange(8 * len(whole))
        flipped(found.path, bit)
        touched(found.path, number + 1)
        store = Store(settings.load())
        # As the thread beside the first page does it, and `check --store` anew.
        beside = store.verify(found)
        anew = store.verify(found, anew=True)
        assert (
            beside.damage == anew.damage == "damaged: its content has changed since it was written"
        ), bit
        flipped(found.path, bit)
        touched(found.path, number + 1)
        assert not store.verify(anew).damage
    assert found.path.read_bytes() == whole


def test_the_thread_beside_the_first_page_finds_a_flip_and_later_processes_know_it(
    home: Path,
) -> None:
    store = Store(settings.load())
    before = open_version(store)
    file = part("judgements").path
    flipped(file, 8 * 50)
    touched(file, 1)
    assert not part("judgements").damage
    damage.verify_beside(store).join(60)
    assert store.noticed == 1
    assert part("judgements").damage
    kept = {dataset for _, dataset, _ in before.parts} - {"tiny"}
    after = open_version(store).parts
    # Without judgements no number of the dataset can be told; the corpus's lengths stay.
    assert {dataset for kind, dataset, _ in after if kind in ("hits", "scores")} <= kept
    assert ("scores", "other", "mine") in after


def test_an_unchanged_file_is_read_once_on_a_machine(written: Path) -> None:
    store = Store(settings.load())
    (found,) = store.parts("hits", "tiny", "mine")
    at = found.path.stat()
    # Written, and so known, on this machine: nobody reads what lies there with the same stamp.
    flipped(found.path, 8 * 40)
    os.utime(found.path, ns=(at.st_atime_ns, at.st_mtime_ns))
    assert not store.verify(found).damage
    assert store.verify(found, anew=True).damage
    copy = found.path.with_suffix(".copy")
    flipped(found.path, 8 * 40)
    shutil.copy2(found.path, copy)
    copy.replace(found.path)
    os.utime(found.path, ns=(at.st_atime_ns, at.st_mtime_ns))
    # Another inode: it is read again, and whole.
    assert not part("hits", system="mine").damage
    assert not Store(settings.load()).verify(found).damage


@pytest.mark.long
def test_check_reads_the_store_and_names_what_is_damaged(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", "--store"]) == 0
    assert ": 0 damaged\n" in capsys.readouterr().out
    found = {
        "flipped": part("scores", system="mine"),
        "lost": part("hits", "other", "yours"),
        "empty": part("length_counts"),
    }
    at = found["flipped"].path.stat()
    flipped(found["flipped"].path, 8 * 60)
    os.utime(found["flipped"].path, ns=(at.st_atime_ns, at.st_mtime_ns))
    found["lost"].path.unlink()
    found["empty"].path.write_bytes(b"")
    assert main(["check", "--store", "--json"]) == 2
    told = json.loads(capsys.readouterr().out)
    damaged = {(one["kind"], one["dataset"], one["system"]): one for one in told["damaged"]}
    assert set(damaged) == {one.identity for one in found.values()}
    commands = {key: one["command"] for key, one in damaged.items()}
    assert commands["scores", "tiny", "mine"] == "python -m compute rescore tiny"
    assert commands["length_counts", "tiny", ""] == "python -m compute lengths compute tiny"
    assert (
        "import-run some.run --dataset other --system yours" in commands["hits", "other", "yours"]
    )
    assert main(["rescore", "tiny"]) == main(["lengths", "compute", "tiny"]) == 0
    assert part("scores", system="mine").path != found["flipped"].path
    capsys.readouterr()
    assert main(["check", "--store"]) == 2
    assert "1 damaged" in capsys.readouterr().out


@pytest.mark.parametrize("words", [[], ["--store", "some.run"]])
def test_check_takes_either_files_or_the_store(home: Path, words: list[str]) -> None:
    assert main(["check", *words]) == 2


def test_parts_of_an_old_home_are_taken_as_found(written: Path) -> None:
    with state.engine_of(settings.load()).begin() as connection:
        connection.execute(text("update parts set sha256 = '', sha256_as = 'found'"))
    (written / "checksums.txt").unlink()
    broken = part("scores", system="mine")
    broken.path.write_bytes(bytes(broken.bytes))
    assert part("hits", system="mine").sha256 == ""
    damage.verify_beside(Store(settings.load())).join(60)
    assert part("scores", system="mine").damage == "damaged: it cannot be read"
    found = part("hits", system="mine")
    expected = checksums.computed(found.path, is_new=False)
    assert expected and (found.sha256, found.sha256_as) == (expected[1], "found")
    (run,) = provenance.of_runs(Store(settings.load()), [("tiny", "yours")])
    assert FOUND in remark(run)
    flipped(found.path, 8 * 40)
    touched(found.path, 1)
    assert Store(settings.load()).verify(found).damage


def test_an_older_state_gets_the_columns_and_its_parts_stay_readable(tmp_path: Path) -> None:
    old = next(n for n, step in enumerate(STEPS) if "sha256" in " ".join(step))
    now = settings.Settings(home=tmp_path / "home")
    now.home.mkdir()
    engine = state.open_state(now, to=STEPS[:old])
    with engine.begin() as connection:
        connection.execute(
            text(
                "insert into parts values ('0', 'hits', 'd', 's', 'f', 1, 9, 't', '{}', 'j', 1,"
                " null, null)"
            )
        )
    engine.dispose()
    (found,) = Store(now, tmp_path / "none").parts()
    assert (found.sha256, found.sha256_as, found.damage) == ("", "found", "lost")


def test_what_was_tidied_away_meanwhile_is_not_damage(tmp_path: Path) -> None:
    store = open_store(tmp_path / "home")
    publish_run(store, "d", "s", hits(("q1", "d1", 1)), scores("nDCG@10", q1=1.0))
    first = {part.id for part in store.parts()}
    inner = store._looked_at

    def tidied(part: Part) -> Part:
        """Another process publishes and tidies after the manifest was read."""
        store._looked_at = inner
        publish_run(store, "d", "s", hits(("q1", "d1", 1)), scores("nDCG@10", q1=0.5))
        for old in state.forget_superseded(store.engine, "9999"):
            (store.home / "parts" / old[0] / f"{old[1]}.parquet").unlink()
        return inner(part)

    store._looked_at = tidied
    found = store.parts()
    assert [part.damage for part in found] == ["", "", ""]
    assert first.isdisjoint(part.id for part in found)


def test_lines_that_were_not_written_whole_are_passed_over(tmp_path: Path) -> None:
    known = checksums.Checksums(tmp_path)
    (tmp_path / "locks").mkdir()
    at = checksums.Stamp(1, 2, 3)
    known.remember([("a", at, "x"), ("b", at, "y")])
    file = tmp_path / "checksums.txt"
    flipped(file, 8 * 3)
    with file.open("ab") as end:
        end.write(b"c 1 2 3")
    again = checksums.Checksums(tmp_path)
    again.refresh()
    assert [again.known(part, at) for part in "abc"] == ["", "y", ""]


@pytest.mark.parametrize(("lines", "left"), [(1_002, 1_002), (1_003, 1)])
def test_lines_of_parts_that_are_gone_are_dropped_once_they_are_many(
    tmp_path: Path, lines: int, left: int
) -> None:
    """Of one part that is there 2 lines may be, and of others 1,000."""
    (tmp_path / "locks").mkdir()
    known = checksums.Checksums(tmp_path)
    known.remember((f"part{number}", checksums.Stamp(1, 2, 3), "x") for number in range(lines))
    known.refresh()
    known.forget(["part7"])
    assert len((tmp_path / "checksums.txt").read_bytes().splitlines()) == left
    again = checksums.Checksums(tmp_path)
    again.refresh()
    assert again.known("part7", checksums.Stamp(1, 2, 3)) == "x"


@pytest.mark.parametrize("how", ["garbage", "cut", "half"])
def test_a_damaged_state_is_said_with_what_brings_it_back(
    home: Path, capsys: pytest.CaptureFixture[str], how: str
) -> None:
    with state.engine_of(settings.load()).connect() as connection:
        connection.execute(text("pragma wal_checkpoint(truncate)"))
    file = home / "state.sqlite"
    content = file.read_bytes()
    shutil.copyfile(file, home / "state-before-3.sqlite")
    cut = {"garbage": b"no database" * 999, "cut": content[:100], "half": content[: 4096 * 3]}
    file.write_bytes(cut[how])
    assert main(["scores"]) == 2
    told = capsys.readouterr().err
    assert "state.sqlite is damaged (" in told and "the copy state-before-3.sqlite of 20" in told
    assert "bug" not in told
    shutil.copyfile(home / "state-before-3.sqlite", file)
    for left in ("state.sqlite-wal", "state.sqlite-shm"):
        (home / left).unlink(missing_ok=True)
    assert main(["scores"]) == 0


def test_what_ships_is_checked_too_where_its_manifest_has_sums(home: Path, tmp_path: Path) -> None:
    shipped = tmp_path / "shipped"
    shipping.ship(Store(settings.load()), ["tiny"], folder=shipped)
    store = open_store(tmp_path / "another", shipped=shipped)
    assert not any(found.damage for found in damage.verify(store))
    manifest = shipped / "manifest.json"
    records = json.loads(manifest.read_text("utf-8"))
    for record in records["parts"]:
        path = shipped / record["path"]
        assert record.pop("sha256") == hashlib.sha256(path.read_bytes()).hexdigest()
    (found,) = store.parts("scores", "tiny", "mine")
    flipped(found.path, 8 * 40)
    touched(found.path, 1)
    assert store.verify(found).damage
    assert "git checkout -- " in damage.mend(found)
    # Copies of the project from before have no sums in it.
    manifest.write_text(json.dumps(records), encoding="utf-8")
    assert {part.sha256 for part in open_store(tmp_path / "third", shipped=shipped).parts()} == {""}
