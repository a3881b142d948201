"""Counting of added judgements: the labels of one dataset, and the scores that they change."""

from dataclasses import dataclass, field

import pyarrow as pa
from pandas import DataFrame

from compute.base.scratch_database import transaction
from compute.evaluate.top_lists import JUDGED
from compute.judgements import Choice, resolve
from compute.reading.database import Reading
from compute.reading.overlay import rescoring
from compute.reading.overlay.rescoring import Scored
from compute.reading.overlay.views import NEVER

# These statements need the cursor's variables `overlay`, `dataset`, `seen` and `never`, and the
# official judgements of the dataset as `official`.
_OF_OVERLAY = "overlay = getvariable('overlay')"
_LIVE = f"{_OF_OVERLAY} and dataset = getvariable('dataset') and died = getvariable('never')"
_JUDGED = f"""
create or replace temp view judged as
select query_id, doc_id, relevance from official
union all
select query_id, doc_id, relevance from kept.labels
where {_LIVE}
"""
_OFFICIAL = """
select query_id, doc_id, relevance from main.judgements
where dataset = getvariable('dataset')
"""
_ASKED = """
select query_id from main.queries where dataset = getvariable('dataset')
union
select query_id from official
"""
_UNFOLLOWED = """
insert into kept.unfollowed select getvariable('dataset'), system, measure from fresh
"""
_TOUCHED = """
select distinct dataset, query_id from main.added_judgements
where id > getvariable('last') and id <= getvariable('seen')
order by all
"""
_ROWS = """
select * from main.added_judgements
where dataset = getvariable('dataset') and id <= getvariable('seen')
  and query_id in (select query_id from touched)
order by id
"""
_PAIRS = """
select query_id, doc_id from official where query_id in (select query_id from touched)
"""
_LABELS = f"""
select query_id, doc_id, relevance from kept.labels
where {_LIVE} and query_id in (select query_id from touched)
"""
_KNOWN = "select distinct doc_id from judged where doc_id in (select unnest($documents))"
_RELABEL = f"""
update kept.labels set died = getvariable('seen')
where {_LIVE} and query_id in (select query_id from touched);
insert into kept.labels
select
    getvariable('overlay'), getvariable('dataset'), query_id, doc_id, relevance,
    getvariable('seen'), getvariable('never')
from fresh
"""
_RESCORE = f"""
update kept.scores set died = getvariable('seen')
where {_LIVE} and query_id in (select query_id from touched);
insert into kept.scores
select
    getvariable('overlay'), getvariable('dataset'), system, run, query_id, measure, value,
    getvariable('seen'), getvariable('never')
from fresh;
insert into kept.queries
select getvariable('overlay'), getvariable('dataset'), query_id, getvariable('seen')
from touched anti join (
    select query_id from kept.queries
    where {_OF_OVERLAY} and dataset = getvariable('dataset')
) using (query_id)
"""
_AVERAGE = f"""
update kept.means set died = getvariable('seen')
where {_LIVE};
insert into kept.means
select
    getvariable('overlay'), getvariable('dataset'), system, measure, value,
    case when not isnan(value_returned) then value_returned end, n_queries,
    nullif(n_unanswered, -1),
    getvariable('seen'), getvariable('never')
from fresh
"""
_FORGET = ";".join(
    f"delete from kept.{table} where {_OF_OVERLAY} and died <= getvariable('oldest')"
    for table in ("labels", "scores", "means")
)
_DROP = ";".join(
    f"delete from kept.{table} where {_OF_OVERLAY}"
    for table in ("labels", "scores", "means", "queries")
)

Label = tuple[str, str, int]
"""query_id, doc_id, relevance."""


@dataclass
class Overlay:
    """The scores for one choice of added judgements, at its newest and some earlier versions."""

    number: int
    choice: Choice
    versions: list[int] = field(default_factory=lambda: [0])
    """Ids of the last judgement counted in each version, ascending; `scored` is at the newest."""
    scored: dict[str, Scored] = field(default_factory=dict)


@dataclass(frozen=True)
class Official:
    """The published results of a dataset, shared by all versions with the same parts of it."""

    rests_on: frozenset[str]
    """The ids of the parts."""
    judgements: pa.Table
    """query_id, doc_id, relevance."""
    scored: Scored | None
    """None if no run is stored."""
    asked: frozenset[str]
    """The queries that are scored as soon as they have a judgement."""


class Tally:
    """Counts added judgements, for one thread at a time. `known` has official results, by dataset,
    that were read for other versions; they are reused, and new ones are added to it."""

    def __init__(self, reading: Reading, known: dict[str, Official]) -> None:
        self._reading = reading
        self._cursor = reading.cursor()
        self._put("official", _table([]))
        self._cursor.execute(_JUDGED)
        self._set(never=NEVER)
        self._shared = known
        self._official: dict[str, Official] = {}

    def count(self, overlay: Overlay, seen: int) -> None:
        """Count the judgements up to `seen` in an overlay, which is then at that version."""
        self._set(overlay=overlay.number, seen=seen, last=overlay.versions[-1])
        touched: dict[str, list[str]] = {}
        for dataset, query_id in self._cursor.execute(_TOUCHED).fetchall():
            touched.setdefault(dataset, []).append(query_id)
        # These are loaded before the transaction, so that they stay if it is rolled back.
        official = {dataset: self._load(dataset) for dataset in touched}
        with transaction(self._cursor):
            for dataset, queries in touched.items():
                self._set(dataset=dataset)
                self._count(overlay, dataset, official[dataset], queries)
        overlay.versions.append(seen)

    def forget(self, overlay: Overlay, oldest: int) -> None:
        """Delete rows that no version from `oldest` on needs."""
        overlay.versions = [version for version in overlay.versions if version >= oldest]
        self._set(overlay=overlay.number, oldest=oldest)
        self._cursor.execute(_FORGET)

    def drop(self, overlay: Overlay) -> None:
        """Delete all rows of an overlay."""
        self._set(overlay=overlay.number)
        self._cursor.execute(_DROP)

    def _load(self, dataset: str) -> Official:
        """Return the official scores and judgements of a dataset, loaded once."""
        if dataset not in self._official:
            self._set(dataset=dataset)
            parts = self._reading.parts.values()
            rests_on = frozenset(part.id for part in parts if part.dataset == dataset)
            found = self._shared.get(dataset)
            if found is None or found.rests_on != rests_on:
                found = self._shared[dataset] = self._read(dataset, rests_on)
            if found.scored is not None:
                self._put("fresh", found.scored.averaged().unfollowed())
                self._cursor.execute(_UNFOLLOWED)
            self._official[dataset] = found
        return self._official[dataset]

    def _read(self, dataset: str, rests_on: frozenset[str]) -> Official:
        judgements = self._cursor.sql(_OFFICIAL).to_arrow_table()
        self._put("official", judgements)
        asked = frozenset(query for (query,) in self._cursor.execute(_ASKED).fetchall())
        scored = rescoring.official(self._reading.parts.values(), self._cursor, dataset)
        return Official(rests_on, judgements, scored, asked)

    def _count(
        self, overlay: Overlay, dataset: str, official: Official, queries: list[str]
    ) -> None:
        """Count the judgements of some queries of a dataset, and rescore those that changed."""
        self._put("official", official.judgements)
        self._put("touched", pa.table({"query_id": queries}))
        before = set(self._cursor.execute(_LABELS).fetchall())
        labels = self._labels(overlay.choice, official.asked)
        moved = before ^ labels
        documents = sorted({document for _, document, _ in moved})
        known = self._judged_anywhere(documents)
        changed = sorted({query for query, _, _ in moved})
        if not changed:
            return
        self._put("touched", pa.table({"query_id": changed}))
        self._put("fresh", _table([label for label in labels if label[0] in set(changed)]))
        self._cursor.execute(_RELABEL)
        if official.scored is None:
            return
        scored = overlay.scored.setdefault(dataset, official.scored.copy())
        self._score(scored, changed, known ^ self._judged_anywhere(documents))

    def _labels(self, choice: Choice, asked: frozenset[str]) -> set[Label]:
        """Return the labels that count for the affected queries; official ones have precedence."""
        rows = self._cursor.execute(_ROWS).df().astype({"relevance": "Int64"})
        judged = set(self._cursor.execute(_PAIRS).fetchall())
        found = resolve(rows, choice)[["query_id", "doc_id", "relevance"]]
        return {
            (query, document, relevance)
            for query, document, relevance in found.itertuples(index=False)
            if query in asked and (query, document) not in judged
        }

    def _judged_anywhere(self, documents: list[str]) -> set[str]:
        """Return the documents among these that are judged for any query."""
        found = self._cursor.execute(_KNOWN, {"documents": documents}).fetchall()
        return {document for (document,) in found}

    def _score(self, scored: Scored, changed: list[str], documents: set[str]) -> None:
        """Rescore the queries that changed, and all means of the dataset."""
        queries = rescoring.rescore(scored, self._cursor, changed, documents)
        self._put("touched", pa.table({"query_id": pa.array(sorted(queries), pa.string())}))
        numbers, mean = scored.numbers(queries), scored.averaged()
        whole = mean.rows(numbers)
        whole = whole.set_column(1, "run", pa.repeat(pa.scalar(0, pa.int32()), len(whole)))
        self._put("fresh", pa.concat_tables([whole, scored.by_run().rows(numbers)]))
        self._cursor.execute(_RESCORE)
        self._put("fresh", mean.means())
        self._cursor.execute(_AVERAGE)

    def _set(self, **variables: str | int) -> None:
        for name, value in variables.items():
            self._cursor.execute(f"set variable {name} = ?", [value])

    def _put(self, name: str, content: pa.Table | DataFrame) -> None:
        self._cursor.register(name, content)


def _table(labels: list[Label]) -> pa.Table:
    rows = [dict(zip(JUDGED.names, label, strict=True)) for label in labels]
    return pa.Table.from_pylist(rows, JUDGED)
