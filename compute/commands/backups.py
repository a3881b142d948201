"""The commands that keep a home elsewhere, bring it back and move its state."""

import sys
from argparse import Namespace

from compute.base import printable, settings
from compute.base.words import counted, sized
from compute.commands.opening import end_bar, open_bench
from compute.jobs import backups
from compute.store import damage
from compute.store.backups import Outcome
from compute.store.loading import quiet


def backup(arguments: Namespace) -> int:
    """Back the home up to a folder; status 2 where damaged parts are left out."""
    bench = open_bench()
    done = backups.back_up(bench.store, arguments.folder, bench.progress)
    end_bar(bench)
    return _tell(f"backed up to {arguments.folder}", done)


def restore(arguments: Namespace) -> int:
    """Make a backup the content of this home; status 2 where damaged parts are left out."""
    watched = sys.stderr.isatty()
    bar = printable.Bar()
    done = backups.restore(
        settings.load(),
        arguments.folder,
        leave_out=arguments.leave_out_damaged,
        progress=bar if watched else quiet,
    )
    bar.close()
    return _tell(f"restored from {arguments.folder}", done)


def move_state(arguments: Namespace) -> int:
    """Move the state and the jobs of the home to the database that the settings name."""
    now = settings.load()
    backups.move(now)
    kept = printable.printable(str(now.home / "state.sqlite"))
    printable.say(f"moved to PostgreSQL: {kept} and jobs.sqlite are no longer used")
    return 0


def _tell(what: str, done: Outcome) -> int:
    """Say what was kept or brought back, and what makes again each part that was not."""
    size = sized(sum(part.bytes for part in done.parts))
    told = f"{what}: {counted(len(done.parts), 'part')} ({size}), {done.copied:,} of them copied"
    without = "settings, secrets, logs and caches are not part of it"
    printable.say(f"{told}; {without}")
    lines = [*done.broken, *map(damage.said, done.left_out)]
    lines += ["judgements were not chained yet: they count as they were found"] * done.as_found
    printable.warn(*lines)
    return 2 if done.left_out or done.broken else 0
