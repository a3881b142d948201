"""Two systems with weighted queries: the row of `select.weighted` and its sentence."""

from pathlib import Path

import numpy as np
import pytest
from pandas import DataFrame

from compute.datasets import dataset
from compute.evaluate import significance
from compute.intake import query_labels
from compute.reading.database import open_version
from compute.store.own_datasets import own_datasets
from compute.views.compare import select, tables
from tests.support import filled

ASKED = {"datasets": ["own"], "a": "a", "b": "b", "measure": "RR@10"}
TRAFFIC = [0, 3, 2, 2, 3, 2, 3, 3, 2, 3, 2, 3]


def weighted(folder: Path, weights: list) -> tuple[DataFrame, DataFrame]:
    """The row, and the values of both systems by query."""
    bench = filled.bench(folder)
    filled.take_twelve(bench)
    (folder / "labels").write_text(
        "".join(f"q{n}\ttraffic\t{weight}\n" for n, weight in enumerate(weights)), "utf-8"
    )
    row = dataset("own", own_datasets(bench.store))
    with open_version(bench.store).cursor() as cursor:
        assert select.weighted(cursor, **ASKED).empty
    query_labels.import_file(bench, folder / "labels", row, weight="traffic")
    with open_version(bench.store).cursor() as cursor:
        pairs = select.pairs(cursor, **ASKED)
        return select.weighted(cursor, **ASKED), pairs.set_index("query_id")


def test_means_test_and_interval_are_weighted(tmp_path: Path) -> None:
    found, pairs = weighted(tmp_path, TRAFFIC)
    shares = np.array(TRAFFIC) / sum(TRAFFIC)
    values = pairs.loc[[f"q{n}" for n in range(12)], ["value_a", "value_b"]].to_numpy().T
    row = found.iloc[0]
    assert (row["key"], row["n"]) == ("traffic", 11)
    assert row["effective"] == pytest.approx(1 / (shares**2).sum())
    assert row[["mean_a", "mean_b"]].tolist() == pytest.approx(values @ shares)
    by_hand = significance.pairs(values[:, 1:], weights=shares[1:], resamples=0).iloc[0]
    for name in ("difference", "low", "high", "p"):
        assert row[name] == pytest.approx(by_hand[name])
    said = tables.weighted(found, ("A", "B"), "RR@10")
    assert said.startswith("Weighted by traffic (11 queries count as 11): A ")
    assert "leads by" in said


@pytest.mark.long
def test_few_effective_queries_have_no_test(tmp_path: Path) -> None:
    found, _ = weighted(tmp_path, [1e308, 1e308, *[1] * 10])
    assert found.loc[0, "effective"] == pytest.approx(2)
    assert found.loc[0, ["low", "high", "p"]].isna().all()
    said = tables.weighted(found, ("A", "B"), "RR@10")
    assert "too few queries for an interval" in said or "same" in said or said.count(";") == 0
