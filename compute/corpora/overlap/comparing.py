"""Comparing corpora: the similarities of what is counted, stored beside the counts.

Only whole counts are compared. Those that ship are cut; their similarities ship beside them.
"""

import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from typing import Any

import pandas as pd
import pyarrow.parquet as pq
from duckdb import DuckDBPyConnection
from pandas import DataFrame

from compute.base import scratch_database
from compute.base.result_identity import fingerprint
from compute.corpora.overlap.counting import THREADS, current
from compute.corpora.overlap.jaccard import FLOORS, Vocabulary, similarities
from compute.corpora.overlap.tokens import KINDS, UNITS, Unit
from compute.store import freshness, provenance
from compute.store.loading import Bench
from compute.store.parts import KINDS as SCHEMAS
from compute.store.store import Part, Store

IN_MEMORY = 20_000_000
"""Terms, of all corpora compared, up to which they are compared in memory, else on disk."""
MEMORY = "400MB"
"""What DuckDB may hold; vocabularies in memory come on top."""
COLUMNS = SCHEMAS["overlap"].names

_WORDS = """
create temp table words as
select dataset, term, count from read_parquet($files) where n = $n
"""
_PLACES = """
create temp table places as
select term, (row_number() over (order by most desc) - 1)::int as place
from (
    -- Frequent words beside each other: then what two corpora share lies close together.
    select term, max(count) as most from words
    where dataset in (select unnest($of)) group by term
)
"""
_PLACED = """
create temp table placed as
select dataset, place, count from words left join places using (term)
"""
_VOCABULARY = """
select coalesce(place, $none)::int as place, count / $tokens as share
from placed where dataset = $dataset
order by 1
"""
# Counts are sorted: below a floor nothing is read. The first condition alone can skip row groups.
_LEAST = """
with one as (
    select term, count / $tokens as share from read_parquet($file)
    where n = $n and count >= $floor * $tokens * 0.999 and count / $tokens > $floor
), other as (
    select term, count / $other_tokens as share from read_parquet($other_file)
    where n = $n and count >= $floor * $other_tokens * 0.999 and count / $other_tokens > $floor
)
select
    (select coalesce(sum(least(one.share, other.share)), 0) from one join other using (term)),
    (select coalesce(sum(share), 0) from one),
    (select coalesce(sum(share), 0) from other)
"""


def compare(bench: Bench, collections: Sequence[str], *, again: bool = False) -> bool:
    """Compare collections with all that are counted, and publish; whether anything was new.

    Pairs whose similarity is stored and holds are left, unless `again`.
    """
    start = time.perf_counter()
    parts, _ = freshness.split(bench.store.parts())
    known = similarities_stored(parts)
    if again:
        known = known[~known["dataset"].isin(collections) & ~known["other"].isin(collections)]
    found = [_compared(bench, unit, parts, collections, known) for unit in UNITS.values()]
    new = pd.concat(found, ignore_index=True)
    if new.empty:
        return False
    rows = pd.concat([new, known], ignore_index=True)
    rows = rows.drop_duplicates(["dataset", "other", "unit", "floor"], ignore_index=True)
    seconds = time.perf_counter() - start
    with bench.store.publishing(bench.job or "overlap") as publication:
        for name in sorted(set(new["dataset"]) & set(collections)):
            content = rows[rows["dataset"] == name]
            publication.add(
                "overlap",
                content.sort_values(["unit", "floor", "other"], ignore_index=True),
                dataset=name,
                fingerprint=content_name(content),
                provenance=provenance.record(
                    ["overlap", name],
                    seconds,
                    inputs=freshness.of_overlap(counts_of(parts, name)),
                ),
            )
    return True


def content_name(rows: DataFrame) -> str:
    """The fingerprint of similarities: it follows from the counts that were compared."""
    columns = ["unit", "floor", "fingerprint", "other_fingerprint"]
    counts = sorted(rows[columns].itertuples(index=False, name=None))
    return fingerprint("overlap", [], counts=counts)


def counts_of(parts: Iterable[Part], collection: str) -> list[Part]:
    """The counts of a collection, of every kind."""
    return [part for part in parts if part.kind in KINDS and part.dataset == collection]


def similarities_stored(parts: Sequence[Part]) -> DataFrame:
    """The columns of `overlap`, every pair both ways, that hold among these parts."""
    live = {(part.kind, part.dataset): part.fingerprint for part in parts if part.kind in KINDS}
    frames = [pq.read_table(part.path).to_pandas() for part in parts if part.kind == "overlap"]
    if not frames:
        return DataFrame(columns=COLUMNS)
    rows = pd.concat(frames, ignore_index=True)
    kinds = [UNITS[unit].kind for unit in rows["unit"]]
    holds = [
        live.get((kind, dataset)) == own and live.get((kind, other)) == others
        for kind, dataset, own, other, others in zip(
            kinds,
            rows["dataset"],
            rows["fingerprint"],
            rows["other"],
            rows["other_fingerprint"],
            strict=True,
        )
    ]
    return both_ways(rows[holds])


def both_ways(rows: DataFrame) -> DataFrame:
    """Every pair from either side, once."""
    turned = rows.rename(
        columns={
            "dataset": "other",
            "other": "dataset",
            "fingerprint": "other_fingerprint",
            "other_fingerprint": "fingerprint",
        }
    )
    both = pd.concat([rows, turned[COLUMNS]], ignore_index=True)
    return both.drop_duplicates(["dataset", "other", "unit", "floor"], ignore_index=True)


def up_to_date(store: Store, collections: Sequence[str]) -> list[str]:
    """The collections that are counted, and compared with all others that are."""
    parts, _ = freshness.split(store.parts())
    known = similarities_stored(parts)
    unknown = {
        name
        for unit in UNITS.values()
        for name in _to_compare(unit, _whole(parts, unit), collections, known)
    }
    return [name for name in collections if name not in unknown and current(store, name)]


def _compared(
    bench: Bench,
    unit: Unit,
    parts: Iterable[Part],
    collections: Sequence[str],
    known: DataFrame,
) -> DataFrame:
    """The similarities by one unit that are not known, both ways."""
    whole = _whole(parts, unit)
    of = _to_compare(unit, whole, collections, known)
    if not of:
        return DataFrame(columns=COLUMNS)
    rows = between(bench, unit, whole, of)
    rows["unit"] = unit.name
    rows["fingerprint"] = [whole[name].fingerprint for name in rows["dataset"]]
    rows["other_fingerprint"] = [whole[name].fingerprint for name in rows["other"]]
    return both_ways(rows[COLUMNS])


def _to_compare(
    unit: Unit, whole: Mapping[str, Part], collections: Sequence[str], known: DataFrame
) -> list[str]:
    """Those of the collections that lack the similarity to another counted one."""
    of_unit = known[known["unit"] == unit.name]
    pairs = set(zip(of_unit["dataset"], of_unit["other"], strict=True))
    return [
        name
        for name in dict.fromkeys(collections)
        if name in whole and any((name, o) not in pairs for o in whole if o != name)
    ]


def _whole(parts: Iterable[Part], unit: Unit) -> dict[str, Part]:
    """The counts of a unit that nothing was cut from, by collection."""
    return {part.dataset: part for part in parts if part.kind == unit.kind and _is_whole(part)}


def _is_whole(counts: Part) -> bool:
    return not any(about.get("cut") for about in counts.provenance["units"].values())


def between(
    bench: Bench,
    unit: Unit,
    counts: Mapping[str, Part],
    of: Sequence[str],
    in_memory: int = IN_MEMORY,
) -> DataFrame:
    """dataset, other, floor, similarity: each pair of counted collections with one of `of`, once.

    Vocabularies of more than `in_memory` terms in all are compared on disk.
    """
    terms = sum(_of_unit(part, unit)["terms"] for part in counts.values())
    return (_in_memory if terms <= in_memory else _on_disk)(bench, unit, counts, of)


def _of_unit(part: Part, unit: Unit) -> Mapping[str, Any]:
    return part.provenance["units"][unit.name]


def _scratch(bench: Bench) -> DuckDBPyConnection:
    return scratch_database.scratch(bench.settings, memory=MEMORY, threads=THREADS)


def _in_memory(
    bench: Bench, unit: Unit, counts: Mapping[str, Part], of: Sequence[str]
) -> DataFrame:
    vocabularies = {}
    with closing(_scratch(bench)) as connection:
        files = [str(part.path) for part in counts.values()]
        connection.execute(_WORDS, {"files": files, "n": unit.n})
        connection.execute(_PLACES, {"of": list(of)})
        connection.execute(_PLACED)
        # One place for all words that none of `of` has.
        none = connection.table("places").shape[0]
        for number, (name, part) in enumerate(counts.items(), 1):
            about = {"none": none, "tokens": _of_unit(part, unit)["tokens"], "dataset": name}
            found = connection.sql(_VOCABULARY, params=about).to_arrow_table()
            columns = (found[column].to_numpy() for column in ("place", "share"))
            vocabularies[name] = Vocabulary(*columns)
            bench.progress(number, len(counts), f"collections compared by {unit.name}")
    return similarities(vocabularies, none + 1, of)


def _on_disk(bench: Bench, unit: Unit, counts: Mapping[str, Part], of: Sequence[str]) -> DataFrame:
    pairs = {
        frozenset((one, other)): (one, other) for one in of for other in counts if one != other
    }
    rows = []
    with closing(_scratch(bench)) as connection:
        for number, (one, other) in enumerate(pairs.values(), 1):
            about: dict[str, Any] = {"n": unit.n}
            for prefix, part in (("", counts[one]), ("other_", counts[other])):
                about[f"{prefix}file"] = str(part.path)
                about[f"{prefix}tokens"] = _of_unit(part, unit)["tokens"]
            for floor in FLOORS:
                ((least, *sums),) = connection.execute(_LEAST, about | {"floor": floor}).fetchall()
                if sum(sums):
                    rows.append((one, other, floor, least / (sum(sums) - least)))
            bench.progress(number, len(pairs), f"pairs of collections compared by {unit.name}")
    return DataFrame(rows, columns=["dataset", "other", "floor", "similarity"])
