"""The state: made, migrated forward, copied first, and refused when it is newer."""

import json
import sqlite3
from pathlib import Path

import pytest
from sqlalchemy import Engine, inspect, text
from sqlalchemy.exc import DBAPIError

from compute.base.errors import Conflict, Unavailable, WrongInput
from compute.base.settings import Settings
from compute.store import state

NEXT = (*state.STEPS, ("alter table parts add column note text",))


def at(home: Path, address: str = "") -> Settings:
    home.mkdir(exist_ok=True)
    return Settings(home=home, state=address)


def formats(engine: Engine) -> list[int]:
    with engine.connect() as connection:
        return list(connection.execute(text("select format from steps order by 1")).scalars())


def columns(engine: Engine, table: str) -> set[str]:
    return {column["name"] for column in inspect(engine).get_columns(table)}


def test_the_steps_make_the_tables_that_the_code_names(tmp_path: Path) -> None:
    engine = state.open_state(at(tmp_path))
    for name, table in state.metadata.tables.items():
        assert columns(engine, name) == {column.name for column in table.c}
        required = {c["name"] for c in inspect(engine).get_columns(name) if not c["nullable"]}
        keys = set(inspect(engine).get_pk_constraint(name)["constrained_columns"])
        assert required | keys == {column.name for column in table.c if not column.nullable}


def test_sqlite_writes_ahead_and_waits_for_the_disk(tmp_path: Path) -> None:
    with state.open_state(at(tmp_path)).connect() as connection:
        pragmas = {
            name: connection.exec_driver_sql(f"pragma {name}").scalar()
            for name in ("journal_mode", "synchronous", "busy_timeout")
        }
    assert pragmas == {"journal_mode": "wal", "synchronous": 2, "busy_timeout": 60000}


def test_a_home_says_its_format_and_its_state(tmp_path: Path) -> None:
    identity = state.identity_of(state.open_state(at(tmp_path)))
    told = {"format": len(state.STEPS), "state": identity}
    assert json.loads((tmp_path / "home.json").read_text()) == told


def test_an_older_state_moves_forward_after_a_copy(tmp_path: Path) -> None:
    with state.writing(state.open_state(at(tmp_path))) as connection:
        state.count(connection, "judgements", 7)
    newer = state.open_state(at(tmp_path), NEXT)
    assert "note" in columns(newer, "parts")
    assert formats(newer) == list(range(1, len(NEXT) + 1))
    with newer.connect() as connection:
        assert state.counted(connection, "judgements") == 7
    with sqlite3.connect(tmp_path / f"state-before-{len(NEXT)}.sqlite") as copy:
        assert copy.execute("select value from counters where name = 'judgements'").fetchall() == [
            (7,)
        ]
        assert "note" not in {row[1] for row in copy.execute("pragma table_info(parts)")}


def test_a_failing_step_takes_all_steps_back(tmp_path: Path) -> None:
    state.open_state(at(tmp_path))
    broken = (*NEXT, ("alter table nowhere add column x text",))
    with pytest.raises((DBAPIError, Unavailable)):
        state.open_state(at(tmp_path), broken)
    again = state.open_state(at(tmp_path))
    assert "note" not in columns(again, "parts")
    assert formats(again) == list(range(1, len(state.STEPS) + 1))


@pytest.mark.parametrize("told_by", ["home.json", "the state"])
def test_a_newer_home_is_refused_with_a_sentence(tmp_path: Path, told_by: str) -> None:
    state.open_state(at(tmp_path), NEXT)
    if told_by == "the state":
        (tmp_path / "home.json").unlink()
    newer = (
        rf"has format {len(NEXT)}, but this Beirscope knows {len(state.STEPS)}: update Beirscope"
    )
    with pytest.raises(Conflict, match=newer):
        state.open_state(at(tmp_path))
    assert formats(state.open_state(at(tmp_path), NEXT)) == list(range(1, len(NEXT) + 1))


def test_a_broken_home_json_is_named(tmp_path: Path) -> None:
    at(tmp_path)
    (tmp_path / "home.json").write_text("{", "utf-8")
    with pytest.raises(WrongInput, match=r"home\.json"):
        state.open_state(at(tmp_path))


@pytest.mark.parametrize("address", ["nonsense", "mysql://u:secret@h/d", "sqlite:///x"])
def test_another_kind_of_address_is_refused_without_its_password(
    tmp_path: Path, address: str
) -> None:
    with pytest.raises(WrongInput, match="postgresql://") as caught:
        state.open_state(at(tmp_path, address))
    assert "secret" not in str(caught.value)


def test_a_server_that_does_not_answer_is_named_without_its_password(tmp_path: Path) -> None:
    address = f"postgresql://u:secret@/d?host={tmp_path}"
    with pytest.raises(Unavailable, match="check the setting `state`") as caught:
        state.open_state(at(tmp_path, address))
    assert "secret" not in str(caught.value)


def test_postgresql_takes_the_same_steps(tmp_path: Path, postgres: str) -> None:
    engine = state.open_state(at(tmp_path / "one", postgres))
    again = state.open_state(at(tmp_path / "two", postgres), NEXT)
    assert formats(again) == list(range(1, len(NEXT) + 1))
    for name, table in state.metadata.tables.items():
        assert columns(engine, name) >= {column.name for column in table.c}
    with pytest.raises(Conflict, match=f"has format {len(NEXT)}"):
        state.open_state(at(tmp_path / "three", postgres))
