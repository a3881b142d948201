import pandas as pd
import pytest

from compute.__main__ import main
from compute.datasets import Dataset
from compute.evaluate.measures import evaluate, parse
from compute.recompute import run, score_check
from compute.recompute.run import Bench
from compute.systems import system

MEASURES = (
    *(
        "nDCG@3",
        "nDCG",
        "nDCG(dcg=exp-log2)@3",
        "nDCG(rel=1)@3",
        "R@3",
        "AP@3",
        "AP",
        "AP(rel=2)@3",
        "RR@1",
        "RR",
    ),
    *("P@3", "Success@1", "Success(rel=2)@3", "Rprec", "Bpref"),
)
RUN = pd.DataFrame(
    {
        "query_id": ["q1"] * 4 + ["q2"] * 2 + ["unjudged"],
        "doc_id": ["a", "b", "c", "d", "a", "x", "a"],
        "rank": [1, 2, 3, 4, 1, 2, 1],
        "score": [4.0, 3.0, 2.0, 1.0, 2.0, 1.0, 1.0],
    }
)
JUDGEMENTS = pd.DataFrame(
    {
        "query_id": ["q1", "q1", "q1", "q2", "q2", "unanswered"],
        "doc_id": ["b", "d", "a", "a", "x", "a"],
        "relevance": [2, 1, 0, -1, 1, 1],
    }
)


def test_both_give_the_same_values() -> None:
    ours = evaluate(RUN, JUDGEMENTS, MEASURES, depth=10)
    oracle = score_check.scored(RUN, JUDGEMENTS, [parse(name) for name in MEASURES])
    both = ours.merge(oracle, on=["query_id", "measure"], suffixes=("", "_oracle"))
    assert len(both) == len(ours) == 3 * len(MEASURES)
    assert both["value"].to_numpy() == pytest.approx(both["value_oracle"].to_numpy(), abs=1e-12)
    assert both["value"].nunique() > 6


@pytest.mark.long
def test_a_wrong_score_is_found_and_named(
    bench: Bench,
    tiny: Dataset,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    right = run.run(bench, system("bm25"), tiny).scores
    found = score_check.check(bench)
    assert found.agrees and found.runs == 1 and found.values > 10
    assert "Hole@10" in found.not_compared and "nDCG@10" in found.measures
    wrong = run.read(right)
    one = (wrong["query_id"] == "q2") & (wrong["measure"] == "nDCG@10")
    wrong.loc[one, "value"] -= 0.001
    with bench.store.publishing("wrong") as publication:
        publication.add(
            "scores",
            wrong,
            dataset="tiny",
            system="bm25",
            fingerprint="another",
            provenance=right.provenance,
        )
    found = score_check.check(bench)
    assert not found.agrees
    assert found.largest == pytest.approx(0.001)
    assert found.where == "nDCG@10 of query q2, bm25 on tiny"
    assert score_check.last(bench.store) == found
    monkeypatch.setenv("BEIRSCOPE_HOME", str(bench.store.home))
    monkeypatch.setenv("BEIRSCOPE_SHIPPED_RESULTS", "false")
    assert main(["check", "--scores"]) == 2
    assert "1.0e-03 (nDCG@10 of query q2, bm25 on tiny)" in capsys.readouterr().out


def test_a_torn_outcome_counts_as_none(bench: Bench) -> None:
    assert score_check.last(bench.store) is None
    (bench.store.home / score_check.FILE).write_text('{"date": "2026')
    assert score_check.last(bench.store) is None
