"""A figure or table of a page as files have it: named after what it shows, with its heading."""

from compute.exports import file_names
from compute.exports.figures import Figure
from compute.exports.page_archive import Shown
from compute.exports.tables import Scores, Table
from compute.views import page as records
from compute.views.page import Found


def exported(page: str, found: Found, theme: str = "light") -> Shown:
    """The part of a page; a figure is drawn in a theme."""
    part = found.part
    name = file_names.name(words(page, found))
    if isinstance(part, records.Table):
        rows = part.rows if part.file is None else part.file
        scores = part.scores or Scores(())
        return Table(part.key, part.title, rows, scores, part.printed, name)
    of = file_names.heading(part.of, found.values, found.titles)
    said = part.legend
    # A sentence about colours is a legend of one entry.
    legend = (lambda theme: [("", "", said)]) if isinstance(said, str) else said
    return Figure(
        part.key, part.title, part.drawn(theme=theme), name, of, legend, narrow=part.narrow
    )


def words(page: str, found: Found) -> list[str]:
    """The words that name the file of a part."""
    part = found.part
    key = "" if isinstance(part, records.Figure) and part.main else part.key
    return file_names.said(page, key, part.of, found.values)
