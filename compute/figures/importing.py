"""The tables of an import: what is in the files, what is wrong with them, what became of them."""

from collections.abc import Iterable, Mapping
from typing import Any

from pandas import DataFrame

Record = Mapping[str, Any]
"""A report of the doctor, as JSON holds it."""


def contents(reports: Iterable[Record]) -> DataFrame:
    """A row for each file."""
    rows = [
        {
            "File": report["path"],
            "Is": report["kind"],
            "Holds": _holds(report["counts"]),
            "Troubles": len(report["findings"]),
            "Can be taken in": "no" if report["refused"] else "yes",
        }
        for report in reports
    ]
    return DataFrame(rows)


def _holds(counts: Mapping[str, float]) -> str:
    """The counts in words: `30,000 hits, 30 queries, 6,523 documents, lists of 44 to 98`."""
    numbers = dict(counts)
    shortest, longest = (numbers.pop(f"{which} list", None) for which in ("shortest", "longest"))
    words = [f"{number:,} {name}" for name, number in numbers.items()]
    if shortest is not None and longest is not None:
        each = f"{shortest:,}" if shortest == longest else f"{shortest:,} to {longest:,}"
        words.append(f"lists of {each}")
    return ", ".join(words)


def troubles(reports: Iterable[Record]) -> DataFrame:
    """A row for each kind of trouble in each file; those that stop an import first."""
    rows = [
        {
            "File": report["path"],
            "Trouble": finding["what"],
            "Times": finding["count"],
            "First": finding["example"],
            "Line": finding["where"]["line"] or None,
            "What an import does": finding["treatment"],
            "Stops it": "yes" if finding["refused"] else "no",
        }
        for report in reports
        for finding in report["findings"]
    ]
    frame = DataFrame(rows)
    if frame.empty:
        return frame
    ordered = frame.sort_values("Stops it", ascending=False, kind="stable", ignore_index=True)
    return ordered.astype({"Line": "Int64"})


def refusals(answers: Iterable[Record]) -> list[dict[str, Any]]:
    """The files that were looked at and cannot be taken in as runs, as answers."""
    reports = (answer["report"] for answer in answers)
    return [_refusal(one) for one in reports if one["kind"] != "run" or one["refused"]]


def _refusal(report: Record) -> dict[str, Any]:
    """Of a file that cannot be taken in as a run, as an answer says it: why in one sentence."""
    stopping = next((finding for finding in report["findings"] if finding["refused"]), None)
    said = f"{report['kind']}, not a run: choose “A new dataset” for it"
    if stopping:
        line = stopping["where"]["line"]
        where = f"line {line}: " if line else ""
        said = f"{stopping['what']}: {where}{stopping['example']}; {stopping['treatment']}"
    return {"file": report["path"], "system": "", "ok": False, "said": said}


def results(answers: Iterable[Record]) -> DataFrame:
    """What became of each file."""
    rows = [
        {
            "File": answer["file"],
            "System": answer.get("system", ""),
            "": "imported" if answer["ok"] else "refused",
            "Result": answer["said"],
        }
        for answer in answers
    ]
    return DataFrame(rows)
