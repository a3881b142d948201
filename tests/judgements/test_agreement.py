import math

import krippendorff
import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from pandas import DataFrame
from sklearn.metrics import cohen_kappa_score

from compute.base.errors import WrongInput
from compute.judgements import ADJUDICATION, IN_VIEW, MODEL, PERSON
from compute.judgements.agreement import (
    LEVELS,
    WEIGHTS,
    alpha,
    blind,
    confusion,
    disagreements,
    kappas,
    with_machine,
)
from tests.support import worlds

# Each case draws its interval too.
CASES = settings(worlds.CASES, max_examples=worlds.CASES.max_examples // 8)
# Krippendorff 2011, Computing Krippendorff's alpha-reliability: 4 observers, 12 units, gaps.
OBSERVERS = {
    "A": "1 2 3 3 2 1 4 1 2 . . .",
    "B": "1 2 3 3 2 2 4 1 2 5 . 3",
    "C": ". 3 3 3 2 3 4 2 2 5 1 .",
    "D": "1 2 3 3 2 4 4 1 2 5 1 .",
}


def judged(*rows: tuple) -> DataFrame:
    """Rows of added judgements from (person, document, relevance) and, if need be, the source."""
    whole = [row if len(row) > 3 else (*row, PERSON) for row in rows]
    frame = DataFrame(whole, columns=["person", "doc_id", "relevance", "source"])
    frame = frame.assign(
        dataset="tiny", query_id="q", id=range(1, len(frame) + 1), time="", task="t1"
    )
    frame = frame.assign(imported=None, entry=None, takes_back=None)
    return frame.astype({"relevance": "Int64", "doc_id": "str", "person": "str", "source": "str"})


def observed(people: dict[str, str]) -> DataFrame:
    return judged(
        *(
            (person, f"d{number}", int(grade))
            for person, grades in people.items()
            for number, grade in enumerate(grades.split())
            if grade != "."
        )
    )


@pytest.mark.parametrize(
    ("level", "value"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)]
)
def test_alpha_of_krippendorffs_example_is_the_printed_one(level, value):
    found = alpha(observed(OBSERVERS), level)
    assert (found["n_people"], found["n_pairs"], found["n_labels"]) == (4, 11, 40)
    assert found["alpha"] == pytest.approx(value, abs=5e-4)
    assert found["low"] < found["alpha"] < found["high"]


@CASES
@given(st.lists(st.lists(st.sampled_from([None, 0, 1, 2, 4]), min_size=3, max_size=3), min_size=2))
def test_alpha_is_that_of_the_library(grades):
    rows = [
        (person, f"d{number}", grade)
        for number, of_document in enumerate(grades)
        for person, grade in zip(("ada", "bob", "cy"), of_document, strict=True)
        if grade is not None
    ]
    table = np.array(grades, float).T
    paired = table[:, np.isfinite(table).sum(axis=0) > 1]
    # Of one grade throughout the library has no alpha.
    assume(len(np.unique(paired[np.isfinite(paired)])) > 1)
    for level in LEVELS:
        expected = krippendorff.alpha(table, level_of_measurement=level)
        assert alpha(judged(*rows), level)["alpha"] == pytest.approx(expected, abs=1e-9)


def test_kappa_of_a_worked_example():
    # 20 times both yes, 15 both no, 5 and 10 apart: observed .7, by chance .5.
    cells = [(1, 1)] * 20 + [(1, 0)] * 5 + [(0, 1)] * 10 + [(0, 0)] * 15
    rows = [("ada", f"d{n}", cell[0]) for n, cell in enumerate(cells)]
    rows += [("bob", f"d{n}", cell[1]) for n, cell in enumerate(cells)]
    (found,) = kappas(judged(*rows)).to_dict("records")
    assert (found["person"], found["other"], found["n_pairs"]) == ("ada", "bob", 50)
    assert found["same"] == pytest.approx(0.7)
    assert found["kappa"] == pytest.approx(0.4)
    # The interval of normal theory, as statsmodels has it; a bootstrap comes near it.
    assert [found["low"], found["high"]] == pytest.approx([0.1511, 0.6489], abs=0.04)
    assert kappas(judged(*rows)).equals(kappas(judged(*rows)))


_grades = st.lists(st.tuples(st.integers(-1, 3), st.integers(-1, 3)), min_size=2, max_size=30)


@CASES
@given(_grades, st.sampled_from(["none", "linear", "quadratic"]))
def test_kappa_equals_scikit_learns(pairs, weights):
    rows = [("ada", f"d{n}", left) for n, (left, _) in enumerate(pairs)]
    rows += [("bob", f"d{n}", right) for n, (_, right) in enumerate(pairs)]
    (found,) = kappas(judged(*rows), weights).to_dict("records")
    left, right = zip(*pairs, strict=True)
    if len({*left, *right}) == 1:
        assert math.isnan(found["kappa"])
        return
    # All grades are named, since scikit-learn weighs their places where we weigh their values.
    known = list(range(-1, 4))
    theirs = cohen_kappa_score(
        left, right, labels=known, weights=None if weights == "none" else weights
    )
    assert found["kappa"] == pytest.approx(theirs, abs=1e-9)


@CASES
@given(_grades)
def test_alpha_of_two_grades_is_one_whatever_the_level(pairs):
    rows = [("ada", f"d{n}", int(left > 0)) for n, (left, _) in enumerate(pairs)]
    rows += [("bob", f"d{n}", int(right > 0)) for n, (_, right) in enumerate(pairs)]
    found = [alpha(judged(*rows), level)["alpha"] for level in LEVELS]
    assert found == pytest.approx(found[:1] * 3, nan_ok=True)
    # For two people without gaps: 1 - (2n - 1) times disagreement over the product of totals.
    flat = [int(grade > 0) for pair in pairs for grade in pair]
    ones, number = sum(flat), len(flat)
    if 0 < ones < number:
        apart = sum((left > 0) != (right > 0) for left, right in pairs)
        assert found[0] == pytest.approx(1 - (number - 1) * apart / (ones * (number - ones)))
    else:
        assert math.isnan(found[0])


def test_people_without_a_common_pair_have_no_kappa():
    assert kappas(judged(("ada", "d1", 1), ("bob", "d2", 1))).empty
    assert alpha(judged(("ada", "d1", 1), ("bob", "d2", 1)))["n_pairs"] == 0
    assert kappas(judged()).empty


def test_adjudications_models_and_labels_taken_back_are_nobodys_opinion():
    rows = judged(
        ("ada", "d1", 1),
        ("bob", "d1", 0),
        ("ada", "d2", 2),
        ("bob", "d2", None),
        ("ada", "d1", 0, ADJUDICATION),
        ("robot", "d1", 1, MODEL),
    )
    (found,) = kappas(rows).to_dict("records")
    assert (found["n_pairs"], found["same"]) == (1, 0.0)
    assert alpha(rows)["n_labels"] == 2
    assert len(kappas(rows, sources=[PERSON, MODEL])) == 3


def test_disagreements_are_listed_furthest_apart_first_and_settled_ones_last():
    rows = judged(
        ("ada", "near", 1),
        ("bob", "near", 2),
        ("ada", "far", 0),
        ("bob", "far", 2),
        ("ada", "same", 1),
        ("bob", "same", 1),
        ("ada", "done", 3),
        ("bob", "done", 0),
        ("cy", "done", 1, ADJUDICATION),
    )
    found = disagreements(rows)
    assert found["doc_id"].tolist() == ["far", "near", "done"]
    assert found["labels"].tolist() == [
        {"ada": 0, "bob": 2},
        {"ada": 1, "bob": 2},
        {"ada": 3, "bob": 0},
    ]
    assert found["apart"].tolist() == [2, 1, 3]
    assert found["settled"].isna().tolist() == [True, True, False]
    assert found["settled"].iloc[2] == 1


def test_unknown_weights_and_levels_are_answered_with_the_known():
    with pytest.raises(WrongInput, match="no weights 'cubic'; known: none, linear, quadratic"):
        kappas(judged(), "cubic")
    with pytest.raises(WrongInput, match="no level 'ratio'; known: ordinal, nominal, interval"):
        alpha(judged(), "ratio")
    assert set(WEIGHTS) == {"none", "linear", "quadratic"}
    assert pd.isna(alpha(judged())["alpha"])


def test_what_was_not_blind_counts_for_no_agreement():
    rows = judged(
        *(("ada", "d1", 1), ("bob", "d1", 1), ("ada", "d2", 0), ("bob", "d2", 0)),
        *(("ada", "d3", 0), ("bob", "d3", 1), ("bob", "d1", 0)),
    )
    rows["task"] = ["t1"] * 5 + [IN_VIEW] * 2
    (found,) = kappas(rows).to_dict("records")
    assert (found["n_pairs"], found["kappa"]) == (2, 1)
    assert alpha(rows)["n_labels"] == 4
    assert disagreements(rows).empty


def graded(*grades: int | None) -> DataFrame:
    """The grades of one source for d0, d1, …; None where it gave none."""
    rows = [("q", f"d{place}", grade) for place, grade in enumerate(grades) if grade is not None]
    return DataFrame(rows, columns=["query_id", "doc_id", "relevance"])


PEOPLE, MACHINE = graded(0, 0, 0, 1, 1, 2, 0, None), graded(0, 0, 1, 1, 2, 2, None, 1)


def test_a_machine_is_held_beside_people_on_the_pairs_of_both() -> None:
    found = with_machine(PEOPLE, MACHINE)
    # 4 of 6 are the same; people have half relevant (3 of 6), the machine 4 of 6. By chance
    # (3 x 2 + 2 x 2 + 1 x 2) / 36 = 1/3 would be the same: (2/3 - 1/3) / (1 - 1/3) = 1/2.
    assert (found["n_pairs"], found["same"]) == (6, pytest.approx(4 / 6))
    assert found["people_relevant"] == pytest.approx(3 / 6)
    assert found["machine_relevant"] == pytest.approx(4 / 6)
    assert found["kappa"] == pytest.approx(1 / 2)
    assert found["kappa_low"] < 1 / 2 < found["kappa_high"]
    # Two pairs are one grade apart: 2/6 observed; expected over all 36 combinations: people 0 (3 of
    # them) beside 0, 0, 1, 1, 2, 2: 3 x (2 x 1 + 2 x 4), 1: 2 x (2 + 2), 2: 1 x (2 x 4 + 2 x 1).
    assert found["weighted"] == pytest.approx(1 - (2 / 6) / ((30 + 8 + 10) / 36))
    theirs = cohen_kappa_score([0, 0, 0, 1, 1, 2], [0, 0, 1, 1, 2, 2], weights="quadratic")
    assert found["weighted"] == pytest.approx(theirs)


def test_alpha_of_a_machine_is_that_of_two_people() -> None:
    rows = [("ada", f"d{place}", int(grade)) for place, grade in enumerate("000112")]
    rows += [("gpt", f"d{place}", int(grade)) for place, grade in enumerate("001122")]
    expected = alpha(judged(*rows))
    found = with_machine(PEOPLE, MACHINE)
    assert found["alpha"] == pytest.approx(expected["alpha"])
    assert found["alpha_low"] == pytest.approx(expected["low"])


def test_confusion_counts_pairs_of_both() -> None:
    rows = confusion(PEOPLE, MACHINE).to_numpy().tolist()
    assert rows == [[0, 0, 2], [0, 1, 1], [1, 1, 1], [1, 2, 1], [2, 2, 1]]


def test_without_a_pair_of_both_nothing_is_said() -> None:
    found = with_machine(graded(1), graded(None, 1))
    assert found.pop("n_pairs") == 0
    assert all(math.isnan(value) for value in found.values())


def test_a_machine_is_held_beside_blind_labels_with_settled_ones_first() -> None:
    rows = judged(
        ("ada", "d1", 0),
        ("bob", "d1", 1),
        ("eve", "d1", 2, ADJUDICATION),
        ("ada", "d2", 1),
        ("gpt", "d3", 1, MODEL),
    )
    rows.loc[3, "task"] = IN_VIEW
    assert blind(rows).to_numpy().tolist() == [["q", "d1", 2]]
