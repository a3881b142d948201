"""The rows of the command line, by what they are about."""

from compute.commands.rows import collections, computing, judging, results

COMMANDS = collections.COMMANDS | computing.COMMANDS | judging.COMMANDS | results.COMMANDS
"""Every command by its name, in the order of `--help`."""
