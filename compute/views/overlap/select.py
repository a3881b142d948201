"""Questions about corpus similarity; `dataset` means a corpus, shared by splits. The table
`overlap` has the rows of the parts that `corpora.overlap.comparing.compare` stores."""

import re

from duckdb import DuckDBPyConnection
from pandas import DataFrame

from compute.corpora.overlap.tokens import UNITS
from compute.corpora.stop_words import STOP_WORDS
from compute.datasets import published
from compute.reading.questions import question, select

CANDIDATES = 20_000
"""Most frequent words of each corpus among which the informative ones are chosen."""


@select(shows="datasets")
def similarities(unit: str, floor: float) -> str:
    """Select dataset, other and similarity of every stored pair once, with dataset < other. `unit`
    is a name of UNITS, `floor` one of FLOORS. Only pairs whose counts have not changed since the
    comparison are included."""
    return f"""
        with counts as (
            select dataset, fingerprint from parts where kind = '{UNITS[unit].kind}'
        )
        select least(o.dataset, o.other) as dataset, greatest(o.dataset, o.other) as other,
               any_value(similarity) as similarity
        from overlap as o
        join counts as one on one.dataset = o.dataset and one.fingerprint = o.fingerprint
        join counts as two on two.dataset = o.other and two.fingerprint = o.other_fingerprint
        where unit = $unit and floor = $floor
        group by all order by all
    """


@question(shows="tables in print")
def in_print(cursor: DuckDBPyConnection, source: str) -> DataFrame:
    """Return dataset, other, similarity of `published.overlap`, the only `source` there is."""
    return published.overlap()


@select(shows="datasets")
def vocabularies() -> str:
    """Select a row per collection and unit: dataset, title, domain, task, n_documents, unit,
    n_terms, n_tokens, cut, shipped. n_terms and n_tokens (different words, all words) are of the
    whole corpus; shipped counts only contain terms with a share above `cut`."""
    return """
        with counts as (
            select dataset, shipped, provenance, unnest(json_keys(provenance, '$.units')) as unit
            from parts where kind in ('ngrams', 'wordpieces')
        ), known as (
            select collection as dataset,
                   arg_min(struct_pack(title, domain, task), name != collection) as about
            from datasets group by collection
        )
        select dataset, coalesce(about.title, dataset) as title, about.domain, about.task,
               (provenance ->> '$.documents')::bigint as n_documents, unit,
               (provenance -> '$.units' -> unit ->> 'terms')::bigint as n_terms,
               (provenance -> '$.units' -> unit ->> 'tokens')::bigint as n_tokens,
               coalesce((provenance -> '$.units' -> unit ->> 'cut')::double, 0) as cut, shipped
        from counts left join known using (dataset)
        order by dataset, unit
    """


@question(datasets=("dataset", "other"), shows="datasets")
def words_of_pair(
    cursor: DuckDBPyConnection,
    dataset: str,
    other: str,
    unit: str,
    limit: int = 15,
    function_words: bool = True,
) -> DataFrame:
    """Return the words that two corpora share most and least: term, share, other_share (of all
    words of a corpus), side.

    `side` is `both` for the words whose smaller share is largest, and `dataset` or `other` for the
    words more frequent in that corpus that add most to the Jensen-Shannon divergence of the two
    (Lin 1991), s ln(s/m) + t ln(t/m) with m the mean of the shares s and t; a plain difference
    would list function words. Each side has `limit` rows, the most informative first. In shipped
    counts a share below the cut reads 0. Without `function_words`, terms that contain one of
    STOP_WORDS are left out; shares are still of all words.
    """
    return cursor.execute(
        _WORDS_OF_PAIR,
        {
            "kind": UNITS[unit].kind,
            "n": UNITS[unit].n,
            "unit": unit,
            "dataset": dataset,
            "other": other,
            "candidates": CANDIDATES,
            "limit": limit,
            "left_out": _NONE if function_words else _FUNCTION_WORDS,
        },
    ).df()


_NONE = "$^"
"""Pattern that matches no term."""
# The pattern is fifteen times as fast as splitting terms and looking their words up in a list.
_FUNCTION_WORDS = f"(^| )({'|'.join(map(re.escape, sorted(STOP_WORDS)))})( |$)"


# Only the most frequent words of each corpus are considered, with their share in the other corpus.
_WORDS_OF_PAIR = """
    with totals as (
        select dataset, (provenance -> '$.units' -> $unit ->> 'tokens')::bigint as tokens
        from parts where kind = $kind and dataset in ($dataset, $other)
    ), words as not materialized (
        select dataset, term, count from ngrams
        where $kind = 'ngrams' and n = $n and dataset in ($dataset, $other)
        union all
        select dataset, term, count from wordpieces
        where $kind = 'wordpieces' and n = $n and dataset in ($dataset, $other)
    ), candidates as materialized (
        (select term from words
         where dataset = $dataset and not regexp_matches(term, $left_out)
         order by count desc limit $candidates)
        union
        (select term from words
         where dataset = $other and not regexp_matches(term, $left_out)
         order by count desc limit $candidates)
    ), shares as (
        select term,
               coalesce(sum(count / tokens) filter (where dataset = $dataset), 0) as share,
               coalesce(sum(count / tokens) filter (where dataset = $other), 0) as other_share
        from words join totals using (dataset)
        where term in (from candidates)
        group by term
    ), parting as (
        select *, (share + other_share) / 2 as mean,
               if(share > 0, share * ln(share / mean), 0)
               + if(other_share > 0, other_share * ln(other_share / mean), 0) as apart
        from shares
    ), sides as (
        select term, share, other_share, 'both' as side, least(share, other_share) as telling
        from shares
        union all
        select term, share, other_share, 'dataset', if(share > other_share, apart, 0) from parting
        union all
        select term, share, other_share, 'other', if(other_share > share, apart, 0) from parting
    )
    select term, share, other_share, side
    from sides
    where telling > 0
    qualify row_number() over (partition by side order by telling desc, term) <= $limit
    order by side, telling desc, term
"""
