"""Two systems by query group: which leads, and whether its lead is larger than elsewhere."""

from collections.abc import Iterable

from pandas import DataFrame, Series

from compute.base.bounded_cache import remembered
from compute.evaluate import slices
from compute.evaluate.measures import better
from compute.evaluate.sign_flips import LEVEL
from compute.evaluate.tolerance import above
from compute.reading import query_families
from compute.views.compare.tables import Titles, p_text
from compute.views.page import Column
from compute.views.shared.query_slices import (
    ANSWERED,
    FIRST,
    RARE,
    REASON,
    RELEVANT,
    TITLES,
    WORDS,
)
from compute.views.shared.theme import between, plain, signed

QUICK = (WORDS, RELEVANT, FIRST)
"""Keys of query groups listed before rare words."""
UNTESTED = {
    ANSWERED: "Groups made from the scores cannot be tested; Dataset shows them.",
    REASON: "Groups by reason are tested only on runs that were stored after the last reason was"
    " given; Dataset shows these groups.",
    RARE: "Grouping by rare words needs the word counts: python -m compute overlap compute.",
}
"""Reasons why a key is not offered."""


def offered(keyed: Iterable[str], *, rare: bool, seen: bool) -> list[str]:
    """Return the keys of query groups to choose from. If `seen`, reasons are left out, since the
    people who gave them saw one of the runs. `rare`: groups by rare words exist."""
    keys = [key for key in keyed if not (seen and key == REASON)]
    quick = [key for key in keys if key in QUICK]
    return [*quick, *[RARE] * rare, *(key for key in keys if key not in QUICK)]


@remembered
def contrasts(both: DataFrame, of: Series, families: DataFrame | None = None) -> DataFrame:
    """Return each query group in order: label, n, difference (A minus B), low, high, contrast, p,
    p_adjusted, from `slices.contrasts`. Queries without a group are left out. `both`: from
    `differences.valued`. `of`: the group of each query in `both`. `families`: from
    `query_families.of`."""
    known = both[of.notna()]
    codes = None if families is None else query_families.codes(known, families)
    told = of.dropna().astype(str).tolist()
    found = slices.contrasts(known["difference"], told, families=codes)
    order = [str(name) for name in of.cat.categories]
    found = found.sort_values("value", key=lambda names: names.map(order.index), ignore_index=True)
    return found.rename(columns={"value": "label", "mean": "difference"})


def verdict(rows: DataFrame, key: str, titles: Titles, measure: str) -> str:
    """Name the groups that differ significantly from the other queries."""
    key, tested = TITLES.get(key, key), rows[rows["p_adjusted"].notna()]
    if tested.empty:
        return f"No group by {key} has {slices.FEWEST} queries inside and outside, as a test needs."
    sure = tested[tested["p_adjusted"] < LEVEL]
    after = f"corrected for {len(tested)} groups" if len(tested) > 1 else "one group tested"
    if sure.empty:
        return f"By {key}, no group differs significantly from the other queries ({after})."
    told = [_said(row, titles, measure) for _, row in sure.iterrows()]
    return f"By {key}, some groups differ from the other queries ({after}): {'; '.join(told)}."


def _said(row: Series, titles: Titles, measure: str) -> str:
    """Say who leads in a group and elsewhere, with the adjusted p."""
    here = _lead(row["difference"], titles, measure)
    elsewhere = _lead(row["difference"] - row["contrast"], titles, measure)
    p = p_text(row["p_adjusted"])
    p = p if p[0] == "<" else f"= {p}"
    return f"“{row['label']}”, where {here}, elsewhere {elsewhere} (p {p})"


def _lead(difference: float, titles: Titles, measure: str) -> str:
    ahead = titles[0] if above(better(measure) * difference, 0) else titles[1]
    return f"{ahead} leads by {plain(abs(difference))}"


COLUMNS = (
    Column("Query group", "label"),
    Column("Queries", "n"),
    Column("A minus B", "difference", signed),
    Column("95% CI", ("low", "high"), between),
    Column("vs. other queries", "contrast", signed),
    Column("Adjusted p", "p_adjusted", p_text),
    Column("p", "p", p_text, in_files=True),
)
"""Columns of the table of query groups."""
