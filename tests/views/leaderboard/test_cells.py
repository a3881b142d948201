"""The leaderboard's cells: the papers', ours and the difference."""

import pytest
from pandas import DataFrame

from compute.datasets import published
from compute.views.leaderboard import cells
from compute.views.shared import in_domain


def of(*rows: tuple[str, str, float]) -> DataFrame:
    frame = DataFrame(rows, columns=["dataset", "system", "value"])
    return frame.assign(in_domain=False, suspect=False, remark="")


def test_computed_minus_published_stands_where_both_are() -> None:
    ours = of(("scifact", "a", 0.66), ("scifact", "b", 0.7), ("fiqa", "a", 0.2))
    theirs = of(("scifact", "a", 0.65), ("scifact", "b", 0.6), ("nq", "a", 0.3))
    theirs.loc[1, "suspect"] = True
    both = cells.computed_minus_published(ours, theirs)
    assert both[["dataset", "system"]].values.tolist() == [["scifact", "a"]]
    assert both["value"].tolist() == [pytest.approx(0.01)]


def test_a_table_in_two_languages_has_a_mean_of_each_and_the_difference_by_dataset() -> None:
    figures = published.results()
    table = figures[(figures["source"] == "BEIR-PL, Table 3") & (figures["measure"] == "nDCG@10")]
    shown = cells.cells(cells.PUBLISHED, cells.printed(table), DataFrame())
    wide = shown.pivot(index="dataset", columns="system", values="value")
    polish, english = (f"bm25-elasticsearch, {spoken}" for spoken in ("Polish", "English"))
    assert wide.shape == (11, 2)
    zero_shot = wide.drop(index="msmarco/test")
    # As printed: nDCG@10 of 10 datasets, by hand.
    assert zero_shot[english].mean() == pytest.approx(4.188 / 10)
    assert zero_shot[polish].mean() == pytest.approx(3.5043 / 10)
    gap = wide[polish] - wide[english]
    assert gap["nq"] == pytest.approx(-0.125) and gap["cqadupstack"] == pytest.approx(-0.0413)
    assert cells.run_of("nq", polish) == {"dataset": "nq-pl", "system": "bm25-elasticsearch"}
    assert cells.run_of("nq", english) == {"dataset": "nq", "system": "bm25-elasticsearch"}
    assert cells.run_of("nq", "mine, too") == {"dataset": "nq", "system": "mine, too"}


def test_computed_cells_tell_holes_and_unanswered_queries() -> None:
    means = DataFrame(
        {
            "dataset": ["scifact"],
            "system": ["sparta"],
            "value": [0.5],
            "value_returned": [0.6],
            "n_queries": [300],
            "n_unanswered": [50],
        }
    )
    holes = DataFrame({"dataset": ["scifact"], "system": ["sparta"], "hole": [0.851]})
    trained = DataFrame({"dataset": ["scifact"], "system": ["sparta"]})
    cell = cells.computed(means, holes, trained, "value_returned").iloc[0]
    assert (cell["value"], cell["in_domain"]) == (0.6, True)
    assert cell["remark"] == "300 queries, 50 of them unanswered, 85% of the top 10 unjudged"


def test_the_baseline_is_the_tables_bm25() -> None:
    assert cells.baseline(["ance", "bm25+ce-minilm", "bm25-multifield"]) == "bm25-multifield"
    assert cells.baseline(["minilm", "bm25-rm3", "bm25"]) == "bm25"
    assert cells.baseline(["sbert-cosine", "sbert-dot"]) == "sbert-cosine"
    assert cells.baseline([]) is None


def test_measures_are_those_that_both_have_for_a_difference() -> None:
    stored = DataFrame({"measure": ["Hole@10", "nDCG@20", "R@100", "nDCG@10"]})
    tables = DataFrame({"source": ["a", "a", "b"], "measure": ["nDCG@10", "RR@10", "R@100"]})
    assert cells.measures(cells.PUBLISHED, stored, tables, "a") == ["nDCG@10", "RR@10"]
    assert cells.measures(cells.DIFFERENCE, stored, tables, "a") == ["nDCG@10"]
    ours = cells.measures(cells.COMPUTED, stored, tables, "a")
    assert ours == ["nDCG@10", "R@100", "Hole@10", "nDCG@20"]


def test_filters_keep_the_baseline_and_all_where_nothing_is_named() -> None:
    table = of(("scifact", "bm25", 0.6), ("scifact", "minilm", 0.5), ("nq", "ance", 0.4))
    systems = DataFrame(
        {"system": ["bm25", "minilm", "ance"], "family": ["lexical", "dense", "dense"]}
    )
    assert len(cells.of_families(table, systems, [], "bm25")) == 3
    lexical = cells.of_families(table, systems, ["lexical"], "ance")
    assert lexical["system"].tolist() == ["bm25", "ance"]
    datasets = DataFrame({"dataset": ["scifact", "nq"], "task": ["Fact Checking", "QA"]})
    assert len(cells.of_datasets(table, datasets, {"task": []})) == 3
    assert cells.of_datasets(table, datasets, {"task": ["QA"]})["dataset"].tolist() == ["nq"]


def test_the_origin_says_what_is_shown() -> None:
    assert cells.origin(cells.PUBLISHED, "BEIR v4, Table 2") == "BEIR v4, Table 2"
    assert cells.origin(cells.COMPUTED, "x") == "Computed over all judged queries"
    alone = cells.origin(cells.COMPUTED, "x", kind="topic: sea")
    assert alone == "Computed over all judged queries with topic: sea"
    both = cells.origin(cells.DIFFERENCE, "BEIR v4, Table 2", returned=True)
    assert both.endswith("as in BEIR's code), minus BEIR v4, Table 2")


def test_what_a_model_was_trained_on_is_in_domain_though_no_paper_marks_it() -> None:
    names = ["scifact", "quora", "cqadupstack/android", "nfcorpus"]
    means = DataFrame(
        {
            "dataset": names,
            "system": "minilm",
            "value": 0.5,
            "value_returned": 0.5,
            "n_queries": 10,
            "n_unanswered": 0,
        }
    )
    holes = DataFrame({"dataset": names, "system": "minilm", "hole": 0.5})
    trained = DataFrame({"dataset": [], "system": []}, dtype="str")
    shown = cells.computed(means, holes, trained, "value").set_index("dataset")["in_domain"]
    assert shown.to_dict() == {
        "scifact": False,
        "quora": True,
        "cqadupstack/android": True,
        "nfcorpus": False,
    }


def test_what_is_made_from_a_trained_system_is_in_domain_too() -> None:
    systems = ["rrf(bm25,minilm)", "rrf(bm25,mine)", "dpr(max_length=128)", "bm25"]
    means = DataFrame([{"dataset": "nq", "system": name, "value": 0.5} for name in systems]).assign(
        value_returned=0.5, n_queries=10, n_unanswered=0
    )
    holes = DataFrame({"dataset": ["nq"], "system": ["bm25"], "hole": [0.1]})
    trained = DataFrame({"dataset": ["nq"], "system": ["dpr"]})
    shown = cells.computed(means, holes, trained, "value").set_index("system")["in_domain"]
    assert shown.to_dict() == {
        "rrf(bm25,minilm)": True,
        "rrf(bm25,mine)": False,
        "dpr(max_length=128)": True,
        "bm25": False,
    }


def test_what_was_trained_on_ones_own_dataset_is_in_domain_and_is_said_so() -> None:
    systems = ["genq[mine](queries=judged)", "genq[mine](queries=title)", "minilm"]
    means = DataFrame([{"dataset": "mine", "system": name, "value": 0.5} for name in systems])
    means = means.assign(value_returned=0.5, n_queries=10, n_unanswered=0)
    holes = DataFrame({"dataset": ["mine"], "system": ["minilm"], "hole": [0.1]})
    none = DataFrame({"dataset": [], "system": []}, dtype="str")
    shown = cells.computed(means, holes, none, "value")
    assert shown["in_domain"].tolist() == [True, False, False]
    titles = {"genq[mine](queries=judged)": "A", "genq[mine](queries=title)": "B", "minilm": "C"}
    alone = DataFrame({"dataset": ["mine", "quora"], "collection": ["mine", "quora"]})
    said = "In-domain, trained or tuned on this dataset: "
    assert in_domain.note(alone, none, "mine", titles) == f"{said}A (on these queries)."
    split = DataFrame({"dataset": ["mine", "mine/train"], "collection": "mine"})
    assert in_domain.note(split, none, "mine", titles) == f"{said}A."
    assert in_domain.note(split, none, "quora", titles) == f"{said}C."
    assert in_domain.note(split, none, "scifact", titles) == ""
