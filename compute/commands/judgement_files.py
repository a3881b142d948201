"""Commands that move judgements: judgements export|import|withdraw, carry-judgements."""

import os
import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter
from pandas import DataFrame

from compute.base import printable, settings
from compute.base.errors import Conflict, Missing, WrongInput
from compute.base.permissions import usual
from compute.base.words import counted
from compute.commands import groups, options
from compute.commands.common import done
from compute.commands.opening import open_bench, say
from compute.datasets import Dataset, qrels, shapes, trec, unpacked_size
from compute.datasets.reading import open_path
from compute.intake import by_text, carrying
from compute.judgements import ADJUDICATION, IMPORT, PERSON, SOURCES, Choice, exchange, labels
from compute.judgements.exchange import Found
from compute.recompute import run
from compute.store import damage, integrity
from compute.store.loading import Bench
from compute.store.own_datasets import dataset_of

_SUFFIXES = {".csv": "csv", ".tsv": "beir", ".json": "json"}


_Judged = Annotated[
    options.File,
    Parameter(
        help=(
            "qrels, BEIR tsv, JSON, CSV or another format; from a BEIR folder or archive, only"
            " judgements that are not stored yet"
        )
    ),
]
_Format = Annotated[
    str,
    Parameter(choices=exchange.FORMATS, help="default: determined from the file's name or content"),
]
_Person = Annotated[str, Parameter(help="assessor, if the file names none")]


@Parameter(name="*")
@dataclass(frozen=True)
class _Reading:
    """Options for reading a file of judgements."""

    person: _Person = ""
    format: _Format = ""
    as_import: bool = False
    """mark all rows of a CSV as imported, regardless of the source in the file"""
    shape: groups.Shape = groups.Shape()
    grades: groups.Grades = groups.Grades()


def _opened(name: str) -> tuple[Bench, Dataset, DataFrame]:
    """Open the store; return it, the dataset and its official judgements (query_id, doc_id,
    relevance). Raises WrongInput for a dataset of parts, Missing if the judgements are not stored,
    and Unavailable if their file is damaged."""
    bench = open_bench()
    row = dataset_of(bench.store, name)
    row.refuse_parts()
    part = bench.store.part("judgements", row.name)
    if part is None:
        damage.refuse(bench.store.parts("judgements", row.name))
        raise Missing(f"{row.name} is not stored here: python -m compute run bm25 {row.name}")
    return bench, row, run.read(part)


def export(
    file: options.File,
    /,
    *,
    dataset: options.Dataset,
    format: _Format = "",
    person: str = "",
    with_official: bool = False,
    counted_in: groups.Counted = groups.Counted(),
) -> int:
    """Write added judgements to a file: qrels, BEIR tsv, JSON or CSV.

    Args:
        person: only this assessor's judgements
        with_official: also the official judgements
    """
    bench, row, official = _opened(dataset)
    form = format or _SUFFIXES.get(file.suffix, "qrels")
    choice = counted_in.choice()
    rows = bench.store.added_judgements(dataset=row.name)
    printable.warn(*integrity.of_judgements(bench.store.engine))
    if person := person.strip():
        rows = rows[rows["person"] == person]
    content = exchange.exported(rows, official, form, choice, with_official=with_official)
    number = content.count(b"\n") - (form != "qrels")
    left_out = _left_out(rows, choice)
    if not number:
        by = f" by {person}" if person else ""
        raise Missing(
            f"{row.name} has no added judgement{by} from these sources{left_out}: nothing was"
            " written"
        )
    _write(file, content)
    usual(file)
    said = f"{printable.printable(str(file))}: {counted(number, 'line')} of {form}{left_out}"
    printable.say(said)
    return 0


def _left_out(rows: DataFrame, choice: Choice) -> str:
    """Count the judgements of unchosen sources, and name the option that includes them."""
    others = {
        source: len(labels(rows, [source])) for source in SOURCES if source not in choice.sources
    }
    found = {source: number for source, number in others.items() if number}
    if not found:
        return ""
    told = ", ".join(f"{number:,} of {SOURCES[source]}" for source, number in found.items())
    return f"; left out: {told} (--source {' '.join(found)})"


def _write(file: Path, content: bytes) -> None:
    """Write a file atomically; never overwrite an existing file, which may be qrels."""
    if not file.parent.is_dir():
        raise WrongInput(f"there is no folder {file.parent}: create it first")
    aside = file.with_name(f".{uuid.uuid4().hex}.tmp")
    try:
        with aside.open("wb") as opened:
            opened.write(content)
            opened.flush()
            os.fsync(opened.fileno())
        # Linking, unlike renaming, fails if the file exists.
        file.hardlink_to(aside)
    except FileExistsError:
        raise Conflict(f"{file} exists: remove it or name another file") from None
    finally:
        aside.unlink(missing_ok=True)


def import_file(
    file: _Judged,
    /,
    *,
    dataset: options.Dataset,
    reading: _Reading = _Reading(),
) -> int:
    """Import judgements from a file as added judgements."""
    bench, row, official = _opened(dataset)
    found = _read(bench, row, official, file, reading)
    asked = bench.store.part("queries", row.name)
    queries = set(official["query_id"]) | set(run.read(asked)["query_id"] if asked else ())
    unknown = int((~found.rows["query_id"].isin(queries)).sum())
    if unknown == len(found.rows) > 0 == found.n_official:
        raise WrongInput(f"{row.name} has none of the queries of {file}: check --dataset")
    rows = exchange.as_import(found.rows) if reading.as_import else found.rows
    with bench.store.alone("judgements"):  # even if a file is imported twice at the same time
        new = exchange.lacking(rows, bench.store.added_judgements(dataset=row.name))
        if len(new):
            bench.store.add_judgements(new)
    printable.say("; ".join(_told(row, found, new, unknown)))
    return done(bench)


def withdraw(
    file: options.File,
    /,
    *,
    dataset: options.Dataset,
    yes: bool = False,
    reading: _Reading = _Reading(),
) -> int:
    """Withdraw judgements imported from a file.

    Args:
        file: the imported file
        yes: withdraw them; without it only print their number
    """
    bench, row, official = _opened(dataset)
    rows = _read(bench, row, official, file, reading).rows
    rows = exchange.as_import(rows) if reading.as_import else rows
    with bench.store.alone("judgements"):
        stored = bench.store.added_judgements(dataset=row.name)
        withdrawals = exchange.withdrawals(rows, stored)
        if yes:
            bench.store.add_judgements(withdrawals)
    told = counted(len(withdrawals), "judgement") + f" of {row.name}"
    if len(withdrawals):
        people = ", ".join(withdrawals["person"].unique())
        by_source = withdrawals["source"].map(SOURCES).value_counts(sort=False)
        told += f" by {people}: " + ", ".join(f"{n:,} of {kind}" for kind, n in by_source.items())
    if not yes:
        ask = "; add --yes to do it" if len(withdrawals) else ""
        printable.say(f"would withdraw {told}{ask}")
        return 0
    printable.say(f"withdrew {told}")
    return done(bench)


def carry(
    old: options.Dataset,
    new: options.Dataset,
    /,
    *,
    set: Annotated[str, Parameter(metavar="SET", show_default=True)] = options.OFFICIAL,
    replace: options.Replace = False,
    json: options.Json = False,
) -> int:
    """Carry judgements to a new version of a collection by matching document texts.
    They become the judgement set carried:OLD of NEW and are never official.

    Args:
        old: the judged dataset
        new: the dataset of the new version, with different ids, edited texts or chunks
        set: the judgement set to carry, as named by `sets`
    """
    bench = open_bench()
    before, after = dataset_of(bench.store, old), dataset_of(bench.store, new)
    part, fresh = carrying.carry(bench, before, after, set, replace=replace)
    if json:
        printable.show(carrying.report(part), as_json=True)
    else:
        say(bench, printable.printable(carrying.said(part)) + ("" if fresh else "; already done"))
    return done(bench)


def _told(row: Dataset, found: Found, new: DataFrame, unknown: int) -> list[str]:
    """Return the report of an import, in which `unknown` rows had queries outside the dataset."""
    told = [f"{counted(len(new), 'judgement')} added to {row.name}"]
    # Rows of a CSV name their source, and these two sources count by default.
    if len(new) and not set(found.rows["source"]) <= {IMPORT}:
        people, settled = (int((new["source"] == kind).sum()) for kind in (PERSON, ADJUDICATION))
        told += [f"{people:,} count as human judgements, {settled:,} as settled"]
    if ahead := int((new["time"] > new["imported"]).sum()):
        told += [f"{ahead:,} dated in the future count as judged at the time of this import"]
    if there := len(found.rows) - len(new):
        told += [f"{there:,} were already stored"]
    if found.n_official:
        told += [f"{counted(found.n_official, 'pair')} with an official judgement are unchanged"]
        if found.n_different:
            told += [f"{found.n_different:,} of these have a different grade in the file"]
    if unknown:
        told += [f"{unknown:,} for queries that {row.name} lacks do not count"]
    return told


def _read(bench: Bench, row: Dataset, official: DataFrame, path: Path, reading: _Reading) -> Found:
    """Read a file of judgements in any supported format as rows to add. The caller applies
    `as_import`."""
    person, how = reading.person.strip(), reading.shape.how(reading.grades)
    unpacked_size.require(path, settings.load().home)
    archive = path.is_dir() or path.suffix == ".zip"
    if not archive and (reading.format or _format(path, how)) == "csv":
        return exchange.from_csv(path, row.name, person)
    if not person:
        raise WrongInput(f"{path} does not name its assessor: add --person NAME")
    if archive:
        judged = open_path(path, row.split).judgements()
    else:
        found = qrels.read(path, how)
        judged = found.judgements
        printable.warn(*filter(None, [found.told]))
    if asked := bench.store.part("queries", row.name):
        queries = judged["query_id"].unique()
        names = by_text.queries(queries, run.read(asked), row.name, path)
        judged["query_id"] = judged["query_id"].replace(names)
    return exchange.from_qrels(judged, official, row.name, person, path.name)


def _format(path: Path, how: shapes.How) -> str:
    """ "csv" for a CSV from `judgements export`, else "qrels" for files that `qrels.read` reads.
    Only qrels have grades to map or round."""
    if how.levels or how.rounded:
        return "qrels"
    first = "" if shapes.is_parquet(path) else "".join(trec.lines(path, 1))
    heads = first.replace('"', "").split(",")
    exported = {"query_id", "doc_id"} <= {*heads} and trec.foreign(first) == trec.CSV
    return "csv" if exported else "qrels"
