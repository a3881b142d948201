"""Conversion of grades, which files contain as decimals, fractions or words, to whole numbers."""

import math
from collections.abc import Callable, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from compute.base.errors import WrongInput
from compute.base.words import shown
from compute.datasets.records import WHOLE
from compute.datasets.trec import FRACTIONS

_WORDS = (
    "irrelevant|not relevant|non relevant|nonrelevant|none|no|false|bad",
    "partial|partially relevant|partly relevant|somewhat relevant|marginal|complement|fair",
    "substitute",
    "relevant|yes|true|good|fully relevant",
    "highly relevant|exact|excellent|perfect|perfectly relevant",
)
"""Words for grades, in ascending order. Those in a file are numbered from 1; the first row is 0."""
_ORDER = {word: place for place, words in enumerate(_WORDS) for word in words.split("|")}
_MOST = 2**31


def graded(
    given: pa.ChunkedArray,
    lines: pa.ChunkedArray,
    where: Callable[[int], str],
    levels: Sequence[float] = (),
    rounded: bool = False,
    *,
    nulls: bool = False,
) -> tuple[pa.Array, str]:
    """Return the whole grades (int32) of a file's values, and a sentence on how they were
    converted, if they were. `levels` are the least values of grades 1, 2 …; with `rounded`,
    fractions are rounded instead. With `nulls`, absent or blank values become null. Raises
    WrongInput."""
    distinct = given.unique().cast(pa.string()).to_pylist()
    values = {text: _number(text) for text in distinct}
    mapped, told = _words([text for text, value in values.items() if value is None and _said(text)])
    values |= mapped

    def refuse(text: str | None, fault: str) -> WrongInput:
        texts = given.cast(pa.string()).to_pylist()
        line = lines[texts.index(text)].as_py()
        return WrongInput(f"{where(line)}: relevance is {shown(text or '')}, {fault}")

    for text, value in values.items():
        if value is None and not (nulls and not _said(text)):
            raise refuse(text, "not a whole number; fix the line")
        if value is not None and not -_MOST <= value < _MOST:
            raise refuse(text, "too large a number; fix the line")
    fractions = [t for t, value in values.items() if value is not None and value % 1]
    if fractions and not levels and not rounded:
        raise refuse(fractions[0], f"not a whole number ({FRACTIONS})")
    if levels and told == "" and any(values.values()):
        at = ", ".join(f"{level:g}" for level in levels)
        values = {t: None if v is None else float(reached(v, levels)) for t, v in values.items()}
        told = f"a number's grade is the number of levels ({at}) that it reaches"
    elif fractions:
        values = {t: None if v is None else float(math.floor(v + 0.5)) for t, v in values.items()}
        told = f"{len(fractions):,} fractions were rounded to grades, halves up"
    whole = pa.array([None if v is None else int(v) for v in values.values()], pa.int32())
    places = pc.call_function(
        "index_in", [given.cast(pa.string())], pc.SetLookupOptions(pa.array(distinct, pa.string()))
    )
    return whole.take(places.combine_chunks()), told


def reached(value: float, levels: Sequence[float]) -> int:
    """Return how many of the levels a value reaches. Raises WrongInput unless the levels ascend."""
    if not np.isfinite(levels).all() or (np.diff(levels) <= 0).any():
        raise WrongInput("--levels: give ascending numbers, such as 0.5,1.5,2.5")
    return int(np.searchsorted(np.array(levels), value, side="right"))


def _said(text: str | None) -> bool:
    return bool(text and text.strip())


def _number(text: str | None) -> float | None:
    """Return the number in a text; None if there is none or it is not finite."""
    if text is None:
        return None
    if found := WHOLE.fullmatch(text.strip()):
        return float(int(found[1])) if len(found[1]) < 20 else math.copysign(1e20, float(found[1]))
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def _words(texts: Sequence[str]) -> tuple[dict[str, float], str]:
    """Return the grade of each word, and a sentence on them; nothing if any word is unknown."""
    order = {text: _ORDER.get(" ".join(text.lower().replace("_", " ").split())) for text in texts}
    if not order or None in order.values():
        return {}, ""
    levels = sorted({place for place in order.values() if place})
    found = {text: float(levels.index(p) + 1 if p else 0) for text, p in order.items()}
    told = ", ".join(f"{shown(text)} is {grade:g}" for text, grade in sorted(found.items()))
    return found, f"words were read as grades: {told}"
