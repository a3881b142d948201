"""What the numbers of a view rest on, told by its frames."""

import pandas as pd

from compute.views.about import view_inputs
from compute.views.about.view_inputs import Shown

MEANS = pd.DataFrame(
    {"dataset": ["d", "d", "e"], "system": ["a", "b", "a"], "value": [0.1, 0.2, 0.3]}
)


def test_a_frame_names_its_runs() -> None:
    found = view_inputs.of(MEANS, {"measure": "nDCG@10"})
    assert found.runs == {("d", "a"), ("d", "b"), ("e", "a")}
    assert found.datasets == {"d", "e"}
    assert found.measures == {"nDCG@10"}


def test_what_only_lists_what_may_be_picked_holds_no_numbers() -> None:
    assert view_inputs.of(MEANS[["dataset", "system"]], {}) == Shown()
    assert view_inputs.of(pd.DataFrame({"dataset": ["d"], "n_runs": [3]}), {}) == Shown()
    assert view_inputs.of(MEANS.head(0), {"measure": "nDCG@10"}) == Shown()


def test_parameters_name_what_the_columns_do_not() -> None:
    per_query = pd.DataFrame({"query_id": ["q1"], "value_a": [0.5], "value_b": [0.1]})
    found = view_inputs.of(per_query, {"datasets": ["d", "e"], "a": "x", "b": "y"})
    assert found.runs == {("d", "x"), ("d", "y"), ("e", "x"), ("e", "y")}
    ranks = pd.DataFrame([[1, 0]], columns=[1, 2])
    assert view_inputs.of(ranks, {"dataset": "d", "system": "x", "other": "y"}).runs == {
        ("d", "x"),
        ("d", "y"),
    }


def test_what_is_printed_is_no_run() -> None:
    printed = MEANS.assign(source="BEIR v1, Table 2")
    assert view_inputs.of(printed, {}) == Shown(sources=frozenset({"BEIR v1, Table 2"}))
    assert view_inputs.of(MEANS, {"source": "BEIR v4, Table 2"}).runs == frozenset()


def test_two_collections_compared_are_both_named() -> None:
    pairs = pd.DataFrame({"dataset": ["d"], "other": ["e"], "similarity": [0.5]})
    assert view_inputs.of(pairs, {}) == Shown(datasets=frozenset({"d", "e"}))


def test_lengths_of_the_corpus_belong_to_no_system() -> None:
    medians = pd.DataFrame({"dataset": ["d", "d"], "system": ["", "a"], "median": [9.0, 8.0]})
    assert view_inputs.of(medians, {}).runs == {("d", "a")}


def test_all_that_a_page_reads_adds_up() -> None:
    both = view_inputs.of(MEANS.head(1), {}) | Shown(sources=frozenset({"BEIR v1, Table 2"}))
    assert both.runs == {("d", "a")} and both.sources == {"BEIR v1, Table 2"}
