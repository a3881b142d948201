"""The leaderboard's cells: published, computed, or the difference. A frame of cells has dataset,
system, value, in_domain, suspect and a remark for the tooltip."""

from collections.abc import Collection, Iterable, Mapping

import pandas as pd
from pandas import DataFrame

from compute.base.bounded_cache import remembered
from compute.base.words import several
from compute.datasets.catalogue import DATASETS, counterpart
from compute.evaluate.distributions import spread_said
from compute.evaluate.measures import MEASURES
from compute.views.shared import in_domain

PUBLISHED, COMPUTED, DIFFERENCE = "Published", "Computed", "Difference"
NUMBERS = (PUBLISHED, COMPUTED, DIFFERENCE)
"""Kinds of scores on a leaderboard; the difference is computed minus published."""

MOST_NAMED = 2
"""Most measures that the title of a published table names."""


def measures(numbers: str, stored: DataFrame, tables: DataFrame, source: str) -> list[str]:
    """Return the measures available for this kind of scores, in the order of MEASURES. `stored`:
    measures of the runs. `tables`: source and measure of the published tables."""
    printed = set(tables.loc[tables["source"] == source, "measure"])
    known = {PUBLISHED: printed, COMPUTED: set(stored["measure"])}
    return in_order(known.get(numbers, printed & set(stored["measure"])))


def in_order(measures: Iterable[str]) -> list[str]:
    """Sort measures in the order of MEASURES, then by name."""
    order = {measure: place for place, measure in enumerate(MEASURES)}
    return sorted(measures, key=lambda name: (order.get(name, len(order)), name))


def table_titles(tables: DataFrame) -> dict[str, str]:
    """Return titles of the published tables by source: `BEIR v4, Table 9: R@100, R_cap@100`.
    `tables`: source and measure. At most MOST_NAMED measures are named."""
    named = tables.groupby("source", sort=False)["measure"]
    return {str(one): f"{one}: {several(in_order(own), MOST_NAMED)}" for one, own in named}


def origin(
    numbers: str, source: str, *, returned: bool = False, kind: str = "", weighted: str = ""
) -> str:
    """Say where the scores come from. `returned`: means over returned queries only. `kind`: the
    query group. `weighted`: the datasets on which queries are weighted."""
    if numbers == PUBLISHED:
        return source
    over = "returned queries only (as in BEIR's code)" if returned else "all judged queries"
    over += f" with {kind}" if kind else ""
    over += f", weighted on {weighted}; elsewhere each query counts once" if weighted else ""
    return f"Computed over {over}" + (f", minus {source}" if numbers == DIFFERENCE else "")


def cells(numbers: str, printed: DataFrame, ours: DataFrame) -> DataFrame:
    """Return the cells of this kind of scores from the published and the computed cells."""
    if numbers == PUBLISHED:
        return by_language(printed)
    return ours if numbers == COMPUTED else computed_minus_published(ours, printed)


def of_datasets(
    cells: DataFrame, datasets: DataFrame, wanted: Mapping[str, Collection[str]]
) -> DataFrame:
    """Keep the cells on datasets that have a `wanted` value in each column, if any are wanted."""
    kept = datasets
    for column, values in wanted.items():
        kept = kept[kept[column].isin(list(values))] if values else kept
    return cells[cells["dataset"].isin(kept["dataset"])] if any(wanted.values()) else cells


def of_all(cells: DataFrame) -> DataFrame:
    """Keep the cells on datasets for which every system has a value."""
    n_systems = cells.groupby("dataset")["system"].transform("nunique")
    return cells[n_systems == cells["system"].nunique()]


def by_weight(means: DataFrame, by: DataFrame) -> DataFrame:
    """Replace means of stored runs by the weighted means in `by` (from `standings.by_weight`), also
    for datasets of which `by` has all parts."""
    pairs = ["dataset", "system"]
    by = by.rename(columns={"mean": "value", "of_runs": "spread"})
    there = [of for of in DATASETS.values() if of.parts and {*of.parts} <= {*by["dataset"]}]
    whole = by["dataset"].map({part: of.name for of in there for part in of.parts})
    found = means.set_index(pairs)
    found.update(by.set_index(pairs)[["value", "spread"]])
    found.update(by.assign(dataset=whole).groupby(pairs)[["value"]].mean())
    return found.reset_index()


@remembered
def computed(means: DataFrame, holes: DataFrame, trained: DataFrame, column: str) -> DataFrame:
    """Make cells from the means of stored runs. `means`: dataset, system, value, value_returned,
    n_queries, n_unanswered; `column` names the value to use. `holes`: dataset, system, hole
    (Hole@10, 0 to 1). `trained`: dataset and system of in-domain pairs. The remark states the
    unjudged share and the unanswered queries."""
    pairs = ["dataset", "system"]
    frame = means.merge(holes, on=pairs, how="left")
    seen = in_domain.pairs(trained, frame["dataset"].unique(), frame["system"].unique())
    frame = frame.merge(seen.assign(in_domain=True), on=pairs, how="left")
    return DataFrame(
        {
            "dataset": frame["dataset"],
            "system": frame["system"],
            "value": frame[column],
            "in_domain": frame["in_domain"].eq(True),
            "suspect": False,
            "remark": _remarks(frame),
        }
    )


def _remarks(frame: DataFrame) -> list[str]:
    """Return each cell's remark: queries, unanswered ones, unjudged share, number of runs."""
    remarks = []
    of_runs = frame.reindex(columns=["runs", "spread"])
    for hole, queries, unanswered, runs, spread in zip(
        *(frame[name] for name in ("hole", "n_queries", "n_unanswered")),
        *(of_runs[name] for name in of_runs),
        strict=True,
    ):
        parts = [f"{int(queries):,} queries"]
        if pd.notna(unanswered) and unanswered:
            parts.append(f"{int(unanswered):,} of them unanswered")
        if pd.notna(hole):
            parts.append(f"{hole:.0%} of the top 10 unjudged")
        if pd.notna(runs):
            parts.append(f"mean of {int(runs)} runs, spread {spread_said(spread)}")
        remarks.append(", ".join(parts))
    return remarks


def printed(figures: DataFrame) -> DataFrame:
    """Make cells from rows of `published.results`; the table's note becomes the remark."""
    note = figures["note"].where(~figures["note"].str.startswith("lang="), "")
    return figures[["dataset", "system", "value", "in_domain", "suspect"]].assign(remark=note)


_SPOKEN = {"en": ", English", "pl": ", Polish"}


def by_language(printed: DataFrame) -> DataFrame:
    """Split a published table in two languages into one system per language, on the English
    dataset, so that no mean mixes languages. Other tables and unknown datasets stay unchanged."""
    known = printed["dataset"].isin(list(DATASETS))
    language = printed["dataset"][known].map(lambda name: DATASETS[name].language)
    if language.nunique() < 2 or not known.all():
        return printed
    english = printed["dataset"].str.replace("-pl", "")
    return printed.assign(dataset=english, system=printed["system"] + language.map(_SPOKEN))


def run_of(dataset: str, system: str) -> dict[str, str]:
    """Return the dataset and system of the run behind a cell, undoing `by_language`."""
    name, _, spoken = system.rpartition(", ")
    if f", {spoken}" not in _SPOKEN.values():
        return {"dataset": dataset, "system": system}
    return {"dataset": counterpart(dataset) if spoken == "Polish" else dataset, "system": name}


def computed_minus_published(ours: DataFrame, theirs: DataFrame) -> DataFrame:
    """Return the cells with a run and a sound published score; `value` is the difference."""
    sound = theirs.loc[~theirs["suspect"], ["dataset", "system", "value"]]
    both = ours.merge(sound, on=["dataset", "system"], suffixes=("", "_printed"))
    pairs = zip(both["value"], both["value_printed"], both["remark"], strict=True)
    return DataFrame(
        {
            "dataset": both["dataset"],
            "system": both["system"],
            "value": both["value"] - both["value_printed"],
            "in_domain": both["in_domain"],
            "suspect": False,
            "remark": [f"computed {a:.4f}, published {b:.3f}; {more}" for a, b, more in pairs],
        }
    )


def of_families(
    cells: DataFrame, systems: DataFrame, families: Collection[str], baseline: str
) -> DataFrame:
    """Keep the cells of these families (of all if none is chosen) and the baseline's."""
    if not families:
        return cells
    named = systems.loc[systems["family"].isin(list(families)), "system"]
    return cells[cells["system"].isin([*named, baseline])]


def baseline(systems: Iterable[str]) -> str | None:
    """Return the default baseline: the table's BM25, else its first system."""
    names = list(systems)
    lexical = [name for name in names if name.startswith("bm25") and "+" not in name]
    return min(lexical, key=len) if lexical else (names[0] if names else None)
