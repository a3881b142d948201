"""A check of stored scores: pytrec_eval computes them a second time, and both are compared."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any

import pandas as pd
from pandas import DataFrame

from compute.base import files, json_files
from compute.base.errors import Unavailable
from compute.evaluate import scored_measures
from compute.evaluate.measures import Measure, parse
from compute.recompute.run import read
from compute.store import repeats
from compute.store.loading import Bench
from compute.store.store import Part, Store

APART = 1e-9
"""If two values of a query differ by more than this, one of the two programs has a bug."""
FILE = "score-check.json"
_NAMES: Mapping[str, tuple[str, str]] = {
    "nDCG": ("ndcg", "ndcg_cut"),
    "R": ("", "recall"),
    "AP": ("map", "map_cut"),
    "RR": ("recip_rank", ""),
    "P": ("", "P"),
    "Success": ("", "success"),
    "Rprec": ("Rprec", ""),
    "Bpref": ("bpref", ""),
}
"""The names of formulas in pytrec_eval, without a cut-off and with one."""


@dataclass(frozen=True)
class ScoreCheck:
    """The outcome for all stored runs."""

    date: str
    pytrec_eval: str
    """The version of pytrec_eval."""
    runs: int
    values: int
    """Number of queries' values that were compared."""
    measures: list[str]
    not_compared: list[str]
    """Measures that pytrec_eval does not compute."""
    largest: float
    """The largest difference."""
    where: str
    """The measure, query, system and dataset of that difference; empty if it is 0."""

    @property
    def agrees(self) -> bool:
        """Whether all values agree."""
        return self.largest <= APART

    def __str__(self) -> str:
        """Return the outcome as sentences."""
        if not self.values:
            return "No stored score could be compared with pytrec_eval's."
        largest = f"The largest difference is {self.largest:.1e} ({self.where})."
        return (
            f"{self.values:,} values of queries ({self.runs:,} runs, {len(self.measures)} measures)"
            f" were recomputed by pytrec_eval {self.pytrec_eval}."
            f" {largest if self.largest else 'All are equal to the last bit.'}"
        )


def last(store: Store) -> ScoreCheck | None:
    """Return the outcome of the last check; None before the first check."""
    try:
        return ScoreCheck(**json_files.parsed((store.home / FILE).read_text("utf-8")))
    except (OSError, ValueError, TypeError):
        return None


def check(bench: Bench) -> ScoreCheck:
    """Score every stored run with pytrec_eval, and store the outcome. Shipped runs are truncated,
    so only measures within their depth are compared. Raises Unavailable without pytrec_eval."""
    runs, values, largest, where = 0, 0, 0.0, ""
    measures, others = set[str](), set[str]()
    hits_parts = [part for part in bench.store.parts("hits") if not part.damage]
    for done, hits in enumerate(hits_parts):
        compared, without = _compared(bench.store, hits)
        bench.progress(done + 1, len(hits_parts), "runs")
        others |= without
        runs, values = runs + (not compared.empty), values + len(compared)
        measures |= set(compared["measure"])
        if not compared.empty and compared["apart"].max() > largest:
            worst = compared.iloc[int(compared["apart"].argmax())]
            largest = float(worst["apart"])
            of = f"{hits.system} on {hits.dataset}"
            where = f"{worst['measure']} of query {worst['query_id']}, {of}"
    today, oracle = datetime.now(UTC).isoformat(timespec="seconds"), version("pytrec-eval-terrier")
    found = ScoreCheck(
        today, oracle, runs, values, sorted(measures), sorted(others), largest, where
    )
    with files.written_aside(bench.store.home / FILE) as file:
        file.write(json.dumps(asdict(found), indent=1).encode())
    return found


def _compared(store: Store, hits: Part) -> tuple[DataFrame, set[str]]:
    """Return query_id, measure, apart (the difference) of a run, and the measures that pytrec_eval
    does not compute."""
    scores = store.part("scores", hits.dataset, hits.system)
    judgements = store.part("judgements", hits.dataset)
    none = DataFrame(columns=["query_id", "measure", "apart"])
    if scores is None or judgements is None:
        return none, set()
    stored = read(scores)
    measures = [parse(name) for name in stored["measure"].unique()]
    known = [measure for measure in measures if measure.formula.name in _NAMES]
    deep = [measure for measure in known if scored_measures.reaches(measure, hits)]
    if not deep:
        return none, {str(measure) for measure in measures} - {*map(str, known)}
    judged, of = read(judgements), [read(hits)]
    of += [run for _, run in repeats.lists(repeats.of(store, hits))]
    again = repeats.averaged(pd.concat([scored(run, judged, deep) for run in of]))
    both = stored.merge(again, on=["query_id", "measure"], suffixes=("", "_again"))
    both["apart"] = (both["value"] - both["value_again"]).abs()
    return both[list(none.columns)], {str(one) for one in measures} - {*map(str, known)}


def scored(run: DataFrame, judgements: DataFrame, measures: Sequence[Measure]) -> DataFrame:
    """Return query_id, measure, value of a run by pytrec_eval, from its scores and not its ranks.
    `run` has query_id, doc_id, score; `judgements` has query_id, doc_id, relevance. A judged query
    without hits scores 0. Raises Unavailable if pytrec_eval is not installed."""
    judged_run = run[run["query_id"].isin(judgements["query_id"].unique())]
    listed = _by_query(judged_run, "score")
    alike: dict[tuple[int | None, str | None], list[Measure]] = {}
    for measure in measures:
        alike.setdefault((measure.rel, measure.dcg), []).append(measure)
    return pd.concat([_values(of, listed, judgements) for of in alike.values()])


def _values(
    measures: Sequence[Measure], listed: dict[str, dict[str, Any]], judgements: DataFrame
) -> DataFrame:
    """Return query_id, measure, value by pytrec_eval, for measures that share one function `worth`
    from relevance to gain. `listed` has the score of each document of each query."""
    try:
        import pytrec_eval
    except ModuleNotFoundError:
        raise Unavailable(
            "pytrec_eval is not installed here: check --scores needs what make run installs"
        ) from None
    worth = measures[0].worth(judgements["relevance"].to_numpy()).astype(int)
    judged = _by_query(judgements.assign(relevance=worth), "relevance")
    names = {measure: _name(measure) for measure in measures}
    answers = pytrec_eval.RelevanceEvaluator(judged, {*names.values()}).evaluate(listed)
    found = DataFrame.from_dict(answers, orient="index").reindex(list(judged), fill_value=0.0)
    values = {}
    for measure, name in names.items():
        column = found[name.replace(".", "_")]
        if measure.k and name == "recip_rank":
            # trec_eval does not cut off the reciprocal rank, so one below rank k is set to 0
            # here.
            column = column.where(column >= 1 / measure.k, 0.0)
        values[str(measure)] = column
    wide = DataFrame(values, index=pd.Index(list(judged), name="query_id"))
    return wide.melt(var_name="measure", ignore_index=False).reset_index()


def _name(measure: Measure) -> str:
    """Return the name of the measure in pytrec_eval."""
    whole, cut = _NAMES[measure.formula.name]
    return f"{cut}.{measure.k}" if measure.k and cut else whole


def _by_query(frame: DataFrame, column: str) -> dict[str, dict[str, Any]]:
    """Return a value per document per query, as pytrec_eval expects it."""
    ordered = frame.sort_values("query_id", kind="stable")
    starts = (~ordered["query_id"].duplicated()).to_numpy().nonzero()[0].tolist()
    pairs = list(zip(ordered["doc_id"].tolist(), ordered[column].tolist(), strict=True))
    names = ordered["query_id"].iloc[starts].tolist()
    spans = zip(starts, [*starts[1:], len(pairs)], strict=True)
    return {name: dict(pairs[a:b]) for name, (a, b) in zip(names, spans, strict=True)}
