"""Writes verdicts of `gate` for people, pull requests, programs and CI servers."""

import json
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pandas as pd
from pandas import DataFrame

from compute.base.errors import WrongInput
from compute.base.files import written_aside
from compute.base.printable import unsigned
from compute.base.words import counted
from compute.evaluate.families import FEWEST as FEWEST_FAMILIES
from compute.evaluate.families import said as families_said
from compute.evaluate.non_inferiority import NOT_COMPARABLE, NOT_WORSE, UNDECIDED, WORSE, overall
from compute.evaluate.power import FEWEST
from compute.evaluate.sign_flips import LEVEL

STATUS: Mapping[str, int] = {NOT_WORSE: 0, WORSE: 3, UNDECIDED: 4, NOT_COMPARABLE: 5}
"""Exit statuses; 1 is a bug and 2 wrong input, as for every command."""
_BY = "{} by more than {:g} on {}"
_WORDS = {
    NOT_WORSE: ("no worse", "{} is no worse than", "{} by {:g} or more, on {}"),
    WORSE: ("worse", "{} is worse than", _BY),
    UNDECIDED: ("too little evidence", "too little evidence whether {} is worse than", _BY),
    NOT_COMPARABLE: ("not comparable", "{} is not comparable with", "{0} on {2}"),
}
"""Words for each verdict (the names are those in JSON), and the two parts of its headline."""
EQUIVALENT = "equivalent within the margin"
ABSENT = "–"
MOST_DIGITS = 9
_READING = (
    "difference: above 0 the candidate is better; worse: corrected over the rows by Holm's method",
    "queries needed: for an 80% probability of the verdict no worse if both are equally good",
    "unjudged: share of the baseline's and the candidate's top k; unjudged documents count as not"
    " relevant; possible range: of the difference once they are judged; verdict there: at its ends",
)
Row = Mapping[Hashable, Any]


@dataclass(frozen=True)
class Report:
    """A comparison of a baseline and a candidate by one measure; all texts are printable."""

    measure: str
    margin: float
    baseline: str
    candidate: str
    found: DataFrame
    """Result of `non_inferiority.decide`."""
    remarks: list[str] = field(default_factory=list)

    @property
    def verdict(self) -> str:
        """Return the verdict over all groups."""
        return overall(self.found["verdict"].tolist())

    @property
    def equivalent(self) -> bool:
        """Return whether the two are equivalent within the margin on all groups."""
        return bool(self.found["equivalent"].all())

    @property
    def status(self) -> int:
        """Return the exit status."""
        return STATUS[self.verdict]


def headline(report: Report) -> str:
    """Return the verdict as one sentence that names the groups on which it rests."""
    named: dict[tuple[str, float], list[str]] = {}
    for row in _rows(report):
        if row["verdict"] == report.verdict:
            of = row.get("against", report.baseline), row["margin"]
            named.setdefault(of, []).append(_reason(row, report))
    _, opening, loss = _WORDS[report.verdict]
    losses = [loss.format(*of, "; ".join(where)) for of, where in named.items()]
    also = f", and {opening.split()[-1]} ".join(losses) + f": {EQUIVALENT}" * report.equivalent
    return f"{report.measure}: {opening.format(report.candidate)} {also}"


def table(report: Report) -> DataFrame:
    """Return the decision by group, with numbers as text."""
    cells = [
        {
            "dataset": row["group"],
            "queries": f"{row['n']:,}",
            "baseline": _number(row["baseline"]),
            "candidate": _number(row["candidate"]),
            "difference": _number(row["difference"]),
            "95% CI": _interval(row),
            "verdict": _said(row["verdict"]) + f", {EQUIVALENT}" * row["equivalent"],
            "queries needed": _count(row["queries_needed"]),
            "unjudged": _span(row["holes_baseline"], row["holes_candidate"], ", "),
            "possible range": _span(row["least"], row["most"]),
            "verdict there": _span(_said(row["at_least"]), _said(row["at_most"])),
        }
        for row in _rows(report)
    ]
    return DataFrame(cells)


def record(report: Report) -> str:
    """Return JSON of the whole decision, with null for absent values."""
    names = ("measure", "margin", "baseline", "candidate", "verdict", "equivalent", "status")
    rows = json.loads(unsigned(report.found).to_json(orient="records"))
    whole = {name: getattr(report, name) for name in (*names, "remarks")} | {"groups": rows}
    whole |= {"said": headline(report)}
    # The JSON is ASCII, so that no file name can control a terminal.
    return json.dumps(whole, indent=1) + "\n"


def markdown(report: Report) -> str:
    """Return a comment for a pull request: verdict, table and notes."""
    # These are imported here, since only this format needs them.
    from compute.exports.tables import escape_markdown
    from compute.exports.tables import markdown as written
    from compute.views.page import Table

    heading = f"### Retrieval gate: {_said(report.verdict)}"
    body = written(Table("gate", headline(report), table(report))).decode()
    remarks = "".join(f"- {escape_markdown(told)}\n" for told in notes(report))
    return f"{heading}\n\n{body}\n{remarks}"


def junit(report: Report) -> bytes:
    """Return JUnit XML with a test case per group, which passes only if the candidate is no
    worse."""
    failed = sum(row["verdict"] != NOT_WORSE for row in _rows(report))
    counts = {"tests": str(len(report.found)), "failures": str(failed), "errors": "0"}
    name = f"gate {report.measure} {report.margin:g}"
    suite = ElementTree.Element("testsuite", {"name": name, **counts})
    shown = table(report)
    for row, cells in zip(_rows(report), shown.to_dict("records"), strict=True):
        case = ElementTree.SubElement(suite, "testcase", classname=name, name=row["group"])
        told = "\n".join(f"{key}: {value}" for key, value in cells.items())
        if row["verdict"] == NOT_WORSE:
            ElementTree.SubElement(case, "system-out").text = told
        else:
            said = {"type": row["verdict"], "message": _reason(row, report)}
            ElementTree.SubElement(case, "failure", said).text = told
    ElementTree.SubElement(suite, "system-out").text = "\n".join([headline(report), *notes(report)])
    return ElementTree.tostring(suite, encoding="utf-8", xml_declaration=True) + b"\n"


def write(content: bytes, path: Path) -> None:
    """Write a file, replacing an existing one. Raises WrongInput if it cannot be written."""
    try:
        if path.exists() and not path.is_file():
            path.write_bytes(content)  # /dev/stdout
            return
        with written_aside(path.resolve()) as file:
            file.write(content)
    except OSError as error:
        raise WrongInput(
            f"{path} cannot be written ({error.strerror}): name another file"
        ) from None


def notes(report: Report) -> list[str]:
    """Return notes on how to read the table, and the remarks."""
    told = list(_READING)
    told += [said for row in _rows(report) if (said := _thin(row))]
    told += [_by_family(row) for row in _rows(report) if not _absent(row.get("families"))]
    told += [_of_versions(row) for row in _rows(report) if not _absent(row["versions"])]
    told += [_lost(row) for row in _rows(report) if not _absent(row.get("lost_since_anchor"))]
    return told + report.remarks


def _lost(row: Row) -> str:
    """Say how much has been lost since the anchor, in all versions together."""
    lost, ends = row["lost_since_anchor"], _span(-row["high"], -row["low"])
    total = f"the sum of losses is {_number(lost)}{' (a gain)' * (lost < 0)}, 95% CI {ends}"
    return f"{row['group']}: {total}; {row['margin']:g} is tolerated in total"


def _of_versions(row: Row) -> str:
    """Say which version has the best mean, and for what the interval is corrected."""
    best = f"{row['group']}: {row['version']} has the best mean so far; the interval refers to the"
    return (
        f"{best} best true mean of {row['versions']}, and is corrected for them and for all nights"
    )


def _thin(row: Row) -> str:
    """Warn about a group with few differing queries, or undecided despite enough queries."""
    group, n, differing = row["group"], row["n"], row["differing"]
    by_family = not _absent(row.get("families"))
    noun, units = ("families", row["families"]) if by_family else ("queries", n)
    if n < 2:
        return f"{group} has {counted(n, 'query')} with a value for both: no interval"
    if differing >= FEWEST:
        # It is unknown if runs vary, since more queries do not reduce the variance between runs.
        known = pd.notna(row["queries_needed"])
        enough = row["verdict"] == UNDECIDED and known and row["queries_needed"] <= n
        shows = f"with {n:,} queries like those of {group}, two equally good systems pass in 80%"
        return f"{shows} of cases or more, and this candidate did not" if enough else ""
    some = f"{differing} of {units:,} {noun} of {group}" if differing else f"no query of {group}"
    unseen = (1 - row["margin"]) ** n
    rare = (
        f"; a total loss on {row['margin']:.3g} of all queries would not appear among {n:,} in"
        f" {unseen:.0%} of cases"
    )
    return f"{some} {'differ' if differing > 1 else 'differs'}{rare * (unseen > LEVEL / 2)}"


def _by_family(row: Row) -> str:
    """Say how many query families are behind a group's interval, and their effect."""
    few = f": no interval with fewer than {FEWEST_FAMILIES}" * (row["families"] < FEWEST_FAMILIES)
    said = families_said(row["n"], row["families"], row["design_effect"])
    return f"{row['group']}: the interval is over {said}{few}"


def _said(verdict: Any) -> Any:
    """Return the words for a verdict; other values are unchanged."""
    return _WORDS[verdict][0] if verdict in _WORDS else verdict


def _rows(report: Report) -> list[dict[Hashable, Any]]:
    return report.found.to_dict("records")


def _reason(row: Row, report: Report) -> str:
    """Return a group's name, with the reason for its verdict."""
    if row["verdict"] == NOT_WORSE:
        return str(row["group"])
    if row["verdict"] == NOT_COMPARABLE:
        lost = (
            f"{row['unanswered']:,} of {counted(row['answered'], 'query')} that the other answers"
        )
        return f"{row['group']} (no hit on {lost}; --unanswered zero counts them as 0)"
    where = f"{row['group']} (interval {_interval(row)}"
    if row["verdict"] == WORSE:
        corrected = " by Holm's method" * (len(report.found) > 1)
        return f"{where}, p {row['p']:.2g}{corrected})"
    there = pd.notna(row["queries_needed"])
    needed = f", {_count(row['queries_needed'])} needed" if there else ""
    return f"{where}; {counted(row['n'], 'query')}{needed})"


def _absent(value: Any) -> bool:
    return value is None or bool(pd.isna(value))


def _number(value: Any, digits: int = 4) -> str:
    """Format a number; a text is unchanged."""
    if isinstance(value, str):
        return value
    # The `z` avoids -0.0000, which rounding could give.
    return ABSENT if _absent(value) else f"{value:z.{digits}f}"


def _interval(row: Row) -> str:
    """Return both bounds, never rounded across the margin, which would contradict the verdict."""
    ends = [_number(end, _digits(end, row["margin"])) for end in (row["low"], row["high"])]
    return ends[0] if ends[0] == ends[1] else " to ".join(ends)


def _digits(end: Any, margin: float) -> int:
    """Return the smallest number of digits, 4 to 9, that keep a bound on its side of the margin."""
    if _absent(end):
        return 4

    def side(of: float) -> float:
        return float(np.sign(round(of + margin, MOST_DIGITS)))

    enough = (n for n in range(4, MOST_DIGITS) if side(round(end, n)) == side(end))
    return next(enough, MOST_DIGITS)


def _count(value: Any) -> str:
    return ABSENT if _absent(value) else f"{value:,}"


def _span(low: Any, high: Any, between: str = " to ") -> str:
    """Write two numbers, or a single one if both look the same."""
    ends = [_number(low), _number(high)]
    return ends[0] if ends[0] == ends[1] else between.join(ends)
