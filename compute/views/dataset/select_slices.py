"""Questions about scores by query group."""

from collections.abc import Sequence

import pandas as pd
from duckdb import DuckDBPyConnection
from pandas import DataFrame, Series

from compute.base.errors import Missing
from compute.evaluate import slices
from compute.evaluate.measures import better
from compute.evaluate.tolerance import order
from compute.reading import query_families
from compute.reading.questions import question
from compute.views.shared import query_slices

COLUMNS = ["system", "label", "n_queries", "value", "low", "high"]


@question(datasets=("datasets",), shows="datasets")
def keys(cursor: DuckDBPyConnection, datasets: Sequence[str]) -> DataFrame:
    """Return key: the keys of the query groups of datasets (one, or all parts), ANSWERED last."""
    found = [*by_key(cursor, datasets)[1]]
    own = query_slices.answered(cursor, datasets)["answered"].nunique() > 1
    return DataFrame({"key": [*found, *[query_slices.ANSWERED] * own]})


@question(datasets=("datasets",), shows="runs")
def by_slice(
    cursor: DuckDBPyConnection, datasets: Sequence[str], measure: str, key: str
) -> DataFrame:
    """Return each system's mean on each query group, with Student's 95% interval: system, label,
    n_queries, value, low, high. Groups are in order, with the best system first in each. In
    datasets of parts every query counts the same. Raises Missing for a key that no query has."""
    asked, keyed = by_key(cursor, datasets, [key])
    scores = cursor.execute(
        """
        select dataset, query_id, system, value from scores
        where list_contains($datasets, dataset) and measure = $measure and value is not null
        """,
        {"datasets": list(datasets), "measure": measure},
    ).df()
    where, families = ["dataset", "query_id"], query_families.of(cursor, datasets)
    rows = scores.merge(asked[where].assign(label=keyed[key].astype(object).to_numpy()), on=where)
    found = [
        slices.means(of["value"], of["label"].tolist(), query_families.codes(of, families)).assign(
            system=system
        )
        for system, of in rows.dropna(subset=["label"]).groupby("system")
    ]
    if not found:
        return DataFrame(columns=COLUMNS)
    return _in_order(found, [str(name) for name in keyed[key].cat.categories], better(measure))


def by_key(
    cursor: DuckDBPyConnection, datasets: Sequence[str], keys: Sequence[str] = ()
) -> tuple[DataFrame, dict[str, Series]]:
    """Return the queries of datasets, and their labels by key; by ANSWERED only if it is among
    `keys`. Raises Missing if one of `keys` does not exist."""
    asked = query_slices.queries(cursor, datasets)
    given, rare = query_slices.labels(cursor, datasets), query_slices.rare_words(cursor, datasets)
    keyed = query_slices.by_key(asked, given, rare)
    if query_slices.ANSWERED in keys:
        found = asked[["dataset", "query_id"]].merge(
            query_slices.answered(cursor, datasets), on=["dataset", "query_id"], how="left"
        )["answered"]
        kinds = pd.Categorical(found, query_slices.SYSTEMS)
        keyed[query_slices.ANSWERED] = Series(kinds, index=asked.index)
    for key in keys:
        if key not in keyed:
            known = [*keyed, *[query_slices.ANSWERED] * (query_slices.ANSWERED not in keyed)]
            there = f"there are {', '.join(known)}" if keyed else "import-labels imports labels"
            raise Missing(f"{', '.join(datasets)}: no query groups by {key!r}; {there}")
    where = pd.MultiIndex.from_frame(asked[["dataset", "query_id"]])
    return asked, {key: of.set_axis(where) for key, of in keyed.items()}


def _in_order(found: list[DataFrame], labels: list[str], sign: int) -> DataFrame:
    """Sort each system's means by group, and within a group by value."""
    rows = pd.concat(found, ignore_index=True)
    rows = rows.rename(columns={"value": "label", "n": "n_queries", "mean": "value"})
    parts = []
    for label in labels:
        of = rows[rows["label"] == label]
        parts.append(of.iloc[order(sign * of["value"], of["system"])])
    return pd.concat(parts, ignore_index=True)[COLUMNS]
