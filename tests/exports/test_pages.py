"""Figures, tables and views of pages as files, and the commands that write them."""

import io
import math
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from compute.__main__ import main
from compute.base.errors import BeirscopeError, Missing
from compute.base.settings import Settings
from compute.exports import all_figures, browser, file_names, pages
from compute.exports.exported import exported
from compute.exports.figures import Figure
from compute.exports.formats import ONE, Paper
from compute.exports.page_archive import Shown
from compute.store.store import Store
from compute.views.lengths import violins
from tests.support import filled

Given = dict[str, list[str]]
HOSTILE = "<b>*mine*&$x$_%"
RUNS = {
    "plain": "q1 Q0 d2 1 3.0 t\nq2 Q0 d6 1 1.0 t\nq3 Q0 d1 1 1.0 t\n",
    HOSTILE: "q1 Q0 d1 1 3.0 t\nq2 Q0 d2 1 1.0 t\nq3 Q0 d6 1 1.0 t\n",
}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A home with two imported runs on the tiny collection."""
    bench = filled.bench(tmp_path_factory.mktemp("export"))
    filled.take(bench, RUNS)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BEIRSCOPE_HOME", str(bench.settings.home))
        yield bench.settings.home


def shown(home: Path, page: str, given: Given) -> dict[str, Shown]:
    """Figures and tables of a page, by key."""
    with pages.asked(Store(Settings(home=home, threads=1)), page, given) as view:
        return {one.part.key: exported(page, one) for one in view.every()}


def table(home: Path, page: str, key: str, given: Given, form: str) -> bytes:
    store = Store(Settings(home=home, threads=1))
    return pages.write(store, page, key, given, form, Paper())


def test_the_table_of_tests_says_what_was_tested_and_p_as_a_number(home: Path) -> None:
    given = {"dataset": ["tiny"], "measure": ["R@100"], "a": [HOSTILE], "b": ["plain"]}
    written = table(home, "compare", "tests", given, "csv")
    (row, *_) = pd.read_csv(io.BytesIO(written)).to_dict("records")
    said = [row[name] for name in ("Dataset", "Measure", "A", "B", "Test")]
    assert said == ["tiny", "R@100", HOSTILE, "plain", "Randomisation test"]
    assert isinstance(row["p"], float) and 0 < row["p"] <= 1
    tex = table(home, "compare", "tests", given, "tex").decode()
    assert f" {row['p']:.4f}".replace(" 0", " ") in tex


BOARD = {"numbers": ["Computed"], "view": ["Table"], "baseline": ["plain"], "group": ["own"]}


@pytest.mark.long
def test_the_boards_table_has_numbers_for_programs_and_marks_for_papers(home: Path) -> None:
    frame = pd.read_csv(io.BytesIO(table(home, "leaderboard", "board", BOARD, "csv")))
    # The first of two, 2 and 1, or 1 and 1; the only one.
    mean = (2 / (2 + 1 / math.log2(3)) + 1 / (1 + 1 / math.log2(3)) + 1) / 3
    assert frame.loc[frame["System"] == HOSTILE, "tiny"].item() == pytest.approx(mean)
    written = table(home, "leaderboard", "board", BOARD, "tex").decode()
    assert r"\textless{}b\textgreater{}{*}mine{*}\&\$x\$\_\%" in written
    # Three queries cannot tell systems apart: no mark, but a best one.
    assert r"\textbf{" in written
    assert r"$^{\dagger}$" not in written
    assert "significantly better than plain" in written


@pytest.mark.long
def test_a_view_is_saved_with_every_control_in_its_address(home: Path, tmp_path: Path) -> None:
    file = tmp_path / "view.zip"
    given = "numbers=Computed&view=Table&baseline=plain&group=own"
    assert main(["export", "view", "--address", f"leaderboard?{given}", "--out", str(file)]) == 0
    with zipfile.ZipFile(file) as packed:
        where = packed.read("address.txt").decode()
        names = packed.namelist()
        assert "tables/board.tex" in names and any(one.startswith("data/order") for one in names)
        made = packed.read("provenance.json").decode()
    assert HOSTILE in made and '"view": "/leaderboard?' in made
    for part in ("numbers=Computed", "measure=nDCG%4010", "baseline=plain"):
        assert part in where


def test_the_command_line_writes_what_an_address_shows(
    home: Path,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Nobody signs in at a command line.
    monkeypatch.setenv("BEIRSCOPE_SIGN_IN", "true")
    file = tmp_path / "lengths.html"
    address = "http://127.0.0.1:8501/lengths?dataset=tiny&k=5"
    assert main(["export", "figure", "lengths", "--address", address, "--out", str(file)]) == 0
    assert "Lengths of the top 5 of systems on tiny" in file.read_text("utf-8")
    assert capfd.readouterr().out == f"wrote {file}\n"


@pytest.mark.long
@pytest.mark.parametrize(
    ("page", "given", "key", "words"),
    [
        ("lengths", {"dataset": ["tinny"]}, "lengths", "Did you mean tiny"),
        ("lengths", {"colour": ["red"]}, "lengths", "no control colour"),
        ("lengths", {"dataset": ["tiny"]}, "violins", "the page has no 'violins'"),
        ("lengths", {"dataset": ["tiny"], "k": ["7"]}, "lengths", "is called 7"),
        ("query", {"dataset": ["tiny"], "systems": ["nobody"]}, "lists", "is called nobody"),
        ("compare", {"dataset": ["tiny"], "a": ["nobody"]}, "differences", "is called nobody"),
        ("lenghts", {}, "lengths", "did you mean lengths"),
    ],
)
def test_an_export_of_what_there_is_not_is_refused_in_a_sentence(
    page: str, given: Given, key: str, words: str, home: Path
) -> None:
    with pytest.raises(BeirscopeError, match=words):
        table(home, page, key, given, "html")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["figure", "lenghts", "--out", "x.svg"], "did you mean lengths"),
        (["figure", "--out", "x.svg"], "name one"),
        (["figure", "lengths", "--out", "x.gif"], "svg, png, pdf, html"),
        (["table", "lengths", "--out", "table"], "csv, parquet, tex, md"),
        (["figure", "lengths", "--out", "no/such/x.svg"], "create it first"),
        (["figure", "wins", "--address", "lengths?k=5", "--out", "x.svg"], "on the page"),
        (["figure", "leaderboard", "--width", "84", "--out", "x.svg"], "leave out --width 84"),
        (["figure", "lengths"], "--out FILE"),
        (["figures"], "--all DIR"),
        (["figures", "--all", "no/such/folder"], "create it first"),
        (["figures", "--all", "README.md"], "is a file"),
        (["figures", "--all", "docs"], "already contains files"),
        (["figures", "--all", "/proc/figures"], "cannot be written to"),
        (["figures", "--all", "new", "--dataset", "tinny"], "did you mean tiny"),
        (["table", "leaderboard", "--dataset", "tiny", "--out", "x.tex"], "leave out --dataset"),
        (["run", "--out", "x.run"], "export run needs --dataset DATASET"),
    ],
)
def test_a_wrong_command_is_answered_before_anything_starts(
    words: list[str], told: str, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["export", *words]) == 2
    assert told in capsys.readouterr().err


@pytest.mark.long
@pytest.mark.parametrize(("name", "own"), [("order", "plain"), ("difficulty", "q1")])
def test_a_figure_of_one_dataset_is_about_that_one(
    home: Path, tmp_path: Path, name: str, own: str
) -> None:
    file = tmp_path / "x.html"
    assert main(["export", "figure", name, "--dataset", "tiny", "--out", str(file)]) == 0
    drawn = file.read_text("utf-8")
    assert own in drawn
    assert "docT5query" not in drawn


@pytest.mark.long
def test_all_figures_are_written_with_their_captions_but_one_that_fails(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    if browser.find() is None:
        pytest.skip("no Chromium on the PATH or in $BEIRSCOPE_CHROMIUM")
    # What a figure fails of, the others are written without.
    monkeypatch.setattr(violins, "words", lambda *_, **__: 1 / 0)
    store = Store(Settings(home=home, threads=1))
    views = [("lengths", {"dataset": ["tiny"]}), ("dataset", {"dataset": ["tiny"]})]
    assert all_figures.write(store, views, tmp_path, "svg", Paper(ONE)) >= 1
    said = capsys.readouterr()
    assert "tiny-standing-ndcg10-84mm.svg" in said.out
    assert "not written" in said.err
    names = {file.name for file in tmp_path.iterdir()}
    assert {"tiny-standing-ndcg10-84mm.svg", "captions.tex"} <= names
    assert not [name for name in names if name.endswith(".tmp")]
    captions = (tmp_path / "captions.tex").read_text("utf-8")
    files = re.findall(r"\\includesvg\[width=[^]]*\]{([^}]*)}", captions)
    assert {*files, "captions.tex"} == names
    assert r"Systems: \textless{}b\textgreater{}{*}mine{*}\&\$x\$\_\%, plain." in captions


def test_no_figure_at_all_is_said(tmp_path: Path) -> None:
    with pytest.raises(Missing, match="no figure can be drawn"):
        store = Store(Settings(home=tmp_path / "home", threads=1))
        all_figures.write(store, [("query", {"dataset": ["no"]})], tmp_path, "svg", Paper())


OTHER = [
    ("compare", {"a": [HOSTILE], "b": ["plain"]}, {"a": ["plain"], "b": [HOSTILE]}),
    ("compare", {"by": ["by the measure"]}, {"by": ["b ahead"]}),
    ("compare", {"slice": ["words"]}, {"slice": ["relevant"]}),
    ("compare", {"measure": ["nDCG@10"]}, {"measure": ["RR@10"]}),
    ("holes", {"measure": ["nDCG@10"]}, {"measure": ["R@10"]}),
    ("holes", {"systems": ["plain"]}, {"systems": [HOSTILE]}),
    ("query", {"query": ["q1"]}, {"query": ["q2"]}),
    ("query", {"systems": ["plain"]}, {"systems": [HOSTILE]}),
    ("query", {"systems": ["plain", HOSTILE]}, {"systems": ["plain", HOSTILE], "sum": [HOSTILE]}),
    ("map", {"system": ["plain"]}, {"system": [HOSTILE]}),
    ("map", {"system": ["plain"], "other": ["–"]}, {"system": ["plain"], "other": [HOSTILE]}),
    ("leaderboard", {"systems": ["plain"]}, {"systems": [HOSTILE]}),
    ("leaderboard", {"view": ["Table"]}, {"view": ["Table"], "baseline": ["plain"]}),
    ("lengths", {"systems": ["plain"]}, {"systems": [HOSTILE]}),
    ("dataset", {"show": ["Systems"]}, {"show": ["Systems"], "measure": ["R@100"]}),
]


@pytest.mark.long
@pytest.mark.parametrize(("page", "one", "other"), OTHER)
def test_what_differs_has_another_name_and_what_does_not_has_the_same(
    page: str, one: Given, other: Given, home: Path
) -> None:
    own = {"numbers": ["Computed"], "group": ["own"]}
    of = own if page == "leaderboard" else {"dataset": ["tiny"]}
    left, right = (shown(home, page, of | given) for given in (one, other))
    assert left.keys() & right.keys()
    wrong = [
        key
        for key in left.keys() & right.keys()
        if (_content(left[key]) == _content(right[key])) != (left[key].name == right[key].name)
        and not (key == "likeness" and "a" in other)  # the same from both sides
    ]
    assert wrong == []


def _content(one: Any) -> str:
    return (
        one.figure.to_json()
        if isinstance(one, Figure)
        else f"{one.rows.to_json()}{one.scores.note}"
    )


def test_names_that_are_too_long_differ_where_their_ends_do() -> None:
    words = ["tiny", "tests", "rrf(" + "bm25," * 30]
    names = {file_names.name([*words, end, "nDCG@10"]) for end in ("x", "y")}
    assert len(names) == 2 and all(len(name) <= file_names.LONGEST for name in names)


def test_a_figure_knows_what_it_is_of(home: Path) -> None:
    given = {"dataset": ["tiny"], "measure": ["R@100"], "show": ["Queries"]}
    found = shown(home, "dataset", given)["difficulty"]
    assert isinstance(found, Figure)
    assert found.name == "tiny-difficulty-r100"
    title = "Best, median and worst system on each query · tiny · R@100 · computed with Beirscope"
    assert found.about == title and found.heading == f"{found.finding} {title}"


def test_figures_of_names_that_look_alike_have_files_of_their_own() -> None:
    of = ["dataset"]
    words = [file_names.said("x", "standing", of, {"dataset": name}) for name in ("a_b", "a.b")]
    assert words[0] != words[1]
    name = file_names.name(words[0])
    assert name == file_names.name(words[1])
    assert all_figures._unused(name, set()) == name
    assert all_figures._unused(name, {name}) == f"{name}-2"
    assert all_figures._unused(name, {name, f"{name}-2"}) == f"{name}-3"
    assert len(all_figures._unused("x" * file_names.LONGEST, {"x" * file_names.LONGEST})) <= 80
