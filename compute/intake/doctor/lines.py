"""A file's lines, read as far as possible, with remarks on those that were skipped."""

import re
from collections.abc import Iterator
from pathlib import Path

from compute.base.errors import WrongInput
from compute.datasets import trec
from compute.datasets.layout import Files
from compute.intake.doctor.report import Tally, Where

ENOUGH = 10_000
"""Number of faulty lines after which reading stops, since the file has a different format."""
_MEND = "fix the line"
_PIECE = 1 << 20
_MARK = b"\xef\xbb\xbf"
_NUMBER = re.compile(rb'"_id"\s*:\s*-?[0-9]')


def survey(path: Path, layout: trec.Layout, tally: Tally, skip: int = 0) -> trec.Survey:
    """Read the readable lines of a file; report the faulty and skipped ones. Raises Missing or
    WrongInput, the latter also after ENOUGH faulty lines."""
    wrong = 0

    def problem(line: int, what: str, fault: str) -> None:
        nonlocal wrong
        wrong += 1
        tally.refuse(what, fault, Where(str(path), line), _MEND)
        if wrong == ENOUGH:
            raise WrongInput(f"{path}, line {line}: {ENOUGH:,} lines are wrong: give another file")

    found = trec.survey(path, layout, problem, skip)
    where = Where(str(path))
    _remark_bytes(tally, where, found.has_mark, found.n_windows)
    rest = found.n_lines - skip - found.table.num_rows - wrong
    tally.remark("blank line or comment", "lines without data", where, "left out", rest)
    if not found.table.num_rows and not wrong:
        tally.refuse("no data", f"no {layout.what} in it", where, f"give lines of {layout}")
    return found


def remark(files: Files, name: str, tally: Tally) -> None:
    """Report a byte order mark, Windows line ends and numeric ids in a file. Raises Missing or
    WrongInput if it cannot be read."""
    where = Where(files.where(name))
    has_mark = False
    n_windows = n_numbers = 0
    for place, piece in enumerate(_pieces(files, name)):
        has_mark |= place == 0 and piece.startswith(_MARK)
        n_windows += piece.count(b"\r\n")
        n_numbers += len(_NUMBER.findall(piece)) if name.endswith(".jsonl") else 0
    _remark_bytes(tally, where, has_mark, n_windows)
    tally.remark(
        "id is a number", "an _id without quotes", where, "its digits become the id", n_numbers
    )


def _remark_bytes(tally: Tally, where: Where, has_mark: bool, n_windows: int) -> None:
    """Report a byte order mark, and lines that end as on Windows."""
    mark, ends = "the first three bytes", "lines end with CR and LF"
    tally.remark("byte order mark", mark, where, "read normally", int(has_mark))
    tally.remark("Windows line ends", ends, where, "read normally", n_windows)


def _pieces(files: Files, name: str) -> Iterator[bytes]:
    """Yield the file in pieces of whole lines, except where a line is longer than a piece."""
    rest = b""
    with files.open(name) as stream:
        while more := stream.read(_PIECE):
            end = more.rfind(b"\n") + 1 or len(more)
            yield rest + more[:end]
            rest = more[end:]
    yield rest
