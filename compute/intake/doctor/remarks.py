"""What the doctor finds in a run that changes its numbers, for an import to say as well."""

import pyarrow as pa

from compute.intake.doctor.judged_hits import UNJUDGED, remark_judged
from compute.intake.doctor.order import CONTRADICTED, LOWER, TIED, remark_order
from compute.intake.doctor.report import Tally, Where

_TOLD = (UNJUDGED, LOWER, CONTRADICTED, TIED)


def ordered(hits: pa.Table, file: str) -> Tally:
    """The first half of `changing`: `hits` has query_id, rank and score of the file."""
    tally = Tally()
    remark_order(hits, file, tally)
    return tally


def changing(tally: Tally, top: pa.Table, judged: pa.Table, file: str) -> list[str]:
    """The remarks of `check` on order, ties and judgements, a sentence each, the gravest first.

    `top` has query_id, doc_id of the first 10 ranks and `judged` of the judgements.
    """
    remark_judged(top, judged, Where(file), tally)
    found = {finding.what: finding for finding in tally.findings()}
    told = [found[what] for what in _TOLD if what in found]
    return [f"{finding.what}: {finding.example} → {finding.treatment}" for finding in told]
