"""Families and weights of queries: labels that say which queries of a dataset belong together, and
how much each counts."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from duckdb import DuckDBPyConnection
from numpy.typing import NDArray
from pandas import DataFrame

from compute.reading.questions import question

_DECLARED = """
select dataset, provenance ->> $role as key from parts
where kind = 'query_labels' and system = '' and list_contains($datasets, dataset)
"""
# The names are literals and not a join, so that only these datasets' files are opened.
_FAMILIES = """
select dataset, query_id, value as family from query_labels
where list_contains($datasets, dataset) and key = $key
"""


@question(datasets=("datasets",), shows="datasets", whole=True)
def declared(
    cursor: DuckDBPyConnection, datasets: Sequence[str], role: str = "family"
) -> DataFrame:
    """Return dataset, key: the key of the labels that are the families or, with the role `weight`,
    the weights. Datasets that declare none are left out."""
    found = cursor.execute(_DECLARED, {"datasets": list(datasets), "role": role}).df()
    return found[found["key"].fillna("") != ""].reset_index(drop=True)


@question(datasets=("datasets",), shows="datasets", whole=True)
def of(cursor: DuckDBPyConnection, datasets: Sequence[str], role: str = "family") -> DataFrame:
    """Return dataset, query_id, family of the queries that have one. With the role `weight`, the
    column `family` holds their weights."""
    asked = [DataFrame(columns=["dataset", "query_id", "family"], dtype="str")]
    for key, own in declared(cursor, datasets, role).groupby("key"):
        named = {"datasets": own["dataset"].tolist(), "key": key}
        asked.append(cursor.execute(_FAMILIES, named).df())
    return pd.concat(asked[1:] or asked, ignore_index=True)


def weights(
    cursor: DuckDBPyConnection, queries: DataFrame
) -> tuple[str, NDArray[np.float64]] | None:
    """Return the key of the weights of queries (dataset, query_id), and each query's share of all
    weights; datasets count equally. None if no weight is above 0, or a dataset declares none."""
    names = queries["dataset"].unique().tolist()
    keys, found = declared(cursor, names, "weight"), of(cursor, names, "weight")
    given = queries[["dataset", "query_id"]].merge(found, "left", ["dataset", "query_id"])
    weighed = given["family"].astype(float).fillna(0).groupby(given["dataset"]).transform(shares)
    some = weighed.groupby(given["dataset"]).sum() > 0
    if not names or len(keys) < len(names) or not some.all():
        return None
    return ", ".join(sorted({*keys["key"]})), weighed.to_numpy() / len(names)


def shares(weights: pd.Series) -> pd.Series:
    """Return weights as shares of their sum, even if they are too large to be added."""
    most = weights / (weights.max() or 1)
    return most / (most.sum() or 1)


def codes(queries: DataFrame, families: DataFrame) -> NDArray[np.int64] | None:
    """Return the family of each query (dataset, query_id) as a number from 0, using rows of `of`; a
    query without a family is a family of its own. None if no dataset here declares families."""
    if not queries["dataset"].isin(families["dataset"]).any():
        return None
    own = queries[["dataset", "query_id"]].merge(families, "left", ["dataset", "query_id"])
    named = ("f" + own["family"]).fillna("q" + own["query_id"])
    return own.groupby(["dataset", named], sort=False).ngroup().to_numpy().astype(np.int64)
