"""The judgement sets of a reading, and every stored run scored by a set."""

import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
from duckdb import DuckDBPyConnection
from pandas import DataFrame

from compute.base.errors import Missing
from compute.base.words import near
from compute.evaluate.top_lists import JUDGED
from compute.judgements import Choice, sets
from compute.judgements.machine_grades import KIND
from compute.reading import means
from compute.reading.database import Reading
from compute.reading.overlay import rescoring
from compute.reading.overlay.rescoring import Scored
from compute.store.store import Part

_COLUMNS = ["dataset", "set", "n_pairs", "n_queries", "n_relevant", "grades", "made_from"]
_OFFICIAL = "select query_id, doc_id, relevance from judgements where dataset = ?"
_GRADES = {
    name: f"select query_id, doc_id, relevance from {kind} where dataset = ? and system = ?"
    for name, kind in ((sets.MACHINE, KIND), (sets.CARRIED, sets.CARRIED))
}
"""The SELECT for sets that are parts of their own, by kind of set."""
_SCORED = """
select system, query_id, value from scores
where dataset = ? and measure = ? and not isnan(value)
  and query_id in (select query_id from judgements where dataset = ?)
order by system, query_id
"""
_SCORED_RUNS = "select distinct system from parts where kind = 'scores' and dataset = ?"
_PUBLISHED = """
select case kind when 'carried' then kind else 'machine' end || ':' || system as name, coalesce(
    provenance->>'$.file',
    'scores of ' || (provenance->>'$.run'),
    (provenance->>'$.model') || ', asked by prompt ' || (provenance->>'$.prompt'),
    (provenance->>'$.rule') || ' of ' || array_to_string(json_keys(provenance, '$.machines'), ', '),
    'judgements of ' || system || ', by texts'
) as made_from
from parts where kind in ('machine_grades', 'carried') and dataset = ? order by name
"""
_ADDED = "select * from added_judgements where dataset = ? order by id"
_NAMELESS = "some"
_PARTS = "select * from parts where dataset = ?"
_JUDGED = "select distinct dataset from parts where kind = 'judgements' order by dataset"
_TABLES = """
create temp table judgements (
    dataset text, query_id text, doc_id text, relevance integer);
create temp table scores (
    dataset text, system text, query_id text, measure text, value double);
create temp table run_scores (
    dataset text, system text, run integer, query_id text, measure text, value double);
create temp table means (
    dataset text, system text, measure text, value double, value_returned double,
    n_queries bigint, n_unanswered bigint);
"""
_FILL = """
insert into judgements select $dataset, query_id, doc_id, relevance from judged;
insert into scores select $dataset, system, query_id, measure, value from fresh;
insert into run_scores select $dataset, system, run, query_id, measure, value from by_run;
insert into means
select
    $dataset, system, measure, value, case when not isnan(value_returned) then value_returned end,
    n_queries, nullif(n_unanswered, -1)
from averaged
"""


def names(cursor: DuckDBPyConnection, dataset: str) -> list[str]:
    """Return the sets of a dataset: official, added if there are any, then one per source."""
    rows = _added(cursor, dataset)
    published = [name for name, _ in cursor.execute(_PUBLISHED, [dataset]).fetchall()]
    own = [*sets.of_added(rows), *published]
    return [sets.OFFICIAL, *([sets.ADDED] if len(rows) else []), *own]


def labels(
    cursor: DuckDBPyConnection, dataset: str, name: str, choice: Choice | None = None
) -> DataFrame:
    """Return query_id, doc_id, relevance of a set, each pair once. `choice` says which added
    judgements count, and how several on a pair are combined. Raises Missing with the known sets."""
    choice = choice or Choice()
    kind, _, of = name.partition(":")
    if name == sets.OFFICIAL:
        return cursor.execute(_OFFICIAL, [dataset]).df()
    known = names(cursor, dataset)
    if name not in known:
        told = near(name, known) or f"known: {', '.join(known)}"
        raise Missing(f"no judgement set {name!r} of {dataset}: {told.strip()}")
    if kind in _GRADES:
        return cursor.execute(_GRADES[kind], [dataset, of]).df()
    if name == sets.ADDED:
        return with_added(cursor, dataset, choice)
    return sets.of_added(_added(cursor, dataset), choice.rule)[name]


def every(
    cursor: DuckDBPyConnection, dataset: str, choice: Choice | None = None
) -> Iterator[tuple[str, DataFrame]]:
    """Yield name and labels of all sets of a dataset, as `names` and `labels` but faster."""
    choice = choice or Choice()
    official, rows = cursor.execute(_OFFICIAL, [dataset]).df(), _added(cursor, dataset)
    yield sets.OFFICIAL, official
    if len(rows):
        yield sets.ADDED, sets.with_added(official, rows, choice)
    yield from sets.of_added(rows, choice.rule).items()
    for name, _ in cursor.execute(_PUBLISHED, [dataset]).fetchall():
        kind, _, of = name.partition(":")
        yield name, cursor.execute(_GRADES[kind], [dataset, of]).df()


def with_added(cursor: DuckDBPyConnection, dataset: str, choice: Choice) -> DataFrame:
    """Return query_id, doc_id, relevance: the official judgements and the added ones that count."""
    official = cursor.execute(_OFFICIAL, [dataset]).df()
    return sets.with_added(official, _added(cursor, dataset), choice)


def listed(
    cursor: DuckDBPyConnection, dataset: str = "", choice: Choice | None = None
) -> DataFrame:
    """Return the sets of a dataset, or of all: dataset, set, n_pairs, n_queries, n_relevant (pairs
    with a grade above 0), grades (number of pairs by grade), made_from (an LLM's source)."""
    found = []
    for of in [dataset] if dataset else _datasets(cursor):
        origins = dict(cursor.execute(_PUBLISHED, [of]).fetchall())
        for name, rows in every(cursor, of, choice):
            grades = rows["relevance"].astype(int).tolist()
            n_relevant = sum(grade > 0 for grade in grades)
            facts = (len(rows), rows["query_id"].nunique(), n_relevant, sets.by_grade(grades))
            found.append((of, name, *facts, origins.get(name, "")))
    return DataFrame(found, columns=_COLUMNS)


def scored(
    parts: Iterable[Part],
    cursor: DuckDBPyConnection,
    dataset: str,
    judged: DataFrame,
    measures: Sequence[str] = (),
) -> Scored | None:
    """Score every stored run of a dataset by only these judgements; return None if no run is
    stored. Queries without such a judgement are not evaluated. The measures default to those by
    which the runs are scored, as far as the stored hits are deep enough."""
    cursor.register("judged", _table(judged))
    found = rescoring.official(parts, cursor, dataset, measures)
    if found is not None:
        # All queries are rescored; documents judged for any query are read with the lists.
        rescoring.rescore(found, cursor, found.queries, ())
    return found


def values(
    cursor: DuckDBPyConnection,
    dataset: str,
    name: str,
    measure: str,
    choice: Choice | None = None,
) -> DataFrame:
    """Return system, query_id, value of every stored run of a dataset by only this set. A run whose
    hits are too shallow for the measure has no values, except by the official set if all runs were
    scored by that measure. The cursor must count official judgements. Raises Missing."""
    if name == sets.OFFICIAL:
        stored = cursor.execute(_SCORED, [dataset, measure, dataset]).df()
        runs = cursor.execute(_SCORED_RUNS, [dataset]).fetchall()
        if set(runs) == {(system,) for system in stored["system"]}:
            return stored
    judged = labels(cursor, dataset, name, choice)
    found = scored(_parts(cursor, dataset), cursor, dataset, judged, [measure])
    if found is None:
        return DataFrame({"system": [], "query_id": [], "value": []})
    rows = found.averaged().rows(found.numbers(found.queries))
    return rows.drop_columns(["measure", "run"]).to_pandas()


def _parts(cursor: DuckDBPyConnection, dataset: str) -> Iterator[Part]:
    """Yield the parts of a dataset, from the cursor's table."""
    for row in cursor.execute(_PARTS, [dataset]).df().to_dict("records"):
        found: Any = {str(name): value for name, value in row.items()}
        found |= {"file": Path(found.pop("path")), "provenance": json.loads(row["provenance"])}
        yield Part(**found)


def grades(
    cursor: DuckDBPyConnection,
    dataset: str,
    left: str,
    right: str,
    choice: Choice | None = None,
) -> DataFrame:
    """Return query_id, doc_id, left, right: the grades in two sets of the pairs judged in either;
    NA in a set without the pair."""
    one, other = (
        labels(cursor, dataset, name, choice).rename(columns={"relevance": side})
        for name, side in ((left, "left"), (right, "right"))
    )
    found = one.merge(other, on=["query_id", "doc_id"], how="outer")
    return found.astype({"left": "Int64", "right": "Int64"})


@contextmanager
def cursor_of(
    reading: Reading, name: str, choice: Choice | None = None, datasets: Collection[str] = ()
) -> Iterator[DuckDBPyConnection]:
    """Yield a connection whose `judgements`, `scores` and `means` use only this set. Its variable
    `judgement_set` names the set, for code that would otherwise read official judgements. Datasets
    without the set have no rows. Raises Missing if no dataset has it."""
    with reading.cursor() as cursor:
        stored = [of for of in _datasets(cursor) if of in datasets or not datasets]
        known = {of: names(cursor, of) for of in stored}
        judged = {of: labels(cursor, of, name, choice) for of in stored if name in known[of]}
        if not judged:
            every = dict.fromkeys(each for own in known.values() for each in own)
            hint = near(name, every) or "python -m compute sets lists them"
            raise Missing(f"no judgement set {name!r}: {hint.strip()}")
        cursor.execute(_TABLES)
        cursor.execute("set variable judgement_set = ?", [name])
        for dataset, rows in judged.items():
            _fill(reading, cursor, dataset, rows)
        cursor.execute(means.MEANS_OF_MEANS)
        yield cursor


@contextmanager
def counting(cursor: DuckDBPyConnection, dataset: str, judged: DataFrame) -> Iterator[None]:
    """Make `judged` the cursor's `judgements` in the with-block, to count unjudged documents."""
    cursor.register("judgements", judged.assign(dataset=dataset))
    cursor.execute("set variable judgement_set = ?", [_NAMELESS])
    try:
        yield
    finally:
        cursor.execute("reset variable judgement_set")
        cursor.unregister("judgements")


def _fill(reading: Reading, cursor: DuckDBPyConnection, dataset: str, judged: DataFrame) -> None:
    """Add the judgements of a dataset, and its runs' scores by them, to the cursor's tables."""
    with reading.cursor() as own:
        found = scored(reading.parts.values(), own, dataset, judged)
    if found is None:
        return
    cursor.register("judged", _table(judged))
    numbers, mean = found.numbers(found.queries), found.averaged()
    cursor.register("fresh", mean.rows(numbers))
    cursor.register("by_run", found.by_run().rows(numbers))
    cursor.register("averaged", mean.means())
    for statement in _FILL.split(";"):
        cursor.execute(statement, {"dataset": dataset})


def _added(cursor: DuckDBPyConnection, dataset: str) -> DataFrame:
    return cursor.execute(_ADDED, [dataset]).df().astype({"relevance": "Int64"})


def _datasets(cursor: DuckDBPyConnection) -> list[str]:
    return [name for (name,) in cursor.execute(_JUDGED).fetchall()]


def _table(judged: DataFrame) -> pa.Table:
    return pa.Table.from_pandas(judged, JUDGED, preserve_index=False)
