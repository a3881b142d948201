"""Figures as files: what prints is light and safe, what is a page fetches nothing."""

import io
import re
import zipfile
from collections.abc import Iterator
from typing import Any
from xml.etree import ElementTree

import kaleido
import plotly.graph_objects as go
import pytest
from pandas import DataFrame

from compute.base.errors import Unavailable, WrongInput
from compute.base.settings import PROJECT
from compute.exports import browser, figures, named, views
from compute.exports.formats import WIDTHS
from compute.exports.tables import Table
from compute.views.leaderboard.intervals import intervals
from compute.views.lengths import violins
from compute.views.shared.drawing import behind, drawing, redrawn
from tests.support.tiny import HOSTILE

PAIRS = DataFrame({"words_a": [1.0, 5.0, 9.0, 3.0], "words_b": [2.0, 5.0, 3.0, 7.0]})
SVG = "{http://www.w3.org/2000/svg}"


def drawn(shade: str = "dark") -> go.Figure:
    return violins.differences(PAIRS, (HOSTILE, "B"), theme=shade)


@pytest.fixture(scope="module")
def chromium() -> str:
    found = browser.find()
    if found is None:
        pytest.skip("no Chromium on the PATH or in $BEIRSCOPE_CHROMIUM")
    return found


@pytest.fixture(scope="module")
def svg(chromium: str) -> bytes:
    return figures.picture(drawn(), "svg")


def test_a_figure_is_drawn_again_in_print_with_the_frames_behind_it() -> None:
    printed: Any = redrawn(drawn(), "print")
    assert printed.layout.template.layout.paper_bgcolor == "#ffffff"
    assert printed.layout.template.layout.font.family.startswith("DejaVu")
    (frame,) = behind(drawn()).values()
    assert frame is PAIRS
    assert behind(go.Figure()) == {}


def test_for_one_column_a_figure_may_have_another_drawing() -> None:
    order = DataFrame(
        {
            "system": ["a", "b"],
            **{"mean": [0.5, 0.25], "low": [0.25, 0.125], "high": [0.75, 0.5]},
            **{"rank": [1, 2], "rank_low": [1, 1], "rank_high": [2, 2]},
            **{"first": [0.75, 0.25], "group": ["a b", "b"]},
        }
    )
    titles = {"a": "a system with a long name", "b": "B"}
    figure = intervals(order, titles, "nDCG@10", "light")
    texts = {}
    for kind, width in WIDTHS.items():
        printed: Any = figures.for_print(figure, width)
        texts[kind] = {note["text"] for note in printed.layout.annotations}
        traces = [trace.mode for trace in printed.data]
        assert traces == ["markers"] + ["lines+markers"] * (kind == "wide")
    assert texts["wide"] - texts["narrow"] == {"first", "75%", "25%", "alike"}
    assert texts["narrow"] - texts["wide"] == {"group", "ab", "b"}
    assert figures.for_print(drawn(), WIDTHS["narrow"]).layout.width < figures.DRAWN


def test_frames_within_records_and_lists_are_found() -> None:
    @drawing
    def panels(board: views.Figure, named: list[tuple[str, DataFrame]], theme: str) -> go.Figure:
        return go.Figure()

    table = Table("k", "t", PAIRS)
    figure = panels(table, [("one", PAIRS)], theme="light")  # pyright: ignore[reportArgumentType]
    assert set(behind(figure)) == {"board_frame", "named_1_2"}


def test_every_figure_function_can_be_drawn_for_print() -> None:
    drawn = 0
    for file in sorted((PROJECT / "compute").rglob("*.py")):
        source = file.read_text("utf-8") if file.name != "drawing.py" else ""
        for start in re.finditer(
            r"^def ([a-z]\w*)\(([^)]|\n)*?theme[^)]*\) -> go\.Figure:", source, re.M
        ):
            assert source[: start.start()].endswith("@drawing\n"), f"{file.stem}.{start[1]}"
            drawn += 1
    assert drawn > 20


def test_what_prints_has_no_letter_below_8_points() -> None:
    figure = go.Figure(layout={"font": {"size": 9}, "annotations": [{"font": {"size": 7}}]})
    figure.add_scatter(x=[1], y=[1], text="a", textfont={"size": [6, 14]})
    printed: Any = figures.for_print(figure, 318)
    assert printed.layout.font.size == printed.layout.annotations[0].font.size == 13
    assert printed.data[0].textfont.size == (13, 14)
    # 13 of 387 pixels that are made 318 are 8 points.
    assert printed.layout.width * figures.SMALLER == pytest.approx(318, abs=0.5)
    assert 13 * figures.SMALLER * 72 / 96 > 8


def test_svg_is_a_picture_for_a_page_and_holds_no_script(svg: bytes) -> None:
    root = ElementTree.fromstring(svg)
    assert root.tag == f"{SVG}svg"
    assert root.get("width") == str(WIDTHS["wide"])
    assert not [e for e in root.iter() if e.tag in (f"{SVG}script", f"{SVG}foreignObject")]
    assert not [name for e in root.iter() for name in e.attrib if name.lower().startswith("on")]
    links = [v for e in root.iter() for k, v in e.attrib.items() if k.endswith("href")]
    assert not [link for link in links if not link.startswith(("#", "data:"))]


def test_names_from_outside_are_text_in_svg(svg: bytes) -> None:
    words = "".join(ElementTree.fromstring(svg).itertext())
    assert "<script>ale…" in words


def test_pdf_has_one_page_of_174_mm(chromium: str) -> None:
    content = figures.write(drawn(), "pdf", "t")
    assert content.startswith(b"%PDF-")
    assert len(re.findall(rb"/Type\s*/Page\b", content)) == 1
    box = re.search(rb"/MediaBox\s*\[0 0 ([0-9.]+) ", content)
    assert box is not None
    assert float(box[1]) / 72 * 25.4 == pytest.approx(174, abs=0.5)


def test_png_is_one_for_print(chromium: str) -> None:
    content = figures.write(drawn(), "png", "t", width=WIDTHS["narrow"])
    assert content.startswith(b"\x89PNG")
    assert int.from_bytes(content[16:20]) == WIDTHS["narrow"] * figures.SHARPER


def test_html_fetches_nothing_and_shows_a_title_as_text() -> None:
    page = figures.write(drawn(), "html", HOSTILE).decode()
    head = page[: page.index("<body>")]
    assert "default-src &#39;none&#39;" in head or "default-src 'none'" in head
    assert "<script>alert" not in page
    assert not re.search(r"<(script|link|img|iframe)[^>]+(src|href)\s*=\s*[\"']?(https?:)?//", page)
    assert "MathJax.js" not in page


@pytest.fixture
def without_chromium(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("BEIRSCOPE_CHROMIUM", "/no/such/program")
    browser.find.cache_clear()
    yield
    monkeypatch.undo()
    browser.find.cache_clear()


def test_the_browser_that_draws_loads_files_alone(chromium: str) -> None:
    asked = kaleido.PageGenerator(mathjax=False).generate_index()
    assert re.findall(r'src="(\w+):', asked) == ["file", "file"]
    assert browser.NOWHERE == "http://127.0.0.1:9"


def test_without_a_chromium_it_is_said_what_to_install(without_chromium: None) -> None:
    with pytest.raises(Unavailable, match="BEIRSCOPE_CHROMIUM"):
        browser.Painter().draw(drawn(), {"format": "pdf"})


def test_a_view_is_a_zip_that_says_what_is_what(without_chromium: None) -> None:
    again = violins.differences(PAIRS, ("A", "B"), theme="light")
    shown = [
        views.Figure("gaps", "Differences", drawn()),
        views.Figure("../evil", "The same data", again),
        Table("a/b c", HOSTILE, PAIRS),
    ]
    view = views.View("Lengths", "http://127.0.0.1/lengths?k=10", shown, {"runs": [{"k": 1}]})
    with zipfile.ZipFile(io.BytesIO(views.archive(view))) as packed:
        names = set(packed.namelist())
        assert names == {
            "figures/gaps.html",
            "figures/evil.html",
            "data/gaps.csv",
            "data/gaps.parquet",
            *(f"tables/a-b-c.{form}" for form in ("csv", "parquet", "tex", "md")),
            "address.txt",
            "provenance.json",
            "README.txt",
        }
        assert packed.read("data/gaps.csv").decode() == PAIRS.to_csv(index=False)
        assert packed.read("address.txt").decode() == "http://127.0.0.1/lengths?k=10\n"
        told = packed.read("README.txt").decode()
    assert all(name.partition(".")[0] in told for name in names - {"README.txt"})
    assert "BEIRSCOPE_CHROMIUM" in told


def test_addresses_are_read_whole_or_from_their_page_on() -> None:
    found = ("lengths", {"dataset": ["scifact"], "a": ["rrf(bm25,minilm)"]})
    words = "lengths?dataset=scifact&a=rrf%28bm25%2Cminilm%29"
    assert named.address(words) == named.address(f"http://127.0.0.1:8501/{words}") == found
    assert named.address("http://127.0.0.1:8501/?view=Table") == (
        "leaderboard",
        {"view": ["Table"]},
    )
    for wrong in ("../etc/passwd?x=1", "_shared", "a/b"):
        with pytest.raises(WrongInput, match="no address of a page"):
            named.address(wrong)


def test_names_that_there_are_not_are_answered_with_near_ones() -> None:
    with pytest.raises(WrongInput, match="did you mean lengths"):
        named.named("figure", "lenghts")
    with pytest.raises(WrongInput, match="KEY=VALUE"):
        named.settings(["measure"])
