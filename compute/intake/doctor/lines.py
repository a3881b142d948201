"""What runs and qrels share: lines of columns, read as far as they can be."""

from pathlib import Path

from compute.base.errors import WrongInput
from compute.datasets import trec
from compute.intake.doctor.report import Tally, Where

ENOUGH = 10_000
"""Wrong lines after which a file is not read on: it is not what it was taken for."""
_MEND = "mend the line"


def survey(path: Path, layout: trec.Layout, tally: Tally, skip: int = 0) -> trec.Survey:
    """What can be read of a file; wrong lines, and what reading passes over, are told.

    Raises Missing or WrongInput, the latter also after ENOUGH wrong lines.
    """
    wrong = 0

    def problem(line: int, what: str, fault: str) -> None:
        nonlocal wrong
        wrong += 1
        tally.refuse(what, fault, Where(str(path), line), _MEND)
        if wrong == ENOUGH:
            raise WrongInput(
                f"{path}, line {line}: {ENOUGH:,} lines are wrong so far: give another file"
            )

    found = trec.survey(path, layout, problem, skip)
    where = Where(str(path))
    if found.has_mark:
        tally.remark("byte order mark", "the first three bytes", where, "passed over")
    tally.remark(
        "Windows line ends", "lines end with CR and LF", where, "passed over", found.n_windows
    )
    rest = found.n_lines - skip - found.table.num_rows - wrong
    tally.remark("blank line or comment", "lines without data", where, "passed over", rest)
    if not found.table.num_rows and not wrong:
        tally.refuse("no data", f"no {layout.what} in it", where, f"give lines of {layout}")
    return found
