"""Qrels files, TREC's and BEIR's: judgements in and out."""

from dataclasses import dataclass
from pathlib import Path

import pandas as pd
import pyarrow as pa

from compute.base.errors import WrongInput
from compute.base.words import shown
from compute.datasets import trec
from compute.datasets.records import WHOLE

_PAIR = ["query_id", "doc_id"]
ITERATION = "iteration"
"""The second of TREC's columns, which says nothing or is the subtopic that was judged."""
LEAST = 0.05
"""Of the pairs of a query and a document: from so many under several subtopics on they are some."""
_TREC = trec.Layout(
    "qrels line",
    (
        ("query_id", pa.string()),
        (ITERATION, pa.string()),
        ("doc_id", pa.string()),
        ("relevance", pa.int32()),
    ),
)
_BEIR = trec.Layout(
    "qrels line",
    (("query_id", pa.string()), ("doc_id", pa.string()), ("relevance", pa.int32())),
    tabs=True,
)


@dataclass(frozen=True)
class Form:
    """How a qrels file is laid out."""

    layout: trec.Layout
    skip: int = 0
    """Lines above the judgements, the header among them."""
    fault: str = ""
    """Why it is refused whatever its lines hold; empty if it is not."""
    remedy: str = ""


def form(path: Path) -> Form:
    """TREC's four columns, or BEIR's three under their header, as the first line tells.

    Raises Missing or WrongInput for a file that cannot be read.
    """
    above, first = _first_line(path)
    if len(first.split("\t")) != 3:
        return Form(_TREC)
    if not _whole(first.split("\t")[2]):
        return Form(_BEIR, above + 1)
    fault = "the first line is a judgement, not the header `query-id corpus-id score`"
    return Form(_BEIR, above, fault, "put the header above it")


@dataclass(frozen=True)
class Qrels:
    """What a qrels file says."""

    judgements: pd.DataFrame
    """query_id, doc_id, relevance (whole number), a pair once, in file order."""
    subtopics: pd.DataFrame | None
    """query_id, doc_id, subtopic, relevance, each once, where the second column holds subtopics."""


def read_qrels(path: Path) -> pd.DataFrame:
    """query_id, doc_id, relevance of a qrels file; see `read`."""
    return read(path).judgements


def read(path: Path) -> Qrels:
    """The judgements of a qrels file, and those by subtopic where it has such.

    TREC's four columns between blanks, or BEIR's three between tabs under a header line. The second
    of four holds subtopics where `has_subtopics` says so, else it is ignored. By subtopics a pair
    has its highest grade. Raises Missing or WrongInput with file and line; three columns without
    the header are refused, since its readers would lose the first judgement, and so is a pair
    that is judged twice differently (under one subtopic).
    """
    found = form(path)
    if found.fault:
        raise WrongInput(f"{path}: {found.fault}; {found.remedy}")
    try:
        table = trec.read_columns(path, found.layout, skip=found.skip)
    except WrongInput:
        if is_markup(_first_line(path)[1]):
            raise WrongInput(
                f"{path} holds XML, such as topics, and no judgements: give qrels, and the topics"
                " beside them with import-dataset --queries"
            ) from None
        raise
    if not has_subtopics(table):
        return Qrels(_once(table, _PAIR, path), None)
    subtopics = _once(table, [*_PAIR, ITERATION], path).rename(columns={ITERATION: "subtopic"})
    best = subtopics.groupby(_PAIR, sort=False)["relevance"].max()
    return Qrels(best.reset_index(), subtopics)


def has_subtopics(table: pa.Table) -> bool:
    """Whether the second column of qrels holds subtopics: of the pairs of a query and a document
    LEAST stand under several values of it. Iterations and rounds judge a pair once."""
    if ITERATION not in table.column_names or not table.num_rows:
        return False
    several = table.group_by(_PAIR).aggregate([(ITERATION, "count_distinct")])
    counts = several[f"{ITERATION}_count_distinct"].to_numpy()
    return bool((counts > 1).mean() >= LEAST)


def _once(table: pa.Table, key: list[str], path: Path) -> pd.DataFrame:
    """Each row once. Raises WrongInput for one key with two grades."""
    columns = [pa.field(name, pa.large_string()) for name in key]
    wanted = pa.schema([*columns, ("relevance", pa.int64())])
    frame = table.select(wanted.names).cast(wanted).to_pandas().drop_duplicates(ignore_index=True)
    twice = frame[frame.duplicated(key)]
    if len(twice):
        query_id, doc_id = twice.iloc[0][_PAIR]
        raise WrongInput(
            f"{path}: query {shown(query_id)} and document {shown(doc_id)} are judged twice,"
            " differently; keep one of the lines"
        )
    return frame


def is_qrels(path: Path) -> bool:
    """Whether the file begins like qrels: a judgement of TREC's four columns, or BEIR's header.

    Raises Missing or WrongInput for a file that cannot be read.
    """
    _, first = _first_line(path)
    columns = first.encode().split()
    if len(columns) == 4:
        return _whole(columns[3].decode())
    return len(first.split("\t")) == 3


def is_markup(line: str) -> bool:
    """Whether the first line of a file begins XML, and no run or qrels of an id that has a `<`."""
    columns = line.split()
    numbers = columns[4:5] if len(columns) == 6 else columns[-1:]
    return line.lstrip().startswith("<") and not any(map(trec.reads_as_number, numbers))


def as_trec(judgements: pd.DataFrame) -> str:
    """query_id, doc_id, relevance as TREC's four columns, the second of them 0.

    Raises WrongInput for an id that holds a blank.
    """
    for names in (judgements["query_id"], judgements["doc_id"]):
        trec.refuse_blanks(names, Path("TREC qrels"))
    rows = judgements[["query_id", "doc_id", "relevance"]].itertuples(index=False)
    return "".join(f"{query} 0 {doc} {grade}\n" for query, doc, grade in rows)


def as_beir(judgements: pd.DataFrame) -> str:
    """query_id, doc_id, relevance between tabs under BEIR's header.

    Raises WrongInput for an id that is empty or holds a tab or line end.
    """
    for names in (judgements["query_id"], judgements["doc_id"]):
        wrong = names[names.str.contains("[\t\r\n]|^$", regex=True)]
        if len(wrong):
            raise WrongInput(
                f"BEIR tsv: {wrong.iloc[0]!r} is empty or holds a tab or line end, which this "
                "format cannot carry; leave it out or rename it"
            )
    rows = judgements[["query_id", "doc_id", "relevance"]].itertuples(index=False)
    lines = "".join(f"{query}\t{doc}\t{grade}\n" for query, doc, grade in rows)
    return f"query-id\tcorpus-id\tscore\n{lines}"


def _first_line(path: Path) -> tuple[int, str]:
    """The first line that is neither blank nor a comment, and how many lines are above it.

    Where every line begins with `#` they are no comments: the first of them.
    """
    lines = [(above, line) for above, line in enumerate(trec.lines(path, 1000)) if line.strip()]
    plain = [(above, line) for above, line in lines if not line.startswith("#")]
    return next(iter(plain or lines), (0, ""))


def _whole(text: str) -> bool:
    return WHOLE.fullmatch(text.strip()) is not None
