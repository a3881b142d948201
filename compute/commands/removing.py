"""The command that takes away what is stored: remove."""

import sys
from argparse import Namespace

from compute.base import printable
from compute.commands.common import done, open_bench
from compute.jobs import removing


def remove(arguments: Namespace) -> int:
    """Say what goes with a dataset or a run; with `--yes` remove it."""
    bench = open_bench()
    what = arguments.dataset, arguments.system
    parts = removing.planned(bench.store, *what)
    told = printable.printable(removing.said(bench.store, parts, arguments.dataset))
    if not arguments.yes:
        sys.stdout.write(f"would remove {told}; --yes removes it\n")
        return 0
    removing.remove(bench.store, *what)
    sys.stdout.write(f"removed {told}\n")
    return done(bench)
