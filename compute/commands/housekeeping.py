"""The commands that look after a home folder: adopt, trash."""

from argparse import Namespace

from compute.base import printable, settings
from compute.store import adopting, trash


def adopt(arguments: Namespace) -> int:
    """Say what taking the home over for the state at hand would do; with `--yes` do it."""
    now = settings.load()
    adoption = adopting.adopt(now) if arguments.yes else adopting.planned(now)
    told = printable.printable(str(adoption))
    if not adoption.own:
        told = f"took {told}" if arguments.yes else f"would take {told}; --yes does it"
    printable.say(told)
    return 0


def rubbish(arguments: Namespace) -> int:
    """Say what is in the trash; with `--empty` delete it."""
    home = settings.load().home
    told = trash.said(home)
    if arguments.empty:
        trash.empty(home)
    end = "deleted" if arguments.empty else "--empty deletes them for good"
    printable.say(f"{told}: {end}")
    return 0
