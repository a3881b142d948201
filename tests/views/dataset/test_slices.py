"""Systems by kinds of queries are what filtering by hand gives."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from pandas import DataFrame
from scipy import stats

from compute.base.errors import Missing
from compute.intake import query_labels
from compute.reading.database import Reading, open_version
from compute.views.dataset import select_slices, slices
from compute.views.shared.drawing import lists
from tests.support import filled

RUN = "q1 Q0 d1 1 3.0 t\nq1 Q0 d4 2 2.0 t\nq2 Q0 d3 1 1.0 t\nq3 Q0 d6 1 1.0 t\n"
WORSE = "q1 Q0 d4 1 3.0 t\nq1 Q0 d1 2 2.0 t\nq2 Q0 d2 1 1.0 t\n"


@pytest.fixture(scope="module")
def reading(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Reading]:
    bench = filled.bench(folder := tmp_path_factory.mktemp("slices"))
    tiny = filled.take(bench, {"good": RUN, "bad": WORSE})
    (folder / "labels").write_text("q1\ttopic\tsea\nq2\ttopic\tland\nq3\ttopic\tsea\n", "utf-8")
    query_labels.import_file(bench, folder / "labels", tiny)
    opened = open_version(bench.store)
    yield opened
    opened.close()


def test_each_system_has_the_mean_of_its_queries_of_a_kind(reading: Reading) -> None:
    cursor = reading.cursor()
    found = select_slices.by_slice(cursor, datasets=["tiny"], measure="nDCG@10", key="topic")
    assert found[["label", "system", "n_queries"]].to_numpy().tolist() == [
        ["land", "bad", 1],
        ["land", "good", 1],
        ["sea", "good", 2],
        ["sea", "bad", 2],
    ]
    by_hand = cursor.execute(
        "select value from scores where measure = 'nDCG@10' and system = 'good'"
        " and query_id in ('q1', 'q3')"
    ).df()["value"]
    row = found.iloc[2]
    assert row["value"] == pytest.approx(by_hand.mean(), abs=1e-12)
    reach = stats.t.ppf(0.975, 1) * by_hand.std() / np.sqrt(2)
    assert row["high"] - row["value"] == pytest.approx(reach)
    assert np.isnan(found["low"][0]), "one query has no interval"


def test_the_keys_that_there_are(reading: Reading) -> None:
    cursor = reading.cursor()
    assert select_slices.keys(cursor, datasets=["tiny"])["key"].to_list() == [
        "words",
        "relevant",
        "topic",
        "answered",
    ]
    with pytest.raises(Missing, match="no query groups by 'colour'; there are words, relevant"):
        select_slices.by_slice(cursor, datasets=["tiny"], measure="nDCG@10", key="colour")


def test_many_kinds_stand_in_rows_and_two_queries_leave_room_for_the_others() -> None:
    kinds = [f"kind {number}" for number in range(12)]
    rows = DataFrame({"label": kinds, "system": "a", "title": "A", "family": "lexical"})
    rows = rows.assign(n_queries=9, value=0.5, low=0.4, high=0.6)
    rows.loc[0, ["n_queries", "low", "high"]] = 2, -5.8, 6.8
    layout: Any = slices.panels(rows, "nDCG@10", theme="light").layout
    assert [layout[name].anchor for name in ("xaxis5", "xaxis6", "xaxis12")] == ["y", "y2", "y3"]
    assert [layout[name].anchor for name in ("yaxis", "yaxis2", "yaxis3")] == ["x", "x6", "x11"]
    ends = [layout[name].domain for name in ("yaxis", "yaxis2", "yaxis3")]
    assert ends[0][1] == 1 and ends[0][0] > ends[1][1] > ends[1][0] > ends[2][1]
    assert ends[2][0] == pytest.approx(0, abs=1e-9)
    assert layout.xaxis.domain == layout.xaxis6.domain and layout.xaxis5.domain[1] <= 1 + 1e-9
    assert layout.xaxis.range == layout.xaxis12.range == pytest.approx((-1 / 60, 61 / 60))


@pytest.mark.parametrize("theme", ["light", "dark", "print"])
def test_a_panel_for_each_kind_and_the_same_in_lists(reading: Reading, theme: str) -> None:
    rows = select_slices.by_slice(
        reading.cursor(), datasets=["tiny"], measure="nDCG@10", key="topic"
    )
    rows = rows.assign(title=rows["system"] + "<b>", family="lexical")
    figure: Any = slices.panels(rows, "nDCG@10", theme=theme)
    assert [trace.xaxis for trace in figure.data] == ["x", "x2"]
    assert "<b>" not in figure.layout.yaxis.ticktext[0]
    told = lists(figure)
    assert told is not None
    assert [one.title for one in told.lists] == ["land (n = 1)", "sea (n = 2)"]
    assert [row.name for row in told.lists[0].rows] == ["bad<b>", "good<b>"]
