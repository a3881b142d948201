"""Commands for the operator of a home: adopt, trash, backup, restore, move-state."""

import sys

from compute.base import printable, settings
from compute.base.words import counted, sized
from compute.commands import options
from compute.commands.opening import end_bar, open_bench
from compute.jobs import backups
from compute.store import adopting, damage
from compute.store import trash as trash_folder
from compute.store.backups import Outcome
from compute.store.loading import quiet


def adopt(*, yes: options.Yes = False) -> int:
    """Connect a home to the current state after its own state was lost or replaced."""
    now = settings.load()
    adoption = adopting.adopt(now) if yes else adopting.planned(now)
    told = printable.printable(str(adoption))
    if not adoption.own:
        told = f"took {told}" if yes else f"would adopt {told}; add --yes to do it"
    printable.say(told)
    return 0


def trash(*, empty: bool = False) -> int:
    """List the contents of the trash.

    Args:
        empty: delete everything in the trash
    """
    home = settings.load().home
    told = trash_folder.said(home)
    if empty:
        trash_folder.empty(home)
    end = "deleted" if empty else "--empty deletes them permanently"
    printable.say(f"{told}: {end}")
    return 0


def backup(folder: options.Folder, /) -> int:
    """Back up results, judgements and jobs to a folder, while people and workers continue.
    The folder must be new or hold an older backup. Exit status 2 means that damage was left out."""
    bench = open_bench()
    done = backups.back_up(bench.store, folder, bench.progress)
    end_bar(bench)
    return _tell(f"backed up to {folder}", done)


def restore(folder: options.Folder, /, *, leave_out_damaged: bool = False) -> int:
    """Restore a backup into a new home, in SQLite or in PostgreSQL.

    Exit status 2 means that damaged parts were left out.

    Args:
        leave_out_damaged: restore the undamaged parts if some are damaged
    """
    watched = sys.stderr.isatty()
    bar = printable.Bar()
    done = backups.restore(
        settings.load(),
        folder,
        leave_out=leave_out_damaged,
        progress=bar if watched else quiet,
    )
    bar.close()
    return _tell(f"restored from {folder}", done)


def move_state() -> int:
    """Move this home's state and jobs from SQLite to PostgreSQL, as set in `state`."""
    now = settings.load()
    backups.move(now)
    kept = printable.printable(str(now.home / "state.sqlite"))
    printable.say(f"moved to PostgreSQL: {kept} and jobs.sqlite are no longer used")
    return 0


def _tell(what: str, done: Outcome) -> int:
    """Report the backed-up or restored parts, and commands that recompute missing parts."""
    size = sized(sum(part.bytes for part in done.parts))
    told = f"{what}: {counted(len(done.parts), 'part')} ({size}), {done.copied:,} copied"
    without = "settings, secrets, logs and caches are not included"
    printable.say(f"{told}; {without}")
    lines = [*done.broken, *map(damage.said, done.left_out)]
    lines += ["the judgements have no hash chain yet: they are copied unchecked"] * done.as_found
    printable.warn(*lines)
    return 2 if done.left_out or done.broken else 0
