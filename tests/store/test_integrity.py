"""Damage to a state is found: by SQLite itself, by keys, and by the chain of judgements."""

import shutil
import sqlite3
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pandas as pd
import pytest
from sqlalchemy import text

from compute.__main__ import main
from compute.base.settings import Settings
from compute.judgements import WITHDRAWN
from compute.store import damage, integrity, state
from compute.store.migrations import CHAINED, STEPS
from compute.store.store import Store
from tests.support.filled import withdraw
from tests.support.storage import hits, judgement, open_store, publish_run, scores

COLUMNS = [column.name for column in state.added_judgements.columns]


def filled(home: Path, address: str = "") -> Store:
    """Five judgements: two of a page, two of an imported set, one withdrawn."""
    made = open_store(home, address)
    for doc_id in ("d1", "d2"):
        made.add_judgements(judgement("q1", doc_id, 1).assign(note="é\u2028'", unsure=1))
    rows = pd.concat([judgement("q2", "d1", 0, "bo"), judgement("q2", "d2", 2, "bo")])
    brought = rows.assign(entry=["a", "b"], imported=state.now(), takes_back="x")
    made.add_judgements(brought.reset_index(drop=True))
    withdraw(made, 1, "withdrawn")
    return made


@pytest.fixture(scope="module")
def lite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home that has them in SQLite."""
    made = filled(tmp_path_factory.mktemp("lite") / "home")
    made.close()
    return made.home


@pytest.fixture(params=["sqlite", "postgresql"])
def store(request: pytest.FixtureRequest, lite: Path, tmp_path: Path) -> Iterator[Store]:
    """Such a home of the test's own."""
    if request.param == "sqlite":
        made = open_store(shutil.copytree(lite, tmp_path / "home"))
    else:
        made = filled(tmp_path / "home", request.getfixturevalue("postgres"))
    yield made
    made.close()


def change(store: Store, statement: str) -> None:
    with state.writing(store.engine) as connection:
        connection.execute(text(statement))


def bad(store: Store) -> str:
    """The ids that are named."""
    told = integrity.found(store.engine)
    return told[0].partition("(by id): ")[2].partition(";")[0] if told else ""


def test_what_was_saved_is_whole(store: Store) -> None:
    assert bad(store) == ""


def test_a_change_in_any_column_of_a_judgement_is_named(store: Store) -> None:
    """Column by column: of a judgement of a page, of one that was imported, of a withdrawn one."""
    columns = [name for name in COLUMNS if name != "id"]
    page = pd.concat([judgement("q3", f"d{place}", 1) for place in range(len(columns))])
    rows = [page, page.assign(entry=[*columns], imported=state.now(), query_id="q4")]
    for kind in (*rows, page.assign(source=WITHDRAWN, relevance=None)):
        store.add_judgements(kind.astype({"relevance": "Int64"}).reset_index(drop=True))
    for place, column in enumerate(columns):
        whole = column in ("relevance", "unsure", "verified")
        none, more = ("0", "+ 1") if whole else ("''", "|| 'x' || id")
        ids = tuple(range(6 + place, 6 + 3 * len(columns), len(columns)))
        new = f'coalesce("{column}", {none}) {more}'
        change(store, f'update added_judgements set "{column}" = {new} where id in {ids}')
    assert bad(store) == f"6, 7, 8, 9, 10 and {3 * len(columns) - 5} more"


@pytest.mark.long
@pytest.mark.parametrize(
    ("statement", "named"),
    [
        ("update added_judgements set relevance = null where id = 2", "2"),
        ("update added_judgements set id = 9 where id = 2", "2, 6, 7, 8, 9"),
        ("delete from added_judgements where id = 2", "2"),
        ("delete from added_judgements where id = 5", "5"),
        ("delete from judgement_chain where id = 5", "5"),
        ("update judgement_chain set sha256 = 'x' where id = 2", "2, 3"),
        ("update counters set value = 6 where name = 'judgements'", "6"),
    ],
)
def test_what_is_lost_is_named(store: Store, statement: str, named: str) -> None:
    change(store, statement)
    assert bad(store) == named


@pytest.mark.long
def test_those_who_append_at_once_make_one_chain(store: Store) -> None:
    def judge(number: int) -> None:
        own = open_store(store.home, store.settings.state)
        for place in range(5):
            own.add_judgements(judgement(f"q{number}", f"d{place}", 1))
        own.close()

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(judge, range(4)))
    assert (store.judgement_version(), bad(store)) == (25, "")


def old(home: Path, count: int = 3) -> None:
    """A home as it was before judgements were chained."""
    home.mkdir()
    engine = state.open_state(Settings(home=home), STEPS[: CHAINED - 1])
    with state.writing(engine) as connection:
        state.count(connection, "judgements", count)
        for number in range(1, count + 1):
            connection.execute(
                text(
                    "insert into added_judgements (id, dataset, query_id, doc_id, relevance,"
                    " person, task, guideline_version, source, time) values"
                    f" ({number}, 'd', 'q', 'd{number}', 1, 'ada', '', '', 'person', 't')"
                )
            )
    engine.dispose()


def test_an_old_home_is_chained_as_it_is_found(tmp_path: Path) -> None:
    old(tmp_path / "home")
    store = open_store(tmp_path / "home")
    store.add_judgements(judgement("q1", "d1", 1))
    assert bad(store) == ""
    with sqlite3.connect(store.home / f"state-before-{len(STEPS)}.sqlite") as copy:
        assert copy.execute("select count(*) from added_judgements").fetchall() == [(3,)]
    change(store, "update added_judgements set doc_id = 'd9' where id = 2")
    assert bad(store) == "2"


@pytest.fixture(scope="module")
def forty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with a run and forty judgements, closed."""
    store = open_store(tmp_path_factory.mktemp("forty") / "home")
    publish_run(store, "d", "s", hits(("q1", "d1", 1)), scores("nDCG@10", q1=1.0))
    for number in range(40):
        store.add_judgements(judgement(f"q{number}", "document-one", 1))
    change(store, "delete from steps where format < 0")
    store.close()
    return store.home


@pytest.fixture
def home(forty: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Such a home of the test's own, where commands look."""
    monkeypatch.setenv("BEIRSCOPE_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("BEIRSCOPE_SHIPPED_RESULTS", "false")
    return shutil.copytree(forty, tmp_path / "home")


def flipped(file: Path, place: int, bit: int) -> None:
    content = bytearray(file.read_bytes())
    content[place] ^= 1 << bit
    file.write_bytes(content)


def at_rest(home: Path) -> Path:
    """The file of the state, which has all that is saved."""
    with sqlite3.connect(home / "state.sqlite") as connection:
        connection.execute("pragma wal_checkpoint(truncate)")
    return home / "state.sqlite"


@pytest.mark.parametrize("bit", [0, 7], ids=["another letter", "no UTF-8"])
def test_a_flipped_bit_of_a_judgement_fails_the_check_and_no_page(
    home: Path, bit: int, capsys: pytest.CaptureFixture[str]
) -> None:
    file = at_rest(home)
    flipped(file, file.read_bytes().rindex(b"document-one") + 9, bit)
    with sqlite3.connect(file) as connection:
        assert connection.execute("pragma integrity_check").fetchall() == [("ok",)]
    assert main(["check", "--store"]) == 2
    told = capsys.readouterr().out
    assert "lost or changed (by id): 1; restore an earlier backup" in told
    store = open_store(home)
    assert len(store.added_judgements()) == 40
    damage.verify_beside(store).join()
    assert len(store.broken) == 1


@pytest.mark.parametrize("value", ["'abc'", "1.5", "99999999999", "x'ff'"])
def test_a_row_that_no_judgement_can_be_is_left_out_and_named(home: Path, value: str) -> None:
    with sqlite3.connect(home / "state.sqlite") as connection:
        connection.execute(f"update added_judgements set relevance = {value} where id = 3")
    assert len(open_store(home).added_judgements()) == 39
    assert bad(open_store(home)) == "3"


@pytest.mark.parametrize(
    "value", ["bytes = 'x'", "rows = 1.5", "created = x'ff'", "provenance = x'ff'"]
)
def test_a_row_that_no_part_can_be_is_told_by_every_command(
    home: Path, value: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with sqlite3.connect(home / "state.sqlite") as connection:
        connection.execute(f"update parts set {value} where kind = 'hits'")
    for words in (["datasets"], ["scores"], ["check", "--store"]):
        assert main(words) == 2
        assert "the row of part" in capsys.readouterr().err


@pytest.mark.parametrize("value", ["steps set time = x'ff'", "counters set value = 'x'"])
def test_a_value_that_no_column_takes_is_found(home: Path, value: str) -> None:
    with sqlite3.connect(home / "state.sqlite") as connection:
        connection.execute(f"update {value}")
    table = value.split()[0]
    (told,) = integrity.of_tables(open_store(home).engine)
    assert (
        f"state.sqlite is damaged (a row of {table} has a value that was never written): " in told
    )


def test_a_format_that_is_no_number_is_damage(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with sqlite3.connect(home / "state.sqlite") as connection:
        connection.execute("update steps set format = 'x' where format = 1")
    for words in (["scores"], ["check", "--store"]):
        assert main(words) == 2
        assert "state.sqlite is damaged (format 'x'): stop" in capsys.readouterr().err


@pytest.mark.long
def test_every_page_of_a_state_that_is_zeroed_is_told(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = at_rest(home)
    whole = file.read_bytes()
    (size,) = sqlite3.connect(file).execute("pragma page_size").fetchone()
    for start in range(0, len(whole), size):
        file.write_bytes(whole[:start] + bytes(size) + whole[start + size :])
        status = main(["check", "--store"])
        told = "".join(capsys.readouterr())
        assert status and "state.sqlite" in told and "bug" not in told, start // size


def test_two_rows_of_one_key_are_found(tmp_path: Path) -> None:
    store = open_store(tmp_path / "home")
    change(store, "alter table counters rename to kept")
    change(store, "create table counters (name text, value bigint)")
    change(store, "insert into counters select * from kept")
    assert integrity.found(store.engine) == []
    change(store, "insert into counters select * from kept")
    (told,) = integrity.of_tables(store.engine)
    assert told.endswith("two rows of counters have the same key")


@pytest.mark.parametrize(
    ("statement", "why"),
    [
        ("delete from counters where name = 'manifest'", "no counter 'manifest'"),
        ("delete from identity", "0 identities instead of one"),
        ("insert into identity values ('zzzz')", "2 identities instead of one"),
    ],
)
def test_a_state_that_lost_what_it_is_known_by_is_damaged(
    home: Path, statement: str, why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with sqlite3.connect(home / "state.sqlite") as opened:
        opened.execute(statement)
    for command in (["check", "--store"], ["scores"]):
        assert main(command) == 2
        said = "".join(capsys.readouterr())
        assert f"state.sqlite is damaged ({why}): stop Beirscope, put a backup" in said


def test_a_counter_that_is_behind_the_judgements_is_damage(store: Store) -> None:
    change(store, "update counters set value = 0 where name = 'judgements'")
    (told,) = integrity.found(store.engine)
    assert "its counter of judgements is 5 too low" in told


@pytest.mark.long
@pytest.mark.parametrize(
    "change_of",
    [
        "set dataset = 'x'",
        "set fingerprint = 'x'",
        "set published_version = published_version + 1",
        "set retired_version = 2",
        "set sha256 = 'x'",
        "set provenance = 'x'",
        "",
    ],
)
def test_a_changed_row_of_a_part_is_named_and_no_other(store: Store, change_of: str) -> None:
    publish_run(store, "d", "s", hits(("q1", "d1", 1)), scores("nDCG@10", q1=1.0))
    publish_run(store, "d", "s", hits(("q1", "d2", 1)), scores("nDCG@10", q1=0.0), "again")
    store.tidy(datetime.now(UTC) + timedelta(days=400))
    assert bad(store) == "" and integrity.of_parts(store.engine) == []
    where = "where kind = 'hits'"
    change(
        store, f"update parts {change_of} {where}" if change_of else f"delete from parts {where}"
    )
    (told,) = integrity.of_parts(store.engine)
    assert told.startswith("rows of 1 parts were altered (")
    assert ("1 lost" in told) == (not change_of) and "rerun and reimport these" in told
