"""The tables and the distribution of one dataset."""

import math
from typing import Any

from pandas import DataFrame

from compute.views.dataset.tables import (
    STATISTICS,
    best,
    distribution,
    measure_table,
    published_table,
    statistics_table,
)


def spread(**means: float) -> DataFrame:
    rows = [
        {
            "system": name,
            "title": f"<i>{name}</i>",
            "family": "dense",
            "n_queries": 4,
            "mean": mean,
            "p5": 0.0,
            "p25": 0.1,
            "p50": 0.5,
            "p75": 0.9,
            "p95": 1.0,
            "at_0": 1,
            "at_1": 2,
        }
        for name, mean in means.items()
    ]
    return DataFrame(rows)


def drawn(*arguments: Any, theme: str = "light") -> Any:
    """The figure, its parts reachable by name: Plotly's own types know none."""
    return distribution(*arguments, theme=theme)


def rows(table: DataFrame, *index: str) -> dict[Any, list[Any]]:
    return {
        row[: len(index)]: list(row[len(index) :])
        for row in table[[*index, *[c for c in table if c not in index]]].itertuples(index=False)
    }


def steps(*rows: tuple[str, int, int]) -> DataFrame:
    return DataFrame(rows, columns=["system", "step", "n_queries"])


def test_columns_share_one_scale_and_the_tallest_fills_it() -> None:
    figure = drawn(spread(a=0.6, b=0.4), steps(("a", 3, 1), ("b", 4, 2)), "nDCG@10")
    first, second = [trace for trace in figure.data if trace.type == "bar"]
    assert second.y[0] == 2 * first.y[0] < 0
    assert (first.base, second.base) == (0, 1)


def test_queries_at_the_ends_are_written_as_shares() -> None:
    figure = drawn(spread(a=0.6), steps(("a", 3, 1)), "nDCG@10", theme="dark")
    said = [note.text for note in figure.layout.annotations]
    assert {"25%", "50%", "at 0", "at 1"} <= set(said)
    assert any(".600" in text and ".500" in text for text in said)


def test_a_dataset_with_every_query_at_the_ends_is_drawn() -> None:
    figure = drawn(spread(a=0.5), steps(), "Success@5")
    assert len(figure.layout.yaxis.ticktext) == 1


def test_titles_are_drawn_letter_by_letter() -> None:
    figure = drawn(spread(a=0.5), steps(), "nDCG@10")
    assert figure.layout.yaxis.ticktext == ("&lt;i&gt;a&lt;/i&gt;",)


def test_a_title_is_no_template() -> None:
    rows = spread(a=0.5).assign(title="%{x} wins")
    ring = drawn(rows, steps(), "nDCG@10").data[-1]
    assert ring.hovertemplate == "%{hovertext}<extra></extra>"
    assert ring.hovertext[0].startswith("<b>%{x} wins</b>")


def means() -> DataFrame:
    rows = [
        ("a", "A", "nDCG@10", 0.5, 0),
        ("a", "A", "Hole@10", 0.3, 0),
        ("b", "A", "nDCG@10", 0.7, 2),
        ("b", "A", "Hole@10", 0.1, 2),
        ("b", "A", "R@100", 0.9, 2),
    ]
    return DataFrame(rows, columns=["system", "title", "measure", "value", "n_unanswered"])


def test_two_systems_of_one_title_keep_their_rows() -> None:
    table = measure_table(means(), ("nDCG@10", "R@100", "Hole@10"))
    assert table["System"].tolist() == ["A", "A"]
    assert table["nDCG@10"].tolist() == [0.7, 0.5]
    assert table["Unanswered"].tolist() == [2, 0]
    assert math.isnan(table["R@100"][1])


def test_the_best_of_each_measure_is_bold_and_fewer_holes_are_better() -> None:
    shown = ("nDCG@10", "Hole@10")
    bold = best(measure_table(means(), shown), shown)
    assert bold.to_numpy().tolist() == [[False, True, True, False], [False] * 4]


def test_a_difference_to_the_papers_is_visible() -> None:
    printed = DataFrame([dict.fromkeys(STATISTICS, 10.0)])
    counted = printed.assign(n_documents=8, n_queries=10, query_words=12.25, document_words=None)
    table = rows(statistics_table(printed, counted), "Statistic")
    assert table["Documents",] == ["10", "8", "−2"]
    assert table["Queries",] == ["10", "10", "0"]
    assert table["Words per query, mean",] == ["10.00", "12.25", "+2.25"]
    assert table["Words per document, mean",] == ["10.00", "–", "–"]
    own = statistics_table(DataFrame([dict.fromkeys(STATISTICS)]), counted)
    assert own.columns.tolist() == ["Statistic", "Here"]


def test_printed_figures_get_a_row_per_system_and_table() -> None:
    printed = [
        ("BEIR v4, Table 2", "BM25", "nDCG@10", 0.665, ""),
        ("BEIR v4, Table 9", "BM25", "R@100", 0.908, ""),
        ("BEIR v4, Table 2", "DPR", "nDCG@10", 0.318, "suspect: equals its neighbour"),
    ]
    figures = DataFrame(printed, columns=["source", "printed", "measure", "value", "note"])
    table = published_table(figures, ("nDCG@10", "R@100")).fillna(-1)
    found = rows(table, "Table", "System")
    assert found["BEIR v4, Table 2", "BM25"] == [0.665, -1, ""]
    assert found["BEIR v4, Table 9", "BM25"] == [-1, 0.908, ""]
    assert table["Remark"].str.contains("suspect").sum() == 1
