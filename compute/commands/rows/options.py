"""What a row of the command line is, and the options that several share."""

import argparse
from pathlib import Path
from typing import NamedTuple

from compute import commands
from compute.commands.choices import HUMAN, KINDS, RULES, SOURCES

Option = tuple[tuple[str, ...], dict[str, object]]


def option(*names: str, **kind: object) -> Option:
    """An option, or a position, as `ArgumentParser.add_argument` takes it."""
    return names, kind | {"type": path} if kind.get("type") is Path else kind


def path(text: str) -> Path:
    """A path; an empty one would be this folder."""
    if not text:
        raise argparse.ArgumentTypeError("it is empty: name a file or a folder")
    return Path(text)


def count(text: str) -> int:
    """A whole number of 1 or more."""
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("it must be 1 or more")
    return number


def difference(text: str) -> float:
    """A number above 0."""
    number = float(text)
    if not 0 < number < float("inf"):
        raise argparse.ArgumentTypeError("it must be above 0")
    return number


def levels(text: str) -> tuple[float, ...]:
    """Numbers between commas."""
    return tuple(map(float, text.split(",")))


SYSTEM = option(
    "system",
    metavar="SYSTEM",
    help="bm25, or with parameters 'bm25(k1=1.2,b=0.75)'; `systems` lists those that run here",
)
EXAMPLES = "scifact, nfcorpus/train, or an own one's name; `datasets` lists all"
JSON = option("--json", action="store_true", help="print JSON instead of a table")
JOB_NAMES = f"what to start ({', '.join(KINDS)}), or job ids"
DATASET = option("dataset", metavar="DATASET", help=EXAMPLES)
ON_DATASETS = option("datasets", nargs="+", metavar="DATASET", help=EXAMPLES)
OF_DATASET = option("--dataset", required=True, metavar="DATASET", help=EXAMPLES)
DATASETS = option("datasets", nargs="*", metavar="DATASET", help="all that have a run, if none")
COLLECTIONS = option(
    "datasets", nargs="*", metavar="DATASET", help="all whose documents are stored, if none"
)
AGAIN = option("--again", action="store_true", help="recompute even what is up to date")
YES = option("--yes", action="store_true", help="do it, not only say what goes")
AS_BEIR = option(
    "--drop-equal-ids",
    action="store_true",
    help="as BEIR's code: drop documents whose id equals the query's on every dataset",
)
READ_AS = (
    option(
        "--as",
        dest="role",
        default="",
        choices=("run", "judgements"),
        help="what the file holds, where nothing in it says so",
    ),
    option("--part", default="", help="which of several runs in one file, such as default/test"),
)
FOLD = option(
    "--fold",
    nargs="?",
    const="",
    metavar="FILE",
    help="make documents of chunks, each by its best rank: as their ids say (d1#0, d1_3), or a"
    " table of chunk, tab, document",
)
GRADES = (
    option(
        "--levels",
        type=levels,
        default=(),
        metavar="N,N",
        help="grades that are fractions: from which on a document has grade 1, 2, …",
    ),
    option("--round", action="store_true", help="grades that are fractions: round them"),
)
"""How a file is read, as `common.how` takes them."""
AS_VERSION = (
    option(
        "--as-version",
        nargs="?",
        const="",
        metavar="LABEL",
        help="keep the run that it takes the place of as a version (default: the next number)",
    ),
    option("--note", default="", help="with --as-version: what is new"),
)
COUNTED = (
    option("--rule", choices=RULES, default="majority", help="one grade of several"),
    option("--source", nargs="+", choices=SOURCES, default=HUMAN, help="which count"),
)
"""Which added judgements count."""


class Command(NamedTuple):
    """A command: what it does, its options, and the function that does it."""

    text: str
    does: str
    """Module and function, as `commands.named` takes them."""
    options: tuple[Option, ...] = ()

    def run(self, arguments: argparse.Namespace) -> int:
        """Do it; the exit status."""
        return commands.named(self.does)(arguments)
