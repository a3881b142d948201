"""Every SELECT of the Leaderboard, some of them shared by other pages."""

from duckdb import DuckDBPyConnection
from pandas import DataFrame

from compute.reading.questions import question


@question()
def families(cursor: DuckDBPyConnection) -> DataFrame:
    """family, n_printed, n_run: how many of its systems the papers print, and have stored runs."""
    return cursor.execute(
        """
        select family,
            count(*) filter (where name in (select system from published)) as n_printed,
            count(*) filter (where name in (select system from means)) as n_run
        from systems group by family order by family
        """
    ).df()


@question()
def published_tables(cursor: DuckDBPyConnection) -> DataFrame:
    """source, measure: which printed table holds figures of which measure."""
    return cursor.execute(
        """
        select distinct source, measure from published where measure like '%@%'
        order by source, measure
        """
    ).df()


@question(shows="tables in print")
def published(cursor: DuckDBPyConnection, source: str, measure: str) -> DataFrame:
    """dataset, system, value, in_domain, suspect, note: one printed table."""
    return cursor.execute(
        """
        select dataset, system, value, in_domain, suspect, note
        from published where source = ? and measure = ?
        """,
        [source, measure],
    ).df()


@question(shows="tables in print")
def printed_of(cursor: DuckDBPyConnection, measure: str) -> DataFrame:
    """source, dataset, system, value, suspect: what all tables print of a measure."""
    return cursor.execute(
        """
        select source, dataset, system, value, suspect
        from published where measure = ? order by source, dataset, system
        """,
        [measure],
    ).df()


@question()
def trained_pairs(cursor: DuckDBPyConnection) -> DataFrame:
    """dataset, system: what the papers mark as in-domain."""
    return cursor.execute("select distinct dataset, system from published where in_domain").df()


@question()
def measures(cursor: DuckDBPyConnection) -> DataFrame:
    """measure: those that stored runs have."""
    return cursor.execute("select distinct measure from means order by measure").df()


@question(shows="runs")
def means(cursor: DuckDBPyConnection, measure: str) -> DataFrame:
    """dataset, system, value, value_returned, n_queries, n_unanswered of stored runs."""
    return cursor.execute(
        """
        select dataset, system, value, value_returned, n_queries, n_unanswered
        from means where measure = ? order by dataset, system
        """,
        [measure],
    ).df()


@question(shows="runs")
def holes(cursor: DuckDBPyConnection) -> DataFrame:
    """dataset, system, hole: the mean Hole@10 of stored runs, 0 to 1."""
    return cursor.execute(
        """
        select dataset, system, value as hole from means where measure = 'Hole@10'
        order by dataset, system
        """
    ).df()
