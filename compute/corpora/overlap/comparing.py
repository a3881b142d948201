"""Compares counted corpora and stores their similarities beside the counts. Only complete counts
are compared. Shipped counts are truncated, so their similarities are shipped too."""

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence

import pandas as pd
import pyarrow.parquet as pq
from pandas import DataFrame

from compute.base import scratch, scratch_database
from compute.base.result_identity import fingerprint
from compute.corpora.overlap.counting import THREADS, current
from compute.corpora.overlap.jaccard import Vocabulary, similarities
from compute.corpora.overlap.partitions import BITS, Partitions
from compute.corpora.overlap.tokens import KINDS, UNITS, Unit
from compute.store import freshness, provenance
from compute.store.loading import Bench
from compute.store.parts import KINDS as SCHEMAS
from compute.store.store import Part, Store

MEMORY = "400MB"
"""Memory limit of DuckDB; a partition and a batch need more."""
TOGETHER = 500_000
"""Approximate number of terms per partition."""
COLUMNS = SCHEMAS["overlap"].names

_SHARES = """
select hash(term), count / $tokens from read_parquet($file) where n = $n
"""


def compare(bench: Bench, collections: Sequence[str], *, again: bool = False) -> bool:
    """Compare corpora with all counted corpora and publish the similarities; returns whether any
    was new. Pairs with a stored, valid similarity are skipped, unless `again`."""
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
                    ["overlap", "compute", name],
                    seconds,
                    inputs=freshness.by_kind(*counts_of(parts, name)),
                ),
            )
    return True


def content_name(rows: DataFrame) -> str:
    """Return the fingerprint of similarities, which depends on the compared counts."""
    columns = ["unit", "floor", "fingerprint", "other_fingerprint"]
    counts = sorted(rows[columns].itertuples(index=False, name=None))
    return fingerprint("overlap", [], counts=counts)


def counts_of(parts: Iterable[Part], collection: str) -> list[Part]:
    """Return the counts of a corpus, of every kind."""
    return [part for part in parts if part.kind in KINDS and part.dataset == collection]


def similarities_stored(parts: Sequence[Part]) -> DataFrame:
    """Return the stored similarities that are valid for these parts, every pair in both directions;
    the columns are those of the kind `overlap`."""
    live = {(part.kind, part.dataset): part.fingerprint for part in parts if part.kind in KINDS}
    frames = [pq.read_table(part.path).to_pandas() for part in parts if part.kind == "overlap"]
    if not frames:
        return DataFrame(columns=COLUMNS)
    rows = pd.concat(frames, ignore_index=True)
    for name, mark in (("dataset", "fingerprint"), ("other", "other_fingerprint")):
        kinds = (UNITS[unit].kind for unit in rows["unit"])
        now = [live.get(counts, "") for counts in zip(kinds, rows[name], strict=True)]
        rows = rows[rows[mark] == now]
    return both_ways(rows)


def both_ways(rows: DataFrame) -> DataFrame:
    """Return every pair once in each direction."""
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
    """Return the corpora that are counted, and compared with all other counted corpora."""
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
    """Compute the unknown similarities by one unit, in both directions."""
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
    """Return the corpora whose similarity to some other counted corpus is unknown."""
    of_unit = known[known["unit"] == unit.name]
    pairs = set(zip(of_unit["dataset"], of_unit["other"], strict=True))
    return [
        name
        for name in dict.fromkeys(collections)
        if name in whole and any((name, o) not in pairs for o in whole if o != name)
    ]


def _whole(parts: Iterable[Part], unit: Unit) -> dict[str, Part]:
    """Return the complete counts of a unit, by corpus."""
    return {part.dataset: part for part in parts if part.kind == unit.kind and _is_whole(part)}


def _is_whole(counts: Part) -> bool:
    """Return whether no unit of the counts is truncated."""
    return not any(about.get("cut") for about in counts.provenance["units"].values())


def between(
    bench: Bench,
    unit: Unit,
    counts: Mapping[str, Part],
    of: Sequence[str],
    together: int = TOGETHER,
) -> DataFrame:
    """Compute the similarities of each corpus in `of` with all counted corpora, every pair once:
    dataset, other, floor, similarity. Every file is read once, however many pairs there are, with
    about `together` terms in memory."""
    about = {name: part.provenance["units"][unit.name] for name, part in counts.items()}
    bits = min((sum(one["terms"] for one in about.values()) // together).bit_length(), BITS)
    names = list(dict.fromkeys([*of, *counts]))
    with (
        scratch.folder(bench.settings.home, "comparing-") as folder,
        (folder / "terms").open("w+b") as file,
        scratch_database.scratch(bench.settings, memory=MEMORY, threads=THREADS) as connection,
    ):
        partitions = Partitions(file, names, bits)
        for number, name in enumerate(names, 1):
            of_corpus = {"tokens": about[name]["tokens"], "file": str(counts[name].path)}
            terms = connection.sql(_SHARES, params=of_corpus | {"n": unit.n})
            for batch in terms.to_arrow_reader():
                hashes, shares = (column.to_numpy() for column in batch.columns)
                partitions.add(name, hashes, shares, asked=name in of)
            bench.progress(number, len(names), f"corpora read to compare by {unit.name}")
        return similarities(_watched(bench, unit, partitions), partitions.totals, of)


def _watched(bench: Bench, unit: Unit, partitions: Partitions) -> Iterator[dict[str, Vocabulary]]:
    """Yield the partitions and report the progress."""
    for number, vocabularies in enumerate(partitions, 1):
        yield vocabularies
        bench.progress(number, len(partitions), f"parts of all {unit.name} compared")
