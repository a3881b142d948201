r"""Writes the LaTeX file for a folder of figures, with the size, caption and label of each."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from pandas import DataFrame

from compute.exports import latex
from compute.exports.figures import Figure
from compute.exports.formats import ONE, TWO
from compute.views.shared.drawing import behind

MOST_NAMED = 12
"""Maximum number of systems or datasets that a caption names; above it, it gives their number."""


class Written(NamedTuple):
    """A figure that was written to a file."""

    one: Figure
    file: str
    width: str
    """One of `formats.WIDTHS`."""
    version: int
    """Version of the results that it shows."""
    judgements: str
    """Judgements that count: official, or official + added."""


def document(written: Iterable[Written], form: str) -> str:
    """Return the file: a `figure` for each, across both columns if it is that wide."""
    needs = r"\usepackage{svg}" if form == "svg" else r"\usepackage{graphicx}"
    floats = [
        _float(one, r"\includesvg" if form == "svg" else r"\includegraphics") for one in written
    ]
    head = [f"% Needs {needs} and \\usepackage[T1]{{fontenc}}; \\input it, or copy what you need."]
    return "\n".join([*head, latex.OTHER, "", *floats])


def _float(one: Written, command: str) -> str:
    """Return the LaTeX of one figure; `command` includes its file."""
    kind = "figure" if one.width == ONE else "figure*"
    size = f"{one.width}mm" if one.width in (ONE, TWO) else r"\linewidth"
    return (
        f"\\begin{{{kind}}}\n\\centering\n{command}[width={size}]{{{one.file}}}\n"
        f"\\caption{{{latex.escape(caption(one))}}}\n"
        f"\\label{{fig:{one.one.name}}}\n\\end{{{kind}}}\n"
    )


def caption(written: Written) -> str:
    """Return the caption: content, systems, datasets, and the source of the numbers."""
    one = written.one
    colours = ", ".join(f"{sign} {said}".strip() for _, sign, said in one.entries("print"))
    told = [
        one.heading,
        colours,
        _named("Systems", named(one, "system")),
        _named("Datasets", named(one, "dataset")),
        f"Drawn by Beirscope from version {written.version:,} of its results,"
        f" {written.judgements} judgements",
    ]
    return " ".join(f"{words.rstrip('.')}." for words in told if words)


def _named(what: str, names: Sequence[str]) -> str:
    """Say how many or which systems or datasets there are."""
    if not names:
        return ""
    said = ", ".join(names) if len(names) <= MOST_NAMED else f"{len(names):,}"
    return f"{what}: {said}"


def named(one: Figure, column: str) -> list[str]:
    """Return the systems or datasets (`column`) that all frames behind a figure have in common,
    ignoring frames without any. Some frames contain more than the figure shows, such as all known
    titles."""
    frames = behind(one.figure).values()
    found = [own for frame in frames if (own := _values(frame, column))]
    known = set().union(*found)
    found += [own for frame in frames if (own := _index(frame)) and own <= known]
    return sorted(set.intersection(*found)) if found else []


def _values(frame: DataFrame, column: str) -> set[str]:
    return {str(name) for name in frame[column].dropna() if name} if column in frame else set()


def _index(frame: DataFrame) -> set[str]:
    return {name for name in frame.index if isinstance(name, str)}
