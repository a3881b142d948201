"""Tables of an import: the content of files, their issues, and the outcome."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from itertools import chain, count
from typing import Any

from pandas import DataFrame

from compute.base.words import counted

Record = Mapping[str, Any]
"""A report of `intake.doctor`, as JSON values."""
_ONE = {"hits": "hit", "queries": "query", "documents": "document", "judgements": "judgement"}
_ONE |= {"document texts": "document text", "narratives": "narrative"}
YES = "yes"
ROLE, CHUNKS, FRACTIONS = "run or judgements?", "chunks of documents", "--levels or --round"
QUESTIONS = (ROLE, CHUNKS, FRACTIONS)
"""Issues, in the doctor's wording, that the user resolves by answering a question."""
ROLES = {"run": "It is a run", "judgements": "These are judgements"}
_OPTION = re.compile(r" \(--[^)]*\)")
"""Part of a sentence that only concerns the command line."""
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_-]+")


def contents(reports: Iterable[Record], kinds: Collection[str]) -> DataFrame:
    """Return a row for each file, those that cannot be imported first. Only files of these `kinds`
    can be imported in this place."""
    rows = [
        {
            "File": report["path"],
            "Kind": report["kind"],
            "Importable": _can(report, kinds),
            "Issues": len(report["findings"]),
            "Content": _holds(report["counts"]),
        }
        for report in reports
    ]
    rows.sort(key=lambda row: row["Importable"] == YES)
    return DataFrame(rows)


def inside(report: Record) -> str:
    """Say what a file holds; empty if it holds nothing."""
    held = _holds(report["counts"])
    return f"{report['path']} holds {held}." if held else ""


def asked(report: Record, what: str) -> str:
    """Return the issue that blocks an import until question `what` is answered, if any."""
    found = (one for one in report.get("findings", ()) if one["refused"])
    said = (one["example"] for one in found if what in f"{one['what']} {one['example']}")
    return next(said, "")


def free_name(archive: str, taken: Collection[str]) -> str:
    """Return a name for a new dataset that is not `taken`: an archive's name, else `my-data`."""
    stem = _NOT_IN_NAMES.sub("-", archive.split("/")[-1].split(".")[0]).strip("-._") or "my-data"
    numbered = (f"{stem}-{n}" for n in count(2))
    return next(name for name in chain([stem], numbered) if name.casefold() not in taken)


def splits(report: Record) -> dict[str, str]:
    """Return the content of an archive's judgement sets by name: `117 judgements, 39 queries`."""
    counts, ending = report["counts"], " judgements"
    names = [name.removesuffix(ending) for name in counts if name.endswith(ending)]
    return {
        name: _holds({"judgements": counts[name + ending], "queries": counts[f"{name} queries"]})
        for name in names
    }


def _can(report: Record, kinds: Collection[str]) -> str:
    if report["refused"]:
        return "no"
    fits = any(kind in report["kind"] for kind in kinds)
    return YES if fits else f"import it elsewhere: {_place(report['kind'])}"


def _place(kind: str) -> str:
    """Say where files of this kind can be imported."""
    texts = "choose a dataset without texts, or pack it with queries.jsonl in a zip"
    return {"run": "choose its dataset", "documents": texts}.get(kind, "choose “A new dataset”")


def _holds(counts: Mapping[str, float]) -> str:
    """Put counts into words, such as `30,000 hits, 30 queries, lists of 44 to 98`."""
    numbers = dict(counts)
    shortest, longest = (numbers.pop(f"{which} list", None) for which in ("shortest", "longest"))
    words = [
        f"{number:,} {_ONE.get(name, name) if number == 1 else name}"
        for name, number in numbers.items()
    ]
    if shortest is not None and longest is not None:
        each = f"{shortest:,}" if shortest == longest else f"{shortest:,} to {longest:,}"
        words.append(f"lists of {each}")
    return ", ".join(words)


def troubles(reports: Iterable[Record]) -> DataFrame:
    """Return a row for each kind of issue in each file, with blocking issues first."""
    rows = [
        {
            "File": report["path"],
            "Issue": finding["what"],
            "Blocks import": "yes" if finding["refused"] else "no",
            "Count": f"{finding['count']:,}",
            "Example": finding["example"],
            "Line": f"{line:,}" if (line := finding["where"]["line"]) else "–",
            "Handling": finding["treatment"],
        }
        for report in reports
        for finding in report["findings"]
    ]
    frame = DataFrame(rows)
    if frame.empty:
        return frame
    return frame.sort_values("Blocks import", ascending=False, kind="stable", ignore_index=True)


def outcome(answers: Iterable[Record]) -> str:
    """Say how many runs (files, if none is a run) were imported, and how many files refused."""
    answers = list(answers)
    bad = sum(not answer["ok"] for answer in answers)
    runs = sum(bool(answer["system"]) and answer["ok"] for answer in answers)
    good = counted(runs, "run") if runs else f"{len(answers) - bad:,}"
    return f"{good} imported, {bad:,} refused"


def repeated(names: Iterable[str]) -> list[str]:
    """Return the names that several runs would share."""
    found = Counter(names)
    return [name for name, count in found.items() if count > 1]


def taken(
    names: Iterable[str],
    stored: Collection[str],
    dataset: str,
    *,
    replace: bool,
    as_version: bool = False,
    repeat: bool = False,
) -> str:
    """Say what happens to names that the dataset's runs already have; empty if there are none."""
    again = [name for name in names if name in stored]
    if not again:
        return ""
    there = f"Already stored on {dataset}: {', '.join(again)}."
    if as_version:
        return f"{there} The stored runs are kept as older versions."
    if replace:
        return f"{there} These files replace what is stored."
    if repeat:
        return f"{there} These files are further runs of these systems."
    return (
        f"{there} Importing the same file again changes nothing; a different run with that name"
        " is refused unless you rename it or let it replace the stored run."
    )


def refusals(answers: Iterable[Record]) -> list[dict[str, Any]]:
    """Return an answer for each checked file that cannot be imported as a run."""
    reports = (answer["report"] for answer in answers)
    return [_refusal(one) for one in reports if "run" not in one["kind"] or one["refused"]]


def _refusal(report: Record) -> dict[str, Any]:
    """Return the answer, with the reason, for a file that cannot be imported as a run."""
    said = stopping(report) or f"{report['kind']}, not a run: {_place(report['kind'])}"
    return {"file": report["path"], "system": "", "ok": False, "said": said}


def stopping(report: Record) -> str:
    """Return the first blocking issue of a file, with the next step; empty if there is none."""
    found = next((finding for finding in report["findings"] if finding["refused"]), None)
    if found is None:
        return ""
    line = found["where"]["line"]
    where = f"line {line}: " if line else ""
    return f"{found['what']}: {where}{found['example']}; {found['treatment']}"


def stopped(answers: Iterable[Record]) -> str:
    """Say why checked files are not imported, in a sentence each."""
    reports = (answer["report"] for answer in answers if "report" in answer)
    return " ".join(f"{one['path']}: {why}." for one in reports if (why := stopping(one)))


def results(answers: Iterable[Record]) -> DataFrame:
    """Return the outcome for each file; without the column System if no file has one."""
    rows = [
        {
            "File": answer["file"],
            "System": answer.get("system", ""),
            "Outcome": "imported" if answer["ok"] else "refused",
            "Result": _OPTION.sub("", answer["said"]),
        }
        for answer in answers
    ]
    table = DataFrame(rows)
    return table if table["System"].any() else table.drop(columns="System")
