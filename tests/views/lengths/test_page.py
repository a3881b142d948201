"""The dataset that the Lengths page opens with."""

from pandas import DataFrame

from compute.views.lengths.page import usual


def test_it_opens_where_systems_differ_most() -> None:
    rows = DataFrame(
        [
            ("a", "top", "one", 223.0),
            ("a", "top", "two", 249.0),
            ("b", "top", "one", 177.0),
            ("b", "top", "two", 308.0),
            ("b", "corpus", "", 10.0),
            ("elsewhere", "top", "one", 1.0),
            ("elsewhere", "top", "two", 99.0),
        ],
        columns=["dataset", "of", "system", "median"],
    )
    assert usual(rows, ["a", "b"]) == "b"
    assert usual(rows.iloc[:0], ["a", "b"]) == "a"
