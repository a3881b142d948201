"""The Dataset page for a dataset in two languages: BEIR and BEIR-PL side by side."""

from collections.abc import Iterator
from functools import partial
from typing import Any

import pandas as pd
from pandas import DataFrame

from compute.datasets import published
from compute.datasets.catalogue import counterpart, is_polish
from compute.views.dataset import query_outcomes, select
from compute.views.dataset import systems as figures
from compute.views.dataset.overview_page import statistics
from compute.views.dataset.view import View
from compute.views.page import Beside, Column, Message, Note, Section, Step, Table, offers
from compute.views.shared.theme import plain

HEAD, ROW = 38, 35
"""Heights of a table's header and rows, in pixels."""


def languages(view: View) -> Iterator[Step]:
    """Yield scores, lengths and translation quality in both languages."""
    if view.ask.kind:
        yield Message("Translations are compared over all queries: choose All queries above.")
        return
    names = [view.dataset.name, counterpart(view.dataset.name)]
    english, polish = sorted(names, key=is_polish)
    scores = partial(_systems, view, english, polish)
    yield Section(scores, ("languages",), "Systems in both languages")
    lengths = partial(_lengths, view, english, polish)
    quality = partial(_translation, view, english, polish)
    yield Beside(
        [
            [Section(lengths, ("sizes",), "Sizes and lengths")],
            [Section(quality, ("translation",), "Translation quality")],
        ]
    )


def _systems(view: View, english: str, polish: str) -> Iterator[Step]:
    asked: dict[str, Any] = {"datasets": [english, polish]}
    means = view.ask(select.means_of, **asked)
    here = means[means["measure"] == view.measure]
    printed = view.ask(select.published_figures, **asked).sort_values(["source", "system"])
    printed = printed[(printed["measure"] == view.measure) & ~printed["suspect"]]
    rows = query_outcomes.side_by_side(here, printed, english, polish)
    if rows.empty:
        yield Message(f"Neither language has a {view.measure}, computed or published.")
        return
    rows["title"] = rows["title"].fillna(rows["system"].map(view.titles))
    title = f"{view.measure} in English and in Polish"
    yield Table("languages", title, rows, figures.language_columns(rows), height="auto")
    yield Note(
        [
            "Systems with the same name differ between languages: BM25 in the analyser,"
            " others in the model."
        ]
    )


def _lengths(view: View, english: str, polish: str) -> Iterator[Step]:
    tables: list[DataFrame] = []
    for name, label in ((english, "English"), (polish, "Polish")):
        table = statistics(view.ask, offers.record(view.ask, name)).set_index("Statistic")
        heads = {"Published": f"{label}, published", "Here": f"{label}, here"}
        # A dataset that no paper describes has no difference column.
        tables.append(table.drop(columns="Difference", errors="ignore").rename(columns=heads))
    both = pd.concat(tables, axis=1).reset_index()
    yield Table("sizes", "Sizes and lengths in English and in Polish", both)
    yield Note(["Whitespace tokens.", "–: not reported or not loaded."])


def _translation(view: View, english: str, polish: str) -> Iterator[Step]:
    here = view.ask(select.translations, datasets=[english, polish])
    parts = polish.partition("/")[0] + " " + here["of"].replace("documents", "corpus")
    measured = here.assign(part=parts).pivot(index="part", columns="system", values="mean")
    printed = published.translation().set_index("part")
    rows = printed.reindex([*printed.index, *measured.index.difference(printed.index)])
    rows = rows.join(measured).rename_axis("part").reset_index()
    own = rows["part"].str.startswith(f"{polish.partition('/')[0]} ")
    if not own.any():
        command = f"python -m compute translation {english} {polish}"
        yield Message(f"BEIR-PL does not report on this translation; {command} measures it.")
    heads = {"labse": "LaBSE", "semantic": "Semantic", "strict": "Strict"}
    heads |= {name: f"{view.titles.get(name, name)}, here" for name in measured.columns}
    shares = (Column(head, name, partial(plain, digits=2)) for name, head in heads.items())
    columns = [Column("Part", "part"), *shares]
    yield Table(
        "translation",
        "Quality of the translations (BEIR-PL, Table 2)",
        rows,
        columns,
        bold=[[bold] * len(columns) for bold in own],
    )
    yield Note(
        [
            "LaBSE similarity of translation and original (“here”: our measurement); shares of"
            " a sample judged adequate (semantic) and literal (strict). Bold: this dataset."
        ]
    )
