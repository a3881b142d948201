"""What the pool sections of the Holes page read. Judgements are those of the cursor."""

from collections.abc import Sequence

from duckdb import DuckDBPyConnection
from pandas import DataFrame

from compute.evaluate import pools
from compute.reading.dependencies import about_datasets
from compute.views.holes.select import _cut
from compute.views.shared.lists import held


@about_datasets
def left_out(
    cursor: DuckDBPyConnection, dataset: str, systems: Sequence[str], measure: str
) -> DataFrame:
    """Each system scored without the judgements it alone brought, as `pools.leave_one_out`."""
    return pools.leave_one_out(held(cursor, dataset, systems, _cut(measure)), measure)


@about_datasets
def gains(
    cursor: DuckDBPyConnection, dataset: str, systems: Sequence[str], measure: str
) -> DataFrame:
    """What the cursor's added judgements do to each system, as `pools.gains`."""
    before = held(cursor, dataset, systems, _cut(measure), official=True)
    return pools.gains(before, held(cursor, dataset, systems, _cut(measure)), measure)
