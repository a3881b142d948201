"""Words for people: numbers with their nouns, and suggestions for mistyped names."""

import difflib
from collections.abc import Iterable, Sequence


def counted(number: int, noun: str) -> str:
    """Return a number with its noun, `1 column` or `8,674 hits`; plurals must be regular."""
    several = f"{noun[:-1]}ies" if noun.endswith(("ry", "ly")) else f"{noun}s"
    return f"{number:,} {noun if number == 1 else several}"


def several(names: Sequence[str], most: int, noun: str = "") -> str:
    """Return the first `most` names and the number of others: `a, b and 3 more`, or with a noun `a,
    b and 3 more systems`."""
    more = len(names) - most
    rest = counted(more, f"more {noun}") if noun else f"{more:,} more"
    return ", ".join(names[:most]) + f" and {rest}" * (more > 0)


def shown(text: str, most: int = 60) -> str:
    """Return the text in quotation marks, truncated if long, for a quotation in an error."""
    return repr(text if len(text) <= most else f"{text[:most]}…")


def near(name: str, known: Iterable[str]) -> str:
    """Return `did you mean scifact? `, with the space before the next sentence; empty if no known
    name is similar. Case does not matter."""
    folded = {one.casefold(): one for one in known}
    found = difflib.get_close_matches(name.casefold(), folded, n=3, cutoff=0.5)
    return f"did you mean {' or '.join(folded[one] for one in found)}? " if found else ""


def typed(columns: str) -> list[tuple[str, str]]:
    """Return (name, type) for each column in a text such as `query_id rank:int32`, in which a colon
    precedes any type other than string."""
    pairs = (column.partition(":") for column in columns.split())
    return [(name, of or "string") for name, _, of in pairs]


def sized(n_bytes: float) -> str:
    """Return bytes as text, in powers of ten: `17 bytes`, `2.8 MB`, `1.1 GB`, `5,344 GB`."""
    value, unit = float(n_bytes), "bytes"
    for larger in ("kB", "MB", "GB"):
        if value < 999.5:
            break
        value, unit = value / 1000, larger
    digits = 1 if unit in ("MB", "GB") and value < 99.95 else 0
    return f"{value:,.{digits}f} {unit}"
