"""Measures by their ir_measures names, and the per-query scores of a run. A measure is a string
such as `nDCG@10`: a name in `FORMULAS` and a cut-off. `AP` without a cut-off uses the depth of the
stored run. Tests compare every measure of trec_eval with pytrec_eval."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from compute.base import parquet_files
from compute.base.errors import WrongInput
from compute.base.scratch_database import scratch
from compute.base.words import shown
from compute.evaluate import hole_gains
from compute.evaluate import query_values as values
from compute.evaluate import rank_terms as terms
from compute.evaluate.hole_gains import Gain
from compute.evaluate.query_values import Held, Places, Values
from compute.evaluate.rank_terms import Terms
from compute.evaluate.subtopics import diversity

MEASURES = (
    "nDCG@10",
    "R@100",
    "R_cap@100",
    "AP@100",
    "RR@10",
    "P@10",
    "Success@5",
    "Success@20",
    "nDCG@100",
    "R@1000",
    "Judged@10",
    "Hole@10",
    "Hole_beir@10",
)
"""Measures that are scored by default."""

_RUN = parquet_files.schema("query_id:large_string doc_id:large_string rank:int64")
WHOLE = 2**31
"""Cut-off of a measure without one, deeper than every stored list."""


_RETRIEVED = """
select number, count(*) as hits
from run join queries using (query_id)
where rank <= $shallow
group by number
"""
_JUDGED = """
select number, rank, relevance
from run join judgements using (query_id, doc_id)
where rank <= $deep
order by number, rank
"""
_KNOWN = """
select number, rank
from run join queries using (query_id)
where rank <= $shallow and doc_id in (select doc_id from judgements)
"""


@dataclass(frozen=True)
class Formula:
    """A row in the table of measures."""

    name: str
    values: Callable[..., Values]
    """Function of a `Held` run, the cut-off and, if the measure has it, p: the value of each
    query."""
    label: str
    """Name on pages; `{k}` is the cut-off."""
    cut: bool = True
    """True if its measures are written with a cut-off, as in `nDCG@10`."""
    whole: bool = False
    """True if they may be written without a cut-off, as in `AP`, and then use the stored depth."""
    takes: tuple[str, ...] = ("rel",)
    """Parameters of its measures. p, the persistence, is required if listed, as in `RBP(p=0.8)@10`.
    Optional are rel, the lowest relevant grade, which makes gains binary, as in `AP(rel=2)@100`,
    and dcg, which selects exponential gain."""
    answered_only: bool = False
    """True if a query without hits has no value instead of 0."""
    diverse: bool = False
    """True if it counts subtopics, for which a dataset needs judgements by subtopic."""
    across: bool = False
    """True if it counts documents judged for any query, so other queries' judgements matter."""
    better: int = 1
    """1 if higher is better, -1 if lower is better."""
    terms: Terms | None = None
    """The contribution of each rank if the value is a sum over ranks; it breaks down a score."""
    gain: Gain | None = None
    """The gain of relevant unjudged documents if the measure has possible ranges."""

    @property
    def graded(self) -> bool:
        """Return whether `rel=1` changes the measure, because its gain depends on the grade."""
        return self.takes not in ((), ("rel",))

    def written(self, cut: str) -> str:
        """Return a measure of this row as an example, with `cut` (such as `@10`) if any."""
        return f"{self.name}{'(p=0.8)' * ('p' in self.takes)}{cut * self.cut}"


_TABLE = (
    Formula(
        "nDCG",
        values.ndcg,
        "nDCG@{k}",
        whole=True,
        takes=("rel", "dcg"),
        terms=terms.NDCG,
        gain=hole_gains.NDCG,
    ),
    Formula("R", values.recall, "Recall@{k}", terms=terms.RECALL, gain=hole_gains.RECALL),
    Formula(
        "R_cap",
        values.capped_recall,
        "Capped recall@{k}",
        terms=terms.CAPPED_RECALL,
        gain=hole_gains.CAPPED_RECALL,
    ),
    Formula("R_full", values.full_recall, "Full recall@{k} (every relevant one in the top {k})"),
    Formula(
        "AP",
        values.average_precision,
        "Average precision@{k}",
        whole=True,
        terms=terms.AVERAGE_PRECISION,
        gain=hole_gains.AVERAGE_PRECISION,
    ),
    Formula(
        "RR",
        values.reciprocal_rank,
        "Reciprocal rank@{k}",
        whole=True,
        terms=terms.RECIPROCAL_RANK,
        gain=hole_gains.RECIPROCAL_RANK,
    ),
    Formula(
        "P", values.precision, "Precision@{k}", terms=terms.PRECISION, gain=hole_gains.PRECISION
    ),
    Formula(
        "Success",
        values.success,
        "Success@{k} (any relevant in the top {k})",
        terms=terms.SUCCESS,
        gain=hole_gains.SUCCESS,
    ),
    Formula(
        "RBP",
        values.rank_biased_precision,
        "Rank-biased precision@{k}",
        whole=True,
        takes=("p", "rel"),
    ),
    Formula(
        "RBP_residual",
        values.rank_biased_residual,
        "Residual of rank-biased precision@{k}",
        whole=True,
        takes=("p", "rel"),
    ),
    Formula("Bpref", values.bpref, "Bpref", cut=False),
    Formula("Rprec", values.r_precision, "R-precision", cut=False),
    Formula("ERR", values.expected_reciprocal_rank, "Expected reciprocal rank@{k}", takes=()),
    Formula(
        "Judged", values.judged, "Judged@{k}", answered_only=True, takes=(), terms=terms.JUDGED
    ),
    Formula(
        "Hole",
        values.hole,
        "Hole@{k} (unjudged for the query)",
        answered_only=True,
        takes=(),
        better=-1,
        terms=terms.HOLES,
    ),
    Formula(
        "Hole_beir",
        values.hole_beir,
        "Hole@{k} as BEIR's code",
        answered_only=True,
        across=True,
        takes=(),
        better=-1,
    ),
    Formula("alpha_nDCG", values.alpha_ndcg, "α-nDCG@{k}", takes=(), diverse=True),
    Formula("StRecall", values.subtopic_recall, "Subtopic recall@{k}", takes=(), diverse=True),
)
FORMULAS = {formula.name: formula for formula in _TABLE}
"""All formulas by name. No other place defines properties of measures."""


@dataclass(frozen=True)
class Measure:
    """A formula with its cut-off and parameters. `str` gives the measure's name."""

    formula: Formula
    k: int | None
    """Cut-off; None means the stored depth."""
    p: float | None = None
    rel: int | None = None
    dcg: str | None = None

    def __str__(self) -> str:
        return f"{self.formula.name}{self._given}" + ("" if self.k is None else f"@{self.k}")

    @property
    def _given(self) -> str:
        """Return the parameters as written in the measure's name, such as `(p=0.8)`."""
        given = {name: getattr(self, name) for name in ("p", "rel", "dcg")}
        words = ",".join(f"{name}={value}" for name, value in given.items() if value is not None)
        return f"({words})" if words else ""

    @property
    def label(self) -> str:
        """Return the measure's name on pages."""
        words = self.formula.label
        if self.k is None:
            words = words.replace("@{k}", "")
        return f"{words.format(k=self.k)} {self._given}".rstrip()

    def values(self, held: Held) -> Values:
        """Return the value of each query; NaN if it has none."""
        absent = self.formula.answered_only & (held.retrieved == 0)
        parameters = {} if self.p is None else {"p": self.p}
        given = self.formula.values(held.worth(self.worth), self.k or WHOLE, **parameters)
        return np.where(absent, np.nan, given)

    def worth(self, relevance: NDArray[Any]) -> NDArray[Any]:
        """Return the gain for each relevance. With rel, it is 1 for a relevance of at least rel,
        else 0; with exponential gain, it is 2^relevance - 1. Negative and absent values stay.
        Raises WrongInput for exponential gain of a relevance above 30."""
        if self.rel is not None:
            return np.where(relevance >= self.rel, 1, np.minimum(relevance, 0))
        if self.dcg is None:
            return relevance
        if (relevance > 30).any():
            raise WrongInput(
                f"{self} is 2 to the power of a relevance of at most 30: leave dcg out"
            )
        return np.exp2(np.maximum(relevance, 0)) - 1 + np.minimum(relevance, 0)


_NAME = re.compile(
    r"(?P<name>[A-Za-z_][A-Za-z_0-9]*)"
    r"(?:\((?:p=(?P<p>0\.\d{0,3}[1-9]))?,?(?:rel=(?P<rel>[1-9]\d{0,8}))?"
    r"(?:dcg=(?P<dcg>exp-log2))?\))?"
    r"(?:@(?P<k>[1-9]\d{0,8}))?"
)
_ELSEWHERE = re.compile(r"(?P<name>[a-z_ -]+?)(?:_cut|_at)?(?P<given>\(.*\))?(?:[@_.]?(?P<k>\d+))?")
"""Names in the style of trec_eval, BEIR and MTEB in lower case, such as `map_at_10`."""
_CALLED = {
    "map": "AP",
    "mrr": "RR",
    "recip_rank": "RR",
    "recall": "R",
    "recall_cap": "R_cap",
    "precision": "P",
    "accuracy": "Success",
    "top_k_accuracy": "Success",
    "hit": "Success",
    "hit_rate": "Success",
    "r-precision": "Rprec",
    "alpha-ndcg": "alpha_nDCG",
    "strec": "StRecall",
}
"""Our names for other names in the literature, which are in lower case."""


def parse(measure: str) -> Measure:
    """Return the measure with a name such as `nDCG@10`; k can be any number from 1. Raises
    WrongInput for an unknown measure."""
    found = _parsed(measure)
    if found is None:
        hint = f" (here it is {ours})" if (ours := meant(measure)) else ""
        raise WrongInput(f"no measure {shown(measure)}{hint}; known: {known()}")
    return found


def is_measure(name: str) -> bool:
    """Return whether `parse` accepts a name."""
    return _parsed(name) is not None


def _parsed(measure: str) -> Measure | None:
    """Return the measure with this name, or None if it is unknown or not spelled in our way."""
    match = _NAME.fullmatch(measure)
    formula = FORMULAS.get(match["name"]) if match else None
    if match is None or formula is None:
        other = values.by_ir_measures(measure)
        row = Formula(measure, other, measure, cut=False, takes=()) if other else None
        return Measure(row, None) if row else None
    if formula.cut != bool(match["k"]) and not (formula.whole and not match["k"]):
        return None
    k, rel = (int(match[name]) if match[name] else None for name in ("k", "rel"))
    found = Measure(formula, k, float(match["p"]) if match["p"] else None, rel, match["dcg"])
    given = {name for name in ("p", "rel", "dcg") if match[name]}
    # Each measure has only one name, so rel=1 is allowed only where it changes the measure. No
    # measure has both rel and dcg.
    known = given <= {*formula.takes} and ("p" in given) == ("p" in formula.takes)
    once = (rel != 1 or formula.graded) and not given >= {"rel", "dcg"}
    return found if known and once and str(found) == measure else None


def meant(measure: str) -> str:
    """Return our name for a measure that has a different name elsewhere; empty if it is unknown."""
    called = {name.lower(): name for name in FORMULAS} | _CALLED
    match = _ELSEWHERE.fullmatch(measure.lower())
    if match is None:
        return ""
    given = re.sub(r"['\" ]|(?<=\()rel=1(?=\))", "", match["given"] or "").replace("()", "")
    ours = f"{called.get(match['name'])}{given}" + (f"@{match['k']}" if match["k"] else "")
    return ours if _parsed(ours) else ""


def known() -> str:
    """Describe all measures and their notation in words, for error messages."""
    names = [row.written("@k") for row in FORMULAS.values()]
    whole = ", ".join(name for name, row in FORMULAS.items() if row.whole)
    levelled = ", ".join(name for name, row in FORMULAS.items() if row.takes == ("rel",))
    return (
        f"{', '.join(names)}; k is any rank from 1, as in P@5; without @k, {whole} use the"
        f" depth of the stored run; {levelled} may count from another relevance than 1, as in"
        " AP(rel=2)@100; nDCG(rel=1)@k has binary gain, nDCG(dcg=exp-log2)@k exponential gain"
        f"; {values.ELSEWHERE}"
    )


def better(measure: str) -> int:
    """Return 1 if a higher value of the measure is better, -1 if a lower one is. Best values, wins
    and the Pareto front depend only on this direction. Raises WrongInput for an unknown measure."""
    return parse(measure).formula.better


def label(measure: str) -> str:
    """Return the measure's name on pages. Raises WrongInput for an unknown measure."""
    return parse(measure).label


def evaluate(
    run: pd.DataFrame | Iterable[pa.RecordBatch],
    judgements: pd.DataFrame,
    measures: Sequence[str] = MEASURES,
    *,
    depth: int,
    subtopics: pd.DataFrame | None = None,
) -> pd.DataFrame:
    """Score a canonical run per query: returns query_id, measure, value (float64).

    `run` has query_id, doc_id and rank, as a whole or in batches, down to `depth` ranks. Measures
    with a deeper cut-off are absent, such as R@1000 for a depth of 100; measures without a cut-off
    use `depth`. `judgements` has query_id, doc_id and relevance, each pair once. Every judged query
    has a row per measure, with 0 if the run has no hits for it; Judged@k and Hole@k have no row for
    such a query. Unjudged queries are not evaluated. `subtopics` has query_id, doc_id, subtopic and
    relevance; without it, subtopic measures are absent. Raises WrongInput for an unknown measure.
    """
    wanted = [parse(measure) for measure in dict.fromkeys(measures)]
    wanted = [measure for measure in wanted if (measure.k or 1) <= depth]
    deep, shallow = cuts(wanted, depth)
    numbers, queries = pd.factorize(judgements["query_id"], sort=True)
    hits = _hits(run, judgements, shallow)
    held = _held(hits, judgements.assign(number=numbers), deep=deep, shallow=shallow)
    diverse = max((measure.k or 0 for measure in wanted if measure.formula.diverse), default=0)
    if diverse and subtopics is not None:
        top = hits.filter(pc.call_function("less_equal", [hits["rank"], pa.scalar(diverse)]))
        found = diversity(top.to_pandas(), subtopics, list(queries), diverse)
        held = replace(held, diversity=found)
    columns = {str(measure): measure.values(held) for measure in wanted}
    wide = pd.DataFrame(columns, index=pd.Index(queries, name="query_id", dtype="str"))
    long = wide.melt(var_name="measure", ignore_index=False).dropna(subset="value").reset_index()
    return long.astype({"measure": "str", "value": np.float64})


def cuts(measures: Sequence[Measure], depth: int) -> tuple[int, int]:
    """Return the depths to which the measures need relevance, and to which they need all hits."""
    deep = max((measure.k or depth for measure in measures), default=0)
    shallow = max((m.k or 0 for m in measures if m.formula.answered_only), default=0)
    return deep, shallow


def _hits(
    run: pd.DataFrame | Iterable[pa.RecordBatch], judgements: pd.DataFrame, shallow: int
) -> pa.Table:
    """Return the hits of the run as a table; of a run in batches, only those that measures need."""
    # A run in memory is not filtered: DuckDB joins it with all threads and without a copy.
    whole = isinstance(run, pd.DataFrame)
    return _arrow(run[[*_RUN.names]]) if whole else _looked_at(run, judgements, shallow)


def _held(
    hits: pa.Table,
    judgements: pd.DataFrame,
    *,
    deep: int,
    shallow: int,
) -> Held:
    """Join hits with judgements with numbered queries; see `cuts` for `deep` and `shallow`."""
    queries = judgements[["query_id", "number"]].drop_duplicates()
    with scratch() as database:
        database.register("run", hits)
        database.register("judgements", _arrow(judgements))
        database.register("queries", _arrow(queries))
        found = database.sql(_JUDGED, params={"deep": deep}).fetchnumpy()
        answers = database.sql(_RETRIEVED, params={"shallow": shallow}).fetchnumpy()
        seen = database.sql(_KNOWN, params={"shallow": shallow}).fetchnumpy()
    retrieved = np.zeros(len(queries), np.int64)
    retrieved[answers["number"]] = answers["hits"]
    return Held(
        retrieved=retrieved,
        judged=Places(found["number"], found["rank"], found["relevance"]),
        ideal=ideal(judgements),
        known=Places(seen["number"], seen["rank"], np.zeros(len(seen["rank"]), np.int64)),
    )


def _looked_at(run: Iterable[pa.RecordBatch], judgements: pd.DataFrame, shallow: int) -> pa.Table:
    """Return the few hits that measures need: judged documents, and hits down to `shallow`."""
    judged = pc.SetLookupOptions(pa.array(judgements["doc_id"].unique(), pa.large_string()))
    found = [_RUN.empty_table()]
    for batch in run:
        is_judged = pc.call_function("is_in", [batch["doc_id"]], judged)
        is_high = pc.call_function("less_equal", [batch["rank"], pa.scalar(shallow)])
        kept = batch.filter(pc.call_function("or", [is_judged, is_high]))
        found.append(pa.table(kept.select(_RUN.names)).cast(_RUN))
    return pa.concat_tables(found)


def _arrow(frame: pd.DataFrame) -> pa.Table:
    ids = [(name, pa.large_string()) for name in ("query_id", "doc_id") if name in frame]
    rest = [(name, pa.int64()) for name in frame if name not in ("query_id", "doc_id")]
    return pa.Table.from_pandas(frame, schema=pa.schema(ids + rest), preserve_index=False)


def ideal(judgements: pd.DataFrame) -> Places:
    """Return the judgements (number of the query, relevance) in the ideal order of each query."""
    best = judgements.sort_values(["number", "relevance"], ascending=[True, False])
    number = best["number"].to_numpy(np.int64)
    rank = np.arange(len(best)) - np.searchsorted(number, number) + 1
    return Places(number, rank, best["relevance"].to_numpy(np.int64))
