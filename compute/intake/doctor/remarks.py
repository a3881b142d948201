"""Remarks of `check` on a run that affect its numbers; an import repeats them."""

from pathlib import Path

import numpy as np
import pyarrow as pa

from compute.base.scratch_database import scratch
from compute.intake.doctor.dataset_ids import UNKNOWN, remark_documents
from compute.intake.doctor.ids import WRITTEN_OTHERWISE, Ids
from compute.intake.doctor.judged_hits import UNJUDGED, remark_judged
from compute.intake.doctor.order import CONTRADICTED, LOWER, PIECES, TIED, remark_order
from compute.intake.doctor.report import Tally, Where

# Ids are compared by hashes, which is fast: usually none of millions is unknown.
_IDS = """
create table ids as select id::varchar as id, min(line) as line, count(*) as n from hits
where hash(id::varchar) not in (select hash(id) from known) group by id
"""
_OTHERWISE = tuple(map(WRITTEN_OTHERWISE.format, ("query", "document")))
_TOLD = (UNJUDGED, *_OTHERWISE, UNKNOWN, LOWER, CONTRADICTED, PIECES, TIED)


def ordered(hits: pa.Table, file: str) -> Tally:
    """Return remarks on the order of a file's hits (query_id, rank and score), for `changing`."""
    tally = Tally()
    remark_order(hits, file, tally)
    return tally


def strangers(
    tally: Tally, column: pa.ChunkedArray, known: pa.Array | Path, dataset: str, file: str
) -> None:
    """Report unknown ids of a file. If `known` has the dataset's query ids, report queries in
    another spelling; if it is a file of the corpus's doc_id, report those that it lacks."""
    with scratch() as database:
        database.register("hits", pa.table({"id": column, "line": np.arange(len(column))}))
        if isinstance(known, Path):
            documents = database.read_parquet([str(known)], hive_partitioning=False)
            documents.project("doc_id as id").create_view("known")
            database.execute(_IDS)
            remark_documents(database, file, tally, dataset)
        else:
            database.register("known", pa.table({"id": known}))
            database.execute(_IDS)
            Ids(database, "query", file).remark_written_otherwise(tally, dataset)


def changing(
    tally: Tally, top: pa.Table, judged: pa.Table, file: str, *, corpus: bool
) -> list[str]:
    """Return a file's remarks as sentences, most serious first: those of `ordered` and `strangers`
    in `tally`, and those on `judged`, the judgements. `top` has query_id, doc_id of ranks 1 to 10;
    `corpus` says whether the documents of the corpus are known."""
    remark_judged(top, judged, Where(file), tally, corpus=corpus)
    found = {finding.what: finding for finding in tally.findings()}
    told = [found[what] for what in _TOLD if what in found]
    return [f"{finding.what}: {finding.example} → {finding.treatment}" for finding in told]
