"""SELECTs of the Leaderboard, some of which other pages share. `scores` and `means` are tables of a
reading (`reading.database`, `reading.means`); where added judgements count, `reading.overlay.views`
has views of the same names."""

from compute.datasets.published import IMPORTED
from compute.reading.means import SPREADS
from compute.reading.questions import select


@select()
def families() -> str:
    """Select family, n_printed, n_run: numbers of systems with published scores and with runs."""
    return """
        select family,
            count(*) filter (where name in (select system from published)) as n_printed,
            count(*) filter (where name in (select system from means)) as n_run
        from systems group by family order by family
    """


@select()
def published_tables() -> str:
    """Select source and measure of the published tables, a row per measure of a table."""
    return f"""
        select distinct source, measure from published
        where measure like '%@%' or starts_with(source, '{IMPORTED}')
        order by source, measure
    """


@select(shows="tables in print")
def published(source: str, measure: str) -> str:
    """Select dataset, system, value, in_domain, suspect and note from a published table."""
    return """
        select dataset, system, value, in_domain, suspect, note
        from published where source = $source and measure = $measure
    """


@select(shows="tables in print")
def printed_of(measure: str) -> str:
    """Select source, dataset, system, value and suspect by a measure from all published tables."""
    return """
        select source, dataset, system, value, suspect
        from published where measure = $measure order by source, dataset, system
    """


@select()
def measures() -> str:
    """Select the measures of stored runs."""
    return "select distinct measure from means order by measure"


@select(shows="runs")
def means(measure: str) -> str:
    """Select dataset, system, value, value_returned, n_queries and n_unanswered of stored runs, and
    runs and spread, which are null for systems with a single run."""
    return f"""
        select dataset, system, value, value_returned, n_queries, n_unanswered, runs, spread
        from means left join ({SPREADS}) using (dataset, system)
        where measure = $measure order by dataset, system
    """


@select(shows="runs")
def holes() -> str:
    """Select dataset, system and hole (the mean Hole@10, 0 to 1) of stored runs."""
    return """
        select dataset, system, value as hole from means where measure = 'Hole@10'
        order by dataset, system
    """
