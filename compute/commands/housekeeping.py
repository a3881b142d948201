"""The command that looks after a home folder: trash."""

import sys
from argparse import Namespace

from compute import settings, terminal, trash


def rubbish(arguments: Namespace) -> int:
    """Say what is in the trash; with `--empty` delete it."""
    home = settings.load().home
    told = trash.said(home)
    if arguments.empty:
        trash.empty(home)
    end = "deleted" if arguments.empty else "--empty deletes them for good"
    sys.stdout.write(f"{terminal.printable(told)}: {end}\n")
    return 0
