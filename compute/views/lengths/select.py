"""SELECTs of the Lengths page: exact quantiles and means of measured lengths. A dataset of parts
has the documents and queries of all its parts; it has a run if every part has one. `cut` is the
length to which longer documents are truncated; None truncates none."""

from collections.abc import Sequence

from duckdb import DuckDBPyConnection
from pandas import DataFrame

from compute.evaluate.significance import median_interval
from compute.reading import length_counts
from compute.reading.questions import question, select


@select()
def catalogue() -> str:
    """Select dataset, title, is_counted, has_documents (their lengths are known), n_runs, n_counted
    (runs with counted lengths), n_left_out (their hits that are not in the corpus), counted
    datasets first."""
    return """
        with members as (
            select rowid as place, name, title, unnest(if(len(parts) > 0, parts, [name])) as member
            from datasets
        ), documented as (
            select name as member from datasets
            where collection in (select dataset from parts where kind = 'lengths')
        )
        select name as dataset, title,
               count(*) filter (where kind = 'length_counts' and system = '') > 0 as is_counted,
               bool_or(member in (select member from documented)) as has_documents,
               count(*) filter (where kind = 'top') as n_runs,
               count(*) filter (where kind = 'length_counts' and system <> '') as n_counted,
               coalesce(sum((provenance->>'$.hits_without_length')::bigint), 0)::bigint
                   as n_left_out
        from members left join parts on member = dataset
        group by place, name, title
        order by is_counted desc, place
    """


_GROUPED = """
with complete as (
    select system from parts
    where kind = 'length_counts' and list_contains($datasets, dataset)
    group by system having count(*) = len($datasets)
), wanted as (
    select "of", level, system, least(n_words, coalesce($cut, n_words)) as n_words, count
    from length_counts semi join complete using (system)
    where list_contains($datasets, dataset) and ("of" <> 'top' or level <= $k)
), labelled as (
    select "of", if("of" = 'judged', level::varchar, '') as relevance, system, n_words, count
    from wanted
    union all
    select 'relevant', '', system, n_words, count from wanted where "of" = 'judged' and level > 0
), grouped as (
    select "of", relevance, system, n_words, sum(count)::bigint as count from labelled group by all
)
"""


@select(datasets=("datasets",), shows="runs")
def histogram(datasets: Sequence[str], k: int, cut: int | None = None) -> str:
    """Select of, relevance, system, n_words, count: the number of documents (or queries) of each
    length. `of` is corpus, queries, relevant (judged above 0), judged (with the grade as text in
    `relevance`, which is else empty) or top (the top k of every query, by system)."""
    return _GROUPED + 'select * from grouped order by "of", relevance, system, n_words'


_SUMMARIES = """
, running as (
    select *, sum(count) over (reach rows unbounded preceding) as upto,
           sum(count) over (partition by "of", relevance, system) as n
    from grouped
    window reach as (partition by "of", relevance, system order by n_words)
), placed as (
    -- Position of a quantile among the n sorted lengths, from 0; a fraction lies between two.
    select "of", relevance, system, n_words, count, upto, n, q, (n - 1) * q as place
    from running, (select unnest([0.05, 0.25, 0.5, 0.75, 0.95]) as q)
), quantiles as (
    select "of", relevance, system, q, any_value(n)::bigint as n, max(n_words) as longest,
           sum(n_words * count) / any_value(n) as mean,
           min(n_words) filter (where upto > floor(place)) as low,
           min(n_words) filter (where upto > ceil(place)) as high,
           any_value(place - floor(place)) as share
    from placed group by "of", relevance, system, q
)
select "of", relevance, system, any_value(n) as n, any_value(mean) as mean,
       any_value(low + share * (high - low)) filter (where q = 0.05) as p5,
       any_value(low + share * (high - low)) filter (where q = 0.25) as p25,
       any_value(low + share * (high - low)) filter (where q = 0.5) as p50,
       any_value(low + share * (high - low)) filter (where q = 0.75) as p75,
       any_value(low + share * (high - low)) filter (where q = 0.95) as p95,
       any_value(longest) as longest
from quantiles group by "of", relevance, system
order by "of", relevance, system
"""


@select(datasets=("datasets",), shows="runs")
def summaries(datasets: Sequence[str], k: int, cut: int | None = None) -> str:
    """Select of, relevance, system, n, mean, p5, p25, p50, p75, p95, longest: a row per group, with
    groups as in `histogram`. Quantiles interpolate between the two nearest lengths, as in NumPy."""
    return _GROUPED + _SUMMARIES


_SHOWN = """
with members as (
    select rowid as place, name as dataset, title, greatest(len(parts), 1) as n_members,
           unnest(if(len(parts) > 0, parts, [name])) as member
    from datasets
), counted as (
    select dataset as member, system from parts where kind = 'length_counts'
), complete as (
    select dataset, any_value(title) as title, any_value(place) as place, system,
           list(member order by member) as members
    from members join counted using (member)
    group by dataset, system, n_members having count(*) = n_members
)
select dataset, any_value(title) as title, any_value(members) as members,
       list(system order by system) as systems
from complete
where ($dataset is not null or dataset not in (
        select member from members semi join complete using (dataset)
        where member <> dataset))
  and dataset = coalesce($dataset, dataset)
  and (system = '' or system = coalesce($system, system))
group by dataset, place order by place
"""
_COLUMNS = ["dataset", "title", "of", "system", "n", "mean", "median"]


@question(datasets=("dataset",), systems=("system",), shows="runs")
def medians(
    cursor: DuckDBPyConnection,
    k: int,
    cut: int | None = None,
    dataset: str | None = None,
    system: str | None = None,
) -> DataFrame:
    """Return dataset, title, of (corpus, relevant or top), system, n, mean, median; only of
    `dataset` and `system` if given. Parts of a dataset have their own rows only until all are
    counted, or if one is requested. Raises ValueError for a k that is not from 1 to 10."""
    shown = cursor.execute(_SHOWN, {"dataset": dataset, "system": system}).fetchall()
    runs = length_counts.runs(cursor)
    rows = []
    for name, title, members, systems in shown:
        own = [runs[member] for member in members if member in runs]
        middles = length_counts.middles(length_counts.together(own, systems, k), cut)
        rows += [
            (name, title, length_counts.GROUPS[row.group], systems[row.system], *row[2:])
            for row in middles
        ]
    found = DataFrame(rows, columns=_COLUMNS)
    found["place"] = found["dataset"].map({name: i for i, (name, *_) in enumerate(shown)})
    return found.sort_values(["place", "of", "system"], ignore_index=True)[_COLUMNS]


_COLLECTIONS = "select distinct collection from datasets where list_contains($datasets, name)"
_RETRIEVED = """
with rooted as (
    select name as dataset, collection from datasets
    where name in (select unnest($datasets))
), hits as (
    select dataset, collection, query_id, system, doc_id
    from top join rooted using (dataset)
    where list_contains($datasets, dataset) and list_contains($systems, system) and rank <= $k
), retrieved as (
    select hits.dataset, query_id, system, least(n_words, coalesce($cut, n_words)) as n_words
    from hits join lengths on collection = lengths.dataset and hits.doc_id = lengths.doc_id
    where list_contains($collections, lengths.dataset)
)
"""


def _retrieved(
    cursor: DuckDBPyConnection,
    wanted: str,
    datasets: Sequence[str],
    systems: Sequence[str],
    k: int,
    cut: int | None,
) -> DataFrame:
    """Return the rows of `wanted`, a SELECT from `retrieved`: the first k hits of known length."""
    asked = {"datasets": list(datasets)}
    # The collections are a list, not a join, so that only their files are opened.
    collections = [name for (name,) in cursor.execute(_COLLECTIONS, asked).fetchall()]
    asked |= {"collections": collections, "systems": list(systems)}
    return cursor.execute(_RETRIEVED + wanted, asked | {"k": k, "cut": cut}).df()


@question(datasets=("datasets",), systems=("a", "b"), shows="runs")
def head_to_head(
    cursor: DuckDBPyConnection,
    datasets: Sequence[str],
    a: str,
    b: str,
    k: int,
    cut: int | None = None,
) -> DataFrame:
    """Return the median length of the first k hits of two systems: dataset, query_id, words_a,
    words_b. Queries are included if both systems return documents of known length."""
    medians = """
        , medians as (
            select dataset, query_id, system, median(n_words) as words from retrieved group by all
        )
        select dataset, query_id, one.words as words_a, other.words as words_b
        from medians as one join medians as other using (dataset, query_id)
        where one.system = $systems[1] and other.system = $systems[2]
        order by dataset, query_id
    """
    return _retrieved(cursor, medians, datasets, (a, b), k, cut)


@question(datasets=("dataset",), systems=("system",), shows="runs")
def intervals(
    cursor: DuckDBPyConnection,
    k: int,
    cut: int | None = None,
    dataset: str | None = None,
    system: str | None = None,
) -> DataFrame:
    """Return dataset, system, low, high: the 95% interval of each system's median from `medians`.
    The bootstrap is over queries; the interval is absent if fewer than two are answered."""
    numbered = """
        select system, n_words, dense_rank() over (order by dataset, query_id) as query
        from retrieved
    """
    shown = cursor.execute(_SHOWN, {"dataset": dataset, "system": system}).fetchall()
    rows: list[tuple[str, str, float, float]] = []
    for name, _, members, systems in shown:
        found = _retrieved(cursor, numbered, members, systems, k, cut)
        for one, own in found.groupby("system"):
            ends = median_interval(own["query"].to_numpy(), own["n_words"].to_numpy())
            rows.append((name, str(one), *ends))
    return DataFrame(rows, columns=["dataset", "system", "low", "high"])


_AVERAGES = """
with members as (
    select rowid as place, name, unnest(if(len(parts) > 0, parts, [name])) as member
    from datasets
), sums as (
    select dataset as member, "of", sum(count) as n, sum(n_words * count) as words
    from length_counts where "of" in ('corpus', 'queries') group by dataset, "of"
), asked as (
    select dataset as member,
           (provenance->>'$.queries_of_all_splits.queries')::bigint as n,
           (provenance->>'$.queries_of_all_splits.words')::double as words
    from parts where kind = 'queries'
), empty as (
    select dataset as member, (provenance->>'$.empty_texts')::bigint as n
    from parts where kind = 'length_counts' and system = ''
), counted as (
    select name, any_value(place) as place,
           sum(corpus.n)::bigint as n_documents,
           sum(corpus.words) / sum(corpus.n) as document_words,
           if(count(empty.n) = count(*), sum(empty.n)::bigint, null) as empty_texts,
           sum(queries.words) / sum(queries.n) as query_words,
           sum(asked.n * asked.words) / sum(asked.n) as all_query_words
    from members
    join sums as corpus on members.member = corpus.member and corpus."of" = 'corpus'
    left join sums as queries
      on members.member = queries.member and queries."of" = 'queries'
    left join asked on members.member = asked.member
    left join empty on members.member = empty.member
    group by name
)
select name as dataset, title, counted.* exclude (name, place),
       datasets.document_words as printed_document_words,
       datasets.query_words as printed_query_words
from counted join datasets using (name)

order by place
"""


@select(shows="datasets")
def averages() -> str:
    """Select published and counted mean lengths in words, a row per counted dataset: dataset,
    title, n_documents, document_words, empty_texts (documents with at most a title; null if only
    lengths are stored), query_words (of the split), all_query_words (of all splits of the
    collection), printed_document_words, printed_query_words."""
    return _AVERAGES
