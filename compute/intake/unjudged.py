"""Datasets that begin without judgements: made from runs, and extended when judgements arrive."""

from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
from pandas import DataFrame

from compute.base.errors import WrongInput
from compute.base.words import counted, shown
from compute.datasets import layout, shapes
from compute.datasets.reading import QrelsOnly, Source
from compute.datasets.records import QRELS, Document
from compute.datasets.without_documents import Texts, texts_of
from compute.evaluate import runs
from compute.intake import by_text
from compute.recompute import run as recompute
from compute.store.loading import Loaded


class OfRuns(Source):
    """A source that has the queries of runs, and the texts in these runs or in a file. If `judged`
    is given, it has the judgements, and defines the queries."""

    def __init__(
        self,
        files: Sequence[tuple[Path, shapes.How]],
        queries: Path | None = None,
        judged: QrelsOnly | None = None,
    ) -> None:
        self._given, self._queries, self.judged = files, queries, judged

    def has_texts(self) -> bool:
        """Return whether the runs contain texts of queries or documents."""
        return any(self._found[1:3])

    def documents(self) -> Iterator[Document]:
        """Yield the documents whose texts accompany their ids."""
        judged = {one.doc_id: one.text for one in self.judged.documents()} if self.judged else {}
        texts = judged | self._found[2]
        return (Document(name, "", text) for name, text in texts.items())

    def all_queries(self) -> DataFrame:
        """Return query_id, text: the judged queries, or else those of all runs in order. Unknown
        texts are NA. Raises WrongInput if the file of texts lacks a query."""
        if self.judged:
            known = self.judged.all_queries()
        else:
            ids = pd.Series([*self._found[0]], dtype="str")
            known = DataFrame({"query_id": ids, "text": pd.Series(pd.NA, ids.index, "str")})
        texts = self._read.texts if self._queries and not self.judged else self._found[1]
        lacking = [query for query in known["query_id"] if query not in texts]
        if self._queries and not self.judged and lacking:
            of = f"{len(lacking):,} of {counted(len(known), 'query')} of the runs"
            raise WrongInput(
                f"{self._queries} lacks the texts of {of}, such as {shown(lacking[0])}: add them"
            )
        own = known["query_id"].map(texts).astype("str")
        return known.assign(text=known["text"].astype("str").fillna(own))

    def judgements(self) -> DataFrame:
        """Return the judgements given in addition to the runs; usually none."""
        if self.judged:
            return self.judged.judgements()
        return DataFrame(columns=list(QRELS), dtype="str").astype({"relevance": "int32"})

    def narratives(self) -> DataFrame | None:
        """Return query_id and text of the narratives in the file of texts, if there is one."""
        if self.judged:
            return self.judged.narratives()
        return self._read.narratives if self._queries else super().narratives()

    def subtopics(self) -> DataFrame | None:
        """Return the subtopics of the judgements, if any."""
        return self.judged.subtopics() if self.judged else None

    def identity(self) -> dict[str, Any]:
        """Return path, size and modification time of all files, and how each is read."""
        files = [layout.Folder(file.parent).stamp([file.name]) for file in self.read_from()]
        return {"runs": files, "read_with": [how.words() for _, how in self._given]}

    def left_out(self) -> dict[str, int]:
        """Return the ignored fields of the file of texts, with counts."""
        if self.judged:
            return self.judged.left_out()
        return dict(self._read.left_out) if self._queries else {}

    def told(self) -> dict[str, Any]:
        """Return the ignored fields, a sentence on converted grades, and remarks on the runs."""
        about = self.judged.told() if self.judged else super().told()
        return about | {"remarks": self._found[3]}

    def read_from(self) -> list[Path]:
        """Return the files: judgements or texts of queries, and then the runs."""
        first = [self._queries] if self._queries else []
        return [
            *(self.judged.read_from() if self.judged else first),
            *(f for f, _ in self._given),
        ]

    def words(self, names: Sequence[str], split: str) -> list[str]:
        """Return `--runs` with the files, after the other options."""
        n = len(self._given)
        first = ["--queries", names[0]] if self._queries else []
        first = self.judged.words(names[:-n], split) if self.judged else first
        return [*first, *self._given[0][1].words(), "--runs", *names[-n:]]

    @cached_property
    def _read(self) -> Texts:
        assert self._queries is not None
        return texts_of(self._queries)

    @cached_property
    def _found(self) -> tuple[dict[str, None], dict[str, str], dict[str, str], list[str]]:
        """The ids of queries, their texts, the texts of documents by id, and remarks."""
        queries: dict[str, None] = {}
        texts: dict[str, str] = {}
        documents: dict[str, str] = {}
        told: list[str] = []
        for file, how in self._given:
            held = shapes.held(file, how)
            if held is None and self.judged:
                continue  # A TREC run has no texts, and the judgements define the queries.
            rows = held.as_run() if held else runs.read(file, any_tag=True, how=how)[1]
            asked = rows["query_id"].unique().cast(pa.string()).to_pylist()
            queries |= dict.fromkeys(asked)
            if held:
                texts |= ({one: one for one in asked} if held.by_text else {}) | {**held.texts}
                own = held.documents
                other = [one for one in own if documents.get(one, own[one]) != own[one]]
                beside = (
                    f"{counted(len(other), 'text')} of documents that differ from earlier files"
                )
                told += [*held.remarks, *[f"{beside}: {shown(other[0])}" for _ in other[:1]]]
                documents |= own
        return queries, texts, documents, told


class Judged(QrelsOnly):
    """A stored dataset, and judgements added to it later."""

    def __init__(self, loaded: Loaded, given: QrelsOnly) -> None:
        super().__init__(given.path, given.how)
        self._loaded = loaded

    def documents(self) -> Iterator[Document]:
        """Yield the stored documents."""
        part = self._loaded.documents
        rows = recompute.read(part)[["doc_id", "title", "text"]] if part else DataFrame()
        return (Document(*row) for row in rows.itertuples(index=False))

    def all_queries(self) -> DataFrame:
        """Return the stored queries, then those that occur only in judgements."""
        stored = recompute.read(self._loaded.queries)[["query_id", "text"]]
        more, judged = super().all_queries(), self.judgements()["query_id"]
        more = more[more["query_id"].isin(judged) & ~more["query_id"].isin(stored["query_id"])]
        return pd.concat([stored, more], ignore_index=True)

    def queries(self) -> DataFrame:
        """Return all queries, including those without judgements."""
        return self.all_queries()

    def narratives(self) -> None:
        """Return None: the stored narratives count."""

    def judgements(self) -> DataFrame:
        """Return the new judgements, with query ids even if the file names queries by their texts.
        Raises WrongInput if no stored query is judged."""
        found, name = super().judgements(), self._loaded.dataset.name
        stored = recompute.read(self._loaded.queries)
        names = by_text.queries(found["query_id"].unique(), stored, name, self.path)
        ids = [names.get(query, query) for query in found["query_id"].astype(str)]
        found["query_id"] = pd.Series(ids, found.index, "str")
        if not found["query_id"].isin(stored["query_id"]).any():
            raise WrongInput(
                f"{self.path}: none of its queries is a query of {name}: are these judgements of"
                " another dataset? Give it its own name"
            )
        return found

    def identity(self) -> dict[str, Any]:
        """Return the identities of the judgements and of the stored dataset."""
        before = self._loaded.queries.provenance["source"]
        return super().identity() | {"judged_after": before}
