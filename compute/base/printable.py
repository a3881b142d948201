"""Output to a terminal: tables without control characters, and a progress bar."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tqdm import tqdm

# Imported only for types, since printing text needs no pandas.
if TYPE_CHECKING:
    from pandas import DataFrame

Word = str | int | None
_ABSENT = "–"
_NOTHING = "nothing stored matches"
_ODD = re.compile(r"[^\n -~]")


class Bar:
    """A progress bar on a terminal, restarted for each unit of work."""

    def __init__(self) -> None:
        self._bar: tqdm[Any] | None = None

    def __call__(self, done: int, total: int, unit: str) -> None:
        """Show that `done` of `total` units (0: unknown) are done."""
        if self._bar is None or self._bar.unit != unit or done < self._bar.n:
            self.close()
            self._bar = tqdm(total=total or None, unit=unit, leave=False, file=sys.stderr)
        self._bar.update(done - self._bar.n)

    def close(self) -> None:
        """Remove the bar."""
        if self._bar is not None:
            self._bar.close()
            self._bar = None


def say(*lines: object) -> None:
    """Print lines."""
    sys.stdout.writelines(f"{printable(str(line))}\n" for line in lines)


def warn(*lines: object) -> None:
    """Print lines to standard error."""
    sys.stderr.writelines(f"{printable(str(line))}\n" for line in lines)


def say_text(text: str) -> None:
    """Print a text with its own line breaks, such as JSON, and escape control characters."""
    told = _ODD.sub(lambda c: c[0] if c[0].isprintable() else json.dumps(c[0])[1:-1], text)
    sys.stdout.write(told.rstrip("\n") + "\n")


def show(frame: DataFrame, as_json: bool) -> int:
    """Print a frame as a table or as JSON; return the exit status 0."""
    if as_json:
        say_text(unsigned(frame).to_json(orient="records", force_ascii=False, indent=1))
    elif frame.empty:
        warn(_NOTHING)
    else:
        say_text(_table(frame))
    return 0


def unsigned(frame: DataFrame) -> DataFrame:
    """Return the frame with 0 instead of -0, which files would show with its sign."""
    floats: Any = frame.select_dtypes("float") + 0.0
    return frame.assign(**floats)


def show_rows(rows: Sequence[Mapping[str, Word]], as_json: bool) -> int:
    """Print rows of words and whole numbers as `show` does, but without pandas."""
    if as_json:
        say_text(json.dumps(list(rows), ensure_ascii=False, indent=1, separators=(",", ":")))
    elif not rows:
        warn(_NOTHING)
    else:
        lines = [list(rows[0]), *(list(map(_cell, row.values())) for row in rows)]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        for line in lines:
            padded = (word.rjust(width) for word, width in zip(line, widths, strict=True))
            say(" ".join(padded))
    return 0


def _cell(value: Word) -> str:
    return _ABSENT if value is None else printable(str(value))


def _table(frame: DataFrame) -> str:
    """Return the frame as text, with unprintable characters, such as terminal escapes, as codes."""
    shown = frame.map(lambda value: printable(value) if isinstance(value, str) else value)
    for name in shown.select_dtypes("float"):
        there = shown[name].dropna()
        if len(there) and (there % 1 == 0).all() and there.max() >= 1000:  # such as bytes
            shown[name] = shown[name].map("{:.0f}".format, na_action="ignore").astype(object)
    return shown.to_string(index=False, na_rep=_ABSENT, float_format="{:z.4f}".format)


def printable(text: str) -> str:
    """Return the text with unprintable characters, such as terminal escapes, as codes."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def printable_lines(text: str) -> str:
    """Apply `printable` to each line of a text, such as a traceback."""
    return "\n".join(map(printable, text.split("\n")))
