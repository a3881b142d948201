"""Tables as files: values unchanged for programs, best and second marked for papers."""

import csv
import io
import re
import shutil
import string
import subprocess
import zipfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import markdown_it
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pandas import DataFrame

from compute.base.errors import WrongInput
from compute.exports import latex, page_archive, tables
from compute.exports.formats import OF
from compute.exports.page_archive import View
from compute.exports.tables import BEST, SECOND
from compute.views.page import Table
from compute.views.shared.print_styles import Scores
from tests.support.tiny import HOSTILE
from tests.support.worlds import CASES

SYSTEMS = DataFrame(
    {
        "System": ["bm25", "a_b & 100%", "=cmd|' /C calc'!A0"],
        "SciFact": [0.67891, 0.4762, 0.4758],
        "Own": [np.nan, -0.25, 0.5],
        "Queries": [5183, 300, 12],
    }
)

BETTER = DataFrame({"SciFact": [True, False, False], "Own": [False, False, False]})
SCORES = Scores(("SciFact", "Own"), marked=lambda: BETTER, note="† better than BM25 (p < .05).")
TABLE = Table("systems by dataset", "nDCG@10 of 100% & more", SYSTEMS, scores=SCORES)

TEX = r"""% Needs \usepackage{booktabs}
\begin{table}
\centering
\caption{nDCG@10 of 100\% \& more}
\label{tab:systems-by-dataset}
\begin{tabular}{lrrr}
\toprule
System & SciFact & Own & Queries \\
\midrule
bm25 & \textbf{.679}$^{\dagger}$ & {\textendash} & 5,183 \\
a\_b \& 100\% & \underline{.476} & \underline{$-$.250} & 300 \\
=cmd\textbar{}\textquotesingle{} /C calc\textquotesingle{}!A0 & .476 & \textbf{.500} & 12 \\
\bottomrule
\end{tabular}
\par\smallskip{\footnotesize Best of each column bold, second underlined, compared before rounding. \textdagger{} better than BM25 (p \textless{} .05).}
\end{table}
"""  # noqa: E501 a row is a line

MARKDOWN = """nDCG\\@10 of 100% \\& more

| System | SciFact | Own | Queries |
| --- | ---: | ---: | ---: |
| bm25 | **.679**† | – | 5,183 |
| a\\_b \\& 100% | <ins>.476</ins> | <ins>−.250</ins> | 300 |
| \\=cmd\\|\\' /C calc\\'\\!A0 | .476 | **.500** | 12 |

Best of each column bold, second underlined, compared before rounding\\.

† better than BM25 \\(p \\< \\.05\\)\\.
"""


def test_latex_has_the_best_bold_the_second_underlined_and_names_as_text() -> None:
    assert tables.write(TABLE, "tex").decode() == TEX


def test_numbers_with_absent_ones_between_them_stand_right() -> None:
    rows = DataFrame({"seconds": [0.5, "–", ""], "name": ["a", "–", "2"]})
    assert tables.shown(Table("t", "t", rows))[2] == [True, False]


def test_markdown_has_the_same_table() -> None:
    assert tables.write(TABLE, "md").decode() == MARKDOWN


def test_a_csv_from_the_browser_has_no_formula_and_its_numbers_and_ids_unchanged() -> None:
    values: dict[str, list[object]] = {
        "Query": ["-1", "=q", "@d", "+"],
        "Document": ["=1", "+2", "-3", "@4"],
        "Note": ["=1+1", "+more", "-less", "@home"],
        "System": ["=cmd|' /C calc'!A0", "\tbm25", "'=x", "bm25"],
        "Interval": ["-.03 to .02", "+.5", "-1e-5", "-12%"],
        "Mean": [-0.25, 0.5, -1.0, np.nan],
        "=dataset": [None, "fine", "-", "a=b"],
    }
    table = Table("k", "t", DataFrame(values))
    saved = pd.read_csv(io.BytesIO(tables.write(table, "csv", escaped=True)), dtype=str)
    for name in ("Query", "Document", "Interval"):
        assert saved[name].tolist() == values[name]
    assert saved["Mean"].astype(float).tolist()[:3] == values["Mean"][:3]
    assert saved["Note"].tolist() == ["'=1+1", "'+more", "'-less", "'@home"]
    assert saved["System"].tolist() == ["'=cmd|' /C calc'!A0", "'\tbm25", "''=x", "bm25"]
    assert saved["'=dataset"].tolist()[1:] == ["fine", "-", "a=b"]
    exact = pd.read_csv(io.BytesIO(tables.write(table, "csv")), dtype=str)
    assert exact["System"].tolist() == values["System"]
    kept = pd.read_parquet(io.BytesIO(tables.write(table, "parquet", escaped=True)))
    assert kept["Note"].tolist() == values["Note"]


def test_a_saved_view_says_what_it_did_to_words_that_begin_like_a_formula() -> None:
    for escaped, said, cell in ((True, "An apostrophe", "'=a"), (False, "unchanged. A", "=a")):
        table = Table("k", "t", DataFrame({"Note": ["=a"]}))
        view = View("Page", "page?x=y", [table], {}, escaped)
        with zipfile.ZipFile(io.BytesIO(page_archive.archive(view))) as packed:
            assert packed.read("tables/k.csv").decode() == f"Note\n{cell}\n"
            assert said in packed.read("README.txt").decode()


def test_a_carriage_return_ends_no_line_of_a_csv() -> None:
    table = Table("k", "t", DataFrame({"Query": ["a\rb", "=c"], "n": [1, 2]}))
    written = tables.write(table, "csv").decode()
    assert list(csv.reader(io.StringIO(written, newline=""))) == [
        ["Query", "n"],
        ["a\rb", "1"],
        ["=c", "2"],
    ]


def test_csv_and_parquet_hold_the_values_unchanged() -> None:
    # What begins with = is a formula to a spreadsheet; a changed name would be another system.
    lines = tables.write(TABLE, "csv").decode().splitlines()
    assert lines[0] == "System,SciFact,Own,Queries"
    assert lines[3] == "=cmd|' /C calc'!A0,0.4758,0.5,12"
    again = pd.read_parquet(io.BytesIO(tables.write(TABLE, "parquet")))
    pd.testing.assert_frame_equal(again, SYSTEMS, check_dtype=False)


@pytest.mark.parametrize("form", ["csv", "parquet", "tex", "md"])
def test_no_zero_is_written_with_a_sign(form: str) -> None:
    frame = DataFrame({"system": ["a", "b"], "low": [-0.0, -0.5], "n": [1, 2]})
    table = Table("t", "t", frame)
    written = tables.write(table, form)
    if form == "parquet":
        assert not np.signbit(pd.read_parquet(io.BytesIO(written))["low"][0])
    else:
        assert not re.search(r"[-−]0?\.0+\b", written.decode())
    assert np.signbit(frame["low"][0]), "the caller's frame is left alone"


def test_columns_of_mixed_values_and_of_several_levels_reach_parquet() -> None:
    frame = DataFrame(
        [[1, "a"], ["x", None]], columns=pd.MultiIndex.from_tuples([("a", 1), ("a", 1)])
    )
    again = pd.read_parquet(io.BytesIO(tables.write(Table("k", "t", frame), "parquet")))
    assert again["a 1 1"].tolist() == ["1", "x"]
    assert list(again) == ["a 1 1", "a 1 2"]


@pytest.mark.parametrize(
    ("values", "sign", "found"),
    [
        ([0.3, 0.1, 0.2], 1, [BEST, 0, SECOND]),
        ([0.3, 0.1, 0.2], -1, [0, BEST, SECOND]),
        ([0.30004, 0.3, 0.2], 1, [BEST, SECOND, 0]),
        ([0.3, 0.1 + 0.2, 0.2], 1, [BEST, BEST, SECOND]),
        ([0.3, None, float("nan")], 1, [0, 0, 0]),
        ([], 1, []),
        ([0.5, 0.5], 1, [BEST, BEST]),
    ],
)
def test_places_are_those_of_the_values_before_rounding(
    values: list, sign: int, found: list[int]
) -> None:
    assert tables.places(values, sign) == found


def test_what_takes_no_part_is_never_best() -> None:
    ranked = DataFrame({"SciFact": [False, True, True]})
    table = replace(TABLE, scores=Scores(("SciFact",), ranked=ranked))
    written = tables.write(table, "tex").decode()
    assert r"bm25 & \textit{.679} &" in written
    assert r"\textbf{.476}" in written


def test_less_is_better_in_some_columns() -> None:
    frame = DataFrame({"System": ["a", "b"], "nDCG@10": [0.5, 0.4], "Hole@10": [0.3, 0.1]})
    names = ("nDCG@10", "Hole@10")
    written = tables.write(
        Table("k", "t", frame, scores=Scores(names, lower=["Hole@10"])), "tex"
    ).decode()
    assert "a & \\textbf{.500} & \\underline{.300} \\\\\n" in written
    assert "b & \\underline{.400} & \\textbf{.100} \\\\\n" in written


def test_a_few_systems_on_many_datasets_stand_across_in_print() -> None:
    names = [f"D_{n}" for n in range(17)]
    frame = DataFrame({"System": ["a", "b & c"], **{name: [0.1, 0.2] for name in names}})
    table = Table("k", "t", frame, scores=Scores(names))
    written = tables.write(table, "tex").decode()
    assert " & a & b \\& c \\\\\n" in written
    assert "D\\_16 & \\underline{.100} & \\textbf{.200} \\\\\n" in written
    assert "Best of each row" in written
    assert "| D\\_16 | <ins>.100</ins> | **.200** |" in tables.write(table, "md").decode()
    assert tables.write(table, "csv").decode().startswith("System,D_0,D_1,")


def test_an_unknown_format_is_answered_with_the_known_ones() -> None:
    with pytest.raises(WrongInput, match="csv, parquet, tex, md"):
        tables.write(TABLE, "xlsx")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a--b,,c", "a-{}-b,{},c"),
        ("−0.5", "$-$0.5"),
        ("\\input{/etc/passwd}", r"\textbackslash{}input\{/etc/passwd\}"),
        ("[1ex]*", "{[}1ex{]}{*}"),
        ("Zażółć", "Zażółć"),
        ("漢", r"\othersign{6F22}{漢}"),
        ("a\u202eb\x07\nc", "ab c"),
    ],
)
def test_text_for_latex(text: str, said: str) -> None:
    assert latex.escape(text) == said


KNOWN = re.compile(
    r"\\(text(backslash|ascii(circum|tilde|grave)|less|greater|bar|quotedbl|quotesingle|endash"
    r"|emdash|dagger|daggerdbl)|dots|times|pm|leq|geq|approx|rightarrow|leftarrow|infty|surd"
    r"|kappa|alpha|beta|rho|tau|Delta|cdot|othersign\{[0-9A-F]+\}\{.\}|[{}$&#_%])"
)


@pytest.mark.long
@CASES
@given(st.text(max_size=40) | st.text(alphabet="\\{}$&#^_~%<>|\"'`[]*-,−–†\n", max_size=40))
def test_no_text_is_a_command_to_latex(text: str) -> None:
    escaped = latex.escape(text)
    left = KNOWN.sub("", escaped).replace("$-$", "").replace("$$", "")
    left = left.replace("{[}", "").replace("{]}", "").replace("{*}", "").replace("{}", "")
    assert not set(left) & set("\\{}$&#^_%\n")
    assert "--" not in escaped


@CASES
@given(st.lists(st.text(max_size=30), min_size=1, max_size=4))
def test_markdown_shows_names_letter_by_letter(names: list[str]) -> None:
    frame = DataFrame({"System": names})
    written = tables.write(Table("k", "t", frame), "md").decode()
    parsed = markdown_it.MarkdownIt("commonmark").enable("table").parse(written)
    cells = [token for token in parsed if token.type == "inline"][2:]
    shown = ["".join(part.content for part in cell.children or ()) for cell in cells]
    assert len(cells) == len(names)
    for name, cell in zip(names, shown, strict=True):
        assert cell == " ".join(name.split()).replace("\x00", "\ufffd")


def test_hostile_names_make_no_markup() -> None:
    frame = DataFrame({"System": [HOSTILE, "<img src=x onerror=alert(1)>", "[a](javascript:x)"]})
    written = tables.write(Table("k", HOSTILE, frame), "md").decode()
    drawn = markdown_it.MarkdownIt("commonmark").enable("table").render(written)
    assert not re.search("<(script|img|a|b)[ >]", drawn)


def compiler() -> Sequence[str]:
    """How to run a LaTeX here; none skips."""
    if found := shutil.which("pdflatex"):
        return found, "-interaction=nonstopmode", "-halt-on-error", "-no-shell-escape"
    if found := shutil.which("tectonic"):
        return found, "--only-cached", "--untrusted"
    pytest.skip("no TeX here: pdflatex or tectonic on the PATH")


def test_exported_latex_compiles(tmp_path: Path) -> None:
    signs = [*string.printable, *latex.IN_T1, *latex.SPECIAL, "漢", "😀", "ε", "\u0301"]
    rows = DataFrame({"[Sign]": [f"{sign}{sign} {sign}" for sign in signs], "n": range(len(signs))})
    some = [rows[start : start + 40] for start in range(0, len(rows), 40)]
    wide = Table(
        "wide", "25 systems", DataFrame([[0.5] * 25], columns=[f"a_{n}" for n in range(25)])
    )
    written = [Table(f"k{n}", HOSTILE, frame) for n, frame in enumerate(some)] + [TABLE, wide]
    (tmp_path / "all.tex").write_text(
        "\\documentclass{article}\n\\usepackage{booktabs}\n\\usepackage{graphicx}\n\\usepackage[T1]{fontenc}\n"
        "\\begin{document}\n"
        + "\\clearpage\n".join(tables.write(table, "tex").decode() for table in written)
        + "\\end{document}\n",
        encoding="utf-8",
    )
    done = subprocess.run([*compiler(), "all.tex"], cwd=tmp_path, capture_output=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:].decode(errors="replace")
    assert (tmp_path / "all.pdf").read_bytes().startswith(b"%PDF-")
    assert b"Overfull \\hbox" not in done.stdout


def test_every_format_is_written() -> None:
    assert set(tables.WRITERS) == set(OF["table"])


def test_a_wide_table_goes_across_both_columns_of_a_page() -> None:
    frame = DataFrame([[0.5] * 9], columns=[f"m{number}" for number in range(9)])
    wide = tables.write(Table("k", "t", frame), "tex").decode()
    assert wide.count("{table*}") == 2
    assert "table*" not in tables.write(Table("k", "t", frame.iloc[:, :8]), "tex").decode()
