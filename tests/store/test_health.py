"""Whether a server can read what it shows."""

import json
from pathlib import Path

import pytest
from sqlalchemy import text

from compute.base.errors import Unavailable
from compute.base.settings import Settings
from compute.store import health, ownership
from compute.store.store import Store


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(Settings(home=tmp_path / "home"), shipped=tmp_path / "nothing")


def test_a_new_home_is_well(store: Store) -> None:
    health.check(store)


def test_a_state_that_is_lost_is_told(store: Store) -> None:
    with store.engine.begin() as connection:
        connection.execute(text("drop table identity"))
    with pytest.raises(Unavailable, match="database of the state"):
        health.check(store)


def test_a_folder_of_parts_that_is_not_mounted_is_told(store: Store) -> None:
    ownership.parts_file(store.home).unlink()
    with pytest.raises(Unavailable, match="folder of parts cannot be read"):
        health.check(store)


def test_a_folder_of_parts_of_another_state_is_told(store: Store) -> None:
    ownership.parts_file(store.home).write_text(json.dumps({"state": "another"}), "utf-8")
    with pytest.raises(Unavailable, match="another state's"):
        health.check(store)


def test_no_sentence_names_a_path_or_an_address(store: Store) -> None:
    assert not [words for words in health.SENTENCES if "/" in words or str(store.home) in words]
