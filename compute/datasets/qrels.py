"""The qrels files of TREC and BEIR: reading and writing judgements."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import pandas as pd
import pyarrow as pa

from compute.base.errors import WrongInput
from compute.base.words import shown
from compute.datasets import rankings, records, shapes, trec
from compute.datasets.names import JUDGED, column_of
from compute.datasets.records import QRELS, WHOLE, BadLine, reads_as_number
from compute.datasets.shapes import grades

_PAIR = ["query_id", "doc_id"]
ITERATION = "iteration"
"""The second of TREC's four columns, which is unused or contains the judged subtopic."""
LEAST = 0.05
"""Minimum share of pairs with several values in that column for which it counts as subtopics."""
_TREC = trec.Layout(
    "qrels line",
    (
        ("query_id", pa.string()),
        (ITERATION, pa.string()),
        ("doc_id", pa.string()),
        ("relevance", pa.int32()),
    ),
)
AS_RUN = "import a ranking with import-run; if the file contains judgements, add --as judgements"
_RANKING = "looks like a ranking, not judgements ({})"
_BEIR = trec.Layout(
    "qrels line",
    (("query_id", pa.string()), ("doc_id", pa.string()), ("relevance", pa.int32())),
    between="\t",
)


@dataclass(frozen=True)
class Form:
    """The layout of a qrels file, or the reason to refuse it."""

    layout: trec.Layout
    skip: int = 0
    """Number of lines above the judgements, the header included."""
    fault: str = ""
    """Reason to refuse the file whatever its lines contain; empty if there is none."""
    remedy: str = ""
    ranked: bool = False
    """Whether it is refused because it is, or may be, a ranking."""


def form(path: Path, how: shapes.How | None = None) -> Form:
    """Return `form_of` for a file's first lines, except that the user may declare a ranking to be
    judgements. Raises Missing or WrongInput if the file cannot be read."""
    found = form_of(trec.lines(path))
    sure = how is not None and how.role == JUDGED and found.ranked
    return replace(found, fault="", ranked=False) if sure else found


def form_of(lines: Sequence[str]) -> Form:
    """Return the form of a file, from its first lines: TREC's four columns, or BEIR's three under
    their header. A file whose values show a ranking is refused; without a header, so is one that
    may be a ranking."""
    above, first = _first(lines)
    if len(names := first.split("\t")) == 3:
        return _of_three(names, lines[above:], above)
    rows = [row for row in map(str.split, lines[above:]) if len(row) == 4]
    why = rankings.seen(rows, named=True)
    return Form(_TREC, above, _RANKING.format(why), AS_RUN, True) if why else Form(_TREC)


def _of_three(names: Sequence[str], lines: Sequence[str], above: int) -> Form:
    """Return the form of three tab-separated columns. `names` is the first of the lines: the header
    or, without one, a judgement."""
    order, named = QRELS, not reads_as_number(names[2])
    if named:
        try:
            order = records.header("\t".join(names))
        except BadLine as bad:
            ranked = "rank" in map(column_of, names)
            return Form(_BEIR, above + 1, bad.fault, AS_RUN if ranked else bad.remedy, ranked)
    found = [row for row in (line.split("\t") for line in lines[named:]) if len(row) == 3]
    rows = [[row[order.index(name)] for name in QRELS] for row in found]
    kinds = dict(_BEIR.columns)
    layout = replace(_BEIR, columns=tuple((name, kinds[name]) for name in order))
    if why := rankings.seen(rows, named=named):
        return Form(layout, above + named, _RANKING.format(why), AS_RUN, True)
    if named:
        return Form(layout, above + 1)
    if why := rankings.suspected(rows):
        fault = f"it may be judgements or a ranking ({why}), and no header says which"
        remedy = f"put `query-id corpus-id score` above judgements; if it is a ranking, {AS_RUN}"
        return Form(_BEIR, above, fault, remedy, True)
    fault = "the first line is a judgement, not the header `query-id corpus-id score`"
    return Form(_BEIR, above, fault, "put the header above it")


@dataclass(frozen=True)
class Qrels:
    """The content of a qrels file."""

    judgements: pd.DataFrame
    """query_id, doc_id, relevance (a whole number): each pair once, in file order."""
    subtopics: pd.DataFrame | None
    """query_id, doc_id, subtopic, relevance, each once, if the second column has subtopics."""
    texts: Mapping[str, str] = field(default_factory=dict)
    """Texts of queries by id, if the file contains them."""
    documents: Mapping[str, str] = field(default_factory=dict)
    """Texts of documents by id, if the file contains them."""
    told: str = ""
    """A sentence on how fractions or words were converted to grades; empty if none were."""


def read_qrels(path: Path, how: shapes.How | None = None) -> pd.DataFrame:
    """Return the judgements (query_id, doc_id, relevance) of a qrels file; see `read`."""
    return read(path, how).judgements


def read(path: Path, how: shapes.How | None = None) -> Qrels:
    """Read the judgements of a qrels file, and its judgements by subtopic if it has them. The file
    has TREC's four columns separated by spaces, or BEIR's three separated by tabs under a header
    line. The second of four columns contains subtopics if `has_subtopics` says so; otherwise it is
    ignored. A pair with several subtopics gets its highest grade. Raises Missing, or WrongInput
    with file and line. Three columns without the header are refused, since readers that skip a
    header would lose the first judgement; so is a pair with two different grades (per subtopic)."""
    how = how or shapes.How()
    if held := shapes.held(path, how):
        table, told = held.as_judged(how)
        judgements = _once(table, _PAIR, path)
        asked = judgements["query_id"].unique() if held.by_text else ()
        texts = {one: one for one in asked} | {**held.texts}
        return Qrels(judgements, None, texts, held.documents, told)
    found = form(path, how)
    if found.fault:
        raise WrongInput(f"{path}: {found.fault}; {found.remedy}")
    try:
        table, told = table_of(path, found, how)
    except WrongInput:
        if trec.foreign(_first(trec.lines(path))[1]) == trec.XML:
            raise WrongInput(
                f"{path} contains XML, such as topics, not judgements: give qrels here, and"
                " topics with import-dataset --queries"
            ) from None
        raise
    if not has_subtopics(table):
        return Qrels(_once(table, _PAIR, path), None, told=told)
    subtopics = _once(table, [*_PAIR, ITERATION], path).rename(columns={ITERATION: "subtopic"})
    best = subtopics.groupby(_PAIR, sort=False)["relevance"].max()
    return Qrels(best.reset_index(), subtopics, told=told)


def table_of(path: Path, form: Form, how: shapes.How) -> tuple[pa.Table, str]:
    """Return the columns of TREC's or BEIR's judgements, and a sentence on converted fractions."""
    if not how.levels and not how.rounded:
        return trec.read_columns(path, form.layout, skip=form.skip), ""
    kinds = dict(form.layout.columns) | {"relevance": pa.string()}
    layout = replace(form.layout, columns=tuple(kinds.items()))
    table = trec.survey(path, layout, trec.refusing(path), form.skip).table
    where = "{}, line {}".format
    made, told = grades.graded(
        table["relevance"], table["line"], lambda line: where(path, line), how.levels, how.rounded
    )
    return table.drop_columns(["relevance", "line"]).append_column("relevance", made), told


def has_subtopics(table: pa.Table) -> bool:
    """Return whether the second column of qrels contains subtopics: at least LEAST of the
    query–document pairs have several values in it. If the column holds iterations or rounds
    instead, each pair is judged once."""
    if ITERATION not in table.column_names or not table.num_rows:
        return False
    several = table.group_by(_PAIR).aggregate([(ITERATION, "count_distinct")])
    counts = several[f"{ITERATION}_count_distinct"].to_numpy()
    return bool((counts > 1).mean() >= LEAST)


def _once(table: pa.Table, key: list[str], path: Path) -> pd.DataFrame:
    """Return each row once, as a frame. Raises WrongInput for a key with two different grades."""
    columns = [pa.field(name, pa.large_string()) for name in key]
    wanted = pa.schema([*columns, ("relevance", pa.int64())])
    frame = table.select(wanted.names).cast(wanted).to_pandas().drop_duplicates(ignore_index=True)
    twice = frame[frame.duplicated(key)]
    if len(twice):
        query_id, doc_id = twice.iloc[0][_PAIR]
        raise WrongInput(
            f"{path}: query {shown(query_id)} and document {shown(doc_id)} have two different"
            " judgements; keep one of the lines"
        )
    return frame


def is_empty(path: Path) -> bool:
    """Return whether the file has only blank lines, comments and the header of qrels."""
    if shapes.is_parquet(path):
        return False
    lines = [line for line in trec.lines(path) if line.strip() and not line.startswith("#")]
    names = {*map(column_of, lines[0].split("\t"))} if len(lines) == 1 else {*_PAIR}
    return len(lines) < 2 and {*_PAIR} <= names


def is_qrels(path: Path) -> bool:
    """Return whether the file begins like qrels (judgements in TREC's four columns or under BEIR's
    header), and not like a ranking. Raises Missing or WrongInput for an unreadable file."""
    if shapes.is_parquet(path):
        return False
    lines = trec.lines(path)
    _, first = _first(lines)
    columns, names = first.encode().split(), {*map(column_of, first.split("\t"))}
    of_trec = len(columns) == 4 and bool(WHOLE.fullmatch(columns[3].decode().strip()))
    return (of_trec or {*_PAIR} <= names) and not form_of(lines).ranked


def as_trec(judgements: pd.DataFrame) -> str:
    """Return judgements (query_id, doc_id, relevance) as TREC's four columns, with 0 in the second.
    Raises WrongInput for an id that contains a space."""
    for names in (judgements["query_id"], judgements["doc_id"]):
        trec.refuse_blanks(names, "TREC qrels")
    rows = judgements[["query_id", "doc_id", "relevance"]].itertuples(index=False)
    return "".join(f"{query} 0 {doc} {grade}\n" for query, doc, grade in rows)


def as_json(judgements: pd.DataFrame) -> str:
    """Return judgements (query_id, doc_id, relevance) as JSON for ranx: {query: {doc: grade}}."""
    table: dict[str, dict[str, int]] = {}
    rows = judgements[["query_id", "doc_id", "relevance"]].itertuples(index=False)
    for query, doc, grade in rows:
        table.setdefault(query, {})[doc] = int(grade)
    return json.dumps(table, ensure_ascii=False, indent=1) + "\n"


def as_beir(judgements: pd.DataFrame) -> str:
    """Return judgements (query_id, doc_id, relevance), separated by tabs, under BEIR's header.
    Raises WrongInput for an id that is empty or contains a tab or a line break."""
    for names in (judgements["query_id"], judgements["doc_id"]):
        trec.refuse_blanks(names, "BEIR tsv", "[\t\r\n]", "a tab or line end")
    rows = judgements[["query_id", "doc_id", "relevance"]].itertuples(index=False)
    lines = "".join(f"{query}\t{doc}\t{grade}\n" for query, doc, grade in rows)
    return f"query-id\tcorpus-id\tscore\n{lines}"


def _first(lines: Sequence[str]) -> tuple[int, str]:
    """Return the first line that is neither blank nor a comment, preceded by the number of lines
    above it. If all lines begin with `#`, none counts as a comment."""
    data = [(above, line) for above, line in enumerate(lines) if line.strip()]
    plain = ((above, line) for above, line in data if not line.startswith("#"))
    return next(plain, next(iter(data), (0, "")))
