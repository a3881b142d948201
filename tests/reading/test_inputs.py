"""What the numbers of a view rest on, told by its questions."""

import pandas as pd

from compute.reading import inputs
from compute.reading.inputs import Inputs
from compute.reading.questions import Question

MEANS = pd.DataFrame(
    {"dataset": ["d", "d", "e"], "system": ["a", "b", "a"], "value": [0.1, 0.2, 0.3]}
)
RUNS, DATASETS = Question(shows="runs"), Question(shows="datasets")
PRINT = Question(shows="tables in print")


def test_a_frame_names_its_runs() -> None:
    found = inputs.of(MEANS, RUNS, {"measure": "nDCG@10"})
    assert found.runs == {("d", "a"), ("d", "b"), ("e", "a")}
    assert found.datasets == {"d", "e"}
    assert found.measures == {"nDCG@10"}


def test_what_only_lists_what_may_be_picked_holds_no_numbers() -> None:
    assert inputs.of(MEANS, Question(), {}) == Inputs()
    assert inputs.of(MEANS.head(0), RUNS, {"measure": "nDCG@10"}) == Inputs()


def test_parameters_name_what_the_columns_do_not() -> None:
    per_query = pd.DataFrame({"query_id": ["q1"], "value_a": [0.5], "value_b": [0.1]})
    pairs = Question(datasets=("datasets",), systems=("a", "b"), shows="runs")
    found = inputs.of(per_query, pairs, {"datasets": ["d", "e"], "a": "x", "b": "y"})
    assert found.runs == {("d", "x"), ("d", "y"), ("e", "x"), ("e", "y")}
    ranks = pd.DataFrame([[1, 0]], columns=[1, 2])
    both = Question(
        datasets=("dataset",), collections=("in_",), systems=("system", "other"), shows="runs"
    )
    named = {"dataset": "d", "in_": "c", "system": "x", "other": "y"}
    assert inputs.of(ranks, both, named).runs == {("d", "x"), ("d", "y")}
    assert inputs.of(ranks, both, {"dataset": "d"}) == Inputs(datasets=frozenset({"d"}))


def test_what_is_printed_is_no_run() -> None:
    printed = MEANS.assign(source="BEIR v1, Table 2")
    assert inputs.of(printed, PRINT, {}) == Inputs(sources=frozenset({"BEIR v1, Table 2"}))
    assert inputs.of(MEANS, PRINT, {"source": "BEIR v4, Table 2"}).runs == frozenset()


def test_two_collections_compared_are_both_named() -> None:
    pairs = pd.DataFrame({"dataset": ["d"], "other": ["e"], "similarity": [0.5]})
    assert inputs.of(pairs, DATASETS, {}) == Inputs(datasets=frozenset({"d", "e"}))


def test_lengths_of_the_corpus_belong_to_no_system() -> None:
    medians = pd.DataFrame({"dataset": ["d", "d"], "system": ["", "a"], "median": [9.0, 8.0]})
    assert inputs.of(medians, RUNS, {}).runs == {("d", "a")}


def test_all_that_a_page_reads_adds_up() -> None:
    both = inputs.of(MEANS.head(1), RUNS, {}) | Inputs(sources=frozenset({"BEIR v1, Table 2"}))
    assert both.runs == {("d", "a")} and both.sources == {"BEIR v1, Table 2"}
