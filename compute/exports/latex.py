r"""Writes tables for LaTeX with booktabs; outside text never becomes a command. They compile under
pdfLaTeX, XeLaTeX and LuaLaTeX with booktabs and, for non-ASCII letters,
`\usepackage[T1]{fontenc}`."""

import re
import unicodedata
from collections.abc import Sequence

SPECIAL = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "^": r"\textasciicircum{}",
    "_": r"\_",
    "~": r"\textasciitilde{}",
    "%": r"\%",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    "'": r"\textquotesingle{}",
    "`": r"\textasciigrave{}",
    # After the end of a row, these would be parsed as its argument.
    "[": "{[}",
    "]": "{]}",
    "*": "{*}",
    "−": "$-$",
    "–": "{\\textendash}",
    "—": "{\\textemdash}",
    "…": r"\dots{}",
    "·": r"$\cdot$",
    "×": r"$\times$",
    "±": r"$\pm$",
    "≤": r"$\leq$",
    "≥": r"$\geq$",
    "≈": r"$\approx$",
    "→": r"$\rightarrow$",
    "←": r"$\leftarrow$",
    "∞": r"$\infty$",
    "†": r"\textdagger{}",
    "‡": r"\textdaggerdbl{}",
    "✓": r"$\surd$",
    "κ": r"$\kappa$",
    "α": r"$\alpha$",
    "β": r"$\beta$",
    "ρ": r"$\rho$",
    "τ": r"$\tau$",
    "Δ": r"$\Delta$",
    "\u00a0": "~",
    "\u202f": "~",
}
"""Replacements for characters that LaTeX interprets, or that its fonts lack."""

LETTERS = re.compile("[A-Za-z0-9 .,:;!?()/=+@-]")
_JOINED = re.compile("([-,?!])(?=[-,`‘])")
"""Ligatures to break: two hyphens, for example, would become a dash."""
IN_T1 = frozenset(
    "ÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏÐÑÒÓÔÕÖØÙÚÛÜÝÞßàáâãäåæçèéêëìíîïðñòóôõöøùúûüýþÿ"
    "ĂăĄąĆćČčĎďĐđĖėĘęĚěĞğĢģİıĶķĹĺĻļĽľŁłŃńŅņŇňŐőŒœŔŕŖŗŘřŚśŞşŠšŢţŤťŮůŰűŲųŹźŻżŽž¡¿«»„“”‘’£§"
)
"""Characters that pdfLaTeX prints with the font encoding T1."""

WIDE = 8
"""A table with more columns than this is scaled down to fit the page."""
FITTED = r"""\setlength{\tabcolsep}{3pt}
\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%
"""
OTHER = r"""\providecommand{\othersign}[2]{\ifdefined\Uchar #2\else\texttt{U+#1}\fi}"""
"""Macro for other characters: XeLaTeX and LuaLaTeX print them, pdfLaTeX prints their numbers."""


def escape(text: str) -> str:
    """Escape outside text for LaTeX, on one line and without control and direction marks."""
    signs = "".join(map(_sign, " ".join(str(text).split())))
    return _JOINED.sub(r"\1{}", signs)


def _sign(sign: str) -> str:
    """Escape one character."""
    if LETTERS.fullmatch(sign) or sign in IN_T1:
        return sign
    if sign in SPECIAL:
        return SPECIAL[sign]
    if unicodedata.category(sign) in ("Cc", "Cf", "Cs", "Co", "Cn"):
        return ""
    return rf"\othersign{{{ord(sign):04X}}}{{{sign}}}"


def label(name: str) -> str:
    """Return the label for references, such as `tab:compare-tests`."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    return "tab:" + ("-".join(re.findall("[a-z0-9]+", plain)) or "table")


def table(
    heads: Sequence[str],
    rows: Sequence[Sequence[str]],
    right: Sequence[bool],
    *,
    caption: str,
    key: str,
    note: str = "",
) -> str:
    """Return a `table` from cells in LaTeX; `heads`, caption and note are plain text. `right` marks
    columns of numbers, and `key` gives the label. A wide table spans both columns of a two-column
    page; on a one-column page, `table*` equals `table`."""
    body = [" & ".join(map(escape, heads)), *(" & ".join(row) for row in rows)]
    wide = len(heads) > WIDE
    fitted, end = (FITTED, "}") if wide else ("", "")
    float_ = "table*" if wide else "table"
    below = f"\\par\\smallskip{{\\footnotesize {escape(note)}}}\n" if note else ""
    shape = "".join("r" if number else "l" for number in right)
    drawn = (
        f"\\begin{{{float_}}}\n\\centering\n"
        f"\\caption{{{escape(caption)}}}\n\\label{{{label(key)}}}\n{fitted}"
        f"\\begin{{tabular}}{{{shape}}}\n\\toprule\n{body[0]} \\\\\n\\midrule\n"
        + "".join(f"{row} \\\\\n" for row in body[1:])
        + f"\\bottomrule\n\\end{{tabular}}{end}\n{below}\\end{{{float_}}}\n"
    )
    needed = ["% Needs \\usepackage{booktabs}"]
    if wide:
        needed.append("% and \\usepackage{graphicx}")
    if any(sign in IN_T1 for sign in drawn) or r"\textquotedbl" in drawn:
        needed.append("% and \\usepackage[T1]{fontenc}")
    if r"\othersign" in drawn:
        needed.append(OTHER)
    return "\n".join(needed) + "\n" + drawn
