"""The explanation of all numbers: parts of `docs/methods.md`, and tables."""

import inspect

import pandas as pd
from pandas import DataFrame

from compute.base.settings import PROJECT
from compute.datasets import published
from compute.evaluate import subtopics
from compute.evaluate.measures import FORMULAS, MEASURES, label, parse
from compute.store import provenance

_METHODS = (PROJECT / "docs" / "methods.md").read_text("utf-8")
RULES, _, _REST = _METHODS.partition("\n## Known differences\n")
RULES = RULES[RULES.index("## ") :]
DIFFERENCES = _REST.partition("\n## ")[0]
QUESTIONS = dict(part.split("\n", 1) for part in f"\n{RULES}".split("\n## ")[1:])
"""Answers, as Markdown, by the questions that RULES answer."""


def definitions() -> DataFrame:
    """Return Measure, Name and Definition of every measure, from the functions that compute it."""
    listed = (*MEASURES, *subtopics.MEASURES[1:])
    shown = {parse(name).formula.name for name in listed}
    others = [row.written("@10") for name, row in FORMULAS.items() if name not in shown]
    rows = [
        (name, label(name), " ".join((inspect.getdoc(parse(name).formula.values) or "").split()))
        for name in (*listed, *others)
    ]
    return DataFrame(rows, columns=["Measure", "Name", "Definition"])


def printed_tables() -> DataFrame:
    """Return the sources of the published scores: Paper, Tables, Figures, In-domain, Suspect."""
    figures = published.results()
    by_paper = figures.groupby("paper", sort=False)
    tables = by_paper["source"].agg(_tables)
    counts = by_paper.agg(
        Figures=("value", "size"), in_domain=("in_domain", "sum"), Suspect=("suspect", "sum")
    )
    table = pd.concat([tables.rename("Tables"), counts], axis=1).reset_index()
    return table.rename(columns={"paper": "Paper", "in_domain": "In-domain"})


def _tables(sources: pd.Series) -> str:
    """Return the numbers of the tables in these sources, such as `2, 3`."""
    numbers = {int(source.partition(", Table ")[2].partition(",")[0]) for source in sources}
    return ", ".join(map(str, sorted(numbers)))


def versions() -> DataFrame:
    """Return Package and Version of the packages that affect numbers."""
    return DataFrame(provenance.versions(), columns=["Package", "Version"])
