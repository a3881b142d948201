"""The figure and tables of the pool."""

from typing import Any

from pandas import DataFrame

from compute.views.holes.pools import gains_table, left_out, left_out_note, left_out_table, verdict
from tests.support.holes import html, words


def rows() -> DataFrame:
    titled = {"system": ["a", "b"], "title": ["<i>%{x}</i>", "B"]}
    scores = {"value": [0.5, 0.41], "value_without": [0.4, 0.41]}
    places = {"place": [1, 2], "place_without": [2, 2]}
    counts = {"n_judged": [9, 8], "n_relevant": [4, 0], "n_alone": [3, 1]}
    return DataFrame(titled | scores | places | counts | {"n_relevant_alone": [1, 0]})


def drawn(theme: str = "light") -> Any:
    """The figure, its parts reachable by name: Plotly's own types know none."""
    return left_out(rows(), "nDCG@10", theme=theme)


def test_a_line_goes_from_the_score_left_out_to_the_score_as_judged() -> None:
    lines, rings, dots = drawn().data
    assert lines.x == (0.4, 0.5, None, 0.41, 0.41, None)
    assert (rings.x, dots.x) == ((0.4, 0.41), (0.5, 0.41))


def test_change_ranks_and_own_documents_stand_at_the_right() -> None:
    said = [note.text for note in drawn("dark").layout.annotations]
    assert {"−.100", "<b>1 → 2</b>", "1 (25%)"} <= set(said)
    assert {"2", "0 (0%)"} <= set(said)


def test_titles_are_drawn_letter_by_letter_and_are_no_templates() -> None:
    figure = drawn()
    assert figure.layout.yaxis.ticktext[0] == "&lt;i&gt;%{x}&lt;/i&gt;"
    assert figure.data[-1].hovertemplate == "%{hovertext}<extra></extra>"


def test_the_note_says_that_judgements_need_not_come_from_these_systems() -> None:
    said = words(left_out_note(rows(), "nDCG@10"))
    # Beside the number: how many runs make up the pool.
    assert said.startswith("The pool here is only the top 10 of the 2 systems shown")
    assert "rank of 2" in [note.text for note in drawn().layout.annotations]
    near = rows().assign(value_without=[0.49996, 0.41])
    assert "No system would change rank" in verdict(near)
    assert verdict(rows()).startswith("1 of 2 systems would change rank")
    assert "may come from a different pool" in said


def test_the_tables_hold_what_was_counted() -> None:
    table = left_out_table(rows(), "nDCG@10")
    assert table.shown["Change"].round(3).tolist() == [-0.1, 0.0]
    added = {"n_added": [3], "n_added_relevant": [2], "n_added_alone": [1]}
    gained = DataFrame({"title": ["A"], "value": [0.5], "value_added": [0.45]} | added)
    shown = html(gains_table(gained, "P@5"))
    assert "−.050" in shown and ".450" in shown
