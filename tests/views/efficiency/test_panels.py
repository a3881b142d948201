"""Figures of cost: where marks, names and stairs stand, and how numbers are said."""

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pandas import DataFrame

from compute.datasets import published
from compute.recompute.efficiency import MEASURED
from compute.views.efficiency import panels, pareto
from compute.views.efficiency import tables as efficiency_tables
from compute.views.shared.drawing import COLUMN
from compute.views.shared.theme import legend, palette
from tests.support.worlds import FEWER
from tests.views.records import common, under

HOSTILE = "<b>*mine*&$x$ %{x}"
NAN = float("nan")


def point(title: str, value: float, latency: float, **given: Any) -> dict[str, Any]:
    about = {"system": title, "title": title, "family": "lexical", "hardware": "Abacus"}
    costs = {"latency_p50_ms": latency, "latency_p95_ms": 2 * latency, "index_bytes": 5e6}
    return dict.fromkeys(MEASURED, NAN) | about | costs | {"value": value, "load": 0.1} | given


ROWS = DataFrame(
    [
        point("A", 0.5, 1.0),
        point("B", 0.7, 20.0, family="dense"),
        point("C", 0.6, 100.0),
        point(HOSTILE, 0.3, 0.5, hardware="Another", load=7.0),
        point("unknown", 0.9, NAN),
    ]
)


def costs(measure: str) -> DataFrame:
    """The table of costs as it is written."""
    columns = efficiency_tables.columns(ROWS, measure)
    return under(columns, efficiency_tables.ordered(ROWS, measure))


def drawn(rows: DataFrame = ROWS, cost: str = "latency_p50_ms") -> Any:
    return panels.panel(rows, cost, "nDCG@10", theme="light")


def test_marks_stand_at_their_cost_and_value() -> None:
    marks = drawn().data[-1]
    assert sorted(zip(marks.x, marks.y, strict=True)) == [
        (0.5, 0.3),
        (1.0, 0.5),
        (20.0, 0.7),
        (100.0, 0.6),
    ]


def test_names_in_a_crowd_have_lines_to_their_marks() -> None:
    crowd = DataFrame([point(f"system {n}", 0.5 + n / 1000, 1 + n / 100) for n in range(5)])
    shapes = drawn(crowd).layout.shapes
    assert shapes and all(shape.type == "line" for shape in shapes)
    at = list(zip(crowd["latency_p50_ms"].tolist(), crowd["value"].tolist(), strict=True))
    ends = {(shape.x0, shape.y0) for shape in shapes}
    assert all(any(math.dist(end, mark) < 1e-9 for mark in at) for end in ends)
    assert not drawn(ROWS.head(2)).layout.shapes


def test_stairs_lead_over_the_front_of_each_machine() -> None:
    here, there, _ = drawn().data
    # C is dearer and worse than B: the stairs pass it by.
    assert list(zip(here.x, here.y, strict=True))[1:-1] == [(1.0, 0.5), (20.0, 0.5), (20.0, 0.7)]
    assert here.y[-1] == 0.7
    assert (there.x[1], there.y[1]) == (0.5, 0.3)
    assert here.line.dash != there.line.dash


def test_of_holes_the_stairs_lead_down_and_the_fewest_come_first() -> None:
    figure: Any = panels.panel(ROWS, "latency_p50_ms", "Hole@10", theme="light")
    here, _, _ = figure.data
    # B and C are dearer than A and have more holes.
    assert list(zip(here.x, here.y, strict=True))[1:-1] == [(1.0, 0.5)]
    assert here.y[0] > 0.7
    table = costs("Hole@10")
    assert table["Hole@10"].tolist() == [".3000", ".5000", ".6000", ".7000", ".9000"]


def test_marks_of_another_machine_are_open() -> None:
    marks = drawn().data[-1]
    fills = dict(zip(marks.x, marks.marker.color, strict=True))
    assert fills[0.5] == palette("light").background
    assert fills[1.0] != palette("light").background


def test_a_hover_has_every_figure_and_the_machine() -> None:
    hovers = "\n".join(drawn().data[-1].hovertext)
    assert "<b>A</b><br>nDCG@10 0.500<br>median latency 1.0 ms<br>p95 latency 2.0 ms" in hovers
    assert "index size 5.0 MB<br>Abacus" in hovers
    assert "7.0 processes competed for a processor" in hovers


def test_names_from_outside_stay_text() -> None:
    assert HOSTILE not in json.dumps(drawn().to_plotly_json(), default=list)
    entries = panels.legend(ROWS.assign(hardware=[HOSTILE, *"abcd"]), "light")
    assert "&lt;b&gt;" in legend(entries)


@pytest.mark.parametrize("cost", pareto.COSTS)
def test_names_do_not_collide(cost: str) -> None:
    """31 systems, as many as the papers have, in a cloud."""
    rows = DataFrame(
        [
            point(f"System {n}", 0.3 + (n * 7 % 31) / 90, 1.3 ** (n * 11 % 31))
            | {"index_bytes": 1e6 * 1.4 ** (n * 13 % 31)}
            for n in range(31)
        ]
    )
    notes = drawn(rows, cost).layout.annotations
    assert len(notes) == 31
    _, placed = panels.placed(rows, cost, panels.spans(rows, cost), [], "light")
    crossing = sum(
        common(one.box, other.box) > 0 for i, one in enumerate(placed) for other in placed[:i]
    )
    assert crossing == 0


def test_in_one_column_names_are_placed_for_its_width() -> None:
    rows = DataFrame([point(f"System {n}", 0.3 + n / 20, 10.0**n) for n in range(6)])
    made: Any = panels.panel(rows, "latency_p50_ms", "nDCG@10", theme="print", narrow=True)
    assert made.layout.width == COLUMN
    spans = panels.spans(rows, "latency_p50_ms")
    _, placed = panels.placed(rows, "latency_p50_ms", spans, [], "print", COLUMN)
    room = COLUMN - panels.LEFT - panels.RIGHT
    assert all(label.box.left >= 0 and label.box.right <= room for label in placed)


@FEWER
@given(st.lists(st.tuples(st.floats(0, 1), st.floats(1e-3, 1e6)), max_size=6))
def test_any_points_fit_into_the_panel(points: list[tuple[float, float]]) -> None:
    rows = DataFrame(
        [point(str(n), value, cost) for n, (value, cost) in enumerate(points)],
        columns=list(point("", 0, 0)),
    )
    axes = drawn(rows).layout
    for value, cost in points:
        assert axes.xaxis.range[0] < math.log10(cost) < axes.xaxis.range[1]
        assert axes.yaxis.range[0] < value < axes.yaxis.range[1]


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (panels.milliseconds(1.64), "1.6 ms"),
        (panels.milliseconds(12.4), "12 ms"),
        (panels.milliseconds(7100), "7.1 s"),
        (panels.milliseconds(NAN), "–"),
        (panels.seconds(0.25), "0.2 s"),
        (panels.seconds(119), "119 s"),
        (panels.seconds(258), "4.3 min"),
        (panels.seconds(86_400), "24 h"),
        (panels.size(999), "999 B"),
        (panels.size(4_680_476), "4.7 MB"),
        (panels.size(900e9), "900 GB"),
        (panels.size(1.2e12), "1.2 TB"),
        (panels.number(1792.8), "1,793"),
        (panels.share(0.985), "98.5%"),
    ],
)
def test_costs_are_said_in_units_that_fit(said: str, expected: str) -> None:
    assert said == expected


def test_the_table_leaves_out_what_nothing_fills() -> None:
    table = costs("nDCG@10")
    assert list(table["System"]) == ["unknown", "B", "C", "A", HOSTILE]
    assert list(table["Median latency"]) == ["–", "20 ms", "100 ms", "1.0 ms", "0.5 ms"]
    assert "Memory" not in table
    assert {len(value) for value in table["nDCG@10"]} == {5}, "as many digits in every row"


def test_the_papers_figures_stand_beside_the_mean_of_ours() -> None:
    costs = DataFrame(
        {
            "system": ["bm25-multifield"] * 3,
            "latency_p50_ms": [1.0, 3.0, 8.0],
            "index_bytes": [1e6, 2e6, 3e6],
        }
    )
    named = DataFrame({"system": ["bm25-multifield", "tas-b"], "title": ["BM25 (Anserini)", "T"]})
    rows = efficiency_tables.beside_print(published.efficiency(), costs, named)
    table = under(efficiency_tables.BESIDE_PRINT, rows)
    assert len(table) == 21
    bm25 = table.iloc[0]
    assert bm25["System"] == "BM25 (Anserini)"
    assert (bm25["CPU, a query"], bm25["Latency here"], bm25["Index here"]) == (
        "20 ms",
        "4.0 ms",
        "2.0 MB",
    )
    tas_b = table[table["System"] == "T"].iloc[0]
    assert (tas_b["GPU, a query"], tas_b["CPU, a query"], tas_b["Index"]) == (
        "14 ms",
        "125 ms",
        "3.0 GB",
    )
    assert tas_b["Latency here"] == "–"
    assert len(efficiency_tables.beside_print(published.efficiency(), DataFrame(), named)) == 21
