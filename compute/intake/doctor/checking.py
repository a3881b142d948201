"""The command `check`: reports on folders, archives, runs and qrels files. It changes nothing."""

import zipfile
from collections.abc import Iterable
from pathlib import Path

import pyarrow as pa

from compute.base.errors import Missing
from compute.datasets import compressed, layout, shapes, trec, unpacked_size
from compute.datasets import qrels as judged
from compute.intake.doctor import collections, qrels, runs
from compute.intake.doctor.known import Known
from compute.intake.doctor.report import Kind, Report, Tally, Where

_NOT_READABLE = "not readable"
_BOTH: Kind = "run and qrels"
_KINDS: tuple[Kind, ...] = ("run", "qrels", _BOTH)
ASKED = "run or judgements?"


def check(
    path: Path,
    *,
    against: Known | None = None,
    home: Path | None = None,
    how: shapes.How | None = None,
) -> Report:
    """Report on the content of a path and its faults. Everything is read and nothing changed. A
    folder or zip archive is read in the BEIR layout, with every collection and split in it. Any
    other file is read as a run or qrels in a supported format, and compared with the ids of a
    dataset if one is given. Anything else is reported as unreadable; so is a compressed file that
    would not fit in memory or in the home folder, if one is given. Raises Missing."""
    if not path.exists():
        raise Missing(f"{path} does not exist: give a folder, an archive, a run or a qrels file")
    return _checked(path, against, home, how or shapes.How())[0]


def _checked(
    path: Path, against: Known | None, home: Path | None, how: shapes.How
) -> tuple[Report, pa.Table | None]:
    """Return the report, and the judgements if the path is a readable qrels file."""
    tally: Tally = Tally()
    judgements = None
    counts: dict[str, float] = {}
    kind: Kind = "unreadable"
    with tally.step(_NOT_READABLE, str(path)):
        if home:
            unpacked_size.require(path, home)
        kind, held = _kind(path, tally, how)
        for told in held.remarks if held else ():
            tally.remark(told, held.form if held else "", Where(str(path)), "read so")
        if kind in ("BEIR folder", "BEIR archive"):
            collections.examine(layout.files(path), counts, tally)
        if kind in ("run", _BOTH):
            runs.examine(path, counts, tally, against, how, held)
        if kind in ("qrels", _BOTH):
            judgements = qrels.examine(path, counts, tally, against, how, held)
    return Report(str(path), kind, counts, tally.findings()), judgements


def check_all(
    paths: Iterable[Path],
    *,
    against: Known | None = None,
    home: Path | None = None,
    how: shapes.How | None = None,
) -> list[Report]:
    """Return one report per file; for a folder of runs or qrels, one per file in it. If no dataset
    is given, runs are compared with the queries of the qrels file, if there is exactly one."""
    found, how = files(paths), how or shapes.How()
    if against or len(found) == 1:
        return [check(path, against=against, home=home, how=how) for path in found]
    kinds = [_seems(path, how) for path in found]
    only, reports = None, {}
    if kinds.count("qrels") == 1:
        # It is read first, since the runs are compared with its judgements.
        path = found[kinds.index("qrels")]
        reports[path], judgements = _checked(path, None, home, how)
        only = qrels.judged(path, judgements) if judgements is not None else None
    return [
        reports.get(path)
        or check(path, against=only if kind == "run" else None, home=home, how=how)
        for path, kind in zip(found, kinds, strict=True)
    ]


def _seems(path: Path, how: shapes.How) -> Kind:
    """Return the kind of a path, without reporting faults."""
    tally = Tally()
    with tally.step(_NOT_READABLE, str(path)):
        return _kind(path, tally, how)[0]
    return "unreadable"


def files(paths: Iterable[Path]) -> list[Path]:
    """Return the paths, with each folder that is not in the BEIR layout replaced by its files,
    sorted by name. Hidden files and inner folders are skipped. Raises Missing for any missing
    path."""
    found: list[Path] = []
    for path in paths:
        if not path.exists():
            raise Missing(f"{path} does not exist: give a file or a folder")
        inside = _inside(path)
        compressed.refuse_special(path)
        found += inside or [path]
    return found


def _inside(path: Path) -> list[Path]:
    """Return the files in a folder that is not in the BEIR layout."""
    if not path.is_dir() or (path / layout.QUERIES).exists() or (path / "qrels").is_dir():
        return []
    if layout.Folder(path).roots():
        return []
    return sorted(f for f in path.iterdir() if f.is_file() and not f.name.startswith("."))


def _kind(path: Path, tally: Tally, how: shapes.How) -> tuple[Kind, shapes.Held | None]:
    """Return the kind of a path, and its content unless it is in TREC's or BEIR's format. A fault
    is reported for a path of no known kind."""
    if path.is_dir():
        return "BEIR folder", None
    if path.suffix.lower() == ".zip" or zipfile.is_zipfile(path):
        return "BEIR archive", None

    def problem(line: int, what: str, fault: str) -> None:
        tally.refuse(what, fault, Where(str(path), line), "fix the line")

    if held := shapes.held(path, how, problem):
        if kind := next((one for one in _KINDS if one == held.kind), None):
            return kind, held
        tally.refuse(ASKED, held.question(), Where(str(path)), shapes.ASK)
        return "unreadable", None
    lines = [line for line in trec.lines(path) if line.strip()]
    # If every line begins with #, the lines are data and not comments.
    first = next(iter([line for line in lines if not line.startswith("#")] or lines), "")
    columns = first.encode().split()  # Separated by ASCII spaces, as in the readers.
    foreign = trec.foreign(first)
    untagged = len(columns) == 5 and trec.reads_as_number(columns[4])
    if (len(columns) == 6 and not foreign) or untagged:
        return "run", None
    what, example, treatment = _stranger(first, foreign)
    if (len(columns) == 4 or len(first.split("\t")) == 3) and not foreign:
        form = judged.form_of(lines)
        if not form.ranked or how.role == "judgements":
            return "qrels", None
        what, example, treatment = "like a ranking", form.fault, form.remedy
    tally.refuse(what, example, Where(str(path)), treatment)
    return "unreadable", None


def _stranger(first: str, foreign: str) -> tuple[str, str, str]:
    """Return the kind of a foreign file by its first line, a description, and the next step."""
    if foreign == trec.XML:
        return (
            "XML",
            "XML, such as topics, not a run or qrels",
            "topics are imported with the judgements of their dataset: import-dataset --queries",
        )
    if not first:
        return "empty file", "the file is empty", "give a run, qrels, or an archive"
    return (
        "neither run nor qrels",
        "begins neither like a TREC run (6 columns) nor like qrels (4, or BEIR's 3 separated"
        " by tabs)",
        "give one of these, JSON or columns with names, a zip archive or a folder",
    )
