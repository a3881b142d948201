"""Runs and judgements in common file formats, read into the same rows as TREC's files."""

from pathlib import Path

from compute.datasets import names, trec
from compute.datasets.shapes import nested, tables
from compute.datasets.shapes.held import ASK, Held, How
from compute.datasets.shapes.tables import is_parquet


def held(path: Path, how: How | None = None, problem: trec.Problem | None = None) -> Held | None:
    """Return the content of a file; None for a TREC run and for TREC or BEIR qrels. Names in the
    file, ranks 1, 2, 3 … or falling scores show whether it is a run or judgements; otherwise `how`
    must say which. A faulty line is reported to `problem` or raises WrongInput."""
    how, problem = how or How(), problem or trec.refusing(path)
    if is_parquet(path):
        return nested.of_parquet(path, how)
    lines = trec.lines(path)
    plain = [n for n, line in enumerate(lines) if line.strip() and not line.startswith("#")]
    if not plain:
        return None
    above, first = plain[0], lines[plain[0]]
    if trec.foreign(first) == trec.JSON:
        return nested.held(path, how)
    if rows := tables.ranklib(path):
        return Held.of(rows, how)
    if found := tables.header(first):
        between, called = found
        if names.has_lists(tables.split(first, between)):
            return nested.of_csv(path, between, how)
        if (
            between == "\t"
            and names.is_beir(called)
            and len(first.split("\t")) == 3
            and how.role != "run"
        ):
            return None
        return Held.of(tables.under_header(path, first, above, problem), how)
    rows = tables.without_header(path, lines[above:], how, problem)
    return Held.of(rows, how) if rows else None
