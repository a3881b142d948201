"""Reading a collection: documents as a stream in file order, queries and judgements as frames."""

from abc import ABC, abstractmethod
from array import array
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from pandas import DataFrame

from compute.base.errors import Missing, Unavailable, WrongInput
from compute.base.settings import Settings
from compute.base.words import shown
from compute.datasets import layout, pydocs, qrels, records, shapes, trec
from compute.datasets.catalogue import Dataset
from compute.datasets.layout import CORPUS, QUERIES, Files
from compute.datasets.places import how_to_get, place
from compute.datasets.qrels import Qrels
from compute.datasets.records import Document, Judgement, Problem, Query, Trouble, refuse

_QUERY = ("query_id", "text")


class Source(ABC):
    """A collection and one of its splits, read from where it is stored."""

    @abstractmethod
    def documents(self) -> Iterator[Document]:
        """Yield all documents in file order, one at a time. Raises WrongInput with file and line. A
        repeated id is detected only once all documents are read, so its error comes last."""

    @abstractmethod
    def all_queries(self) -> DataFrame:
        """Return the queries (query_id, text) of all splits, in file order."""

    @abstractmethod
    def judgements(self) -> DataFrame:
        """Return the judgements (query_id, doc_id, relevance) of the split, in file order."""

    def narratives(self) -> DataFrame | None:
        """Return query_id and text of the queries' narratives; None if the stored ones count."""
        return narratives_of([])

    def subtopics(self) -> DataFrame | None:
        """Return query_id, doc_id, subtopic, relevance, or None if subtopics were not judged."""
        return None

    def left_out(self) -> dict[str, int]:
        """Return the ignored fields in the texts of queries, with their counts."""
        return {}

    def told(self) -> dict[str, Any]:
        """Return a dictionary of `left_out` and `grades`, a sentence on converted grades."""
        return {"left_out": self.left_out(), "grades": ""}

    @abstractmethod
    def identity(self) -> dict[str, Any] | None:
        """Return a quick identity of the source, found without reading all of it."""

    def read_from(self) -> list[Path]:
        """Return the files of the source; none for a library."""
        return []

    def words(self, names: Sequence[str], split: str) -> list[str]:
        """Return the arguments with which `import-dataset` reads these files again."""
        return [*names[:1], "--split", split]

    def queries(self) -> DataFrame:
        """Return the queries (query_id, text) with a judgement in the split, or all queries if the
        split has no judgements."""
        queries, judged = self.all_queries(), self.judgements()["query_id"]
        if judged.empty:
            return queries
        return queries[queries["query_id"].isin(judged)].reset_index(drop=True)


class BeirSource(Source):
    """A folder or archive of the BEIR layout. Only `check` passes its own problem handler."""

    def __init__(
        self,
        files: Files,
        root: str,
        split: str,
        problem: Problem = refuse,
        *,
        judged: bool = True,
        own: bool = True,
    ) -> None:
        self.own = own  # In BEIR's datasets (not own), the last judgement of a pair counts.
        self.called = ""
        """The name under which the file was uploaded, if it was."""
        self.stored: DataFrame | None = None
        """Queries that replace the file of queries, for a dataset that only gets documents."""
        self.files = files
        self.split = split
        self.judged = judged and bool(files.splits(root))
        """Whether it has judgements and the caller wants them."""
        self.corpus = _inside(root, CORPUS)
        self.query_file = _inside(root, QUERIES)
        self.qrels = _inside(root, f"qrels/{split}.tsv")
        self._root = root
        self._problem = problem

    def documents(self) -> Iterator[Document]:
        """Yield all documents in file order. Raises WrongInput with file and line."""
        where = self.files.where(self.corpus)
        # Eight bytes per document: 15 million ids as strings would take gigabytes.
        hashes = array("q")
        with self.files.open(self.corpus) as stream:
            for _, document in records.records(stream, where, records.document, self._problem):
                hashes.append(hash(document.doc_id))
                yield document
        if not hashes:
            self._problem(Trouble("empty corpus", where, 0, "it contains no document", "fill it"))
        self._repeated_documents(hashes)

    @cached_property
    def _asked(self) -> dict[str, Query]:
        """All queries by id; problems with lines are reported."""
        where = self.files.where(self.query_file)
        found: dict[str, Query] = {}
        with self.files.open(self.query_file) as stream:
            for line, query in records.records(stream, where, records.query, self._problem):
                if query.query_id in found:
                    self._problem(_repeated(where, line, query.query_id))
                found.setdefault(query.query_id, query)
        if not found:
            self._problem(Trouble("no query", where, 0, "it contains no query", "fill it"))
        return found

    @cached_property
    def _queries(self) -> DataFrame:
        return _frame([one[:2] for one in self._asked.values()], _QUERY)

    def narratives(self) -> DataFrame | None:
        """Return query_id and text of the narratives in queries.jsonl; None without this file."""
        return narratives_of(self._asked.values()) if self.stored is None else None

    def all_queries(self) -> DataFrame:
        """Return the queries (query_id, text) of all splits, in file order."""
        return (self._queries if self.stored is None else self.stored).copy()

    @cached_property
    def _judged(self) -> tuple[DataFrame, list[int]]:
        """The judgements of the split, and the lines that judge a pair again."""
        if not self.judged:
            return _frame([], records.QRELS), []
        self._known_split()
        where = self.files.where(self.qrels)
        known = self._asked.keys()
        with self.files.open(self.qrels) as stream:
            form = qrels.form_of(trec.beginning(stream))
        if form.ranked:
            self._problem(Trouble("ranking, not judgements", where, 0, form.fault, form.remedy))
            return _frame([], records.QRELS), []
        relevance: dict[tuple[str, str], int] = {}
        again: list[int] = []
        with self.files.open(self.qrels) as stream:
            for line, (query_id, doc_id, value) in _judgement_lines(stream, where, self._problem):
                if query_id not in known:
                    self._problem(_unknown(where, line, query_id))
                if self.own and relevance.get((query_id, doc_id), value) != value:
                    self._problem(_twice(where, line, query_id, doc_id))
                elif (query_id, doc_id) in relevance:
                    again.append(line)
                relevance[query_id, doc_id] = value
        rows = [(*pair, value) for pair, value in relevance.items()]
        return _frame(rows, records.QRELS), again

    def judgements(self) -> DataFrame:
        """Return the judgements (query_id, doc_id, relevance) of the split, each pair once."""
        return self._judged[0].copy()

    def repeated_judgements(self) -> list[int]:
        """Return the numbers of the qrels lines that judge a pair again."""
        return list(self._judged[1])

    def identity(self) -> dict[str, Any]:
        """Return path, sizes and modification times of the files, and the split."""
        stamp: dict[str, Any] = self.files.stamp(self._names) | {"split": self.split}
        if self.called:
            stamp["files"] = [file | {"name": self.called} for file in stamp["files"]]
        return stamp

    def read_from(self) -> list[Path]:
        """Return the archive, or the files of a folder."""
        path = self.files.path
        return [path] if path.is_file() else [path / name for name in self._names]

    def words(self, names: Sequence[str], split: str) -> list[str]:
        """Return the archive or folder, and the split, as arguments of `import-dataset`."""
        path = self.files.path
        return super().words(names if path.is_file() else [path.name], split)

    @property
    def _names(self) -> list[str]:
        queries = [self.query_file] * (self.stored is None)
        return [self.corpus, *queries, *[self.qrels] * self.judged]

    def _known_split(self) -> None:
        splits = self.files.splits(self._root)
        if self.split not in splits:
            known = ", ".join(splits) or "none"
            raise Missing(f"{self.files.where(self.qrels)} is missing; splits there: {known}")

    def _repeated_documents(self, hashes: array) -> None:
        """Report repeated ids, given the hashes of all ids. Only documents whose hash occurs twice
        are read again and compared."""
        ordered = np.sort(np.frombuffer(hashes, dtype=np.int64))
        suspects = set(ordered[1:][ordered[1:] == ordered[:-1]].tolist())
        if not suspects:
            return
        where = self.files.where(self.corpus)
        seen: set[str] = set()
        with self.files.open(self.corpus) as stream:
            for line, document in records.records(stream, where, records.document, _ignore):
                if document.doc_id in seen:
                    self._problem(_repeated(where, line, document.doc_id))
                elif hash(document.doc_id) in suspects:
                    seen.add(document.doc_id)


class QrelsOnly(Source):
    """Judgements without documents. Queries have no texts unless the file contains them."""

    def __init__(self, path: Path, how: shapes.How | None = None) -> None:
        self.path = path
        self.how = how or shapes.How()

    def documents(self) -> Iterator[Document]:
        """Yield the documents whose texts are in the rows of the file; usually there are none."""
        return (Document(name, "", text) for name, text in self._qrels.documents.items())

    def all_queries(self) -> DataFrame:
        """Return the judged queries (query_id, text), in file order; absent texts are NA."""
        ids = self._qrels.judgements["query_id"].drop_duplicates().reset_index(drop=True)
        return DataFrame({"query_id": ids, "text": ids.map(dict(self._qrels.texts)).astype("str")})

    def read_from(self) -> list[Path]:
        """Return the only file."""
        return [self.path]

    def words(self, names: Sequence[str], split: str) -> list[str]:
        """Return `--qrels` with the file, and the reading options."""
        return ["--qrels", names[0], *self.how.words()]

    def judgements(self) -> DataFrame:
        """Return query_id, doc_id, relevance. Raises WrongInput with file and line."""
        return self._qrels.judgements.copy()

    def subtopics(self) -> DataFrame | None:
        """Return query_id, doc_id, subtopic, relevance if the second column contains subtopics."""
        found = self._qrels.subtopics
        return None if found is None else found.copy()

    def identity(self) -> dict[str, Any]:
        """Return path, size and modification time of the file, and the reading options."""
        stamp = layout.Folder(self.path.parent).stamp([self.path.name])
        return stamp | ({"read_with": words} if (words := self.how.words()) else {})

    def told(self) -> dict[str, Any]:
        """Return a dictionary of `left_out` and `grades`, a sentence on converted grades."""
        return super().told() | {"grades": self._qrels.told}

    @cached_property
    def _qrels(self) -> Qrels:
        return qrels.read(self.path, self.how)


class PyDocs(Source):
    """The documentation of an installed library as a collection; see `pydocs`."""

    def __init__(self, library: str) -> None:
        self.library = library

    @cached_property
    def _collection(self) -> pydocs.Collection:
        return pydocs.build(self.library)

    def documents(self) -> Iterator[Document]:
        """Yield a document for each public function or class, in the order of their names."""
        return iter(self._collection.documents)

    def all_queries(self) -> DataFrame:
        """Return query_id (the id of the function's document) and text (its summary line)."""
        return _frame([query[:2] for query in self._collection.queries], _QUERY)

    def judgements(self) -> DataFrame:
        """Return query_id, doc_id, relevance 1 for each function under See Also."""
        return _frame(list(self._collection.judgements), records.QRELS)

    def identity(self) -> dict[str, Any]:
        """Return the library, its version, and the version of the builder."""
        try:
            installed = version(self.library)
        except PackageNotFoundError:
            raise Unavailable(f"{self.library} is not installed: make run installs it") from None
        return {
            "library": self.library,
            "version": installed,
            "builder": pydocs.BUILDER_VERSION,
        }


def narratives_of(queries: Iterable[Query]) -> DataFrame:
    """Return query_id and text (the narrative) of the queries that have one, in order."""
    return _frame([(one.query_id, one.narrative) for one in queries if one.narrative], _QUERY)


def source(dataset: Dataset, settings: Settings) -> Source:
    """Return the source of a dataset: an installed library, or an archive or folder in the
    settings' folder of datasets or in the home. Raises Missing with the next step."""
    if dataset.group == "PyDocs":
        return PyDocs(dataset.collection.removeprefix("pydocs-"))
    if dataset.parts:
        raise WrongInput(
            f"{dataset.name} is the mean of its parts: name its parts, such as {dataset.parts[0]}…"
        )
    if not dataset.has_split:
        raise Missing(f"{dataset.name} has only published figures: choose another dataset")
    name, _, part = dataset.collection.partition("/")
    path = place(name, settings)
    if path is None:
        raise Missing(how_to_get(dataset, settings))
    files = layout.files(path)
    return BeirSource(files, layout.root(files, part), dataset.split, own=False)


def open_path(path: Path, split: str = "", part: str = "", *, judged: bool = True) -> BeirSource:
    """Open a user's own folder or zip archive. The split may be omitted if it is test or the only
    one. Unless `judged`, judgements are ignored. Raises Missing or WrongInput."""
    files = layout.files(path)
    root = layout.root(files, part)
    splits = files.splits(root)
    if not split and len(splits) > 1 and "test" not in splits:
        raise WrongInput(f"{path} has the splits {', '.join(splits)}: name one")
    split = split or (splits[0] if len(splits) == 1 else "test")
    return BeirSource(files, root, split, judged=judged)


def _judgement_lines(
    stream: BinaryIO, where: str, problem: Problem
) -> Iterator[tuple[int, Judgement]]:
    """Yield the line number and judgement of each line below the header. A missing header is
    reported as a problem with its line."""
    order: Sequence[str] = ()

    def parse(line: str) -> Judgement | None:
        nonlocal order
        if not order:
            order = records.QRELS  # so that a bad header is reported only once
            order = records.header(line)
            return None
        return records.judgement(line, order)

    for line, judgement in records.records(stream, where, parse, problem):
        if judgement is not None:
            yield line, judgement


def _frame(rows: list[tuple], columns: Sequence[str]) -> DataFrame:
    kinds = {name: "int32" if name == "relevance" else "str" for name in columns}
    return DataFrame(rows, columns=list(columns)).astype(kinds)


def _inside(root: str, name: str) -> str:
    return f"{root}/{name}" if root else name


def _repeated(where: str, line: int, identifier: str) -> Trouble:
    fault = f"_id {shown(identifier)} already occurs above"
    return Trouble("repeated _id", where, line, fault, "remove one of the two")


def _unknown(where: str, line: int, query_id: str) -> Trouble:
    """Return the fault of a judgement whose query is not in the file of queries."""
    fault = f"no query {shown(query_id)} in {QUERIES}"
    return Trouble("unknown query", where, line, fault, "add it there or remove the judgement")


def _twice(where: str, line: int, query_id: str, doc_id: str) -> Trouble:
    fault = f"query {shown(query_id)} and document {shown(doc_id)} have a different grade above"
    return Trouble("pair judged twice, differently", where, line, fault, "keep one of the lines")


def _ignore(trouble: Trouble) -> None:
    """Ignore a problem, which the first pass over the corpus has already reported."""
