"""Polish against English: pairs of one system on a dataset in both languages."""

from pathlib import Path

import pytest

from compute.evaluate.significance import two
from compute.views.compare.select import pairs
from compute.views.leaderboard import languages
from compute.views.leaderboard.page import page
from compute.views.page import find
from compute.views.page.store_ask import opened
from tests.support import filled

ENGLISH = "q1 Q0 d1 1 3.0 t\nq2 Q0 d2 1 1.0 t\nq3 Q0 d1 1 1.0 t\n"
POLISH = "q1 Q0 x 1 3.0 t\nq2 Q0 d2 1 1.0 t\n"


def test_printed_pairs_are_those_of_one_table(tmp_path: Path) -> None:
    with opened(filled.bench(tmp_path).store) as ask:
        found = languages.rows(ask, "nDCG@10")
        recall = languages.rows(ask, "R@100")
        assert languages.rows(ask, "P@10").empty  # neither printed nor computed
    assert len(found) == len(recall) == 11
    assert set(found["source"]) == {"BEIR-PL, Table 3"}
    scifact = found[found["dataset"] == "scifact"].iloc[0]
    assert scifact["difference"] == pytest.approx(0.625 - 0.691)
    assert recall["difference"].lt(0).all()


@pytest.mark.long
def test_runs_are_paired_query_by_query_with_an_interval(tmp_path: Path) -> None:
    bench = filled.bench(tmp_path)
    filled.take(bench, {"one": ENGLISH, "other": ENGLISH}, "mine")
    filled.take(bench, {"one": POLISH}, "mine-pl", language="pl")
    with opened(bench.store) as ask:
        found = languages.rows(ask, "R@100")
        scores = ask(languages.select.means, measure="R@100")
        of_queries = {"a": "one", "b": "one", "measure": "R@100"}
        values = {
            name: ask(pairs, datasets=[name], **of_queries).set_index("query_id")["value_a"]
            for name in ("mine", "mine-pl")
        }
        figure = find(page, ask, "languages", numbers="Computed", measure="R@100").part
        drawn = figure.drawn(theme="light")  # type: ignore[union-attr]
    (row,) = found[found["source"] == languages.HERE].to_dict("records")
    assert (row["dataset"], row["system"]) == ("mine", "one")
    of = scores.set_index(["dataset", "system"])["value"]
    assert row["mean_a"] == pytest.approx(of["mine-pl", "one"])
    assert row["mean_b"] == pytest.approx(of["mine", "one"])
    both = values["mine-pl"].align(values["mine"], join="inner")
    expected = two(*both)
    assert row["n"] == expected.n
    assert (row["low"], row["high"]) == pytest.approx((expected.low, expected.high))
    assert drawn.layout.xaxis.title.text == "mean R@100 of Polish minus English"
