"""TREC's text files (lines of columns between spaces; plain, gzip or zstd), read into Arrow tables.
Files are read in blocks. Cleaning and parsing a whole block is cheap; only a block that does not
parse is halved until the faulty line is found."""

import contextlib
import csv
import math
import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv

from compute.base.errors import WrongInput
from compute.base.words import counted, shown
from compute.datasets import compressed
from compute.datasets.records import WHOLE, reads_as_number

_BLOCK = 4 * 1024**2
_HEAD = 1024**2
_LONGEST_LINE = 64 * 1024**2
_MARK = b"\xef\xbb\xbf"
_FEW = 8
"""Number of lines that are parsed one by one; more lines are parsed together."""
_WHOLE_LAST = re.compile(rb"(?m)(?<=[\t ])(?:\+(?=[0-9]))?(-?[0-9]+)(?:\.0*)?$")
XML, JSON, CSV = "XML", "JSON", "columns between commas"
_FOREIGN = {
    XML: re.compile(r"\s*<"),
    JSON: re.compile(r"""\s*[\[{]\s*(["\[{\]}]|-?[0-9]|$)"""),
    CSV: re.compile(r"[^\s,;]*[,;][^\s,;]*([,;]|$)"),
}
_BLANKS = bytes.maketrans(b"\t\r\v\f", b"    ")

FRACTIONS = "--levels or --round turns fractions into grades"

Problem = Callable[[int, str, str], None]
"""A function that is called with the number (from 1), kind and fault of each faulty line."""


@dataclass(frozen=True)
class Layout:
    """The columns of a line. A column whose kind is None is present but not read."""

    what: str
    columns: tuple[tuple[str, pa.DataType | None], ...]
    between: str = " "
    """The separator of columns: spaces, or one tab or comma, so that ids may contain spaces."""
    quotes: bool = False
    """Whether a cell may be quoted."""

    @property
    def blanks(self) -> bool:
        """Whether columns are separated by any number of spaces."""
        return self.between == " "

    def cells(self, line: bytes) -> list[bytes]:
        """Return the cells of a line."""
        if self.blanks:
            return line.split()
        if not self.quotes:
            return line.split(self.between.encode())
        text = line.decode("utf-8", "surrogateescape")
        try:
            row = next(csv.reader([text], delimiter=self.between), [])
        except csv.Error:  # a carriage return within, or a cell that is too long
            row = text.split(self.between)
        return [cell.encode("utf-8", "surrogateescape") for cell in row]

    def __str__(self) -> str:
        return " ".join(name for name, _ in self.columns)


def read_columns(path: Path, layout: Layout, skip: int = 0) -> pa.Table:
    """Return the columns of a file that have a kind, below its first `skip` lines, in file order.
    Blank lines, a byte order mark and Windows line ends are removed, and so are comments: lines
    that begin with `#`, unless they have the columns of the layout with a number in the right
    place, like those of a query named `#1`. Raises Missing if there is no file, and WrongInput with
    file and line for a wrong number of columns, a value of the wrong kind (including NaN and
    infinite numbers), and a file without data."""
    tables, number = [], 1 + skip
    for block, table in _parallel(lambda block: _table(block, layout), _blocks(path, skip)):
        if table is None:
            if what := next(filter(None, map(foreign, lines(path)[:1])), ""):
                raise WrongInput(f"{path} contains {what}, write lines of {layout} instead")
            line, (_, fault) = _complaint(block, layout)
            raise WrongInput(f"{path}, line {number + line}: {fault}; fix the line")
        tables.append(table)
        number += _n_ends(block)
    table = pa.concat_tables(tables)
    if not table.num_rows:
        raise WrongInput(f"{path}: no {layout.what} in it, expected lines of {layout}")
    return table


@dataclass(frozen=True)
class Survey:
    """The readable content of a file, and facts about its lines."""

    table: pa.Table
    """The rows that `read_columns` would read, each with `line`, its number in the file."""
    n_lines: int
    """Number of all lines, including blank lines and comments."""
    n_windows: int
    """Number of lines with Windows line ends."""
    has_mark: bool
    """Whether the file begins with a byte order mark."""


def refusing(path: Path) -> Problem:
    """Return a handler that raises WrongInput for the first faulty line of a file."""

    def refuse(line: int, _: str, fault: str) -> None:
        raise WrongInput(f"{path}, line {line}: {fault}; fix the line")

    return refuse


def survey(path: Path, layout: Layout, problem: Problem, skip: int = 0) -> Survey:
    """Read as much as possible, and report to `problem` each line that `read_columns` would refuse.
    The table is empty if there are no data. Raises Missing or WrongInput if reading must stop."""
    tables, number, n_windows = [_numbered(_parsed(b"", layout), np.arange(0))], 1 + skip, 0
    for block, found in _parallel(lambda block: _table(block, layout), _blocks(path, skip)):
        tables += _surveyed(block, found, layout, number, problem)
        number += _n_lines(block)
        n_windows += block.count(b"\r\n")
    with compressed.opened(path) as file:
        has_mark = file.read(3) == _MARK
    table = pa.concat_tables(tables).unify_dictionaries()
    return Survey(table, number - 1, n_windows, has_mark)


def lines(path: Path, limit: int | None = None) -> list[str]:
    """Return the first `limit` lines of a file as text; without it, all that `beginning` reads."""
    with compressed.opened(path) as file:
        return beginning(file)[:limit]


def beginning(file: BinaryIO | pa.NativeFile) -> list[str]:
    """Return the first lines of a file as text; in a long file, all but the possibly cut last."""
    head = file.read(_HEAD)
    ends = head.removeprefix(_MARK).split(b"\n")
    whole = ends[:-1] if len(head) == _HEAD and len(ends) > 1 else ends
    return [line.removesuffix(b"\r").decode("utf-8", "replace") for line in whole]


def foreign(line: str) -> str:
    """Return the format that the first line of a file shows: JSON, XML or comma-separated columns;
    empty if it has columns separated by spaces or tabs, or a number in the right place."""
    if re.match(r"""\s*[\[{]\s*["\[{]""", line):
        return JSON  # Decided first, since a truncated line of JSON may end in a number.
    columns = line.split()
    numbers = columns[4:5] if len(columns) == 6 else columns[-1:]
    if any(map(reads_as_number, numbers)):
        return ""
    return next((name for name, begins in _FOREIGN.items() if begins.match(line)), "")


def refuse_blanks(
    names: pd.Series, path: Path | str, blanks: str = r"[ \t\n\r\v\f]", told: str = "a space"
) -> None:
    """Raise WrongInput for a name that is empty or has one of the `blanks`, which separate columns
    or lines of a file: those of a file of space-separated columns, unless others are given."""
    wrong = names[names.str.contains(f"{blanks}|^$", regex=True)]
    if len(wrong):
        raise WrongInput(
            f"{path}: {wrong.iloc[0]!r} is empty or contains {told}, which this format does"
            " not allow; leave it out or rename it"
        )


def _blocks(path: Path, skip: int) -> Iterator[bytes]:
    """Yield the file in pieces of whole lines, without a byte order mark and `skip` lines."""
    rest, number = b"", 0
    for more in compressed.pieces(path, _BLOCK):
        if not number:
            number = 1
            more = more.removeprefix(_MARK)
            for _ in range(skip):
                more = more.partition(b"\n")[2]
        end = more.rfind(b"\n") + 1
        if end:
            yield b"".join((rest, memoryview(more)[:end]))
            number += _n_ends(more)
        rest = more[end:] if end else rest + more
        if len(rest) > _LONGEST_LINE:
            where = f"{path}, line {skip + number}"
            raise WrongInput(
                f"{where} is longer than {_LONGEST_LINE:,} bytes; is it the right file?"
            )
    yield rest


def _parallel(
    work: Callable[[bytes], pa.Table | None], blocks: Iterable[bytes]
) -> Iterator[tuple[bytes, pa.Table | None]]:
    """Yield each block with the result of `work`, in order; only a few are in memory at a time."""
    threads = pa.cpu_count()
    with ThreadPoolExecutor(threads) as pool:
        begun: deque[tuple[bytes, Future[pa.Table | None]]] = deque()
        for block in blocks:
            begun.append((block, pool.submit(work, block)))
            if len(begun) > threads:
                done, found = begun.popleft()
                yield done, found.result()
        for block, found in begun:
            yield block, found.result()


def _table(block: bytes, layout: Layout) -> pa.Table | None:
    """Return the rows of a block, tidied if it does not parse; None if a line is faulty."""
    with contextlib.suppress(pa.ArrowInvalid):
        return _as_it_stands(block, layout)
    with contextlib.suppress(pa.ArrowInvalid):
        return _parsed(_tidied(block, layout), layout)
    return None


def _parsed(block: bytes, layout: Layout) -> pa.Table:
    """Parse a tidy block. Raises ArrowInvalid for a faulty line."""
    kinds = {name: kind for name, kind in layout.columns if kind is not None}
    if not block.strip():
        return pa.schema(list(kinds.items())).empty_table()
    # No valid file contains a NUL, and PyArrow would drop a mark only at the start of a block.
    if b"\0" in block or _MARK in block:
        raise pa.ArrowInvalid("a NUL or a byte order mark")
    table = pa_csv.read_csv(
        pa.py_buffer(block),
        read_options=pa_csv.ReadOptions(
            column_names=[name for name, _ in layout.columns], use_threads=False
        ),
        parse_options=pa_csv.ParseOptions(
            delimiter=layout.between, quote_char='"' if layout.quotes else False, escape_char=False
        ),
        convert_options=pa_csv.ConvertOptions(
            column_types=kinds, include_columns=list(kinds), null_values=[]
        ),
    )
    for name, kind in kinds.items():
        if pa.types.is_floating(kind) and not _all_finite(table[name].to_numpy()):
            raise pa.ArrowInvalid(f"{name} is not finite")
    return table


def _all_finite(values: np.ndarray) -> bool:
    """Return whether all numbers are finite, also in 32 bits, in which scores are compared:
    infinite scores would tie."""
    with np.errstate(over="ignore"):
        return bool(np.isfinite(values.astype(np.float32)).all())


def _surveyed(
    block: bytes, table: pa.Table | None, layout: Layout, number: int, problem: Problem
) -> Iterator[pa.Table]:
    """Yield the readable rows of a block that begins at line `number`; report the others."""
    if table is None:
        yield from _rescued(block, layout, number, problem)
        return
    places = np.arange(table.num_rows)
    if table.num_rows != _n_lines(block):
        data = [bool(_tidied(line, layout).strip()) for line in block.split(b"\n")]
        places = np.flatnonzero(data)[: table.num_rows]
    yield _numbered(table, number + places)


def _n_lines(block: bytes) -> int:
    """Return the number of lines in a block, including a last one without a line end."""
    return _n_ends(block) + (block[-1:] not in (b"", b"\n"))


def _n_ends(block: bytes) -> int:
    """Return the number of line ends. NumPy counts fast and releases the lock for other threads."""
    return int(np.count_nonzero(np.frombuffer(block, np.uint8) == ord("\n")))


def _numbered(table: pa.Table, lines: np.ndarray) -> pa.Table:
    """Return a table with its line numbers in the column `line`."""
    return table.append_column("line", pa.array(lines, pa.int64()))


def _rescued(block: bytes, layout: Layout, number: int, problem: Problem) -> Iterator[pa.Table]:
    """Do the same as `_surveyed` for a block with a faulty line: halve it until few lines are left,
    then parse each of them."""
    lines = block.split(b"\n")
    if len(lines) > _FEW:
        for some in (lines[: len(lines) // 2], lines[len(lines) // 2 :]):
            half = b"\n".join(some)
            yield from _surveyed(half, _table(half, layout), layout, number, problem)
            number += len(some)
        return
    for place, line in enumerate(lines, number):
        try:
            table = _parsed(_tidied(line, layout), layout)
        except pa.ArrowInvalid:
            problem(place, *_complaint(line, layout)[1])
            continue
        yield _numbered(table, np.full(table.num_rows, place))


def _as_it_stands(block: bytes, layout: Layout) -> pa.Table:
    """Return the rows of a block that tidying would not change. Raises ArrowInvalid for any other
    block: a comment, or a space around a line, adds a column or an empty value."""
    untidy = [b"\r", b"\t", b"\v", b"\f", b"  "] if layout.blanks else [b"\r"]
    if any(found in block for found in untidy):
        raise pa.ArrowInvalid("to be tidied")
    table = _parsed(block, layout)
    if layout.blanks and any(_has_empty(column) for column in table.columns):
        raise pa.ArrowInvalid("to be tidied")
    return table


def _has_empty(column: pa.ChunkedArray) -> bool:
    """Return whether a column of text has an empty value."""
    if pa.types.is_dictionary(column.type):
        return any("" in chunk.dictionary.to_pylist() for chunk in column.chunks)
    if not pa.types.is_string(column.type) and not pa.types.is_large_string(column.type):
        return False
    lengths = pc.call_function("binary_length", [column])
    return pc.call_function("min", [lengths]).as_py() == 0


def _tidied(block: bytes, layout: Layout) -> bytes:
    """Return a block with one separator between columns, none around them, and no comments."""
    if layout.blanks:
        block = block.translate(_BLANKS)
        while b"  " in block:
            block = block.replace(b"  ", b" ")
        block = block.replace(b" \n", b"\n").replace(b"\n ", b"\n").strip(b" ")
    else:
        block = re.sub(rb"(?m)^[ \t\r]+$", b"", block.replace(b"\r\n", b"\n"))
    last = layout.columns[-1][1]
    if last is not None and pa.types.is_integer(last):
        block = _WHOLE_LAST.sub(rb"\1", block)
    if block.startswith(b"#") or b"\n#" in block:
        block = re.sub(rb"(?m)^#.*\n?", lambda line: _unless_comment(line[0], layout), block)
    return block


def _unless_comment(line: bytes, layout: Layout) -> bytes:
    """Return a line that begins with `#` if it contains data; otherwise nothing."""
    values = layout.cells(line.rstrip(b"\r\n"))
    if len(values) != len(layout.columns):
        return b""
    kinds = (kind for _, kind in layout.columns)
    numbers = [value for kind, value in zip(kinds, values, strict=True) if _is_number(kind)]
    return line if all(reads_as_number(value) for value in numbers) else b""


def _complaint(block: bytes, layout: Layout) -> tuple[int, tuple[str, str]]:
    """Return the index (from 0) of the block's first line that does not parse, and the kind and
    text of its fault."""
    lines = block.split(b"\n")
    low, high = 0, len(lines)
    while high - low > 1:  # the faulty line is in lines[low:high]
        middle = (low + high) // 2
        try:
            _parsed(_tidied(b"\n".join(lines[low:middle]), layout), layout)
            low = middle
        except pa.ArrowInvalid:
            high = middle
    return low, _fault(layout.cells(lines[low].rstrip(b"\r")), layout)


def _fault(values: list[bytes], layout: Layout) -> tuple[str, str]:
    """Return the kind of a line's fault, and a description."""
    if any(b"\0" in value for value in values):
        return "NUL character", "it contains a NUL character"
    if any(_MARK in value for value in values):
        return "byte order mark within", "a byte order mark in the middle of the file"
    if len(values) != len(layout.columns):
        found, wanted = counted(len(values), "column"), len(layout.columns)
        fault = f"{found} where a {layout.what} has {wanted} ({layout})"
        return "wrong number of columns", fault
    for (name, kind), value in zip(layout.columns, values, strict=True):
        text = value.decode("utf-8", "replace")
        said = shown(text)
        if kind is not None and text.encode() != value:
            return "not UTF-8", f"{name} {said} is not UTF-8 text"
        number = _number(text, kind) if _is_number(kind) else 0
        if not _all_finite(np.array([number], np.float64)):
            if not pa.types.is_integer(kind):
                beyond = " of 32 bits" if math.isfinite(number) else ""
                fault = f"{name} is {said}, not a finite number{beyond}"
                return f"{name} not a finite number", fault
            if WHOLE.fullmatch(text):
                return f"{name} too large", f"{name} is {said}, too large a number"
            fractions = f" ({FRACTIONS})" if reads_as_number(value) else ""
            return f"{name} not a whole number", f"{name} is {said}, not a whole number{fractions}"
    return "unreadable line", f"not a line of {layout}"


def _number(text: str, kind: pa.DataType | None) -> float:
    """Return the number in a text; NaN if it has none of this kind."""
    try:
        return pa.scalar(text).cast(kind).as_py()
    except pa.ArrowInvalid:
        return math.nan


def _is_number(kind: pa.DataType | None) -> bool:
    return kind is not None and (pa.types.is_floating(kind) or pa.types.is_integer(kind))
