"""Measures that ir_measures computes: equal to it on whole runs, told from misspelt names."""

import ir_measures
import numpy as np
import pandas as pd
import pytest

from compute.base.errors import WrongInput
from compute.evaluate.measures import evaluate, parse

NAMES = (
    "infAP",
    "IPrec@0.1",
    "IPrec@0.5",
    "nDCG(judged_only=True)@10",
    "P(judged_only=True)@5",
    "P(rel=2,judged_only=True)@5",
    "AP(judged_only=True)",
    "AP(judged_only=True)@10",
    "R(judged_only=True)@10",
    "Rprec(judged_only=True)",
)


@pytest.mark.parametrize("seed", range(6))
def test_values_equal_ir_measures(seed: int) -> None:
    """Graded, negative and absent judgements; queries without hits, without a relevant document."""
    random = np.random.default_rng(seed)
    docs = [f"d{number}" for number in range(60)]
    qrels, run = {}, {}
    for query in map(str, range(12)):
        judged = random.choice(docs, random.integers(1, 40), replace=False)
        grades = random.integers(-1, 4, len(judged))
        qrels[query] = {doc: int(grade) for doc, grade in zip(judged, grades, strict=True)}
        if query != "3":
            hits = random.permutation(docs)[: random.integers(1, 50)]
            run[query] = {doc: float(-rank) for rank, doc in enumerate(hits)}
    rows = [(q, d, rank + 1) for q, hits in run.items() for rank, d in enumerate(hits)]
    hits = pd.DataFrame(rows, columns=["query_id", "doc_id", "rank"])
    grades = [(q, d, grade) for q, judged in qrels.items() for d, grade in judged.items()]
    judgements = pd.DataFrame(grades, columns=["query_id", "doc_id", "relevance"])
    asked = [ir_measures.parse_measure(name) for name in NAMES]
    expected = {
        (str(one.measure), one.query_id): one.value
        for one in ir_measures.iter_calc(asked, qrels, run)
    }
    found = evaluate(hits, judgements, NAMES, depth=60)
    assert len(found) == len(NAMES) * 12
    for query, measure, value in found.itertuples(index=False):
        assert value == expected[measure, query], (measure, query)


def test_a_condensed_list_by_hand() -> None:
    """Unjudged documents are skipped: the relevant one of rank 3 is the second judged one."""
    hits = pd.DataFrame({"query_id": "q", "doc_id": ["u", "n", "r", "v"], "rank": [1, 2, 3, 4]})
    judgements = pd.DataFrame({"query_id": "q", "doc_id": ["n", "r"], "relevance": [0, 1]})
    found = evaluate(hits, judgements, ["nDCG(judged_only=True)@10", "nDCG@10"], depth=10)
    assert dict(zip(found["measure"], found["value"], strict=True)) == {
        "nDCG(judged_only=True)@10": pytest.approx(1 / np.log2(3)),
        "nDCG@10": pytest.approx(1 / np.log2(4)),
    }


@pytest.mark.parametrize(
    "name",
    ["nDCG(judged_only=False)@10", "Compat", "ERR_IA@10", "SetF", "IPrec@2x", "INST", "P(x=1)@3"],
)
def test_what_it_lacks_or_writes_otherwise_is_refused(name: str) -> None:
    with pytest.raises(WrongInput, match="no measure"):
        parse(name)
