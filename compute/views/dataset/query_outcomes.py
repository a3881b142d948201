"""Outcomes of a dataset's queries over its systems, and its systems in two languages."""

import pandas as pd
from pandas import DataFrame, Series

from compute.base.words import counted
from compute.evaluate.tolerance import above, ranks

HIGH = 0.8
"""Lowest value at which a system is considered to succeed on a query."""
ALL_FAIL, ALL_SUCCEED = "all fail", "all succeed"
ALONE, APART = "single best system", "systems furthest apart"
KINDS = (APART, ALL_FAIL, ALL_SUCCEED, ALONE)
"""Groups of queries by outcome that the page offers."""


def parts_note(rows: DataFrame, n_parts: int) -> list[str]:
    """Say how `ranked` treats a dataset's parts; empty if it has none. `rows`: from `standing`."""
    if not n_parts:
        return []
    of_system = rows.groupby("system")["dataset"].nunique()
    there = rows["dataset"].nunique()
    lacking = int((of_system < there).sum())
    said = ["All parts have equal weight."]
    said += [f"Only {there} of {counted(n_parts, 'part')} have runs."] * (there < n_parts)
    without = f"Left out: {counted(lacking, 'system')} without a run on every part."
    return [*said, *[without] * (lacking > 0)]


def kind(rows: DataFrame) -> DataFrame:
    """Add all_fail, all_succeed and alone (one best system) to rows of `select_systems.queries`."""
    several = rows["n_systems"] > 1
    return rows.assign(
        all_fail=~above(rows["best"], 0),
        all_succeed=~above(HIGH, rows["worst"]),
        alone=several & above(rows["best"], rows["second"]),
    )


def of_kind(rows: DataFrame, wanted: str) -> DataFrame:
    """Return the queries in one of KINDS, the most informative first."""
    if wanted == ALL_FAIL:
        return rows[rows["all_fail"]].sort_values(
            ["n_relevant", "dataset", "query_id"], ascending=[False, True, True]
        )
    if wanted == ALL_SUCCEED:
        return rows[rows["all_succeed"]]
    lead = rows["best"] - rows["second" if wanted == ALONE else "worst"]
    shown = rows.assign(lead=ranks(lead))
    shown = shown[shown["alone"]] if wanted == ALONE else shown[shown["n_systems"] > 1]
    return shown.sort_values(["lead", "dataset", "query_id"])


def alone(rows: DataFrame) -> Series:
    """Count the queries on which each system is better than all others; largest count first."""
    return rows.loc[rows["alone"], "winner"].value_counts()


def found(places: DataFrame) -> DataFrame:
    """Return a document's ranks and judgements, a row per query, the highest ranks first: dataset,
    query_id, text, relevance, systems (number that rank it), best and middle (rank; its median),
    first (a system that ranks it highest). `places`: rows of `select_systems.ranked_at`."""
    keys = ["dataset", "query_id"]
    by_query = places.sort_values("rank", kind="stable").groupby(keys, sort=False)
    table = by_query.agg(
        text=("text", "first"),
        relevance=("relevance", "first"),
        systems=("system", "count"),
        best=("rank", "min"),
        middle=("rank", "median"),
        first=("system", "first"),
    )
    return table.reset_index().sort_values(["best", *keys], na_position="last", ignore_index=True)


def side_by_side(computed: DataFrame, printed: DataFrame, english: str, polish: str) -> DataFrame:
    """Return the systems on a dataset in two languages, those known in both first: system, title,
    printed_en, printed_pl, printed_gap (Polish minus English), here_en, here_pl, here_gap, sources.
    `computed`: dataset, system, value. `printed`: dataset, source, system, printed, value. If
    several tables list a system, one with both languages takes precedence, then the first."""
    both = printed.groupby(["source", "system"])["dataset"].transform("nunique") > 1
    chosen = printed.assign(both=both).sort_values("both", ascending=False, kind="stable")
    chosen = chosen.drop_duplicates(["dataset", "system"]).set_index("system")
    columns: dict[str, Series] = {}
    for end, dataset in (("en", english), ("pl", polish)):
        own = chosen[chosen["dataset"] == dataset]
        columns |= {f"printed_{end}": own["value"], f"source_{end}": own["source"]}
        here = computed[computed["dataset"] == dataset].set_index("system")["value"]
        columns[f"here_{end}"] = here
    table = pd.DataFrame(columns)
    names = chosen["printed"].groupby(level=0).first()
    table.insert(0, "title", names.reindex(table.index))
    known = [table[f"{of}_en"].notna() & table[f"{of}_pl"].notna() for of in ("printed", "here")]
    order = (known[0].astype(int) + known[1].astype(int)).rename("known")
    table = table.assign(known=order).sort_values("known", ascending=False, kind="stable")
    for of in ("printed", "here"):
        table[f"{of}_gap"] = table[f"{of}_pl"] - table[f"{of}_en"]
    pairs = table[["source_en", "source_pl"]].to_numpy()
    told = [dict.fromkeys(one for one in pair if isinstance(one, str)) for pair in pairs]
    table["sources"] = ["; ".join(sources) for sources in told]
    return table.drop(columns="known").rename_axis("system").reset_index()
