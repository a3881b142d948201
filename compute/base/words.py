"""Words for people: numbers with their nouns, and names similar to a mistyped one."""

import difflib
from collections.abc import Iterable, Sequence


def counted(number: int, noun: str) -> str:
    """`1 column`, `8,674 hits`, `2 queries`: a number with its noun, whose plural ends in s."""
    several = f"{noun[:-1]}ies" if noun.endswith(("ry", "ly")) else f"{noun}s"
    return f"{number:,} {noun if number == 1 else several}"


def several(names: Sequence[str], most: int, noun: str = "") -> str:
    """`a, b and 3 more`, or `and 3 more systems` with a noun: the first `most` names."""
    more = len(names) - most
    rest = counted(more, f"more {noun}") if noun else f"{more:,} more"
    return ", ".join(names[:most]) + f" and {rest}" * (more > 0)


def shown(text: str, most: int = 60) -> str:
    """The text in quotation marks, truncated if long; for quotations in errors."""
    return repr(text if len(text) <= most else f"{text[:most]}…")


def near(name: str, known: Iterable[str]) -> str:
    """`did you mean scifact? `, with a space before the next sentence; empty if none is similar.
    Case does not matter."""
    folded = {one.casefold(): one for one in known}
    found = difflib.get_close_matches(name.casefold(), folded, n=3, cutoff=0.5)
    return f"did you mean {' or '.join(folded[one] for one in found)}? " if found else ""


def typed(columns: str) -> list[tuple[str, str]]:
    """Names and types of columns, separated by spaces; a type other than text follows a colon, as
    in `query_id rank:int32`."""
    pairs = (column.partition(":") for column in columns.split())
    return [(name, of or "string") for name, _, of in pairs]


def sized(n_bytes: float) -> str:
    """Bytes in powers of ten: `17 bytes`, `2.8 MB`, `1.1 GB`, `5,344 GB`."""
    value, unit = float(n_bytes), "bytes"
    for larger in ("kB", "MB", "GB"):
        if value < 999.5:
            break
        value, unit = value / 1000, larger
    digits = 1 if unit in ("MB", "GB") and value < 99.95 else 0
    return f"{value:,.{digits}f} {unit}"
