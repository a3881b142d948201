"""Figures of two systems and of a dataset's systems: what stands where, hostile names as text."""

import json
import math
from functools import partial
from typing import Any

import numpy as np
import pytest
from pandas import DataFrame, Series

from compute.exports.figures import DRAWN, LEAST_FONT
from compute.exports.formats import ONE, TWO
from compute.views.compare import differences
from compute.views.compare import figures as compare_figures
from compute.views.compare import tables as compare_tables
from compute.views.dataset import difficulty, query_outcomes
from compute.views.dataset import systems as standings
from compute.views.shared import binned_queries, labels
from compute.views.shared.drawing import COLUMN
from compute.views.shared.theme import palette
from tests.views.records import under

HOSTILE = "<b>*mine*&$x$ %{x}"
TITLES = ("BM25", HOSTILE)
LOOK = palette("light")


def traces(figure: Any) -> Any:
    return figure.data


def both(n: int) -> DataFrame:
    """n queries on which A leads less and less, then trails."""
    values = np.linspace(1, 0, n)
    rows = DataFrame({"value_a": values, "value_b": values[::-1], "dataset": "d"})
    rows = rows.assign(query_id=[f"q{place}" for place in range(n)], text=HOSTILE)
    return differences.valued(rows.assign(n_words=3, n_relevant=1))


def test_every_query_has_a_bar_in_the_colour_of_who_leads() -> None:
    (bar,) = traces(compare_figures.bars(both(5), TITLES, "nDCG@10", theme="light"))
    assert bar.y.tolist() == [1.0, 0.5, 0.0, -0.5, -1.0]
    assert list(bar.marker.color) == [LOOK.win, LOOK.win, LOOK.muted, LOOK.loss, LOOK.loss]
    assert next(list(carried) for carried in bar.customdata) == ["d", "q0"]


def test_with_holes_the_one_with_fewer_leads() -> None:
    (bar,) = traces(compare_figures.bars(both(3), TITLES, "Hole@10", theme="light"))
    assert list(bar.marker.color) == [LOOK.loss, LOOK.muted, LOOK.win]


@pytest.mark.parametrize(
    ("measure", "up", "down"), [("nDCG@10", "one", "two"), ("Hole@10", "two", "one")]
)
def test_who_is_better_stands_where_no_bar_reaches(measure: str, up: str, down: str) -> None:
    figure: Any = compare_figures.bars(both(3), ("one", "two"), measure, theme="light")
    above, below = figure.layout.annotations
    assert above.text == f"▲ {up} is better" and below.text == f"▼ {down} is better"
    # Differences are within −1 and 1; the text lies beyond, within the axis.
    assert (above.y, above.yanchor, below.y, below.yanchor) == (1, "bottom", -1, "top")
    low, high = figure.layout.yaxis.range
    assert low < -1 and high > 1


@pytest.mark.parametrize(("narrow", "theme"), [(True, "print"), (False, "print"), (True, "light")])
def test_who_is_better_fits_the_width(narrow: bool, theme: str) -> None:
    long = "a system whose name is much longer than what there is room for", "two"
    given: Any = {"theme": theme, "narrow": narrow}
    figure: Any = compare_figures.bars(both(3), long, "nDCG@10", **given)
    text = figure.layout.annotations[0].text
    # An axis with its title stands at the left.
    room = (330 if theme == "light" else COLUMN if narrow else DRAWN) - 52
    assert labels.width(text, LEAST_FONT[ONE if narrow else TWO], theme) <= room


def test_many_queries_share_bars_that_keep_their_sum() -> None:
    rows = both(10_000)
    figure: Any = compare_figures.bars(rows, TITLES, "nDCG@10", theme="dark")
    (bar,) = figure.data
    assert len(bar.y) == binned_queries.MOST
    assert (bar.y * bar.width).sum() == pytest.approx(rows["difference"].sum(), abs=1e-6)
    assert bar.width.sum() == len(rows)
    assert len(figure.to_json()) < 300_000


def test_queries_of_one_place_are_one_mark() -> None:
    rows = differences.valued(both(4).assign(value_a=[0, 0, 1, 1], value_b=[0, 0, 1, 0]))
    _, marks = traces(compare_figures.scatter(rows, TITLES, "nDCG@10", theme="light"))
    assert sorted(zip(marks.x, marks.y, strict=True)) == [(0, 0), (0, 1), (1, 1)]
    assert "2 queries" in marks.hovertext[0]


def test_many_queries_stand_on_a_grid() -> None:
    _, marks = traces(compare_figures.scatter(both(10_000), TITLES, "nDCG@10", theme="light"))
    assert len(marks.x) <= (compare_figures.GRID + 1) ** 2
    assert np.allclose(np.asarray(marks.x) * compare_figures.GRID % 1, 0)


def test_names_and_texts_from_outside_stay_text() -> None:
    figures = [
        compare_figures.bars(both(3), TITLES, "nDCG@10", theme="light"),
        compare_figures.scatter(both(3), TITLES, "nDCG@10", theme="light"),
        standings.systems(ranked(), "nDCG@10", HOSTILE, theme="dark"),
        standings.alone(Series({"a": 2}), {"a": HOSTILE}, theme="light"),
        difficulty.difficulty(queries(), "nDCG@10", theme="light"),
    ]
    for figure in figures:
        shown = json.dumps(figure.to_plotly_json(), default=str)
        assert "<b>*mine*" not in shown and "&lt;b&gt;*mine*" in shown
        templates = {trace.hovertemplate for trace in traces(figure) if trace.hovertemplate}
        assert templates <= {"%{hovertext}<extra></extra>"}


def test_the_histogram_holds_every_query_and_names_the_mean() -> None:
    alike = DataFrame({"rbo": [0.0, 0.5, 1.0]})
    figure: Any = compare_figures.likeness(alike, theme="light")
    assert figure.data[0].y.sum() == 3
    assert figure.layout.annotations[0].text == "mean .500"


def groups() -> DataFrame:
    return DataFrame(
        {
            "label": ["1", "2 to 9"],
            "n": [30, 1],
            "difference": [0.2, -0.1],
            "low": [0.1, np.nan],
            "high": [0.3, np.nan],
        }
    )


def test_a_mark_is_hollow_unless_its_interval_leaves_out_0() -> None:
    (marks,) = traces(compare_figures.by_slice("words", groups(), "nDCG@10", theme="light"))
    assert list(marks.marker.color) == [LOOK.win, LOOK.background]
    assert list(marks.marker.line.color) == [LOOK.win, LOOK.loss]
    assert "1 query" in marks.hovertext[1] and "95" not in marks.hovertext[1]


def test_a_dataset_has_a_row_with_its_interval_and_counts() -> None:
    rows = groups().assign(dataset=["x", "y"], title=["X", HOSTILE])
    rows = rows.assign(a_better=[20, 0], b_better=[5, 1], equal=[5, 0])
    figure: Any = compare_figures.forest(rows, TITLES, "nDCG@10", theme="light")
    assert [list(carried) for carried in figure.data[0].customdata] == [["x"], ["y"]]
    assert "<b>20</b> : 5" in figure.layout.annotations[0].text


def test_two_systems_in_sentences() -> None:
    rows = both(3)
    said = compare_tables.said(differences.verdict(rows, "nDCG@10"), ("one", "two"), "nDCG@10")
    assert said == [
        "nDCG@10 over 3 queries: one .500, two .500.",
        "one minus two: .000.",
    ]
    counts = compare_tables.outcomes(differences.verdict(rows, "nDCG@10"), ("one", "two"))
    assert counts == "one is better on 1 query, two on 1; equal on 1."


def test_the_answer_is_one_sentence_about_who_leads() -> None:
    found = differences.Verdict(300, 0, 0.4, 0.434, -0.034, 67, 163, 70)
    tested: Any = {"low": -0.07, "high": 0.003, "p_randomisation": 0.07}
    one = partial(compare_tables.answer, titles=("dense", "BM25"), measure="nDCG@10")
    lead = "BM25 leads by .034 (95% CI: −.003 to +.070), "
    assert one(found, tested) == f"{lead}not significant (p = .07)."
    assert one(found, tested, family=(0.31, 91)) == (
        f"{lead}not significant (p = .07; after correction for 91 pairs p = .31)."
    )
    assert one(found, tested | {"p_randomisation": 0.02}, family=(0.31, 91)) == (
        f"{lead}significant by itself (p = .02), not after correction for 91 pairs (p = .31)."
    )
    assert one(found, {}) == (
        "BM25 leads by .034, without test or interval: all 300 queries are in one family."
    )
    assert one(found._replace(n=1), {}) == "BM25 leads by .034."
    assert one(found, tested | {"families": 22, "p_randomisation": math.nan}) == (
        "BM25 leads by .034, without test or interval: 22 families of 300 queries count as fewer"
        " than 4 of equal size."
    )
    # Where less is better, the lower one leads.
    holes = compare_tables.answer(found, tested, ("dense", "BM25"), "Hole@10")
    assert holes.startswith("dense leads by .034 (95% CI: −.003 to +.070), not")
    level = found._replace(difference=0.0)
    assert one(level, tested) == "dense and BM25 have the same mean nDCG@10."


def test_p_values_and_effect_in_words() -> None:
    found: Any = {"p_randomisation": 0.04, "p_t": 0.00001, "p_wilcoxon": np.nan}
    about = {"Dataset": "tiny", "Measure": "AP@10", "A": "one", "B": HOSTILE}
    rows = compare_tables.test_rows(found, about)
    table = under(compare_tables.TEST_COLUMNS, rows)
    assert table["p"].tolist() == [".0400", "< .0001"]
    assert table["The two systems"].tolist() == ["differ", "differ"]
    assert list(rows.columns) == ["Dataset", "Measure", "A", "B", "Test", "p", "The two systems"]
    (told,) = compare_tables.test_rows(
        found | {"p_randomisation": np.nan, "p_t": 0.2}, about
    ).values
    assert told[-1] == "do not differ significantly"
    assert rows.iloc[1, :6].tolist() == ["tiny", "AP@10", "one", HOSTILE, "Paired t-test", 0.00001]
    ends: Any = {"low": -0.01, "high": 0.05, "effect_low": -0.1, "effect_high": 0.5}
    both = "dense", "BM25"
    words = " ".join(compare_tables.effect(ends | {"difference": 0.02, "effect": 0.3}, both))
    assert words.startswith("dense minus BM25: +.020 (")
    assert "+.020 (95% CI: −.010 to +.050)" in words
    assert "+.30 (95% CI: −.10 to +.50), small" in words
    endless: Any = ends | {"low": -np.inf, "high": np.inf, "effect_high": np.inf}
    words = " ".join(compare_tables.effect(endless | {"difference": 0.02, "effect": 0.3}, both))
    assert words.count("too few queries for an interval") == 2


def test_tables_head_columns_with_the_titles_of_systems() -> None:
    rows = DataFrame(
        {
            "query_id": ["7"],
            "dataset": "tiny",
            "text": "a",
            "value_a": 0.5,
            "value_b": 0.25,
            "difference": 0.25,
            "rbo": np.nan,
            "shared": 0,
            "hole_a": 0.7,
            "hole_b": np.nan,
        }
    )
    # One system is called like a column of the table.
    columns = compare_tables.difference_columns(rows, ("BM25", "Text"), whole=False)
    table = under(columns, rows)
    assert list(table.columns) == ["Query", "Text", "BM25", "Text ", "Difference", "Unjudged@10"]
    assert table.iloc[0].tolist() == ["7", "a", ".500", ".250", "+.250", "70%, –"]
    across = rows.rename(columns={"value_a": "mean_a", "value_b": "mean_b"}).assign(
        title="Tiny", n=1, low=0.1, high=0.4, a_better=1, b_better=0, equal=0
    )
    heads = list(under(compare_tables.across_columns(("BM25", "MiniLM")), across))
    assert heads[2:5] == ["BM25", "MiniLM", "Difference"]
    assert (heads[6], heads[8]) == ("BM25 better", "MiniLM better")


def ranked() -> DataFrame:
    return DataFrame(
        {
            "system": ["a", "b"],
            "title": ["A", HOSTILE],
            "family": ["dense", "imported"],
            "n": [4, 4],
            "value": [0.6, 0.4],
            "low": [0.5, np.nan],
            "high": [0.7, np.nan],
            "hole": [0.25, np.nan],
            "above": [3, 0],
            "same": [1, 4],
            "below": [0, 0],
        }
    )


def test_systems_have_means_shares_and_holes() -> None:
    figure: Any = standings.systems(ranked(), "nDCG@10", "the baseline", theme="light")
    means, better, same, worse = figure.data
    assert list(means.x) == [0.6, 0.4]
    assert [list(bar.x) for bar in (better, same, worse)] == [[0.75, 0], [0.25, 1], [0, 0]]
    assert better.marker.color == LOOK.win and worse.marker.color == LOOK.loss
    assert [note.text for note in figure.layout.annotations[:2]] == ["25%", "–"]


def test_of_holes_below_the_baseline_is_better() -> None:
    figure: Any = standings.systems(ranked(), "Hole@10", "the baseline", theme="light")
    assert list(figure.data[3].x) == [0.75, 0]


def queries() -> DataFrame:
    rows = DataFrame(
        {
            "dataset": "d",
            "query_id": ["q1", "q2"],
            "text": HOSTILE,
            "n_relevant": [1, 2],
            "n_systems": 3,
            "best": [1.0, 0.4],
            "second": [0.9, 0.4],
            "middle": [0.9, 0.2],
            "worst": [0.9, 0.0],
            "winner": "a",
            "loser": "b",
        }
    )
    return query_outcomes.kind(rows)


def test_a_query_reaches_from_its_worst_to_its_best_system() -> None:
    bars, median = traces(difficulty.difficulty(queries(), "nDCG@10", theme="light"))
    assert list(bars.base) == [0.9, 0.0]
    assert list(bars.y) == pytest.approx([0.1, 0.4])
    assert list(median.y) == [0.9, 0.2]


def test_grades_stack_with_the_most_relevant_query_first() -> None:
    grades = DataFrame(
        [("d", "q1", 0, 7), ("d", "q1", 1, 1), ("d", "q2", 2, 3), ("d", "q3", -1, 1)],
        columns=["dataset", "query_id", "relevance", "n"],
    )
    figure: Any = difficulty.judged(grades, theme="light")
    names = [bar.name for bar in figure.data]
    assert names == [
        "relevant, grade 1",
        "relevant, grade 2",
        "not relevant, grade −1",
        "not relevant, grade 0",
    ]
    assert next(list(carried) for carried in figure.data[0].customdata) == ["d", "q2"]
    assert figure.layout.yaxis.dtick is None
    few: Any = difficulty.judged(grades.tail(2), theme="light")
    assert few.layout.yaxis.dtick == 1, "no mark at half a document"
    note = " ".join(difficulty.judged_note(grades))
    assert note.startswith("12 judgements of 3 queries; relevant documents per query: 0 to 3")
    assert "1 query without a relevant document" in note


def test_a_document_that_nobody_judged_for_a_query_is_a_hole() -> None:
    found = DataFrame(
        {
            "dataset": "d",
            "query_id": ["q1", "q2", "q3"],
            "text": None,
            "relevance": [1, None, 0],
            "systems": [2, 1, 0],
            "best": [1, 4, None],
            "middle": [1.5, 4, None],
            "first": ["a", "b", None],
        }
    )
    found = found.astype({"relevance": float}).fillna({"first": ""})
    table = under(standings.place_columns({"a": "A"}, 2, texts=False), found)
    assert table["Judgement"].tolist() == ["relevant (1)", "hole", "not relevant (0)"]
    assert table["Ranked by"].tolist() == ["2 of 2 systems", "1 of 2 systems", "0 of 2 systems"]
    assert table["Median rank"].tolist() == ["1.5", "4", "–"]
    assert table["Highest by"].tolist() == ["A", "b", ""]


def test_a_small_lead_and_a_family_that_tells_more_are_said() -> None:
    found = differences.Verdict(40, 0, 0.500025, 0.5, 0.000025, 40, 0, 0)
    tested: Any = {"low": 0.00001, "high": 0.00004, "p_randomisation": 0.06}
    one = partial(compare_tables.answer, titles=("dense", "BM25"), measure="nDCG@10")
    said = one(found, tested, family=(0.01, 3))
    assert said.startswith("dense leads by less than .001 (")
    assert "not significant by itself (p = .06), but after correction for 3 pairs (p = .01)" in said
