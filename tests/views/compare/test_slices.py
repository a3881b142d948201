"""Two systems by kinds of queries: the order, the verdict, the table."""

import re

import numpy as np
import pandas as pd
import pytest
from pandas import DataFrame, Series

from compute.evaluate import slices as testing
from compute.views.compare import slices
from tests.views.records import under

TITLES = "one", "two"
RANDOM = np.random.default_rng(20261124)


def both(*means: float) -> tuple[DataFrame, Series]:
    """Twenty queries of each kind, whose differences are about these, and two of no kind."""
    kinds = [None, None, *(f"k{n}" for n in range(len(means)) for _ in range(20))]
    values = np.concatenate([[0, 0], *(RANDOM.normal(mean, 0.05, 20) for mean in means)])
    of = Series(pd.Categorical(kinds, [f"k{n}" for n in reversed(range(len(means)))]))
    return DataFrame({"difference": values}), of


def test_kinds_stand_in_their_order_and_are_tested_against_the_others() -> None:
    rows, of = both(0.1, 0.1, -0.4)
    found = slices.contrasts(rows, of)
    assert found["label"].to_list() == ["k2", "k1", "k0"]
    assert found["n"].to_list() == [20, 20, 20]
    known = rows["difference"][2:].to_numpy()
    names = of[2:].astype(str).tolist()
    plain = testing.contrasts(known, names).set_index("value").loc[["k2", "k1", "k0"]]
    assert found["p_adjusted"].to_list() == plain["p_adjusted"].to_list()
    assert found["difference"][0] == pytest.approx(known[40:].mean())


def test_a_verdict_names_the_kinds_that_differ_and_who_leads_there() -> None:
    rows, of = both(0.1, 0.12, -0.4)
    said = slices.verdict(slices.contrasts(rows, of), "words", TITLES, "nDCG@10")
    assert said.startswith(
        "By query length, some groups differ from the other queries (corrected for 3 groups):"
        " “k2”, where two leads by "
    )
    assert re.search(r", elsewhere one leads by \.1\d\d \(p = \.0005\)", said)
    # Of holes fewer are better: the same differences say the opposite.
    holes = slices.verdict(slices.contrasts(rows, of), "words", TITLES, "Hole@10")
    assert "“k2”, where one leads by" in holes and "elsewhere two leads by .1" in holes


def test_a_verdict_where_no_kind_differs_or_none_can_be_tested() -> None:
    rows, of = both(0.1, 0.1, 0.1)
    said = slices.verdict(slices.contrasts(rows, of), "topic", TITLES, "nDCG@10")
    assert said == (
        "By topic, no group differs significantly from the other queries (corrected for 3 groups)."
    )
    few = slices.contrasts(rows[2:6], of[2:6])
    assert slices.verdict(few, "topic", TITLES, "nDCG@10").startswith("No group by topic has")


def test_the_table_says_nothing_where_nothing_is_known() -> None:
    rows, of = both(0.1)
    found = slices.contrasts(rows[:3], of[:3])
    assert under(slices.COLUMNS, found).to_numpy()[0].tolist()[3:] == ["–"] * 4
