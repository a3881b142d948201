"""The table of computed scores beside printed ones, coloured by how well they agree."""

from collections.abc import Mapping

from pandas import DataFrame
from pandas.io.formats.style import Styler

from compute.views.leaderboard.reproduction import APART, EQUAL, NEAR, SUSPECT
from compute.views.shared.theme import ink, palette, plain, signed

_MARKS = {EQUAL: "✓ equal", NEAR: "≈ near", APART: "≠ differs", SUSPECT: "? suspect in print"}


def styled(found: DataFrame, named: tuple[DataFrame, DataFrame], theme: str) -> Styler:
    """A frame of `against.table` with titles; the columns Difference and Verdict are coloured.

    `named`: dataset and title, then system and title.
    """
    datasets, systems = (
        dict(zip(names[column], names["title"], strict=True))
        for names, column in zip(named, ("dataset", "system"), strict=True)
    )
    shown = DataFrame(
        {
            "Dataset": [datasets.get(name, name) for name in found["dataset"]],
            "System": [systems.get(name, name) for name in found["system"]],
            "Printed in": found["source"],
            "Computed": [plain(value, 4) for value in found["computed"]],
            "Published": [plain(value) for value in found["published"]],
            "Difference": [signed(value, 4) for value in found["difference"]],
            "Verdict": found["verdict"].map(_MARKS),
            "Likely reason": found["reason"],
        }
    )
    fills = _fills(theme)
    return shown.style.apply(
        lambda column: [_css(fills.get(verdict)) for verdict in found["verdict"]],
        subset=["Difference", "Verdict"],
    )


def _fills(theme: str) -> Mapping[str, str]:
    """What agrees is blue, what does not orange; the rest stays as it is."""
    look = palette(theme)
    return {EQUAL: look.diverging[-3], APART: look.diverging[2]}


def _css(fill: str | None) -> str:
    return f"background-color: {fill}; color: {ink(fill)}" if fill else ""
