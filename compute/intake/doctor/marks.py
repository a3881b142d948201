"""What reading a collection's files passes over without a word: marks, line ends, plain numbers."""

import re
from collections.abc import Iterator

from compute.datasets import layout
from compute.intake.doctor.report import Tally, Where

_PIECE = 1 << 20
_MARK = b"\xef\xbb\xbf"
_NUMBER = re.compile(rb'"_id"\s*:\s*-?[0-9]')


def remark(files: layout.Files, name: str, tally: Tally) -> None:
    """Tell of a byte order mark, Windows line ends and ids that are numbers in a file.

    Raises Missing or WrongInput for a file that cannot be read.
    """
    where = Where(files.where(name))
    has_mark = False
    n_windows = n_numbers = 0
    for place, piece in enumerate(_pieces(files, name)):
        has_mark |= place == 0 and piece.startswith(_MARK)
        n_windows += piece.count(b"\r\n")
        n_numbers += len(_NUMBER.findall(piece)) if name.endswith(".jsonl") else 0
    tally.remark("byte order mark", "the first three bytes", where, "passed over", int(has_mark))
    ends = "lines end with CR and LF"
    tally.remark("Windows line ends", ends, where, "passed over", n_windows)
    tally.remark(
        "id is a number", "an _id without quotes", where, "its digits are the id", n_numbers
    )


def _pieces(files: layout.Files, name: str) -> Iterator[bytes]:
    """The file in pieces of whole lines, as far as lines are not longer than a piece."""
    rest = b""
    with files.open(name) as stream:
        while more := stream.read(_PIECE):
            end = more.rfind(b"\n") + 1 or len(more)
            yield rest + more[:end]
            rest = more[end:]
    yield rest
