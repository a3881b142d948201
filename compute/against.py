"""Ours against published: does a computed score agree with the printed one, and if not, why?"""

import numpy as np
from pandas import DataFrame

EQUAL, NEAR, APART, SUSPECT = "equal", "near", "differs", "print suspect"
"""Rounds to the printed digits; is within CLOSE of it; is not; the print contradicts itself."""
VERDICTS = (EQUAL, NEAR, APART, SUSPECT)
CLOSE = 0.005
NO_REASON = "No reason is known."


def table(ours: DataFrame, printed: DataFrame, reasons: DataFrame) -> DataFrame:
    """Every computed score with a printed counterpart, what differs most first.

    `ours`: dataset, system, value. `printed`: source, dataset, system, value, suspect.
    `reasons`: rows of `published.reasons`. Columns: dataset, system, source, computed, published,
    difference (computed minus published), verdict, reason (empty where they are equal).
    """
    both = ours[["dataset", "system", "value"]].merge(
        printed, on=["dataset", "system"], suffixes=("", "_printed")
    )
    gap = both["value"] - both["value_printed"]
    half = both["source"].map(_half_digits(printed)).astype(float)
    verdict = np.select(
        [both["suspect"].astype(bool), gap.abs() <= half + 1e-9, gap.abs() <= CLOSE],
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
    found["reason"] = [_reason(row, reasons) for row in found.to_dict("records")]
    order = found["difference"].abs().sort_values(ascending=False, kind="stable").index
    return found.loc[order].reset_index(drop=True)


def _half_digits(printed: DataFrame) -> dict[str, float]:
    """By source, half of the last digit that it prints: 0.0005 for three digits."""
    digits = printed["value"].map(lambda value: len(f"{value:.6f}".rstrip("0").partition(".")[2]))
    most = digits.groupby(printed["source"]).max()
    return {str(source): 0.5 / 10 ** max(int(own), 1) for source, own in most.items()}


def _reason(row: dict, reasons: DataFrame) -> str:
    if row["verdict"] == EQUAL:
        return ""
    for known in reasons.to_dict("records"):
        if (
            str(row["source"]).startswith(known["source"])
            and known["dataset"] in ("*", row["dataset"])
            and known["system"] in ("*", row["system"])
        ):
            return known["reason"]
    return "" if row["verdict"] == SUSPECT else NO_REASON


def verdict_counts(found: DataFrame) -> str:
    """`6 equal to the printed digits, 1 near, 2 differ`."""
    words = {EQUAL: "equal to the printed digits", NEAR: "within .005", APART: "further off"}
    words |= {SUSPECT: "suspect in print"}
    counts = found["verdict"].value_counts()
    return ", ".join(f"{counts[name]} {words[name]}" for name in VERDICTS if name in counts)
