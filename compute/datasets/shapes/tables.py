"""Columns separated by commas, semicolons or tabs, with or without names, and RankLib's lines."""

import csv
import io
import re
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa

from compute.base.errors import WrongInput
from compute.base.words import shown
from compute.datasets import compressed, names, rankings, trec
from compute.datasets.names import JUDGED, RUN
from compute.datasets.records import reads_as_number
from compute.datasets.shapes.held import RANK, How, Rows

_KINDS: dict[str, pa.DataType] = {
    "query_id": pa.dictionary(pa.int32(), pa.string()),
    "doc_id": pa.string(),
    "score": pa.float64(),
    "rank": pa.float64(),
    "relevance": pa.string(),
    "tag": pa.dictionary(pa.int32(), pa.string()),
    "text": pa.string(),
}
_LTR = re.compile(r"\s*(\S+)\s+qid:(\S+)\s[^#]*(?:#\s*(?:docid\s*=\s*)?(\S+))?")
_MAGIC = b"PAR1"


def is_parquet(path: Path) -> bool:
    """Return whether the file begins like Parquet."""
    with compressed.Bytes(path) as file:
        return file.read(4) == _MAGIC


def header(line: str) -> tuple[str, dict[str, str]] | None:
    """Return the separator and the column names of a header line; None for other lines."""
    for between in "\t,;":
        if len(called := split(line, between)) > 1 and not any(map(reads_as_number, called)):
            found = names.columns(called)
            if "query_id" in found or trec.foreign(line) == trec.CSV:
                return between, found
    return None


def split(line: str, between: str) -> list[str]:
    """Return the cells of a line."""
    return [cell.decode() for cell in trec.Layout("", (), between, True).cells(line.encode())]


def under_header(path: Path, line: str, above: int, problem: trec.Problem) -> Rows:
    """Return the rows below the line that names the columns. Raises WrongInput with file and line,
    also if a required column is missing."""
    between, found = header(line) or ("", {})
    called = split(line, between)
    if lacking := names.lacking(found):
        told = ", ".join(map(shown, called[:8]))
        raise WrongInput(f"{path}, line {above + 1}: no one column {lacking} in {told}: name it so")
    if repeated := [one for one in found.values() if called.count(one) > 1]:
        fault = f"two columns are named {shown(repeated[0])}: rename one"
        raise WrongInput(f"{path}, line {above + 1}: {fault}")
    of = {name: canonical for canonical, name in found.items()}
    number = "relevance" if names.is_beir(found) else "score"
    kinds = _KINDS | ({"rank": RANK} if "score" in found else {})
    columns = [
        (of[name], kinds[number if of[name] == "score" else of[name]])
        if name in of
        else (f"_{n}", None)
        for n, name in enumerate(called)
    ]
    layout = trec.Layout("row", tuple(columns), between, quotes=True)
    table = _table(path, layout, above + 1, problem)
    return Rows.of_columns(str(path), table, "named columns", "line", found)


def _table(path: Path, layout: trec.Layout, skip: int, problem: trec.Problem) -> pa.Table:
    """Return the rows with their line numbers. If a line is faulty, the file is read cell by cell,
    since a quoted cell may contain line breaks."""
    wrong: list[tuple[int, str, str]] = []

    def note(line: int, what: str, fault: str) -> None:
        wrong.append((line, what, fault))

    table = trec.survey(path, layout, note, skip).table
    if wrong and (whole := _of_long_cells(path, layout, skip)) is not None:
        return whole
    for told in wrong:
        problem(*told)
    return table


def _of_long_cells(path: Path, layout: trec.Layout, skip: int) -> pa.Table | None:
    """Return the rows as Python's csv reads them; None if one is wrong or no cell is quoted."""
    content = compressed.content(path)
    if b'"' not in content:
        return None
    reader = csv.reader(
        io.StringIO(content.decode("utf-8-sig", "replace"), newline=""), delimiter=layout.between
    )
    kinds = [(n, name, kind) for n, (name, kind) in enumerate(layout.columns) if kind is not None]
    rows, lines = [], []
    try:
        for row in reader:
            if reader.line_num > skip and row:
                rows.append(row)
                lines.append(reader.line_num)
        if any(len(row) != len(layout.columns) for row in rows):
            return None
        texts = {name: pa.array([row[n] for row in rows], pa.string()) for n, name, _ in kinds}
        columns = {
            name: texts[name].cast(pa.string() if kind == RANK else kind) for _, name, kind in kinds
        }
    except (csv.Error, pa.ArrowInvalid):
        return None
    return pa.table(columns | {"line": pa.array(lines, pa.int64())})


def without_header(
    path: Path, lines: Sequence[str], how: How, problem: trec.Problem
) -> Rows | None:
    """Return the rows of three or four columns without names, as MS MARCO, Tevatron and ColBERT
    write them; None for others. TREC's qrels count if they look like a ranking or `how` says so."""
    data = [line for line in lines if line.strip() and not line.startswith("#")]
    tabs = bool(data) and len(data[0].split("\t")) in (3, 4)
    rows = [line.split("\t") if tabs else line.split() for line in data]
    n = len(rows[0]) if rows else 0
    rows = [row for row in rows if len(row) == n]
    if n not in (3, 4) or not reads_as_number(rows[0][-1]) or trec.foreign(data[0]):
        return None
    why, ranked = rankings.seen(rows, named=n == 4), n == 4 and rankings.is_ranked(rows)
    if n == 4 and not ranked and not (how.role == RUN or (why and how.role != JUDGED)):
        return None
    query, doc = ((name, _KINDS[name]) for name in ("query_id", "doc_id"))
    sure = bool(why) or how.role == RUN
    number = ("score" if ranked and sure else "number", pa.float64() if sure else pa.string())
    rank = [("rank", RANK) if sure else ("_", None)]
    columns = [query, doc, *rank * ranked] if n == 3 or ranked else [query, ("_", None), doc]
    place = [name for name, _ in columns].index("doc_id")
    if sure and rankings.counts(rows, place):
        raise WrongInput(
            f"{path}: column {place + 1} should contain the documents, but counts 1, 2, 3 …"
            " like ranks:"
            " add a line of names above, such as query_id, doc_id, rank, score"
        )
    layout = trec.Layout("row", (*columns, number), "\t" if tabs else " ")
    table = trec.survey(path, layout, problem).table
    return Rows(str(path), table, f"{n} columns without names", why=why)


def ranklib(path: Path) -> Rows | None:
    """Return RankLib's lines, `2 qid:q1 1:0.2 # d1`, as rows; None for other files. Raises
    WrongInput with the line."""
    if not _LTR.match(next((one for one in trec.lines(path) if one.strip() and one[0] != "#"), "")):
        return None
    rows: list[tuple[str, str, str, int]] = []
    for number, line in enumerate(io.BytesIO(compressed.content(path)), 1):
        text = line.decode("utf-8-sig" if number == 1 else "utf-8", "replace")
        if not text.strip() or text.startswith("#"):
            continue
        found = _LTR.match(text)
        if not found or not found[3]:
            told = "no document id after a #" if found else "not `grade qid:… 1:… # doc_id`"
            raise WrongInput(f"{path}, line {number}: {told}: add it")
        rows.append((found[2], found[3], found[1], number))
    columns = zip(*rows, strict=True)
    table = pa.table(list(map(pa.array, columns)), ["query_id", "doc_id", "relevance", "line"])
    return Rows(str(path), table, "RankLib's lines")
