"""Query families: the label of a dataset's queries that says which queries belong together."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from duckdb import DuckDBPyConnection
from numpy.typing import NDArray
from pandas import DataFrame

from compute.reading.questions import question

_DECLARED = """
select dataset, provenance ->> '$.family' as key from parts
where kind = 'query_labels' and system = '' and list_contains($datasets, dataset)
"""
# Names are literals instead of a join, so that only these datasets' files are opened.
_FAMILIES = """
select dataset, query_id, value as family from query_labels
where list_contains($datasets, dataset) and key = $key
"""


@question(datasets=("datasets",), shows="datasets", whole=True)
def declared(cursor: DuckDBPyConnection, datasets: Sequence[str]) -> DataFrame:
    """dataset, key: the key of the labels that are families, for datasets that have families."""
    found = cursor.execute(_DECLARED, {"datasets": list(datasets)}).df()
    return found[found["key"].fillna("") != ""].reset_index(drop=True)


@question(datasets=("datasets",), shows="datasets", whole=True)
def of(cursor: DuckDBPyConnection, datasets: Sequence[str]) -> DataFrame:
    """dataset, query_id, family of queries that have one; empty if no dataset declares any."""
    asked = [DataFrame(columns=["dataset", "query_id", "family"], dtype="str")]
    for key, own in declared(cursor, datasets).groupby("key"):
        named = {"datasets": own["dataset"].tolist(), "key": key}
        asked.append(cursor.execute(_FAMILIES, named).df())
    return pd.concat(asked[1:] or asked, ignore_index=True)


def codes(queries: DataFrame, families: DataFrame) -> NDArray[np.int64] | None:
    """Number from 0 of each query's family (dataset, query_id), by rows of `of`; a query without a
    family is its own. None if none of the datasets declares families."""
    if not queries["dataset"].isin(families["dataset"]).any():
        return None
    own = queries[["dataset", "query_id"]].merge(families, "left", ["dataset", "query_id"])
    named = ("f" + own["family"]).fillna("q" + own["query_id"])
    return own.groupby(["dataset", named], sort=False).ngroup().to_numpy().astype(np.int64)
