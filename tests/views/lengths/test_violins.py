"""Figures of document lengths: what stands where, and densities that say what the counts say."""

import json
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pandas import DataFrame

from compute.datasets.published import MEDIAN_LENGTH
from compute.exports import heading
from compute.exports.figures import for_print
from compute.exports.formats import ONE, Paper
from compute.views.lengths import medians, violins
from compute.views.shared.drawing import COLUMN, lists
from compute.views.shared.theme import palette
from tests.support.worlds import CASES
from tests.views.records import under

HOSTILE = "<b>*mine*&$x$ %{x}"
NAMED = DataFrame(
    {
        "system": ["bm25", "minilm", "mine"],
        "title": ["BM25", "MiniLM", HOSTILE],
        "family": ["lexical", "dense", "imported"],
    }
)

KEYS = ["of", "relevance", "system"]
RAW = {
    ("corpus", "", ""): [10, 20, 20, 30, 900],
    ("relevant", "", ""): [20, 30],
    ("judged", "2", ""): [30],
    ("judged", "-1", ""): [10, 11],
    ("top", "", "bm25"): [30, 40, 50],
    ("top", "", "minilm"): [9, 10, 10],
    ("top", "", "mine"): [20, 21],
}


def histogram(raw: dict[tuple[str, str, str], list[int]] = RAW) -> DataFrame:
    rows = [(*key, n) for key, lengths in raw.items() for n in lengths]
    return DataFrame(rows, columns=[*KEYS, "n_words"]).value_counts().reset_index()


def summaries(raw: dict[tuple[str, str, str], list[int]] = RAW) -> DataFrame:
    rows = []
    for key, own in raw.items():
        shares = zip(("p5", "p25", "p50", "p75", "p95"), (5, 25, 50, 75, 95), strict=True)
        facts = {"n": len(own), "mean": float(np.mean(own)), "longest": max(own)}
        facts |= {name: float(np.percentile(own, share)) for name, share in shares}
        rows.append(dict(zip(KEYS, key, strict=True)) | facts)
    return DataFrame(rows)


def drawn(*, log: bool = False, cut: int | None = None, theme: str = "light") -> Any:
    rows = violins.beside_corpus(summaries(), NAMED)
    return violins.violins(rows, histogram(), 20.0, log=log, cut=cut, theme=theme)


def test_its_list_has_the_medians_of_the_figure_shortest_system_first() -> None:
    told = lists(drawn())
    assert told is not None
    rows = violins.beside_corpus(summaries(), NAMED).sort_values("p50", kind="stable")
    rows = rows.sort_values("of", key=lambda of: of != "top", kind="stable")
    assert [row.name for row in told.lists[0].rows] == rows["title"].tolist()
    assert [row.rank for row in told.lists[0].rows][-2:] == [None, None]
    assert [row.said.split(" ")[0] for row in told.lists[0].rows] == [
        violins.words(median) for median in rows["p50"]
    ]


def notes(figure: Any) -> list[str]:
    return [note.text for note in figure.layout.annotations]


def test_rows_begin_with_the_collection_and_go_on_with_the_shortest() -> None:
    rows = violins.beside_corpus(summaries(), NAMED)
    assert list(rows["title"]) == [violins.WHOLE, violins.RELEVANT, "MiniLM", HOSTILE, "BM25"]
    assert list(rows["family"]) == ["", "", "dense", "imported", "lexical"]


def test_grades_go_from_the_highest_down_and_say_which_are_relevant() -> None:
    rows = violins.by_relevance(summaries())
    assert list(rows["title"]) == [violins.WHOLE, "grade 2: relevant", "grade −1: not relevant"]


def test_the_right_column_has_the_median_and_how_far_it_is_from_the_collections() -> None:
    shown = notes(drawn())
    assert "<b>20</b>" in shown
    assert any(note.startswith("<b>10</b>") and "−10" in note for note in shown)
    assert any(note.startswith("<b>40</b>") and "+20" in note for note in shown)
    assert any(note.startswith("<b>20.5</b>") and "+0.5" in note for note in shown)


def test_the_dotted_line_is_at_the_collections_median_from_the_first_row_to_the_last() -> None:
    (line,) = (one for one in drawn().data if one.line.dash == "dot")
    # Five rows, whose places are 0 to 4.
    assert (list(line.x), list(line.y)) == ([20, 20], [-1, 4.4])


@pytest.mark.parametrize(
    ("number", "said"),
    [
        (195, "195"),
        (1541, "1,541"),
        (20.5, "20.5"),
        (-9, "−9"),
        (0, "0"),
        (-0.04, "0"),
        (0.04, "0"),
    ],
)
def test_words_are_written_for_people(number: float, said: str) -> None:
    assert violins.words(number) == said


def test_what_lies_beyond_a_linear_axis_is_counted() -> None:
    # Most of the collection is short: the axis leaves its longest document out.
    short = {("corpus", "", ""): [10] * 500 + [900], ("top", "", "bm25"): [10, 50]}
    rows = violins.beside_corpus(summaries(short), NAMED)
    figure: Any = violins.violins(rows, histogram(short), 10.0, log=False, cut=None, theme="light")
    assert figure.layout.xaxis.range == (0, 50)
    assert "1 over 50, to 900 ▸" in notes(figure)


def test_a_logarithmic_axis_and_a_cut_leave_nothing_out() -> None:
    for figure in (drawn(log=True), drawn(cut=1000)):
        assert not [note for note in notes(figure) if "longer" in note]
    assert drawn(log=True).layout.xaxis.type == "log"
    assert drawn(cut=512).layout.xaxis.range == (0, 512)


def test_no_name_from_outside_is_markup() -> None:
    figure = drawn()
    assert HOSTILE not in json.dumps(figure.to_plotly_json(), default=str)
    assert "&lt;b&gt;*mine*&amp;&#36;x&#36; %{x}" in figure.layout.yaxis.ticktext
    ring = figure.data[-1]
    assert ring.hovertemplate == "%{hovertext}<extra></extra>"
    assert "&lt;b&gt;" in ring.hovertext[3]


def test_in_one_column_the_names_stand_beside_low_rows() -> None:
    rows = violins.beside_corpus(summaries(), NAMED)
    given: Any = {"log": False, "cut": 100, "theme": "print"}
    wide: Any = violins.violins(rows, histogram(), 20.0, **given)
    narrow: Any = violins.violins(rows, histogram(), 20.0, **given, narrow=True)
    # No line of the drawing runs across a name that stands beside it.
    assert narrow.layout.yaxis.ticktext == wide.layout.yaxis.ticktext
    assert narrow.layout.height < wide.layout.height
    assert "<b>40</b>" in notes(narrow) and not [text for text in notes(narrow) if "+20" in text]
    # What lies beyond the axis is said in fewer words.
    assert [text for text in notes(wide) if " over " in text]
    assert "1 ▸" in notes(narrow) and "n longer" in narrow.layout.xaxis.title.text


def test_in_one_column_a_logarithmic_axis_has_marks_that_do_not_touch() -> None:
    rows = violins.beside_corpus(summaries(), NAMED)
    given: Any = {"log": True, "cut": None, "theme": "print"}
    wide, narrow = (
        violins.violins(rows, histogram(), 20.0, **given, narrow=one).layout.xaxis.ticktext  # pyrefly: ignore
        for one in (False, True)
    )
    assert wide == ("10", "20", "50", "100", "200", "500")
    assert narrow == ("10", "30", "100", "300")


def test_19_rows_in_one_column_are_at_most_100_mm_high() -> None:
    names = [f"system {place:02}" for place in range(17)]
    raw = RAW | {("top", "", name): [30, 40, 50] for name in names}
    named = DataFrame({"system": names, "title": names, "family": "dense"})
    own = summaries(raw)
    own = own[(own["of"] != "judged") & ~own["system"].isin(NAMED["system"])]
    rows = violins.beside_corpus(own, named)
    assert len(rows) == 19
    given: Any = {"log": False, "cut": None, "theme": "light"}
    figure = violins.violins(rows, histogram(raw), 20.0, **given)
    printed: Any = for_print(figure, Paper(ONE))
    # A heading of four lines stands above.
    assert (printed.layout.height + heading.height(4)) * 84 / COLUMN <= 100


def test_the_key_of_the_lengths_names_the_families_that_there_are() -> None:
    rows = violins.beside_corpus(summaries(), NAMED)
    said = [words for _, _, words in violins.legend(rows, "print")]
    assert said[:3] == ["lexical", "dense", "imported"]
    assert "5th–95th percentile" in said


@pytest.mark.parametrize("theme", ["light", "dark", "print"])
def test_every_theme_draws_in_its_own_colours(theme: str) -> None:
    for figure in (drawn(theme=theme), drawn(theme=theme, log=True)):
        assert figure.layout.template.layout.paper_bgcolor == palette(theme).background


@CASES
@given(
    st.lists(st.integers(0, 3000), min_size=1, max_size=50),
    st.booleans(),
)
def test_a_density_is_highest_somewhere_between_the_shortest_and_the_longest(
    own: list[int], log: bool
) -> None:
    counts = DataFrame({"n_words": own}).value_counts().reset_index()
    low, high = violins.span([counts], log=log)
    assert low <= max(min(own), 1)
    x, y = violins.density(counts, low, max(high, max(own)), log=log)
    assert np.isfinite(x).all() and np.isfinite(y).all()
    assert (y >= 0).all()
    assert y.max() == pytest.approx(1)
    reach = (x[-1] - x[0]) / violins.STEPS * 2
    peak = x[int(np.argmax(y))]
    if len(set(own)) == 1:
        assert abs(peak - max(own[0], 1)) <= max(reach, 1)


def test_whole_numbers_leave_no_ripple() -> None:
    even = DataFrame({"n_words": range(1, 1001), "count": 7})
    _, y = violins.density(even, 0, 1000, log=False)
    assert y[20:-20].min() > 0.98
    steep = DataFrame({"n_words": range(1, 1001), "count": [1000 // n + 1 for n in range(1, 1001)]})
    _, y = violins.density(steep, 0.9, 1000, log=True)
    # 1/n over a logarithmic axis is nearly even: no tooth for each of the short lengths.
    assert np.abs(np.diff(y[60:240])).max() < 0.05


def test_two_humps_stay_two() -> None:
    humps = DataFrame({"n_words": [*range(90, 111), *range(390, 411)], "count": 50})
    x, y = violins.density(humps, 0, 500, log=False)
    middle = y[(x > 200) & (x < 300)]
    assert middle.max() < 0.05
    assert y[(x > 90) & (x < 110)].max() > 0.8


def test_differences_count_who_is_shorter() -> None:
    pairs = DataFrame({"words_a": [1.0, 5.0, 9.0, 3.0], "words_b": [2.0, 5.0, 3.0, 7.0]})
    figure: Any = violins.differences(pairs, ("A", HOSTILE), theme="dark")
    assert sum(figure.data[0].y) == 4
    assert notes(figure) == [
        "A<br>shorter: 2",
        "&lt;b&gt;*mine*&amp;&#36;x&#36; %{x}<br>shorter: 1",
    ]
    said = violins.verdict(pairs, ("A", "B"))
    assert "shorter documents on 2 of 4 queries, B on 1 (equal on 1; sign test p = 1.000)" in said
    assert "median difference per query is −0.5 words" in said
    many = DataFrame({"words_a": [1.0] * 9, "words_b": [2.0] * 8 + [0.0]})
    assert "(sign test p = .039)" in violins.verdict(many, ("A", "B"))  # 20 / 512
    assert "sign test" not in violins.verdict(many, ("A", "B"), tested=False)


def test_differences_of_the_same_lengths_are_drawn() -> None:
    pairs = DataFrame({"words_a": [5.0, 5.0], "words_b": [5.0, 5.0]})
    figure: Any = violins.differences(pairs, ("A", "B"), theme="light")
    assert max(figure.data[0].y) == 2


MEDIANS = DataFrame(
    [
        ("one", "One", "corpus", "", 9, 100.0),
        ("one", "One", "relevant", "", 5, 100.0),
        ("one", "One", "top", "bm25", 30, 200.0),
        ("one", "One", "top", "minilm", 30, 10.0),
        ("two", HOSTILE, "corpus", "", 9, 80.0),
        ("two", HOSTILE, "top", "bm25", 30, 80.0),
    ],
    columns=["dataset", "title", "of", "system", "n", "median"],
)


def heatmap(chosen: str = "two") -> Any:
    return medians.heatmap(MEDIANS, NAMED, chosen=chosen, theme="light")


def test_preference_is_the_mean_logarithm_of_the_ratio() -> None:
    found = medians.preference(MEDIANS)
    assert list(found.index) == ["minilm", "bm25"]
    assert found["minilm"] == pytest.approx(np.log2(0.1))
    assert found["bm25"] == pytest.approx(0.5)


def test_colours_are_logarithms_and_end_at_a_quarter_and_four_times() -> None:
    figure = heatmap()
    assert figure.data[0].z.tolist()[0][1:] == [0, -2, 1]
    assert np.isnan(figure.data[0].z[:, 0]).all()
    assert (figure.layout.coloraxis.cmin, figure.layout.coloraxis.cmax) == (-2, 2)
    assert [name.strip() for name in figure.layout.xaxis.ticktext] == [
        "Corpus",
        "Relevant",
        "MiniLM",
        "BM25",
    ]


def test_every_cell_has_its_median_and_opens_its_dataset() -> None:
    figure = heatmap()
    texts = [text for trace in figure.data[1:-1] for text in trace.text]
    assert sorted(texts) == sorted(["100", "100", "200", "10", "80", "80", "–", "–"])
    assert {point[0] for point in figure.data[-1].customdata} == {"one", "two"}
    assert len(figure.layout.shapes) == 1
    assert not heatmap("three").layout.shapes
    assert "0.10 times the collection's 100" in figure.data[-1].hovertext[3]
    assert "&lt;b&gt;" in figure.layout.yaxis.ticktext[1]
    assert HOSTILE not in json.dumps(figure.to_plotly_json(), default=str)


def test_medians_of_nothing_are_halves_of_a_word() -> None:
    empty = MEDIANS.assign(median=0.0)
    assert (medians.preference(empty) == 0).all()


def test_the_papers_averages_stand_beside_ours() -> None:
    counted = DataFrame(
        {
            "title": ["One", "Own"],
            "n_documents": [1000, 2],
            "document_words": [213.625, 4.0],
            "empty_texts": [250.0, np.nan],
            "query_words": [3.3, np.nan],
            "all_query_words": [3.25, np.nan],
            "printed_document_words": [232.26, np.nan],
            "printed_query_words": [3.3, np.nan],
        }
    )
    table = under(medians.AVERAGES, counted)
    assert table.iloc[0].tolist() == [
        "One",
        "1,000",
        "213.62",
        "232.26",
        "3.30",
        "3.25",
        "3.30",
        "25.0% (250)",
    ]
    assert table.iloc[1].tolist() == ["Own", "2", "4.00", "–", "–", "–", "–", "–"]


def test_published_medians_stand_beside_ours() -> None:
    printed = DataFrame(
        [
            ("BEIR v4", "one", "minilm", MEDIAN_LENGTH, 14.0),
            ("BEIR v4", "gone", "ance", MEDIAN_LENGTH, 160.0),
            ("BEIR v4", "one", "", "documents with a title only", 42000.0),
        ],
        columns=["source", "dataset", "system", "measure", "value"],
    )
    averages = DataFrame({"dataset": ["one"], "empty_texts": [pd.NA]})
    titles = {"one": "One", "minilm": "MiniLM"}
    rows = medians.published_rows(printed, MEDIANS, averages, titles)
    table = under(medians.published_columns(rows), rows)
    assert table["Published (BEIR v4)"].tolist() == ["14", "160", "42,000"]
    assert table["Here"].tolist() == ["10", "–", "–"]
    assert table["System"].tolist() == ["MiniLM", "ance", "–"]


def test_the_finding_names_the_shortest_and_the_longest() -> None:
    rows = DataFrame({"of": ["corpus", "top", "top"], "title": ["c", "A", "B"], "p50": [5, 4, 7.5]})
    assert violins.finding(rows) == (
        "A retrieves the shorter documents (median 4 words), B the longer (7.5)."
    )
    third = pd.concat([rows, rows.tail(1).assign(title="C", p50=9)], ignore_index=True)
    assert violins.finding(third) == (
        "A retrieves the shortest documents (median 4 words), C the longest (9)."
    )
    assert violins.finding(rows.head(2)) == violins.finding(rows.assign(p50=4)) == ""
