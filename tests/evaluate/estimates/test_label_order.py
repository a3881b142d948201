"""Scores under labels with errors, on two systems and two queries."""

import numpy as np
import pytest
from pandas import DataFrame

from compute.evaluate.estimates.label_order import Audited, survival
from compute.evaluate.measures import evaluate
from tests.evaluate.estimates.made import TWO, drawn

LABELS = np.array([1, 0, 0, 1, 0, np.nan, 2.0])
"""p a, p b, p c, q a, q b, q c, q d."""


def audited(second: np.ndarray, labels: np.ndarray = LABELS) -> Audited:
    there = ~np.isnan(labels)
    rows = TWO.pairs[there].assign(relevance=labels[there].astype(int))
    away = DataFrame({"query_id": ["q"], "doc_id": ["away"], "relevance": [1]})
    judgements = DataFrame([*rows.to_dict("records"), *away.to_dict("records")])
    stratum = np.nan_to_num(labels).astype(int)
    return Audited(TWO, labels, second, stratum, judgements, (0, 1, 2))


@pytest.mark.long
@pytest.mark.parametrize("measure", ["nDCG@10", "P@5", "R@10", "AP@10", "RR@10"])
def test_scores_are_those_of_the_measure(measure: str) -> None:
    frame, grades = drawn(6, 10, seed=2)
    grades[::5] = np.nan
    there = ~np.isnan(grades)
    judgements = frame.pairs[there].assign(relevance=grades[there].astype(int))
    none = np.full(frame.n, np.nan)
    whole = Audited(frame, grades, none, np.nan_to_num(grades).astype(int), judgements, (0, 1))
    for place, found in enumerate(whole.scores(grades, measure)):
        rank = frame.rank[:, place]
        run = frame.pairs.assign(rank=rank)[rank > 0].sort_values(["query_id", "rank"])
        values = evaluate(run, judgements, [measure], depth=10)
        assert found == pytest.approx(values["value"].mean(), abs=1e-12)


def test_an_audited_label_is_known_and_others_err_at_its_rate() -> None:
    # All was audited, and q's d, with which only `two` scores, is not relevant at all.
    second = LABELS.copy()
    second[6] = 0
    systems, pairs = survival(audited(second), "P@2", 50)
    assert systems["system"].tolist() == ["one", "two"]
    assert systems["score"].tolist() == [0.5, 0.5], "a and a of four; a and d of four"
    assert systems["high"].tolist() == [0.5, 0.25]
    assert pairs["flip"].isna().all(), "level systems have no order"


@pytest.mark.long
def test_a_flip_is_as_likely_as_the_errors_that_make_it() -> None:
    labels = np.array([1, 0, 0, 1, 0, 0, 0.0])
    none = np.full(TWO.n, np.nan)
    systems, pairs = survival(audited(none, labels), "P@2", 4_000)
    # `one` leads by q's a. Nothing was looked at: a label may as well be wrong as not.
    assert systems[["system", "rank"]].to_numpy().tolist() == [["one", 1], ["two", 2]]
    (flip,) = pairs["flip"]
    assert 0.2 < flip < 0.5
    second = labels.copy()
    assert survival(audited(second, labels), "P@2", 50)[1]["flip"].tolist() == [0]


def test_a_wrong_label_becomes_what_the_audit_found_instead() -> None:
    second = LABELS.copy()
    second[[1, 2, 4]] = 2
    others = audited(second)._others()
    assert others[0].tolist() == pytest.approx([0, 0.5 / 4, 3.5 / 4])
    assert others[1].tolist() == pytest.approx([0.5, 0, 0.5])
