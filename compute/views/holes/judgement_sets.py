"""Two judgement sets side by side: does the ranking depend on the assessors?"""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pandas import DataFrame

from compute.base.bounded_cache import remembered
from compute.base.errors import WrongInput
from compute.base.words import counted
from compute.evaluate import measures, significance
from compute.evaluate.sign_flips import LEVEL
from compute.evaluate.tolerance import SHOWN, above, ranks
from compute.judgements import sets
from compute.views.holes.view import OF_SETS
from compute.views.leaderboard.rank_correlation import Agreement, agreement
from compute.views.page import Column, Note, Table
from compute.views.shared import theme as looks

Values = NDArray[np.float64]


@dataclass(frozen=True)
class Comparison:
    """Leaderboards of the same systems on the same queries, by a left and a right set."""

    measure: str
    means: DataFrame
    """From `means`."""
    pairs: DataFrame
    """From `pairs`."""

    @property
    def n_queries(self) -> int:
        """Number of queries that both sets evaluate for every system."""
        return int(self.means["n_queries"].iloc[0])

    @property
    def agreement(self) -> Agreement | None:
        """Agreement of the rankings, with the left one as the reference; None for two systems."""
        sign = measures.better(self.measure)
        boards = (
            dict(zip(self.means["system"], sign * self.means[side], strict=True))
            for side in ("left", "right")
        )
        return agreement(*boards)

    def counts(self) -> Mapping[str, int]:
        """Count pairs by outcome: order_flips; only_left and only_right (significant by only one
        set); turned (significant by both sets, in opposite directions)."""
        rows = self.pairs
        left, right = rows["left_significant"], rows["right_significant"]
        return {
            "order_flips": int(rows["flips"].sum()),
            "only_left": int((left & ~right).sum()),
            "only_right": int((right & ~left).sum()),
            "turned": int((left & right & rows["flips"]).sum()),
        }

    def turned(self) -> DataFrame:
        """Return the rows of `pairs` whose order or significance differs, order flips first."""
        rows = self.pairs
        other = rows["flips"] | (rows["left_significant"] != rows["right_significant"])
        return rows[other].sort_values("flips", ascending=False, kind="stable", ignore_index=True)


def compared(left: DataFrame, right: DataFrame, measure: str) -> Comparison:
    """Compare the systems of a dataset by two sets. `left`, `right`: system, query_id, value, as
    from `reading.judgement_sets.values`. Raises WrongInput as `means` does."""
    return Comparison(measure, means(left, right), pairs(left, right))


def means(left: DataFrame, right: DataFrame) -> DataFrame:
    """Return each set's mean over the queries that both evaluate: system, left, right, n_queries.
    Raises WrongInput if fewer than two systems or queries are left."""
    names, one, other = _both(left, right)
    found = {"system": names, "left": one.mean(axis=1), "right": other.mean(axis=1)}
    return DataFrame(found).assign(n_queries=one.shape[1])


@remembered
def pairs(left: DataFrame, right: DataFrame) -> DataFrame:
    """Return a row for each pair of systems: system, other, left, right (mean difference), left_p,
    right_p (randomisation, maxT over all pairs: `significance.pairs`), flips (the order flips),
    left_significant, right_significant. A pair whose difference is below SHOWN by either set does
    not flip. Raises WrongInput as `means` does."""
    names, *both = _both(left, right)
    tested = [significance.pairs(values, resamples=0) for values in both]
    first, second = (tested[0][side].to_numpy() for side in ("a", "b"))
    leads = [values.mean(axis=1)[first] - values.mean(axis=1)[second] for values in both]
    signs = [np.sign(lead) * ~above(SHOWN, np.abs(lead)) for lead in leads]
    named = np.array(names, object)
    told: dict[str, object] = {"system": named[first], "other": named[second]}
    sides = dict(zip(("left", "right"), tested, strict=True))
    told |= {side: found["difference"] for side, found in sides.items()}
    told |= {f"{side}_p": found["p_adjusted"] for side, found in sides.items()}
    told |= {"flips": signs[0] * signs[1] < 0}
    told |= {f"{side}_significant": f["p_adjusted"] <= LEVEL for side, f in sides.items()}
    return DataFrame(told)


def _both(left: DataFrame, right: DataFrame) -> tuple[list[str], Values, Values]:
    """Return the systems that both sets score, and their values (systems x queries) by each set."""
    names = sorted(set(left["system"]) & set(right["system"]))
    tables = [
        rows.pivot(index="query_id", columns="system", values="value").reindex(columns=names)
        for rows in (left, right)
    ]
    one, other = (table.dropna() for table in tables)
    shared = one.index.intersection(other.index)
    if len(names) < 2 or len(shared) < 2:
        raise WrongInput(
            f"both sets score only {counted(len(names), 'system')} on"
            f" {counted(len(shared), 'query')}: at least two of each are needed"
        )
    left_values, right_values = (table.loc[shared].to_numpy(np.float64).T for table in (one, other))
    return names, left_values, right_values


def title(name: str) -> str:
    """Return the label of a set, such as `Machine gpt` for `machine:gpt`."""
    kind, _, of = name.partition(":")
    if name == sets.ADDED:
        return "Official + added"
    return f"{kind.capitalize()} {of}".strip()


COLUMNS = (
    Column("Set", "set"),
    Column("Pairs", "n_pairs"),
    Column("Queries", "n_queries"),
    Column("Relevant", "n_relevant"),
    Column("Pairs by grade", "grades"),
    Column("Made from", "made_from"),
)
"""Columns of the table of a dataset's sets."""
LISTED = Note(
    [
        "Each set by itself, and official + added.",
        "A set evaluates only queries that it has judged; its unjudged documents count as not"
        " relevant.",
    ]
)
"""Note below the table of sets."""
TURNED = Note(["Significant: randomisation test under each set, 5% for all pairs together (maxT)."])
"""Note below `turned_table`."""


def verdict(found: Comparison, names: Sequence[str]) -> str:
    """State the differences between two judgement sets; `names`: their titles."""
    of, told = found.agreement, found.counts()
    left, right = names
    pairs = counted(len(found.pairs), "pair")
    said = f"The order of {told['order_flips']:,} of {pairs} of systems flips"
    if of is not None:
        said += (
            f"; Kendall's τ = {looks.plain(of.tau, 2)}, τ-AP with {left} as the reference"
            f" {looks.plain(of.tau_ap, 2)}, with {right} {looks.plain(of.tau_ap_back, 2)}"
        )
    turned = f"; under both, in opposite directions: {told['turned']:,}" * bool(told["turned"])
    return (
        f"{said}. Significant only under {left}: {told['only_left']:,}; only under {right}:"
        f" {told['only_right']:,}{turned}."
    )


def ranked(found: Comparison) -> DataFrame:
    """Add left_rank and right_rank (1 is best) to the means, the best on the left first."""
    sign, rows = measures.better(found.measure), found.means.copy()
    for side in ("left", "right"):
        rows[f"{side}_rank"] = ranks(sign * rows[side]).astype(int)
    return rows.sort_values(["left_rank", "right_rank", "system"], ignore_index=True)


def board_table(rows: DataFrame, names: Sequence[str], title: str) -> Table:
    """Return both leaderboards as a table; `rows`: from `ranked`, with title."""
    columns = [Column("System", "title")]
    for side, name in zip(("left", "right"), names, strict=True):
        columns.append(Column(name, side, looks.plain))
        columns.append(Column(f"Rank by {name}", f"{side}_rank"))
    return Table("set-boards", title, rows, columns, of=OF_SETS)


def board_note(found: Comparison) -> Note:
    """State the basis of both leaderboards, and how to read the figure."""
    n = len(found.means)
    return Note(
        [
            f"{found.measure} of {n} systems over {found.n_queries:,} queries that both sets"
            " evaluate.",
            "τ: 1 is the same order, −1 the reverse, 0 no association; τ-AP is top-weighted.",
        ]
    )


def turned_table(rows: DataFrame, names: Sequence[str], titles: Mapping[str, str]) -> Table:
    """Return the pairs with a different result as a table; `rows`: from `Comparison.turned`."""
    told = rows.assign(system=rows["system"].map(titles), other=rows["other"].map(titles))
    told["turns"] = [_what(row, names) for row in rows.to_dict("records")]
    columns = [Column("System", "system"), Column("Other", "other"), Column("Change", "turns")]
    for side, name in zip(("left", "right"), names, strict=True):
        columns.append(Column(f"Difference by {name}", side, looks.signed))
        columns.append(Column(f"p by {name}", f"{side}_p", _p))
    title = f"System pairs with a different result by {names[0]} and by {names[1]}"
    return Table("set-pairs", title, told, columns, of=OF_SETS)


def _p(value: float) -> str:
    return "< .001" if value < 0.001 else looks.plain(value)


def _what(row: Mapping[Hashable, Any], names: Sequence[str]) -> str:
    """Say in what the results of a pair differ: order, significance."""
    said = ["order"] * bool(row["flips"])
    sides = [bool(row[f"{side}_significant"]) for side in ("left", "right")]
    if sides[0] != sides[1]:
        said.append(f"significant only under {names[sides.index(True)]}")
    elif all(sides):
        said.append("significant under both")
    return ", ".join(said)


def grade_line(grades: DataFrame, names: Sequence[str]) -> str:
    """State how many pairs both sets judged, and how many grades agree; `grades`: from
    `reading.judgement_sets.grades`."""
    both = grades.dropna()
    if both.empty:
        return f"Nothing to compare: no pair is judged by both {names[0]} and {names[1]}."
    same = float((both["left"] == both["right"]).mean())
    n_left, n_right = (int(grades[side].notna().sum()) for side in ("left", "right"))
    return (
        f"{names[0]} judged {counted(n_left, 'pair')}, {names[1]} {n_right:,}; of"
        f" {len(both):,} that both judged, {same:.0%} have the same grade."
    )


def differing(grades: DataFrame) -> DataFrame:
    """Return the pairs that both sets graded, but differently; the largest difference first."""
    both = grades.dropna()
    apart = (both["left"] - both["right"]).abs()
    rows = both.assign(apart=apart)[apart > 0]
    keys = ["apart", "query_id", "doc_id"]
    rows = rows.sort_values(keys, ascending=[False, True, True], ignore_index=True)
    return rows.drop(columns="apart")


def of_pair(found: DataFrame) -> str:
    """State a pair's grade in every set; `found`: set, relevance."""
    return " · ".join(
        f"{title(row['set'])}: {row['relevance']}" for row in found.to_dict("records")
    )
