"""Computed against published scores: does a score match the published one, and if not, why not?"""

from collections.abc import Sequence
from functools import partial

import numpy as np
from pandas import DataFrame

from compute.base.bounded_cache import remembered
from compute.evaluate.tolerance import above, ranks
from compute.views.page import Column
from compute.views.shared.theme import ink, palette, plain, signed

EQUAL, NEAR, APART, SUSPECT = "equal", "near", "differs", "print suspect"
"""Verdicts: equals the published digits; within CLOSE; differs more; suspect as published."""
VERDICTS = (EQUAL, NEAR, APART, SUSPECT)
CLOSE = 0.005
NO_REASON = "No reason is known."
_MARKS = {EQUAL: "✓ equal", NEAR: "≈ near", APART: "≠ differs", SUSPECT: "? suspect in print"}


@remembered
def table(ours: DataFrame, printed: DataFrame, reasons: DataFrame) -> DataFrame:
    """Return every computed score with a published counterpart, the largest difference first:
    dataset, system, source, computed, published, difference (computed minus published), verdict,
    reason (empty if they are equal or none is known). `ours`: dataset, system, value. `printed`:
    source, dataset, system, value, suspect. `reasons`: rows of `published.reasons`."""
    both = ours[["dataset", "system", "value"]].merge(
        printed, on=["dataset", "system"], suffixes=("", "_printed")
    )
    gap = both["value"] - both["value_printed"]
    digits = printed["value"].map(_digits).groupby(printed["source"])
    usual = both["source"].map({source: own.mode().max() for source, own in digits}).astype(float)
    # Two values of BEIR-PL have more digits than the rest of their table.
    half = 0.5 / 10 ** np.maximum(usual, both["value_printed"].map(_digits))
    verdict = np.select(
        [both["suspect"].astype(bool), ~above(gap.abs(), half), ~above(gap.abs(), CLOSE)],
        [SUSPECT, EQUAL, NEAR],
        APART,
    )
    found = DataFrame(
        {
            "dataset": both["dataset"],
            "system": both["system"],
            "source": both["source"],
            "computed": both["value"],
            "published": both["value_printed"],
            "difference": gap,
            "verdict": verdict,
        }
    )
    known = reasons.to_dict("records")
    found["reason"] = [_reason(row, known) for row in found.to_dict("records")]
    order = np.argsort(ranks(found["difference"].abs()), kind="stable")
    return found.iloc[order].reset_index(drop=True)


def _digits(value: float) -> int:
    """Return the number of decimals of a published value; trailing zeros are unknown."""
    return max(len(f"{value:.6f}".rstrip("0").partition(".")[2]), 1)


def _reason(row: dict, reasons: Sequence[dict]) -> str:
    """Return the likely reason for a difference; empty if the scores are equal."""
    if row["verdict"] == EQUAL:
        return ""
    for known in reasons:
        if (
            str(row["source"]).startswith(known["source"])
            and known["dataset"] in ("*", row["dataset"])
            and known["system"] in ("*", row["system"])
        ):
            return known["reason"]
    return "" if row["verdict"] == SUSPECT else NO_REASON


def verdict_counts(found: DataFrame) -> str:
    """Count the verdicts, as in `6 match the published digits, 1 are within .005, 2 differ`."""
    words = {EQUAL: "match the published digits", NEAR: "are within .005", APART: "differ"}
    words |= {SUSPECT: "are suspect in print"}
    counts = found["verdict"].value_counts()
    return ", ".join(f"{counts[name]} {words[name]}" for name in VERDICTS if name in counts)


def titled(found: DataFrame, named: tuple[DataFrame, DataFrame]) -> DataFrame:
    """Replace names by titles in a frame of `table`; `named`: titles of datasets, then systems."""
    titles = {
        column: dict(zip(names[column], names["title"], strict=True))
        for names, column in zip(named, ("dataset", "system"), strict=True)
    }
    return found.replace(titles).assign(verdict=found["verdict"].map(_MARKS))


def columns(found: DataFrame, width: int) -> list[Column]:
    """Return the columns of the table; `width` is the reason column's; verdicts are coloured."""
    fill = partial(_filled, found["verdict"].tolist())
    return [
        Column("Dataset", "dataset"),
        Column("System", "system"),
        Column("Printed in", "source"),
        Column("Computed", "computed", lambda value: plain(value, 4)),
        Column("Published", "published", plain),
        Column("Difference", "difference", lambda value: signed(value, 4), fill=fill),
        Column("Verdict", "verdict", fill=fill),
        Column("Likely reason", "reason", width=width),
    ]


def _filled(verdicts: Sequence[str], theme: str) -> list[str]:
    """Return blue for agreement and orange for disagreement as CSS; other cells have no colour."""
    shades = palette(theme).diverging
    fills = {EQUAL: shades[-3], APART: shades[2]}
    css = {name: f"background-color: {fill}; color: {ink(fill)}" for name, fill in fills.items()}
    return [css.get(verdict, "") for verdict in verdicts]
