"""Judgements with the texts of their queries, for a corpus whose documents are unavailable."""

import io
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from pandas import DataFrame

from compute.base.errors import WrongInput
from compute.base.words import counted, shown
from compute.datasets import compressed, layout, records, shapes, topics
from compute.datasets.reading import QrelsOnly, narratives_of
from compute.datasets.records import BadLine, Query, refuse


class JudgedQueries(QrelsOnly):
    """A qrels file and a file of query texts: queries.jsonl, TREC topics, or id, tab and text."""

    def __init__(self, path: Path, queries: Path, how: shapes.How | None = None) -> None:
        super().__init__(path, how)
        self._file = queries

    def all_queries(self) -> DataFrame:
        """Return all queries (query_id, text) in the file of texts, in order. Raises Missing, or
        WrongInput with file and line, also for a judged query without a text."""
        judged, texts = self.judgements()["query_id"].unique(), self._read.texts
        if lacking := [query for query in judged if query not in texts]:
            of = f"{len(lacking):,} of {counted(len(judged), 'judged query')}"
            told = f"{self._file} lacks the texts of {of}, such as {shown(lacking[0])}"
            raise WrongInput(f"{told}: add these texts")
        return DataFrame([*texts.items()], columns=["query_id", "text"], dtype="str")

    def read_from(self) -> list[Path]:
        """Return both files."""
        return [self.path, self._file]

    def words(self, names: Sequence[str], split: str) -> list[str]:
        """Return `--qrels` and `--queries` with the files, as arguments of `import-dataset`."""
        return [*super().words(names, split), "--queries", names[1]]

    def identity(self) -> dict[str, Any]:
        """Return path, size and modification time of both files."""
        folder = layout.Folder(self._file.parent)
        return super().identity() | {"queries": folder.stamp([self._file.name])}

    def left_out(self) -> dict[str, int]:
        """Return the counts of unused fields and of tags in texts, such as `<i>`."""
        return dict(self._read.left_out)

    def narratives(self) -> DataFrame:
        """Return query_id and text of the narratives in the file of texts."""
        return self._read.narratives

    @cached_property
    def _read(self) -> "Texts":
        return texts_of(self._file)


class Texts(NamedTuple):
    """The content of a file of query texts."""

    texts: dict[str, str]
    """The texts by query id."""
    narratives: DataFrame
    """query_id and text of the queries that have a narrative."""
    left_out: Counter[str]
    """The ignored fields, with their counts."""


def texts_of(path: Path) -> Texts:
    """Return the texts of queries. Raises Missing, or WrongInput with file and line, also for a
    query that occurs twice."""
    content = compressed.content(path)
    texts: dict[str, str] = {}
    told: list[Query] = []
    left_out: Counter[str] = Counter()
    for line, query in _queries(content, str(path), left_out):
        if query.query_id in texts:
            raise WrongInput(
                f"{path} line {line}: query {shown(query.query_id)} already occurs above:"
                " remove one of the two"
            )
        texts[query.query_id] = query.text
        told.append(query)
    return Texts(texts, narratives_of(told), left_out)


def _queries(content: bytes, where: str, left_out: Counter[str]) -> Iterator[tuple[int, Query]]:
    """Yield the line and query of each record, in any of the three formats."""
    if topics.is_topics(content):
        return topics.topics(content, where, left_out)
    as_json = content.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"{")
    parse = records.query if as_json else _between_tabs
    return records.records(io.BytesIO(content), where, parse, refuse)


def _between_tabs(line: str) -> Query:
    """Return the query in a line of id, tab and text. Raises BadLine."""
    query_id, tab, text = line.partition("\t")
    if not tab:
        raise BadLine("no tab", "no tab", "write the query's id, a tab and its text")
    return Query(query_id.strip(), text.strip())
