"""The words of two corpora as lines on a log scale."""

from typing import Any

from pandas import DataFrame

from compute.views.overlap.words import words


def test_a_word_that_one_corpus_lacks_is_at_a_tick_of_0() -> None:
    rows = DataFrame({"term": ["a", "b"], "share": [5e-4, 1e-3], "other_share": [0.0, 2e-5]})
    figure: Any = words(rows, ("one", "two"), theme="light")
    axis = figure.layout.xaxis
    assert axis.ticktext[0] == "0" and axis.tickvals[0] == 10 and axis.ticktext.count("0") == 1
    whole: Any = words(rows.assign(other_share=2e-5), ("one", "two"), theme="light")
    assert "0" not in whole.layout.xaxis.ticktext
