"""Options and arguments of the commands, as the parser has them."""

from typing import Any

from cyclopts.argument import Argument

from compute.commands import app
from compute.commands.app import NAMES

__all__ = ["NAMES", "arguments", "options"]


def arguments(name: str) -> list[Argument]:
    """Arguments of a command, those of groups of options one by one."""
    command: Any = app.parser()
    for word in name.split(" "):
        command = command[word]
    return [one for one in command.assemble_argument_collection() if not one.children]


def options(name: str) -> set[str]:
    """Names of the options of a command, such as `--json`."""
    return {option for one in arguments(name) for option in one.names if option.startswith("-")}
