"""Qrels files, TREC's and BEIR's: judgements in and out."""

from dataclasses import dataclass
from pathlib import Path

import pandas as pd
import pyarrow as pa

from compute.base.errors import WrongInput
from compute.base.words import shown
from compute.datasets import trec
from compute.datasets.records import WHOLE

_COLUMNS = pa.schema(
    [("query_id", pa.large_string()), ("doc_id", pa.large_string()), ("relevance", pa.int64())]
)
_TREC = trec.Layout(
    "qrels line",
    (
        ("query_id", pa.string()),
        ("iteration", None),
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


def read_qrels(path: Path) -> pd.DataFrame:
    """query_id, doc_id, relevance (whole number) of a qrels file, a pair once, in file order.

    TREC's four columns between blanks, whose second is ignored, or BEIR's three between tabs
    under a header line. Raises Missing or WrongInput with file and line; three columns without
    the header are refused, since its readers would lose the first judgement, and so is a pair
    judged twice differently.
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
    frame = table.cast(_COLUMNS).to_pandas().drop_duplicates(ignore_index=True)
    twice = frame[frame.duplicated(["query_id", "doc_id"])]
    if len(twice):
        query_id, doc_id = twice.iloc[0][["query_id", "doc_id"]]
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
