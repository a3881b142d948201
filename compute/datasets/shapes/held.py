"""The content of a file: a run, judgements, both, or rows whose role is unknown."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from compute.base.errors import WrongInput
from compute.base.words import shown
from compute.datasets import rankings
from compute.datasets.names import JUDGED, RUN, is_beir, may_be_text
from compute.datasets.shapes import grades

_SAMPLE = 20_000
"""Number of rows that suffice to distinguish a ranking from judgements."""
_NAMES = pa.dictionary(pa.int32(), pa.string())
RANK = pa.dictionary(pa.int32(), pa.binary())
"""Type of the column rank. It holds bytes: an import ignores ranks, so none may be refused."""
_PAIR = ["query_id", "doc_id"]
_BESIDE = ["line", "tag", "text"]
_KINDS = {"query_id": _NAMES, "doc_id": pa.string(), "score": pa.float64(), "tag": _NAMES}
_LOOKS = {
    RUN: ("judgements, not a run", "import-dataset --qrels"),
    JUDGED: ("a ranking, not judgements", "import-run"),
}
Called = Mapping[str, str]
ASK = "add --as run or --as judgements"


@dataclass(frozen=True)
class How:
    """The user's options for reading a file."""

    role: str = ""
    """`run` or `judgements`, where the file does not show its role or seems to show another."""
    levels: Sequence[float] = ()
    """The least values of grade 1, grade 2 and so on, for fractional grades."""
    rounded: bool = False
    """Whether to round fractional grades, halves up."""
    part: str = ""
    """Which of several runs in the file to read."""
    fold: Path | bool = False
    """True, or a table of chunks, to merge chunks into documents at their best rank."""
    after: str = ""
    """The system whose list this run reranks."""

    def words(self) -> list[str]:
        """Return these options as command-line arguments."""
        words = ["--as", self.role] * bool(self.role) + ["--round"] * self.rounded
        words += ["--levels", ",".join(f"{level:g}" for level in self.levels)] * bool(self.levels)
        words += ["--part", self.part] * bool(self.part)
        words += ["--after", self.after] * bool(self.after) + ["--fold"] * bool(self.fold)
        return words + ([self.fold.name] if isinstance(self.fold, Path) else [])


@dataclass(frozen=True)
class Rows:
    """Rows as in the file: query_id, doc_id, and other columns by the names of `names.columns`. A
    column `number` has numbers whose meaning no name shows; `line` has the line of each row."""

    file: str
    table: pa.Table
    form: str
    """The file's format, in a few words."""
    unit: str = "line"
    called: Called = field(default_factory=dict)
    """The name in the file of each column."""
    ordered: bool = True
    """Whether the order of the rows matters."""
    why: str = ""
    """Reason why the rows are a run, if their numbers show it."""

    def __post_init__(self) -> None:
        table, lines = self.table, self.table["line"]
        for name in _PAIR:
            if (at := _lacking(table[name])) is not None:
                raise WrongInput(f"{self.where(lines[at].as_py())}: it has no {name}; fix the line")

    @classmethod
    def of_columns(cls, file: str, table: pa.Table, form: str, unit: str, called: Called) -> "Rows":
        """Return rows of named columns; BEIR's `score`, usually a grade, becomes `number`."""
        if is_beir(called) and "score" in table.column_names:
            names = ["number" if name == "score" else name for name in table.column_names]
            table = table.rename_columns(names)
        return cls(file, table, form, unit, called)

    def where(self, line: int) -> str:
        """Return the place of a row, for an error message."""
        return f"{self.file}, {self.unit} {line}" if line else self.file

    @property
    def by_text(self) -> bool:
        """Whether queries may be identified by their texts."""
        return may_be_text(self.called.get("query_id", ""))

    def first(self, n: int = _SAMPLE, *columns: str) -> list[list[str]]:
        """Return the first rows as texts: query, document, and these columns (default: numbers)."""
        few = self.table.slice(0, n).select([*_PAIR, *(columns or self._numbers())])
        cells = [column.cast(pa.string()).to_pylist() for column in few.columns]
        return [["" if cell is None else cell for cell in row] for row in zip(*cells, strict=True)]

    def roles(self) -> tuple[set[str], str]:
        """Return the rows' roles (run, judgements, both or none), and why they may be a run."""
        there = {*self.table.column_names}
        found = {RUN} & ({RUN} if there & {"score", "rank"} else set())
        found |= {JUDGED} if "relevance" in there else set()
        if found:
            return found, self.why
        rows, named = self.first(_SAMPLE, "number"), is_beir(self.called)
        if why := rankings.seen(rows, named=named):
            return {RUN}, why if self.ordered else why.replace("column 3", "the number")
        why = rankings.suspected(rows)
        named |= self.ordered and not why and rankings.graded(rows)[1]
        return ({JUDGED} if named else set()), why

    def _numbers(self) -> list[str]:
        return [name for name in self.table.column_names if name not in (*_PAIR, *_BESIDE)]


@dataclass(frozen=True)
class Held:
    """The content found in a file, with its rows by role."""

    file: str
    form: str
    run: Rows | None = None
    judged: Rows | None = None
    unclear: Rows | None = None
    why: str = ""
    """Reason why the rows are, or may be, a run."""
    texts: Mapping[str, str] = field(default_factory=dict)
    """Texts of queries by id, if the file contains both."""
    passages: Mapping[str, str] = field(default_factory=dict)
    """Texts of documents by id, in addition to those in the rows."""
    remarks: Sequence[str] = ()

    @classmethod
    def of(cls, rows: Rows, how: How) -> "Held":
        """Return the content with these rows; their role comes from the user or the rows."""
        found, why = rows.roles()
        found = {how.role} if how.role and found != {RUN, JUDGED} else found
        if not found:
            return cls(rows.file, rows.form, unclear=rows, why=why)
        run, judged = (rows if role in found else None for role in (RUN, JUDGED))
        return cls(rows.file, rows.form, run, judged, why=why)

    @property
    def kind(self) -> str:
        """`run`, `qrels` or both; empty if nothing shows which."""
        names = {"run": self.run, "qrels": self.judged}
        return " and ".join(name for name, rows in names.items() if rows is not None)

    @property
    def documents(self) -> dict[str, str]:
        """Texts of documents by id, if the file contains them."""
        found = dict(self.passages)
        for rows in (self.run, self.judged):
            if rows is not None and "text" in rows.table.column_names:
                pairs = rows.table.select(["doc_id", "text"]).to_pandas().dropna()
                found |= dict(pairs.drop_duplicates("doc_id").to_numpy().tolist())
        return found

    @property
    def by_text(self) -> bool:
        """Whether queries may be identified by their texts."""
        return any(rows.by_text for rows in (self.run, self.judged) if rows is not None)

    def question(self) -> str:
        """Return a question to the user, with the first rows, if nothing shows their role."""
        assert self.unclear is not None
        rows = "; ".join(shown(" ".join(row)) for row in self.unclear.first(3))
        why = f" ({self.why})" if self.why else ""
        return f"is it a run or judgements? The file begins with {rows}, which may be either{why}"

    def as_run(self) -> pa.Table:
        """Return the run as a table: query_id (a dictionary), doc_id, score, rank and tag if
        present, and line. Raises WrongInput if the file is not a run, or not known to be one."""
        if self.run is None:
            raise WrongInput(f"{self.file}: {self._refused(RUN)}")
        table = _scored(self.run)
        score = table["score"].to_numpy()
        with np.errstate(over="ignore"):
            strange = np.flatnonzero(~np.isfinite(score.astype(np.float32)))
        if len(strange):
            at = int(strange[0])
            pair = f"query {shown(table['query_id'][at].as_py())}, document"
            pair += f" {shown(table['doc_id'][at].as_py())}"
            where = self.run.where(table["line"][at].as_py())
            raise WrongInput(f"{where}: {pair}: the score is not a finite number; fix it")
        if not table.num_rows:
            raise WrongInput(f"{self.file} contains no documents: give a file with documents")
        return table

    def as_judged(self, how: How, *, nulls: bool = False) -> tuple[pa.Table, str]:
        """Return the judgements as a table (query_id, doc_id, relevance, line), and a sentence on
        converted grades. With `nulls`, a grade may be absent. Raises WrongInput for a run."""
        rows = self.judged
        if rows is None and self.unclear is not None and not self.why:
            # The caller wants judgements, and the numbers look like grades.
            rows = (
                self.unclear if rankings.graded(self.unclear.first(_SAMPLE, "number"))[0] else None
            )
        if rows is None:
            raise WrongInput(f"{self.file}: {self._refused(JUDGED)}")
        name = next(n for n in ("relevance", "number", "score", "rank") if n in rows._numbers())
        given, lines = rows.table[name], rows.table["line"]
        made, said = grades.graded(given, lines, rows.where, how.levels, how.rounded, nulls=nulls)
        table = pa.table({one: rows.table[one].cast(pa.string()) for one in _PAIR})
        table = table.append_column("relevance", made).append_column("line", lines)
        if not table.num_rows:
            raise WrongInput(f"{self.file} contains no documents: give a file with documents")
        return table, said

    def _refused(self, role: str) -> str:
        """Return why the content cannot be read in this role, and what to do."""
        if self.unclear is not None:
            return f"{self.question()}: {ASK}"
        looks, command = _LOOKS[role]
        why = self.why or f"by the names in it, {self.form}"
        return f"looks like {looks} ({why}): {command} imports it, or add --as {role}"


def _lacking(ids: pa.ChunkedArray) -> int | None:
    """Return the position of the first id that is absent or empty; None if there is none."""
    texts = ids.unique() if pa.types.is_dictionary(ids.type) else ids
    if pa.types.is_integer(texts.type) and not texts.null_count:
        return None
    lengths = pc.call_function("binary_length", [texts.cast(pa.string())])
    if not texts.null_count and (not len(texts) or pc.call_function("min", [lengths]).as_py()):
        return None
    return next(n for n, one in enumerate(ids.to_pylist()) if one is None or one == "")


def _scored(rows: Rows) -> pa.Table:
    """Return the columns of a run. A score that is missing is the negative rank, or the number."""
    table = rows.table
    if "score" not in table.column_names:
        name = next(n for n in ("rank", "number", "relevance") if n in table.column_names)
        number = table[name].cast(pa.float64())
        by_rank = name == "rank" or rankings.are_ranks(rows.first())
        score = pc.call_function("negate", [number]) if by_rank else number
        table = table.append_column("score", score)
        if by_rank:
            rank = number.cast(pa.string()).cast(pa.binary()).dictionary_encode()
            table = table.drop_columns("rank") if name == "rank" else table
            table = table.append_column("rank", rank)
    if not rows.ordered:
        codes = table["query_id"].combine_chunks().dictionary_encode().indices.to_numpy()
        table = table.take(pa.array(np.lexsort((-table["score"].to_numpy(), codes))))
    kept = [name for name in (*_KINDS, "rank", "line") if name in table.column_names]
    kinds = {**_KINDS, "rank": RANK, "line": pa.int64()}
    return pa.table({name: _cast(table[name], kinds[name]) for name in kept})


def _cast(column: pa.ChunkedArray, kind: pa.DataType) -> pa.ChunkedArray:
    """Cast a column to a type; ranks become text first, since numbers have no cast to bytes."""
    if column.type == kind:
        return column
    if pa.types.is_dictionary(kind):
        column = column.cast(pa.string()) if kind == RANK else column
        return column.cast(kind.value_type).dictionary_encode().cast(kind)
    return column.cast(kind)
