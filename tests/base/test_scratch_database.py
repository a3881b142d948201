"""Transactions of the databases that Beirscope opens."""

import duckdb
import pytest

from compute.base.scratch_database import scratch, transaction
from compute.base.settings import Settings


def test_what_cannot_be_committed_is_told_as_it_is() -> None:
    with scratch(Settings()) as database:
        database.execute("create table numbers (n integer primary key)")
        with pytest.raises(duckdb.Error, match=r"(?i)constraint|conflict|duplicate"):  # noqa: SIM117
            with transaction(database):
                database.execute("insert into numbers values (1)")
                database.cursor().execute("insert into numbers values (1)")
        assert database.sql("from numbers").fetchall() == [(1,)]


def test_an_error_in_the_block_takes_back_what_it_changed() -> None:
    with scratch(Settings()) as database:
        database.execute("create table numbers (n integer)")
        with pytest.raises(KeyError), transaction(database):
            database.execute("insert into numbers values (1)")
            raise KeyError
        assert database.sql("from numbers").fetchall() == []
