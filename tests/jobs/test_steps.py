import errno

import pytest
from sqlalchemy import create_engine, text
from sqlalchemy.exc import OperationalError

from compute.base.errors import Unavailable
from compute.base.settings import Settings
from compute.jobs import child_process
from compute.jobs.kinds import KINDS
from compute.jobs.steps import STEPS, sentence


def test_every_kind_goes_through_steps_that_there_are() -> None:
    assert {step for kind in KINDS.values() for step in kind.steps} < set(STEPS)


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (OSError(errno.ENOSPC, "No space left on device"), "no space is left"),
        (RuntimeError("IO Error: No space left on device"), "no space is left"),
        (MemoryError(), "not enough memory"),
        (RuntimeError("Out of Memory Error: failed to allocate"), "not enough memory"),
        (Unavailable("the weights are not installed: install them"), "the weights are not"),
    ],
)
def test_what_can_be_mended_is_told_in_a_sentence(error: Exception, words: str) -> None:
    assert words in sentence(error)


def test_a_database_that_is_away_is_told_in_a_sentence() -> None:
    dead = create_engine("postgresql+psycopg://nobody@127.0.0.1:1/none")
    with pytest.raises(OperationalError) as raised, dead.connect() as connection:
        connection.execute(text("select 1"))
    assert "the state cannot be used" in sentence(raised.value)


def test_a_bug_has_no_sentence() -> None:
    assert sentence(ZeroDivisionError("the bug")) == ""


def test_only_the_child_of_a_judging_gets_the_key_of_machines(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("BEIRSCOPE_JUDGE_KEY", "key-of-ours")
    settings = Settings(judge_key="key-of-ours", metrics_token="token-of-ours")
    given = child_process.environment(settings, "run-00.0000").values()
    assert not {"key-of-ours", "token-of-ours"} & set(given)
    judging = child_process.environment(settings, "judge-00.0000")
    assert judging["BEIRSCOPE_JUDGE_KEY"] == "key-of-ours"
