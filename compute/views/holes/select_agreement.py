"""How far people who judged a dataset agree, for the Holes page."""

from duckdb import DuckDBPyConnection
from pandas import DataFrame

from compute.judgements import agreement
from compute.views.annotate import select_added


def kappas(cursor: DuckDBPyConnection, dataset: str, weights: str) -> DataFrame:
    """Cohen's kappa of every two people: see `agreement.kappas`."""
    return agreement.kappas(select_added.rows(cursor, dataset), weights)


def alpha(cursor: DuckDBPyConnection, dataset: str, level: str) -> DataFrame:
    """Krippendorff's alpha of all people, one row: see `agreement.alpha`."""
    return DataFrame([agreement.alpha(select_added.rows(cursor, dataset), level)])


def disagreements(cursor: DuckDBPyConnection, dataset: str) -> DataFrame:
    """The pairs with different grades, unsettled ones first: see `agreement.disagreements`."""
    return agreement.disagreements(select_added.rows(cursor, dataset))
