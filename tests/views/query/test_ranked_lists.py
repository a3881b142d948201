"""Boxes of ranked lists: what their labels hold."""

from typing import Any

import pytest
from pandas import DataFrame

from compute.views.query import ranked_lists
from compute.views.shared import labels
from compute.views.shared.theme import ink


def _texts(title: str, n_lists: int) -> list[str]:
    names = [f"s{place}" for place in range(n_lists)]
    row = {"rank": 1, "doc_id": "d1", "score": 1.0, "relevance": None, "text": ""}
    lists = DataFrame([row | {"system": name, "title": title} for name in names])
    figure: Any = ranked_lists.ranked_lists(lists, [(name, name) for name in names], theme="light")
    return [text for trace in figure.data if trace.mode == "text" for text in trace.text]


@pytest.mark.parametrize("n_lists", [1, 2, 3, 4])
@pytest.mark.parametrize("letter", ["W", "i", "臓"])
def test_a_title_without_room_ends_in_an_ellipsis(letter: str, n_lists: int) -> None:
    shown = [text.removeprefix("<b>?</b> ") for text in _texts(letter * 300, n_lists)]
    assert len(shown) == n_lists and all(text.endswith("…") for text in shown)
    widest = max(labels.width(text, ranked_lists._SIZE, "light") for text in shown)
    assert widest <= ranked_lists._ROOM[n_lists]


def test_a_title_with_room_is_whole() -> None:
    assert _texts("Harbour lights", 4) == ["<b>?</b> Harbour lights"] * 4


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_higher_grade_has_a_stronger_blue(theme: str) -> None:
    hit = {"system": "s", "score": 1.0, "title": "t", "text": ""}
    rows = [
        hit | {"rank": n, "doc_id": f"d{n}", "relevance": grade} for n, grade in ((1, 1), (2, 2))
    ]
    figure: Any = ranked_lists.ranked_lists(DataFrame(rows), [("s", "s")], theme=theme)
    one, two = (shape.fillcolor for shape in figure.layout.shapes)
    assert one != two
    inks = {trace.textfont.color for trace in figure.data if trace.mode == "text"}
    assert inks <= {ink(one), ink(two)}
