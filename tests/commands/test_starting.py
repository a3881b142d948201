"""What a command imports before it answers: whoever asks for help waits for no library of others.

Nothing here measures time; it holds what time was saved by.
"""

from importlib import import_module

import pytest

from compute import jobs, judgements
from compute.__main__ import COMMANDS
from compute.commands import choices, showing
from compute.judgements import exchange


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_is_a_function(name: str) -> None:
    module, function = COMMANDS[name].does.split(".")
    assert callable(getattr(import_module(f"compute.commands.{module}"), function))


def test_options_take_what_the_tables_of_the_rooms_hold() -> None:
    assert tuple(jobs.KINDS) == choices.KINDS
    assert tuple(judgements.RULES) == choices.RULES
    assert tuple(judgements.SOURCES) == choices.SOURCES
    assert judgements.HUMAN == choices.HUMAN
    assert exchange.FORMATS == choices.FORMATS
    assert (*showing.SHOWN, "systems") == choices.SHOWN
