"""Query groups by words, judgements or labels. All groups but BY_RESULTS can be tested."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from duckdb import DuckDBPyConnection
from pandas import DataFrame, Series

from compute.corpora.overlap.tokens import MARKED_WORD
from compute.datasets import scripts
from compute.evaluate.slices import MOST_VALUES, REASON
from compute.evaluate.tolerance import TOLERANCE
from compute.reading.questions import question, select

WORDS, RELEVANT, FIRST, RARE = "words", "relevant", "question", "vocabulary"
LANGUAGE = "language"
"""A label that a query gets from its dataset unless a file has a different one."""
ANSWERED = "answered"
"""Key of the groups by how many systems (all, some or none) find a relevant document in the top 10.
They are only descriptive: a test on queries selected by score would detect that selection."""
BY_RESULTS = {ANSWERED: "derived from the scores", REASON: "made by people who saw the results"}
"""Keys of groups that describe the results, with the reason why they do."""
TITLES = {
    WORDS: "query length",
    RELEVANT: "relevant documents",
    FIRST: "question word",
    RARE: "rare words",
    ANSWERED: "answered in the top 10 by",
}
"""Properties that group queries without labels, with titles; used if queries differ in them."""
FEWEST = 10
"""A word with at least this many occurrences in a corpus is not rare there."""
SHARES = ("none", "under half", "half or more")
"""Groups by the share of a query's distinct words that are rare in, or missing from, the corpus."""
SYSTEMS = ("none", "some", "all")
GROUPS = 5
"""Number of groups of about equal size into which a numeric property divides queries."""
QUESTIONS = ("what", "which", "who", "when", "where", "why", "how")
"""First words of English questions, each of which has its own group."""
POLAR = ("is", "are", "was", "were", "do", "does", "did", "can", "could", "should", "will", "has")
YES_OR_NO, NO_QUESTION = "yes or no", "none of these"


_COUNTED = """
select distinct collection from datasets join parts on kind = 'ngrams' and dataset = collection
where list_contains($datasets, name) order by collection
"""
_MAY_HAVE_LABELS = """
select exists (from parts where kind = 'query_labels' and list_contains($datasets, dataset)) or (
    select count(distinct language) from datasets where list_contains($datasets, name)
) > 1
"""
_TEXTS = """
select queries.dataset, query_id, collection, text
from queries join datasets on name = queries.dataset
where list_contains($datasets, queries.dataset) and list_contains($collections, collection)
and text is not null
"""
_RARE = f"""
with asked as (
    select dataset, query_id, collection,
           unnest(list_distinct(regexp_extract_all(lower(text), '{MARKED_WORD}'))) as term
    from texts
), counted as (
    select dataset as collection, term, count from ngrams
    where n = 1 and list_contains($collections, dataset)
)
select dataset, query_id, avg((coalesce(count, 0) < $fewest)::int) as rare
from asked left join counted using (collection, term)
group by dataset, query_id order by dataset, query_id
"""


class Kind(NamedTuple):
    """A query group, such as queries of 5 to 7 words."""

    key: str
    """Key of the grouping, such as WORDS or a label's."""
    value: str
    datasets: tuple[str, ...]
    ready: bool = True
    """True for groups by properties that need no labels."""

    @property
    def title(self) -> str:
        """Title shown on pages."""
        return f"{TITLES.get(self.key, self.key)}: {self.value}"

    @property
    def name(self) -> str:
        """Value in an address; colons within the key are escaped, since the first ends the key."""
        return f"{self.key.replace('%', '%25').replace(':', '%3A')}:{self.value}"


@select(datasets=("datasets",), shows="datasets")
def queries(datasets: Sequence[str]) -> str:
    """Select dataset, query_id, text, n_words, n_relevant of all queries of these datasets."""
    return """
        with judged as (
            select dataset, query_id, count(*) filter (where relevance > 0) as n_relevant
            from judgements where list_contains($datasets, dataset) group by all
        )
        select dataset, query_id, text, n_words, coalesce(n_relevant, 0) as n_relevant
        from queries left join judged using (dataset, query_id)
        where list_contains($datasets, dataset) order by dataset, query_id
    """


@question(datasets=("datasets",), shows="datasets", whole=True)
def labels(cursor: DuckDBPyConnection, datasets: Sequence[str]) -> DataFrame:
    """Return dataset, query_id, key and value of the labels that files gave the queries. Labels of
    queries that a new import removed do not count. If languages differ by dataset or label, a query
    without a LANGUAGE label gets its dataset's language."""
    named = {"datasets": list(datasets)}
    if not cursor.execute(_MAY_HAVE_LABELS, named).fetchall()[0][0]:
        return DataFrame(columns=["dataset", "query_id", "key", "value"], dtype="str")
    return cursor.execute(
        """
        with asked as (
            select dataset, query_id from queries where list_contains($datasets, dataset)
        ), given as (
            select dataset, query_id, key, value
            from query_labels semi join asked using (dataset, query_id)
            where list_contains($datasets, dataset)
        ), spoken as (
            select name as dataset, $key as key, language as value from datasets
            where list_contains($datasets, name)
        )
        from given union all
        select dataset, query_id, key, value from asked join spoken using (dataset)
        anti join given using (dataset, query_id, key)
        where (select count(distinct value) from spoken) > 1 or $key in (select key from given)
        order by key, dataset, query_id
        """,
        named | {"key": LANGUAGE},
    ).df()


@question(datasets=("datasets",), whole=True)
def rare_words(cursor: DuckDBPyConnection, datasets: Sequence[str]) -> DataFrame:
    """Return dataset, query_id and rare: the share (0 to 1) of the query's distinct words that are
    rare in its corpus. Queries without text or counts of their corpus's words are left out."""
    named = {"datasets": list(datasets)}
    # A list instead of a join, so that only these collections' files are opened.
    collections = [name for (name,) in cursor.execute(_COUNTED, named).fetchall()]
    named |= {"collections": collections}
    texts = cursor.execute(_TEXTS, named).df()
    cursor.register("texts", texts.assign(text=texts["text"].map(scripts.written)))
    return cursor.execute(_RARE, {"collections": collections, "fewest": FEWEST}).df()


@select(datasets=("datasets",), shows="runs")
def answered(datasets: Sequence[str]) -> str:
    """Select dataset, query_id, answered: which SYSTEMS have a relevant document in the top 10."""
    return f"""
        select dataset, query_id, case when min(value) > {TOLERANCE} then 'all'
               when max(value) > {TOLERANCE} then 'some' else 'none' end as answered
        from scores
        where list_contains($datasets, dataset) and measure = 'nDCG@10' and value is not null
        group by dataset, query_id order by dataset, query_id
    """


@select(datasets=("datasets",), whole=True)
def seen(datasets: Sequence[str], systems: Sequence[str]) -> str:
    """Select dataset and system of the runs stored before a query of these datasets was last given
    a reason, because the reason may be due to these very runs."""
    return f"""
        select runs.dataset, runs.system from parts runs join parts labels using (dataset)
        where runs.kind = 'hits' and labels.kind = 'query_labels' and labels.system = ''
          and list_contains($datasets, dataset) and list_contains($systems, runs.system)
          and coalesce(runs.provenance ->> '$.run_version.published', runs.created)
              <= (labels.provenance ->> '$.keys.{REASON}[#-1].date')
    """


@select()
def labelled() -> str:
    """Select the datasets with labelled queries, or with any queries if their languages differ."""
    return """
        with asked as (
            select dataset, language from parts join datasets on name = dataset
            where kind = 'queries'
        )
        select dataset from asked where (select count(distinct language) from asked) > 1
        union select dataset from parts where kind = 'query_labels' order by dataset
    """


@question(datasets=("datasets",), whole=True)
def kinds(
    cursor: DuckDBPyConnection, datasets: Sequence[str], *, ready: bool = True, rare: bool = True
) -> DataFrame:
    """List every query group: key, value, n_queries, n_datasets, n_all (queries of all `datasets`),
    with cut points over all datasets. `ready=False`: only groups by labels, which is faster.
    `rare=False`: words are not read, so groups by rare words are listed with 0 queries."""
    asked, keyed = _keyed(cursor, datasets, ready=ready, rare=rare)
    rows = [
        (key, str(value), int(own.sum()), asked.loc[own, "dataset"].nunique(), len(asked))
        for key, of in keyed.items()
        for value in of.cat.categories
        if (own := (of == value).to_numpy(bool)).any()
    ]
    unseen = ready and not rare and asked["text"].notna().any()
    if unseen and cursor.execute(_COUNTED, {"datasets": list(datasets)}).fetchall():
        rows += [(RARE, share, 0, 0, len(asked)) for share in SHARES]
    return DataFrame(rows, columns=["key", "value", "n_queries", "n_datasets", "n_all"])


@question(datasets=("datasets",), shows="datasets", whole=True)
def of_kind(
    cursor: DuckDBPyConnection, datasets: Sequence[str], key: str, value: str, *, ready: bool = True
) -> DataFrame:
    """Return dataset and query_id of the queries in a group (a `Kind`); `ready` as in `kinds`."""
    asked, keyed = _keyed(cursor, datasets, ready=ready, rare=key == RARE)
    own = (keyed[key] == value).to_numpy(bool) if key in keyed else np.zeros(len(asked), bool)
    return asked.loc[own, ["dataset", "query_id"]].reset_index(drop=True)


def _keyed(
    cursor: DuckDBPyConnection, datasets: Sequence[str], *, ready: bool, rare: bool
) -> tuple[DataFrame, dict[str, Series]]:
    """Return the queries (only labelled ones unless `ready`) and their groups by key."""
    given = labels(cursor, datasets)
    if ready:
        asked = queries(cursor, datasets)
        return asked, by_key(asked, given, rare_words(cursor, datasets) if rare else None)
    asked = given[["dataset", "query_id"]].drop_duplicates(ignore_index=True)
    asked = asked.assign(text=None, n_words=0, n_relevant=0).astype({"text": "str"})
    return asked, by_key(asked, given)


def by_key(asked: DataFrame, given: DataFrame, rare: DataFrame | None = None) -> dict[str, Series]:
    """Return each query's value by key, for the keys with at least two groups; unknown values are
    absent. `asked`: dataset, query_id, text, n_words, n_relevant. `given` and `rare`: as from
    `labels` and `rare_words`. The categories are in order: numbers ascending, question words as
    listed, labels alphabetically, with digits as numbers."""
    found = {
        WORDS: _numbers(asked["n_words"].where(asked["n_words"] > 0)),
        RELEVANT: _numbers(asked["n_relevant"]),
        FIRST: _first_words(asked["text"]),
    }
    where = pd.MultiIndex.from_frame(asked[["dataset", "query_id"]])
    if rare is not None:
        shares = rare.set_index(["dataset", "query_id"])["rare"].reindex(where)
        found[RARE] = _shares(shares.set_axis(asked.index))
    for key, rows in given.groupby("key"):
        if rows["value"].nunique() > MOST_VALUES:
            continue  # so many values are query families, not groups
        values = rows.set_index(["dataset", "query_id"])["value"].reindex(where)
        order = sorted(rows["value"].unique(), key=_in_order)
        name = f"{key} (labels)" if key in (*TITLES, *TITLES.values()) else str(key)
        found[name] = Series(pd.Categorical(values.to_numpy(), order), index=asked.index)
    return {key: of for key, of in found.items() if of.nunique() > 1}


def _numbers(numbers: Series) -> Series:
    """Divide queries by a number into up to GROUPS groups of similar size, such as `5 to 7`."""
    known = numbers.dropna().astype(np.int64)
    found = Series(pd.Categorical([None] * len(numbers)), index=numbers.index)
    if known.empty:
        return found
    edges = np.unique(np.quantile(known, np.arange(1, GROUPS) / GROUPS, method="lower"))
    group = np.searchsorted(edges, known.to_numpy(), side="left")
    ends = known.groupby(group).agg(["min", "max"])
    names = {place: _between(*pair) for place, *pair in ends.itertuples()}
    values = Series([names[place] for place in group], index=known.index)
    return Series(
        pd.Categorical(values.reindex(numbers.index), list(names.values())), index=numbers.index
    )


def _between(one: int, other: int) -> str:
    return f"{one:,}" if one == other else f"{one:,} to {other:,}"


def _shares(shares: Series) -> Series:
    """Name each query's group by its share of rare words."""
    none, some, many = SHARES
    named = Series(many, index=shares.index).mask(shares < 0.5, some).mask(shares == 0, none)
    return Series(pd.Categorical(named.where(shares.notna()), SHARES), index=shares.index)


def _first_words(texts: Series) -> Series:
    """Group queries by first word: each of QUESTIONS, yes-or-no questions, and others."""
    first = texts.str.extract(r"^\W*(\w+)", expand=False).str.lower()
    named = first.where(first.isin(QUESTIONS), NO_QUESTION)
    named = named.mask(first.isin(POLAR), YES_OR_NO).where(texts.notna())
    return Series(pd.Categorical(named, [*QUESTIONS, YES_OR_NO, NO_QUESTION]), index=texts.index)


def _in_order(value: str) -> tuple[bool, float, str]:
    """Return a sorting key by which numbers come first, ascending, and then texts."""
    try:
        number = float(value)
    except ValueError:
        return True, 0.0, value
    return not np.isfinite(number), number if np.isfinite(number) else 0.0, value
