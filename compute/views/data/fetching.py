"""Tables of downloadable archives, and sentences on the selected ones."""

from collections.abc import Collection, Sequence

from pandas import DataFrame, Series, isna

from compute.base.words import counted, sized
from compute.jobs import Job
from compute.views.page import Column

LARGE = 1_000_000
"""Number of documents that, at 20 a second on two cores, take most of a day to encode."""
_MANY_BYTES = 2_000_000_000


def can_be_had(rows: DataFrame) -> DataFrame:
    """Return the archives of `offers.listed` that can be downloaded, each with a remark."""
    rows = rows[rows["obstacle"] == ""]
    pairs = zip(rows["size"].fillna(0), rows["documents"].fillna(0), strict=True)
    return rows.assign(here=_here(rows), remark=[_remark(*pair) for pair in pairs])


def _here(rows: DataFrame) -> Series:
    return rows["here"].where(rows["here"] != "", "–")


FETCHABLE = (
    Column("Archive", "archive"),
    Column("Here", "here"),
    Column("To fetch", "size", lambda n: "–" if isna(n) or not n else sized(int(n)), "bytes"),
    Column("Documents", "documents", "localized"),
    Column("Language", "language"),
    Column("Licence", "licence"),
    Column("From", "origin"),
    Column("Remark", "remark"),
)
NOT_OFFERED = (
    Column("Archive", "archive"),
    Column("Here", "here"),
    Column("Why not", "why"),
    Column("Ask at", "address"),
)


def _remark(n_bytes: float, documents: float) -> str:
    large = {"large download": n_bytes > _MANY_BYTES, "slow to encode": documents > LARGE}
    return ", ".join(words for words, holds in large.items() if holds)


def cannot_be_had(rows: DataFrame) -> DataFrame:
    """Return the archives of `offers.listed` that cannot be downloaded, and why."""
    rows = rows[rows["obstacle"] != ""]
    return rows.assign(here=_here(rows), why=rows["obstacle"].str.partition(":")[0])


def chosen(rows: DataFrame, names: Collection[str], free: int) -> str:
    """State the total size of the selected archives, and the free disk space."""
    wanted = rows[rows["archive"].isin(names) & (rows["here"] == "")]
    if not len(names):
        return f"Choose archives; {sized(free)} free."
    if wanted.empty:
        return "All of these are stored already."
    known = wanted["size"].dropna()
    unknown = len(wanted) - len(known)
    sizes = [sized(int(known.sum()))] if len(known) else []
    if unknown:
        sizes.append(f"{counted(unknown, 'archive')} of unknown size")
    return f"Download size: {', and '.join(sizes)}; {sized(free)} free."


def now(task: Job) -> str:
    """State the progress of a download task: `archive of scifact: 1.4 MB of 2.8 MB, 3 s left`."""
    step = task.progress
    if step is None or not step.unit:
        return f"{task.title}: sending the request"
    scale = 1000 if step.unit.startswith("kB") else 1
    of = f" of {sized(step.total * scale)}" if step.total else ""
    doing = step.unit.removeprefix("kB")
    left = step.seconds_left
    rest = f", {left:,.0f} s left" if left is not None else ""
    return f"{task.title}: {sized(step.done * scale)}{of}{doing}{rest}"


def title(job: Job, running: Sequence[Job]) -> str:
    """State the current step of a download, and the number of archives done."""
    doing = "; ".join(now(task) for task in running) or f"{job.title}: {job.state}"
    return f"{doing} ({job.summary})" if len(job.targets) > 1 else doing
