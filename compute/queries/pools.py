"""What the pool sections of the Holes page read. Judgements are those of the cursor."""

from collections.abc import Sequence

from duckdb import DuckDBPyConnection
from pandas import DataFrame

from compute import holes, measures, pools


def left_out(
    cursor: DuckDBPyConnection, dataset: str, systems: Sequence[str], measure: str
) -> DataFrame:
    """Each system scored without the judgements it alone brought, as `pools.leave_one_out`."""
    judgements = cursor.execute(
        "select query_id, doc_id, relevance from judgements where dataset = ?", [dataset]
    ).df()
    lists = _lists(cursor, dataset, systems, measure, judgements)
    return pools.leave_one_out(lists, measure)


def gains(
    cursor: DuckDBPyConnection, dataset: str, systems: Sequence[str], measure: str
) -> DataFrame:
    """What the cursor's added judgements do to each system, as `pools.gains`."""
    official = cursor.execute(
        "select query_id, doc_id, relevance from main.judgements where dataset = ?", [dataset]
    ).df()
    added = cursor.execute(
        "select query_id, doc_id, relevance from judgements where dataset = ?", [dataset]
    ).df()
    before, after = (
        _lists(cursor, dataset, systems, measure, given) for given in (official, added)
    )
    return pools.gains(before, after, measure)


def _lists(
    cursor: DuckDBPyConnection,
    dataset: str,
    systems: Sequence[str],
    measure: str,
    judgements: DataFrame,
) -> holes.Lists:
    k = measures.parse(measure).k or 10
    chosen = {"dataset": dataset, "systems": list(systems), "k": k}
    # The extract holds ten ranks and is read many times faster.
    top = cursor.execute(_TOP if k <= 10 else _DEEP, chosen).df()
    return holes.arrange(top, judgements, k, systems)


_TOP = """
select system, query_id, doc_id, rank from top
where dataset = $dataset and rank <= $k and system in (select unnest($systems))
"""
_DEEP = """
select system, query_id, doc_id, rank from hits
where dataset = $dataset and rank <= $k and system in (select unnest($systems))
"""
