"""The heatmap, the graph, the panels and the words: what they show, and that no names collide."""

import itertools
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pandas import DataFrame

from compute.corpora import similarity_matrix
from compute.datasets import published
from compute.views.leaderboard import domain_shift
from compute.views.leaderboard import domain_shift_figure as shifts
from compute.views.overlap import graph as graphs
from compute.views.overlap import heatmap as overlap
from compute.views.overlap import line_values, words
from compute.views.shared import labels
from compute.views.shared.drawing import COLUMN
from compute.views.shared.theme import plain
from tests.support.similar import EVIL, NINETEEN, TITLES, made_up, vocabularies
from tests.support.worlds import CASES, seeds
from tests.views.records import common, under

SAFE = "&lt;b&gt;*mine*&amp;&#36;x&#36; %{x}"


def square(count: int, seed: int = 1) -> DataFrame:
    return similarity_matrix.matrix(made_up(NINETEEN[:count], seed))


def heatmap(frame: DataFrame, theme: str = "light", **more: Any) -> Any:
    return overlap.heatmap(frame, TITLES, theme=theme, **more)


def graph(frame: DataFrame, theme: str = "light", least: float = 0.45) -> Any:
    known = vocabularies([str(name) for name in frame.index if name in TITLES])
    return graphs.graph(frame, similarity_matrix.layout(frame), known, least=least, theme=theme)


def overlay(figure: Any) -> Any:
    (trace,) = [trace for trace in figure.data if trace.customdata is not None]
    return trace


def test_the_heatmap_shows_every_pair_once_without_a_leading_zero() -> None:
    frame = similarity_matrix.matrix(
        DataFrame(
            [("a", "b", 0.204), ("a", "c", 0.9), ("b", "c", 1.0)],
            columns=["dataset", "other", "similarity"],
        )
    )
    figure = heatmap(frame)
    texts = {
        (y, x): text
        for trace in figure.data
        if trace.type == "scatter" and trace.text is not None
        for x, y, text in zip(trace.x, trace.y, trace.text, strict=True)
    }
    assert texts == {(1, 0): ".20", (2, 0): ".90", (2, 1): "1.00"}
    assert [list(pair) for pair in overlay(figure).customdata] == [
        ["b", "a"],
        ["c", "a"],
        ["c", "b"],
    ]
    assert " .2040" in overlay(figure).hovertext[0]


@pytest.mark.parametrize("theme", ["light", "dark", "print"])
@pytest.mark.parametrize("count", [2, 3, 7, 19])
def test_cells_names_and_the_colour_bar_fit_the_width(count: int, theme: str) -> None:
    figure = heatmap(square(count), theme)
    left, wide = figure.layout.margin.l, overlap.WIDTH
    low, high = figure.layout.xaxis.range
    cell = (wide - left) / (high - low)
    bar = figure.layout.coloraxis.colorbar
    starts = left + bar.x * (wide - left)
    for place, note in enumerate(figure.layout.annotations):
        at = left + (note.x - low) * cell + note.xshift
        ends = at + labels.width(note.text, 13, theme)
        assert ends <= wide
        assert ends < starts or place * overlap.ROW > 40, "the colour bar covers a name"
    assert starts + bar.len <= wide


def test_the_chosen_pair_has_an_outline_whatever_its_order() -> None:
    frame = square(4)
    one, other = frame.index[3], frame.index[1]
    (shape,) = heatmap(frame, chosen=(one, other)).layout.shapes
    assert (shape.x0, shape.x1, shape.y0, shape.y1) == (0.5, 1.5, 2.5, 3.5)
    assert heatmap(frame, chosen=(other, one)).layout.shapes[0].y0 == 2.5
    assert not heatmap(frame, chosen=(one, "unknown")).layout.shapes


def test_many_collections_have_no_numbers_in_their_cells() -> None:
    names = [f"collection{place:02}" for place in range(60)]
    figure = heatmap(similarity_matrix.matrix(made_up(names, 3)))
    assert {trace.mode for trace in figure.data[1:]} == {"markers"}
    assert len(overlay(figure).customdata) == 60 * 59 / 2


def test_colours_span_what_a_kind_of_words_has() -> None:
    frame = square(4)
    ends = {unit: heatmap(frame, unit=unit).layout.coloraxis for unit in overlap.SPANS}
    assert (ends["unigrams"].cmin, ends["unigrams"].cmax) == (0.15, 0.8)
    assert (ends["bigrams"].cmin, ends["bigrams"].cmax) == (0.02, 0.4)
    assert list(ends["bigrams"].colorbar.ticktext) == [".1", ".2", ".3", "≥.4"]


def test_names_from_outside_stay_letters() -> None:
    frame = similarity_matrix.matrix(
        DataFrame([(EVIL, "b", 0.5)], columns=["dataset", "other", "similarity"])
    )
    rows = DataFrame({"term": [EVIL], "share": [0.1], "other_share": [0.0]})
    marks = DataFrame({"dataset": [EVIL], "title": [EVIL], "domain": [EVIL], "similarity": [0.5]})
    marks = marks.assign(gain=0.1, left_out=False)
    drawn: list[Any] = [
        overlap.heatmap(frame, {EVIL: EVIL}, theme="light"),
        graph(frame),
        words.words(rows, (EVIL, EVIL), theme="light"),
        shifts.panel(
            marks, title=EVIL, axes=(EVIL, EVIL), spans=domain_shift.ranges(marks), theme="light"
        ),
    ]
    for figure in drawn:
        # The names that a click gives back are not shown.
        figure.update_traces(customdata=None)
        held = figure.to_json().encode().decode("unicode_escape")
        assert "<b>*mine*" not in held
        assert SAFE in held
        for trace in figure.data:
            assert "%{x}" not in (trace.hovertemplate or "")


@pytest.mark.parametrize("count", [0, 1, 2, 3])
def test_figures_of_few_collections(count: int) -> None:
    names = NINETEEN[:count]
    frame = square(count) if count > 1 else DataFrame(1.0, index=names, columns=names)
    figure = graph(frame)
    # A name for each, and at most every line's value.
    names = [note for note in figure.layout.annotations if note.bgcolor is None]
    assert len(names) == count
    assert figure.layout.height < 700
    assert len(heatmap(frame).layout.annotations) == count


def test_hovers_of_the_graph_have_the_numbers() -> None:
    figure = graph(square(5))
    hovers = [text for trace in figure.data for text in trace.hovertext or ()]
    name = TITLES[NINETEEN[0]]
    (own,) = [text for text in hovers if text.startswith(f"<b>{name}</b><br>")]
    assert "8,841,823 documents, 1,000 terms<br>most like " in own
    assert [text for text in hovers if f"{name}</b> and <b>" in text]


def test_the_only_line_carries_its_similarity() -> None:
    frame = square(2)
    notes = [note.text for note in graph(frame).layout.annotations]
    assert notes[0] == f"{frame.iloc[0, 1]:.2f}".removeprefix("0")


def test_lines_below_the_bound_are_dashed_and_the_legend_says_so() -> None:
    rows = [("a", "b", 0.9), ("a", "c", 0.2), ("b", "c", 0.45)]
    frame = similarity_matrix.matrix(DataFrame(rows, columns=["dataset", "other", "similarity"]))
    drawn = [trace.line for trace in graph(frame, least=0.45).data if trace.mode == "lines"]
    assert [line.dash for line in sorted(drawn, key=lambda line: line.width)] == [
        graphs.DASHES,
        None,
        None,
    ]
    said = graphs.legend(frame, 0.45)
    solid = "Solid lines: similarity of at least .45."
    assert said.startswith(f"{solid} Dashed lines: each corpus's two nearest, if less similar.")
    assert ".50" in graphs.note(0.5)[0]
    assert "Dashed" not in graphs.legend(frame, 0.2)


def collisions(placed: list[labels.Label], marks: list[labels.Box]) -> list[tuple[int, int]]:
    """Pairs of names that cover each other, and names (mark negative) that cover a mark."""
    names = [label.box for label in placed]
    pairs = itertools.combinations(range(len(names)), 2)
    found = [(a, b) for a, b in pairs if common(names[a], names[b]) > 0]
    for place, box in enumerate(names):
        found += [(place, -k) for k, mark in enumerate(marks) if k != place and common(box, mark)]
    return found


def placed(
    frame: DataFrame, theme: str, room: graphs.Room = graphs.PAGE
) -> tuple[list[labels.Label], list[labels.Box], float]:
    points = similarity_matrix.layout(frame)
    nodes, lines, height = graphs.laid_out(frame, points, vocabularies(NINETEEN), 0.45, room)
    found = graphs.names(nodes, lines, height, theme, room)
    reach = nodes["size"] / 2
    boxes = [
        labels.Box(x - r, y - r, x + r, y + r)
        for x, y, r in zip(nodes["x"], nodes["y"], reach, strict=True)
    ]
    return found, boxes, height


@pytest.mark.parametrize("theme", ["light", "print"])
@pytest.mark.parametrize("seed", seeds(12))
def test_no_names_of_the_graph_of_19_collide(seed: int, theme: str) -> None:
    found, marks, height = placed(square(19, seed), theme)
    assert len(found) == 19
    assert collisions(found, marks) == []
    for label in found:
        assert label.box.left >= 0 and label.box.right <= graphs.WIDTH
        assert label.box.top >= 0 and label.box.bottom <= height


def test_the_printed_graph_fits_into_one_column_of_a_paper() -> None:
    frame = similarity_matrix.matrix(published.overlap())
    found, _, height = placed(frame, "print", graphs.IN_COLUMN)
    assert len(found) == 19
    assert collisions(found, []) == []
    for label in found:
        assert label.box.left >= 0 and label.box.right <= COLUMN
        assert label.box.top >= 0 and label.box.bottom <= height
    points, known = similarity_matrix.layout(frame), vocabularies(NINETEEN)
    figure: Any = graphs.graph(frame, points, known, least=0.45, theme="print", narrow=True)
    assert figure.layout.width == COLUMN
    assert figure.layout.xaxis.range == (0, COLUMN)


@pytest.mark.long
@pytest.mark.parametrize(
    ("room", "theme"),
    [(graphs.PAGE, "light"), (graphs.PAGE, "print"), (graphs.IN_COLUMN, "print")],
)
def test_a_name_stands_nearest_to_its_own_mark_or_a_line_leads_to_it(
    room: graphs.Room, theme: str
) -> None:
    frame = similarity_matrix.matrix(published.overlap())
    points = similarity_matrix.layout(frame)
    nodes, lines, height = graphs.laid_out(frame, points, vocabularies(NINETEEN), 0.45, room)
    named = graphs.names(nodes, lines, height, theme, room)
    led = {ends[:2] for ends in graphs.leaders(nodes, named, theme, room)}
    marks = [(row["x"], row["y"], row["size"] / 2) for row in nodes.to_dict("records")]
    for own, label in zip(marks, named, strict=True):
        others = [apart(label.box, *mark) for mark in marks if mark != own]
        assert apart(label.box, *own) < min(others) or own[:2] in led
    assert (len(led) > 0) == (room is graphs.IN_COLUMN)
    narrow = room is graphs.IN_COLUMN
    figure: Any = graphs.graph(
        frame, points, vocabularies(NINETEEN), least=0.45, theme=theme, narrow=narrow
    )
    assert {(line.x0, line.y0) for line in figure.layout.shapes} == led


def apart(box: labels.Box, x: float, y: float, radius: float) -> float:
    """Pixels from a name to the rim of a mark."""
    across, down = max(box.left - x, x - box.right, 0), max(box.top - y, y - box.bottom, 0)
    return math.hypot(across, down) - radius


def valued(
    frame: DataFrame, theme: str, room: graphs.Room = graphs.PAGE
) -> tuple[list[line_values.Value], list[labels.Box], list[str]]:
    """The values, what else has a place (names and marks), and what the strongest lines have."""
    points = similarity_matrix.layout(frame)
    nodes, lines, height = graphs.laid_out(frame, points, vocabularies(NINETEEN), 0.45, room)
    named = graphs.names(nodes, lines, height, theme, room)
    found = graphs.values(nodes, lines, named, height, theme, room)
    strongest = [plain(value, 2) for value in lines["similarity"][::-1]]
    _, marks, _ = placed(frame, theme, room)
    return found, [label.box for label in named] + marks, strongest


@pytest.mark.parametrize(
    ("seed", "theme"),
    [
        *((0, "print"), (1, "light")),
        *(pytest.param(*one, marks=pytest.mark.long) for one in ((0, "light"), (1, "print"))),
    ],
)
def test_values_stand_at_the_strongest_lines_and_cover_nothing(seed: int, theme: str) -> None:
    found, others, strongest = valued(square(19, seed), theme)
    assert [value.text for value in found] == strongest[: line_values.MOST]
    own = [value.box for value in found]
    assert not any(common(one, other) for one in own for other in others)
    assert not any(common(one, other) for one, other in itertools.combinations(own, 2))


@pytest.mark.long
@pytest.mark.parametrize(
    ("room", "theme", "least"),
    [(graphs.PAGE, "light", 5), (graphs.PAGE, "print", 5), (graphs.IN_COLUMN, "print", 2)],
)
def test_the_strongest_lines_of_the_printed_figures_keep_their_values(
    room: graphs.Room, theme: str, least: int
) -> None:
    found, others, strongest = valued(similarity_matrix.matrix(published.overlap()), theme, room)
    assert [value.text for value in found][:2] == ["1.00", ".94"]
    assert [value.text for value in found] == strongest[: len(found)] and len(found) >= least
    assert not any(common(value.box, other) for value in found for other in others)
    # FEVER and Climate-FEVER are nearly one collection: their marks leave little room between them.
    first = found[0].annotation(theme)
    at = ("ax", "ay") if first.get("showarrow") else ("x", "y")
    assert tuple(first[name] for name in at) == pytest.approx(found[0].middle)


@pytest.mark.parametrize("theme", ["light", "print"])
@pytest.mark.parametrize("kind", ["unigrams", "bigrams"])
@pytest.mark.parametrize("system", domain_shift.SYSTEMS)
def test_no_names_of_the_papers_panels_collide(system: str, kind: str, theme: str) -> None:
    table = published.domain_shift()
    marks = table.rename(columns={kind: "similarity", "difference": "gain"})
    marks["title"] = marks["dataset"].map(TITLES)
    spans = domain_shift.ranges(marks)
    own = marks[marks["system"] == system]
    assert len(own) == 17
    assert collisions(shifts.boxes(own, spans, theme), []) == []


def test_a_name_goes_a_line_further_only_where_it_must() -> None:
    one = labels.mark(50, 50, 5, "lonely", 13, "light")
    (label,) = labels.place([one], labels.Box(0, 0, 700, 500))
    assert (label.across, label.down, label.lines) == (1, 0, 0)
    crowd = [labels.mark(60, 60, 5, "a rather long name", 13, "light") for _ in range(6)]
    placed = labels.place(crowd, labels.Box(0, 0, 700, 500))
    assert {label.lines for label in placed} == {0, 1}


@pytest.mark.parametrize("at_once", [1, 5, 2**15])
def test_the_area_of_lines_below_a_name_is_that_of_their_boxes(
    at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(labels, "AT_ONCE", at_once)
    lines = labels.along(0, 0, 30, 40)
    assert lines.tolist()[::6] == [[-2, -2, 2, 2], [28, 38, 32, 42]]
    names = [labels.Box(0, y, 25, y + 9) for y in range(0, 50, 7)]
    boxes = [labels.Box(*line) for line in lines.tolist()]
    wanted = [sum(common(name, box) for box in boxes) for name in names]
    assert labels.crossed(labels.edges(names), lines) == pytest.approx(wanted)
    assert labels.crossed(labels.edges(names), labels.NOWHERE).tolist() == [0] * len(names)


@CASES
@given(
    st.lists(
        st.tuples(st.floats(0, 700), st.floats(0, 500), st.text(max_size=30)),
        max_size=8,
    )
)
def test_every_name_gets_one_place_beside_its_mark(rows: list[tuple[float, float, str]]) -> None:
    marks = [labels.mark(x, y, 5, name, 13, "light") for x, y, name in rows]
    found = labels.place(marks, labels.Box(0, 0, 700, 500))
    assert len(found) == len(marks)
    for mark, label in zip(marks, found, strict=True):
        assert common(label.box, mark.box) == 0
        assert label == mark.label(label.across, label.down, label.lines)


def panel(rows: list[tuple[str, float, float, bool]]) -> Any:
    columns = ["dataset", "similarity", "gain", "left_out"]
    marks = DataFrame(rows, columns=columns).assign(domain="News")
    marks["title"] = marks["dataset"]
    axes = ("similarity to MSMARCO", "nDCG@10 minus BM25")
    return shifts.panel(
        marks, title="SBERT", axes=axes, spans=domain_shift.ranges(marks), theme="light"
    )


FIVE = [("a", 0.1, -0.2, False), ("b", 0.2, -0.1, False), ("c", 0.3, 0.2, False)]
FIVE += [("d", 0.4, 0.1, False), ("e", 0.5, -0.4, True)]


def test_a_panel_says_the_correlation_with_and_without_the_open_marks() -> None:
    figure = panel(FIVE)
    # Ranks 1 2 4 3 against 1 2 3 4: 1 - 6 * 2 / 60; with e: 2 3 5 4 1, 1 - 6 * 22 / 120.
    assert figure.layout.annotations[0].text.startswith(
        "<b>SBERT</b>  Spearman ρ = .80 (n = 4); with the open marks −.10<br>95% CI"
    )
    fills = figure.data[0].marker.color
    assert fills[4] == "#ffffff" and "#ffffff" not in fills[:4]


def test_three_marks_have_no_correlation_and_the_panel_says_so() -> None:
    head = panel(FIVE[:3]).layout.annotations[0].text
    assert "no rank correlation (n = 3: too few points)" in head
    assert "interval" not in head


def test_the_table_of_correlations_has_three_digits_and_true_minus() -> None:
    marks = DataFrame(FIVE, columns=["dataset", "similarity", "gain", "left_out"])
    table = under(shifts.COLUMNS, shifts.table({("SBERT", "bigrams"): marks}))
    assert table.to_numpy().tolist() == [
        ["SBERT", "bigrams", "1", ".800", "−.82 to 1.00", "4"],
        ["SBERT", "bigrams", "0", "−.100", "−.90 to .86", "5"],
    ]
    few = under(shifts.COLUMNS, shifts.table({("SBERT", "bigrams"): marks[:3]}))
    assert few.to_numpy().tolist() == [["SBERT", "bigrams", "0", "–", "too few points", "3"]]


def test_words_are_shown_per_million() -> None:
    rows = DataFrame({"term": ["the", "gene"], "share": [0.05, 3.2e-6], "other_share": [0.04, 0.0]})
    figure: Any = words.words(rows, ("SciFact", "NFCorpus"), theme="light")
    texts = [note.text for note in figure.layout.annotations[2:]]
    assert texts == ["50,000", "3.2", "40,000", "0"]
    assert "3.2 per million in SciFact<br>0 per million in NFCorpus" in figure.data[1].hovertext[1]


def test_the_caption_counts_words_and_says_what_is_left_out() -> None:
    known = DataFrame({"dataset": ["a", "b"], "title": ["A", "B"], "n_tokens": [1000, 2000]})
    said = " ".join(overlap.caption(known, "unigrams", 1e-5))
    assert "2 corpora, 3,000 lower-cased words of title and text" in said
    assert "Words of at most 10 per million are left out." in said
    assert "left out" not in " ".join(overlap.caption(known, "bigrams", 0.0))


def test_what_ships_without_rare_words_says_so() -> None:
    known = DataFrame({"title": ["B", "A", "C"], "cut": [2.57e-6, 1e-5, 0.0]})
    assert overlap.cut(known).startswith(
        "Shipped counts omit words of A below 10.0 and of B below 2.6 per million"
    )
    assert overlap.cut(known[2:]) == ""


def test_the_neighbours_of_two_have_no_second() -> None:
    frame = similarity_matrix.matrix(
        DataFrame([("a", "b", 0.25)], columns=["dataset", "other", "similarity"])
    )
    rows = graphs.neighbours(frame, {"a": "A"}).fillna(-1).to_numpy().tolist()
    assert rows == [["A", "b", 0.25, "–", -1], ["b", "A", 0.25, "–", -1]]


def test_what_is_here_and_in_no_pair_is_named_with_what_mends_it() -> None:
    stored = DataFrame({"collection": ["a", "b", "mine"], "dataset": ["a", "b", "mine/dev"]})
    counted = DataFrame({"dataset": ["a", "b"], "cut": [1e-5, 0.0]})
    found = overlap.lacking(stored, counted, {"a", "b"})
    assert found == ("Not counted yet: mine.", ["a", "mine/dev"])
    counted = DataFrame({"dataset": ["a", "b", "mine"], "cut": [1e-5, 0.0, 0.0]})
    said, datasets = overlap.lacking(stored, counted, {"a", "b"})
    assert said.startswith("Not compared") and said.endswith(": mine.")
    assert datasets == ["a"]
    assert overlap.lacking(stored, counted, {"a", "b", "mine"}) == ("", [])


def test_all_neighbours_of_one_stand_in_the_order_of_likeness() -> None:
    frame = similarity_matrix.matrix(
        DataFrame(
            [("a", "b", 0.25), ("a", "c", 0.5), ("b", "c", 0.125)],
            columns=["dataset", "other", "similarity"],
        )
    )
    rows = graphs.all_neighbours(frame, {"c": "C"}, "a").to_numpy().tolist()
    assert rows == [["C", 0.5], ["b", 0.25]]
