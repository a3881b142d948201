"""Figures as files: what prints is light and safe, what is a page fetches nothing."""

import io
import os
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import kaleido
import plotly.graph_objects as go
import pytest
from pandas import DataFrame

from compute.base.errors import Unavailable, WrongInput
from compute.base.settings import PROJECT
from compute.exports import (
    all_figures,
    browser,
    captions,
    figures,
    file_names,
    fonts,
    heading,
    named,
    page_archive,
)
from compute.exports.figures import Figure
from compute.exports.formats import AS_SHOWN, ONE, TWO, Paper
from compute.exports.tables import Table
from compute.views.leaderboard.intervals import intervals
from compute.views.lengths import violins
from compute.views.overlap.heatmap import heatmap
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


def shown(**more: Any) -> Figure:
    """A figure as a page notes it."""
    return Figure("gaps", "Differences", drawn(), "mine-gaps", **more)


@pytest.fixture(scope="module")
def svg(chromium: str) -> bytes:
    legend = [("#3a71ac", "●", HOSTILE)]
    return figures.write(shown(of=["Mine", "nDCG@10"], legend=lambda _: legend), "svg", Paper())


@pytest.mark.long
def test_without_its_title_a_figure_keeps_what_its_colours_mean(chromium: str) -> None:
    legend = [("#3a71ac", "●", "better")]
    one = shown(of=["Mine"], legend=lambda _: legend)
    high, low = (figures.picture(one, Paper(titled=titled)) for titled in (True, False))
    assert ">Differences · Mine</text>" in high.svg and ">Differences · Mine</text>" not in low.svg
    assert "better" in low.svg and low.height < high.height


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
    for width in (ONE, TWO):
        printed: Any = figures.for_print(figure, Paper(width))
        texts[width] = {note["text"] for note in printed.layout.annotations}
        traces = [trace.mode for trace in printed.data]
        assert traces == ["markers"] + ["lines+markers"] * (width == TWO)
    heads = {"P(rank 1)", "no significant<br>difference"}
    assert texts[TWO] - texts[ONE] == heads | {"75%", "25%"}
    assert texts[ONE] - texts[TWO] == {"group", "ab", "b"}


def test_what_was_clicked_on_has_no_outline_in_print() -> None:
    square = DataFrame([[1, 0.5], [0.5, 1]], index=["a", "b"], columns=["a", "b"])
    figure: Any = heatmap(square, {"a": "A", "b": "B"}, theme="light", chosen=("a", "b"))
    printed: Any = redrawn(figure, "print")
    assert (len(figure.layout.shapes), len(printed.layout.shapes)) == (1, 0)


def test_frames_within_records_and_lists_are_found() -> None:
    @drawing
    def panels(board: Figure, named: list[tuple[str, DataFrame]], theme: str) -> go.Figure:
        return go.Figure()

    table = Table("k", "t", PAIRS)
    figure = panels(table, [("one", PAIRS)], theme="light")  # pyrefly: ignore
    assert set(behind(figure)) == {"board_rows", "named_1_2"}


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


@pytest.mark.parametrize(("width", "points"), [(ONE, 7), (TWO, 8)])
def test_what_prints_has_no_letter_below_7_or_8_points(width: str, points: int) -> None:
    figure = go.Figure(layout={"font": {"size": 9}, "annotations": [{"font": {"size": 7}}]})
    figure.add_scatter(x=[1], y=[1], text="a", textfont={"size": [6, 14]})
    printed: Any = figures.for_print(figure, Paper(width))
    least = figures.LEAST_FONT[width]
    assert printed.layout.font.size == printed.layout.annotations[0].font.size == least
    assert printed.data[0].textfont.size == (least, 14)
    # So many pixels drawn become so many millimetres, of which a point is 25.4 / 72.
    assert least * int(width) / printed.layout.width / (25.4 / 72) == pytest.approx(points, abs=0.1)


def test_letters_are_the_pages_or_a_papers() -> None:
    for font, listed in (("page", "'Source Sans 3'"), ("paper", "'Times New Roman'")):
        printed: Any = figures.for_print(drawn(), Paper(ONE, font))
        family = printed.layout.font.family
        assert listed in family and family.startswith(f"'{fonts.found(font)}")


STANDARD = """<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig><include ignore_missing="yes">/etc/fonts/fonts.conf</include>
<match target="pattern"><test name="family"><string>Times New Roman</string></test>
<edit name="family" mode="assign" binding="strong"><string>DejaVu Serif</string></edit></match>
</fontconfig>"""
"""Where Chromium finds no family of a list, it takes its standard one: here one with serifs."""
WRITES = """
import sys
from compute.exports import figures, fonts
from compute.exports.formats import ONE, Paper
from tests.exports.test_figures import shown
for font in fonts.FAMILIES:
    for form in ("pdf", "png"):
        with open(f"{sys.argv[1]}/{font}.{form}", "wb") as file:
            file.write(figures.write(shown(of=["Mine"]), form, Paper(ONE, font)))
    print(fonts.found(font))
"""


@pytest.mark.long
def test_the_letters_that_were_chosen_are_those_in_the_file(chromium: str, tmp_path: Path) -> None:
    if not shutil.which("fc-match"):
        pytest.skip("no fontconfig here to ask for the families of this machine")
    config = tmp_path / "fonts.conf"
    config.write_text(STANDARD, encoding="utf-8")
    words = [sys.executable, "-c", WRITES, str(tmp_path)]
    told = {**os.environ, "FONTCONFIG_FILE": str(config)}
    done = subprocess.run(words, cwd=PROJECT, env=told, capture_output=True, text=True, check=True)
    chosen = done.stdout.splitlines()
    if len(set(chosen)) < 2:
        pytest.skip(f"this machine has one family for all letters, {chosen[0]}")
    for font, family in zip(fonts.FAMILIES, chosen, strict=True):
        content = (tmp_path / f"{font}.pdf").read_bytes()
        embedded = re.findall(rb"/BaseFont /[A-Z]{6}\+([^\s/-]+)", content)
        assert {name.decode() for name in embedded} == {family.replace(" ", "")}
    pictures = [(tmp_path / f"{font}.png").read_bytes() for font in fonts.FAMILIES]
    assert pictures[0] != pictures[1]


def test_a_panel_keeps_its_width_in_the_middle_of_the_paper() -> None:
    panel = go.Figure(layout={"width": 300, "margin": {"l": 50, "r": 0}})
    printed: Any = figures.for_print(panel, Paper(TWO))
    assert printed.layout.width == figures.DRAWN
    assert (printed.layout.margin.l, printed.layout.margin.r) == (300, 250)
    as_shown: Any = figures.for_print(panel, Paper(AS_SHOWN))
    assert as_shown.layout.width == 300


def test_a_long_title_below_is_on_several_lines() -> None:
    words = "queries, those with a system of a long name ahead first, and the others behind them"
    for width, lines in ((ONE, 3), (TWO, 1)):
        printed: Any = figures.for_print(go.Figure(layout={"xaxis_title": words}), Paper(width))
        said = printed.layout.xaxis.title.text
        assert said.replace("<br>", " ") == words
        assert said.count("<br>") + 1 == lines


def test_svg_is_a_picture_for_a_page_and_holds_no_script(svg: bytes) -> None:
    root = ElementTree.fromstring(svg)
    assert root.tag == f"{SVG}svg"
    assert root.get("width") == "174.000mm"
    assert root.findtext(f"{SVG}title") == "Differences · Mine · nDCG@10"
    assert not [e for e in root.iter() if e.tag in (f"{SVG}script", f"{SVG}foreignObject")]
    assert not [name for e in root.iter() for name in e.attrib if name.lower().startswith("on")]
    links = [v for e in root.iter() for k, v in e.attrib.items() if k.endswith("href")]
    assert not [link for link in links if not link.startswith(("#", "data:"))]


def test_names_from_outside_are_text_in_svg(svg: bytes) -> None:
    words = "".join(ElementTree.fromstring(svg).itertext())
    assert "<script>ale…" in words
    assert HOSTILE.split()[0] in words


@pytest.mark.parametrize("width", [ONE, TWO])
def test_pdf_has_one_page_as_wide_as_the_paper_and_a_title(chromium: str, width: str) -> None:
    content = figures.write(shown(of=["Mine"]), "pdf", Paper(width, "paper"))
    assert content.startswith(b"%PDF-")
    assert len(re.findall(rb"/Type\s*/Page\b", content)) == 1
    box = re.search(rb"/MediaBox \[0 0 ([0-9.]+) ([0-9.]+) *\]", content)
    assert box is not None
    assert float(box[1]) == pytest.approx(int(width) / 25.4 * 72, abs=0.01)
    said = "Differences · Mine".encode("utf-16-be").hex().upper().encode()
    assert b"/Title <FEFF" + said + b">" in content
    # Where its objects begin is still where its table says.
    start = int(content.rpartition(b"startxref\n")[2].split()[0])
    places = [int(line[:10]) for line in content[start:].splitlines() if line.endswith(b"n ")]
    assert len(places) > 5
    assert all(re.match(rb"\d+ 0 obj", content[place:]) for place in places)


@pytest.mark.parametrize("before", [b"0 0 828 336", b"0 0 828 393.6", b"0 0 238.32001 242.39999"])
def test_the_box_of_a_page_is_two_whole_numbers_whatever_room_there_is(before: bytes) -> None:
    for height in (1.0, 336.0, 393.62, 1234.567):
        found = figures.box((828.004, height), before)
        assert len(found) == len(before)
        left, top, *sides = map(float, found.split())
        assert (left, top) == (0, 0)
        assert sides == pytest.approx([828, height], abs=0.51) or found == before


def test_png_says_that_it_is_300_dots_to_the_inch(chromium: str) -> None:
    content = figures.write(shown(), "png", Paper(ONE))
    assert content.startswith(b"\x89PNG")
    across = int.from_bytes(content[16:20])
    at = content.index(b"pHYs") + 4
    per_metre = int.from_bytes(content[at : at + 4])
    assert across / per_metre * 1000 == pytest.approx(84, abs=0.1)
    assert per_metre == 11811


def test_a_heading_is_cut_into_lines_that_fit_and_holds_no_markup() -> None:
    entries = [("#3a71ac", "●", "lexical"), ("", "", "<i>Orange</i>: shorter than the collection.")]
    lines = heading.lines(["nDCG@10 of systems on " + 60 * "x"], entries, 200)
    assert lines[0] == "nDCG@10 of systems"
    assert lines[1] == "on"
    assert re.fullmatch("x+…", lines[2])
    assert lines[3] == '<tspan fill="#3a71ac">●</tspan> lexical'
    assert lines[4] == "&lt;i&gt;Orange&lt;/i&gt;: shorter"
    assert heading.height(0) == 0
    long = heading.lines(["The difference is " + 40 * "significant "], [], 10_000)
    assert long[0].endswith("significant …")


def test_what_a_figure_is_of_is_said_once() -> None:
    one = Figure("standing", "nDCG@10 of systems on SciFact", drawn(), of=["SciFact", "nDCG@10"])
    assert one.heading == "nDCG@10 of systems on SciFact"
    assert one._replace(of=["Sci", "nDCG@1"]).heading.endswith("SciFact · Sci · nDCG@1")


@pytest.mark.parametrize(
    ("page", "key", "of", "picked", "name"),
    [
        (
            "leaderboard",
            "",
            "baseline measure",
            {"numbers": "Published", "table": "BEIR v4, Table 2", "measure": "nDCG@10"},
            "beir-v4-t2-ndcg10",
        ),
        (
            "leaderboard",
            "wins",
            "measure",
            {"numbers": "Computed", "over": "x"},
            "leaderboard-wins",
        ),
        ("leaderboard", "order", "over", {"over": "mine/dev", "measure": "P@5"}, "mine-dev-order"),
        ("leaderboard", "order", "over", {"over": "Average"}, "leaderboard-order"),
        ("overlap", "graph", "unit", {"numbers": "Computed", "unit": "1"}, "overlap-graph-1"),
        ("overlap", "graph", "unit", {"numbers": "Published"}, "overlap-graph-published"),
        ("lengths", "lengths", "dataset k", {"dataset": "x", "k": "10"}, "x-lengths-top10"),
        ("lengths", "medians", "k", {"dataset": "scifact", "k": "10"}, "lengths-medians-top10"),
        ("lengths", "medians", "cut k", {"cut": True, "k": "10"}, "lengths-medians-cut-top10"),
        (
            "compare",
            "kinds",
            "dataset a b",
            {"dataset": "x", "a": "r(a,b)", "b": "c"},
            "x-kinds-r-a-b-c",
        ),
        ("query", "gains", "dataset query", {"dataset": "x", "query": "../../etc"}, "x-gains-etc"),
        ("query", "lists", "systems", {"systems": ["a", "b"]}, "query-lists-a-b"),
        ("dataset", "standing", "dataset", {"dataset": "Ünï/../日本"}, "uni-standing"),
        (
            "dataset",
            "standing",
            "dataset",
            {"dataset": "日本", "queries": "q"},
            "unnamed-standing-q",
        ),
    ],
)
def test_a_file_is_named_after_what_it_shows(
    page: str, key: str, of: str, picked: dict[str, object], name: str
) -> None:
    assert file_names.name(file_names.said(page, key, of.split(), picked)) == name


@pytest.mark.parametrize(
    ("form", "width", "ending"),
    [
        ("pdf", ONE, "-84mm.pdf"),
        ("png", TWO, "-174mm.png"),
        ("svg", AS_SHOWN, ".svg"),
        ("html", ONE, ".html"),
        ("csv", TWO, ".csv"),
    ],
)
def test_the_name_of_a_picture_tells_its_width(form: str, width: str, ending: str) -> None:
    assert file_names.ending(form, width) == ending


def test_the_option_of_letters_names_the_family_that_the_machine_has() -> None:
    fonts.found.cache_clear()
    for font, words in fonts.SORTS.items():
        assert fonts.said(font).startswith(f"{words}: ")
        assert fonts.found(font) in fonts.said(font)
        if shutil.which("fc-match"):
            assert fonts.found(font) and " or " not in fonts.said(font)


def test_names_of_files_have_80_letters_at_most() -> None:
    assert len(file_names.name(["x" * 200, "standing", "P@5"])) == 80


def test_captions_name_systems_and_datasets_and_are_text_in_latex() -> None:
    @drawing
    def both(board: DataFrame, known: DataFrame, theme: str) -> go.Figure:
        return go.Figure()

    board = DataFrame({"system": ["b", "a_1"], "dataset": [r"mine\input{x}", "yours"]})
    known = DataFrame({"system": ["a_1", "b", "c"]})
    one = Figure("x", "50% of $x", both(board, known, theme="light"), "x-p5", ["P@5"])
    written = [
        captions.Written(one, "x-p5.pdf", width, 1234, "official") for width in (ONE, TWO, AS_SHOWN)
    ]
    said = captions.document(written, "pdf")
    assert said.count(r"\begin{figure}") == 1
    assert said.count(r"\begin{figure*}") == 2
    for size in ("84mm", "174mm", r"\linewidth"):
        assert rf"\includegraphics[width={size}]{{x-p5.pdf}}" in said
    caption = next(line for line in said.splitlines() if line.startswith(r"\caption"))
    assert caption == (
        r"\caption{50\% of \$x $\cdot$ P@5. Systems: a\_1, b. Datasets:"
        r" mine\textbackslash{}input\{x\}, yours. Drawn by Beirscope from version 1,234 of its"
        r" results, official judgements.}"
    )


def test_the_views_of_a_paper_show_its_measure_where_there_is_one() -> None:
    found = all_figures.views(["mine"], "P@5")
    assert ("lengths", {"dataset": ["mine"]}) in found
    assert ("compare", {"dataset": ["mine"], "measure": ["P@5"]}) in found
    assert ("leaderboard", {"numbers": ["Computed"], "over": ["mine"], "measure": ["P@5"]}) in found
    assert len(found) == len({str(one) for one in found})


def test_html_fetches_nothing_and_shows_a_title_as_text() -> None:
    page = figures.write(shown()._replace(title=HOSTILE), "html", Paper()).decode()
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
        browser.Painter().svg(drawn())


def test_a_view_is_a_zip_that_says_what_is_what(without_chromium: None) -> None:
    again = violins.differences(PAIRS, ("A", "B"), theme="light")
    shown = [
        Figure("gaps", "Differences", drawn()),
        Figure("../evil", "The same data", again),
        Table("a/b c", HOSTILE, PAIRS),
    ]
    view = page_archive.View(
        "Lengths", "http://127.0.0.1/lengths?k=10", shown, {"runs": [{"k": 1}]}
    )
    with zipfile.ZipFile(io.BytesIO(page_archive.archive(view))) as packed:
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
        with pytest.raises(WrongInput, match="not an address of a page"):
            named.address(wrong)


def test_names_that_there_are_not_are_answered_with_near_ones() -> None:
    with pytest.raises(WrongInput, match="did you mean lengths"):
        named.named("figure", "lenghts")
    with pytest.raises(WrongInput, match="KEY=VALUE"):
        named.settings(["measure"])
