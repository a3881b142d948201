"""Breakdown of a query's score: the gain at each rank, its discount, and the ideal order. The sums
are those of `measures`, added in the same order, so a total equals the stored score to the last
bit."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from pandas import DataFrame

from compute.base.errors import WrongInput
from compute.evaluate.measures import Measure, parse
from compute.evaluate.rank_terms import Lists, Terms, total


@dataclass(frozen=True)
class Explained:
    """A measure's value for one query, broken down."""

    measure: str
    listed: DataFrame
    """rank, doc_id, relevance (absent for a hole), gain, discount and term (gain / discount): a row
    for each filled rank down to the measure's cut-off."""
    best: DataFrame
    """rank, relevance, gain, discount and term of the ideal order of the relevant documents, down
    to the same cut-off; empty for a measure without an ideal order."""
    divisor: float
    """The sum of the terms is divided by this."""
    divided_by: str
    """Name of the divisor."""

    @property
    def total(self) -> float:
        """Return the sum of the terms of the list."""
        return total(self.listed["term"])

    @property
    def value(self) -> float:
        """Return the score: the total over the divisor, or 0 if the divisor is 0."""
        return self.total / self.divisor if self.divisor else 0.0

    @property
    def best_total(self) -> float:
        """Return the sum of the terms of the ideal order."""
        return total(self.best["term"])


def has_best(measure: str) -> bool:
    """Return whether a measure that `explains` accepts has an ideal order of judged documents."""
    terms = parse(measure).formula.terms
    return terms is not None and terms.has_best


def explains(measure: str) -> bool:
    """Return whether a measure is a sum over the top k ranks of a query's list."""
    parsed = parse(measure)
    return parsed.formula.terms is not None and parsed.k is not None


def explain(hits: DataFrame, judgements: DataFrame, measure: str) -> Explained:
    """Break down one query's score by a measure, rank by rank. `hits` has rank and doc_id of one
    list; `judgements` has doc_id and relevance for the query. Raises WrongInput for a measure that
    is not such a sum, such as Bpref or Hole_beir@10."""
    parsed = parse(measure)
    row, k = parsed.formula.terms, parsed.k
    if row is None or k is None:
        raise WrongInput(f"{measure} is not a sum over the ranks of one list")
    judged = dict(zip(judgements["doc_id"], judgements["relevance"], strict=True))
    listed = hits.loc[hits["rank"] <= k, ["rank", "doc_id"]].sort_values("rank")
    grades = [judged.get(doc_id) for doc_id in listed["doc_id"]]
    listed = listed.assign(relevance=pd.array(grades, "Int64"))
    is_relevant = parsed.worth(judgements["relevance"].to_numpy()) > 0
    relevant = judgements.loc[is_relevant, ["relevance"]]
    order = relevant.sort_values("relevance", ascending=False).head(k if row.has_best else 0)
    best = _with_terms(order.assign(rank=range(1, len(order) + 1)).astype("Int64"), parsed, row)
    divisor = row.divisor(Lists(best, len(relevant), len(listed), k))
    columns = ["rank", "relevance", "gain", "discount", "term"]
    listed = _with_terms(listed, parsed, row)
    return Explained(measure, listed, best[columns], float(divisor), row.divided_by)


def _with_terms(frame: DataFrame, of: Measure, row: Terms) -> DataFrame:
    """Add the columns gain, discount and term to rows with a relevance."""
    relevance = frame["relevance"].to_numpy(np.float64, na_value=np.nan)
    gain, discount = row.parts(of.worth(relevance))
    return frame.assign(gain=gain, discount=discount, term=gain / discount).reset_index(drop=True)
