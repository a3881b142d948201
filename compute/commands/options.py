"""Types and `--help` texts of options and arguments that several commands share."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter, Token

OFFICIAL, ADDED = "official", "added"
"""Special values of `--judgements`, as in page addresses; any other value names a set."""
EXAMPLES = "scifact, nfcorpus/train, or your own; `datasets` lists all"


def path(_: object, tokens: Sequence[Token]) -> Path:
    """Parse a path. An empty one is refused because it would mean the current folder."""
    if not tokens[0].value:
        raise ValueError("the path is empty: name a file or a folder")
    return Path(tokens[0].value)


def count(_: object, tokens: Sequence[Token]) -> int:
    """Parse a whole number of 1 or more."""
    try:
        number = int(tokens[0].value)
    except ValueError:
        raise ValueError(f"{tokens[0].value!r} is not a whole number") from None
    if number < 1:
        raise ValueError("it must be 1 or more")
    return number


def above_0(_: object, tokens: Sequence[Token]) -> float:
    """Parse a number above 0."""
    number = float(tokens[0].value)
    if not 0 < number < float("inf"):
        raise ValueError("it must be above 0")
    return number


def numbers(_: object, tokens: Sequence[Token]) -> tuple[float, ...]:
    """Parse numbers separated by commas."""
    return tuple(map(float, tokens[0].value.split(",")))


SEVERAL = Parameter(consume_multiple=(1, None))
"""Make an option accept all arguments up to the next option."""
OF_FILE = Parameter(converter=path, metavar="FILE")
File = Annotated[Path, OF_FILE]
Folder = Annotated[Path, Parameter(converter=path, metavar="DIR")]
SomeFile = Annotated[Path | None, OF_FILE]
Count = Annotated[int, Parameter(converter=count, metavar="N")]
Difference = Annotated[float | None, Parameter(converter=above_0, metavar="X")]
System = Annotated[
    str,
    Parameter(help="bm25, or with parameters 'bm25(k1=1.2,b=0.75)'; `systems` lists all"),
]
Systems = Annotated[tuple[str, ...], SEVERAL, Parameter(metavar="SYSTEM", help="such as bm25")]
Dataset = Annotated[str, Parameter(metavar="DATASET", help=EXAMPLES)]
OnDatasets = Annotated[tuple[str, ...], SEVERAL, Parameter(metavar="DATASET", help=EXAMPLES)]
Datasets = Annotated[str, Parameter(required=True, help=EXAMPLES)]
OwnDatasets = Annotated[str, Parameter(help="default: all with a run")]
Collections = Annotated[str, Parameter(help="default: all with stored documents")]
OnlyDataset = Annotated[str, Parameter(metavar="DATASET", help="only this dataset")]
OnlySystem = Annotated[str, Parameter(metavar="SYSTEM", help="only this system, such as bm25")]
OnlyMeasure = Annotated[str, Parameter(metavar="MEASURE", help="only this measure, such as AP@100")]
Machine = Annotated[str, Parameter(metavar="NAME", help="name of the LLM")]
Json = Annotated[bool, Parameter(name="--json", help="print JSON instead of a table")]
Again = Annotated[bool, Parameter(help="recompute even if up to date")]
Replace = Annotated[bool, Parameter(help="replace an existing one of the same name")]
Yes = Annotated[bool, Parameter(help="do it; without this option, only print the effect")]
Published = Annotated[bool, Parameter(help="print published figures instead")]
ReturnedOnly = Annotated[bool, Parameter(help="average over answered queries, as BEIR's code does")]
DropEqualIds = Annotated[
    bool,
    Parameter(
        help="drop documents whose id equals the query's on every dataset, as BEIR's code does",
    ),
]
Fold = Annotated[
    str | None,
    Parameter(
        metavar="[FILE]",
        help=(
            "merge chunks into documents at their best rank, by ids such as d1#0 and d1_3, or"
            " by a TSV of chunk and document"
        ),
    ),
]
