"""GenQ: a dense model fine-tuned on queries that are generated from the documents. In Thakur et
al., "BEIR", 2021, T5 generates 5 queries per document (top-k 25, top-p 0.95) for at most 100,000
documents; a model trained on MS MARCO learns from these queries with in-batch negatives, one model
per dataset."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar

import pyarrow.parquet as pq

from compute.base.errors import WrongInput
from compute.base.settings import Settings
from compute.systems.checkpoints import Checkpoint, from_text
from compute.systems.lexical.doc2query import Generator
from compute.systems.neural.dense import Dense
from compute.systems.neural.encoding import joined
from compute.systems.searcher import limited, one_of
from compute.systems.training import biencoder
from compute.systems.training.from_documents import Unjudged, read_documents
from compute.systems.training.recipes import Material, Report
from compute.systems.training.sentences import sentences

Asked = list[tuple[list[str], str]]
"""For each document, its queries and the text that they should retrieve."""

T5, JUDGED = "t5", "judged"


def _of_title(title: str, text: str, language: str) -> tuple[list[str], str] | None:
    """Return the title as the query for the text."""
    return ([title], text) if title.strip() and text.strip() else None


def _of_sentence(title: str, text: str, language: str) -> tuple[list[str], str] | None:
    """Return the first sentence as the query for the title and the rest."""
    found = sentences(text, language)
    rest = joined(title, " ".join(found[1:]))
    return ([found[0]], rest) if found and rest else None


MADE: Mapping[str, Callable[[str, str, str], tuple[list[str], str] | None]] = MappingProxyType(
    {"title": _of_title, "sentence": _of_sentence}
)
"""Functions from title, text and language to queries; None if a document gives none."""


@dataclass(frozen=True)
class GenQ(Unjudged):
    """Fine-tuning with generated queries; the defaults are those of BEIR and its code. `queries` is
    t5, title (which should retrieve the text), sentence (the first sentence, which should retrieve
    the title and the rest) or judged: instead of generated queries, those of the train split (or of
    the dataset if it has none) with their relevant documents. `similarity` is cosine or dot, or
    empty for the model's own. Texts are truncated to `max_length` word pieces in training; a search
    reads as many as the original model does. Raises WrongInput for a value out of range."""

    queries: str = one_of(T5, JUDGED, *MADE)
    number: int = limited(5, 1)
    documents: int = limited(100_000, 1)
    epochs: int = limited(1, 1)
    similarity: str = one_of("", "cosine", "dot")

    PARAMETERS: ClassVar[tuple[str, ...]] = (
        *("model", "queries", "number", "documents", "epochs", "similarity"),
        *("batch", "lr", "max_length", "seed"),
    )

    @property
    def generator(self) -> Generator:
        """Return the generator of the queries, if T5 makes them."""
        asks = from_text("BeIR/query-gen-msmarco-t5-base-v1")
        return Generator(asks, number=self.number, top_k=25, top_p=0.95)

    def identity(self) -> dict[str, Any]:
        """Return the initial model and the training parameters."""
        names = ("epochs", "batch", "lr", "max_length", "seed")
        names += ("similarity",) if self.similarity else ()
        return {
            "recipe": "in-batch negatives",
            "begins_with": self.checkpoint.identity(),
        } | {name: getattr(self, name) for name in names}

    def saw(self, dataset: str) -> tuple[str, ...]:
        """Return the dataset if its judged queries are used."""
        return (dataset,) if self.queries == JUDGED else ()

    def check(self) -> None:
        """Raise Unavailable if a library or weights are missing."""
        super().check()
        if self.queries == T5:
            self.generator.check()

    def train(
        self, material: Material, folder: Path, settings: Settings, report: Report
    ) -> dict[str, Any]:
        """Train on every query once per epoch, with no document twice in a batch."""
        asked = self._asked(material)
        # Documents have equally many generated queries, one per round, but not judged ones.
        rounds = 1 if self.queries == JUDGED else len(asked[0][0])
        steps = self.epochs * rounds * biencoder.rounds_steps(len(asked), self.batch)

        def pairs(step: int) -> list[tuple[str, str]]:
            turn, places = biencoder.batch(len(asked), self.batch, self.seed, step)
            found = (asked[place] for place in places)
            return [(queries[turn % len(queries)], text) for queries, text in found]

        compare = {"similarity": self.similarity, "otherwise": "dot"}
        facts = self._fit(steps, pairs, folder, settings, report, **compare)
        return facts | {"documents": len(asked), "queries": len(asked) * rounds}

    def _asked(self, material: Material) -> Asked:
        """Return the queries of each document. Raises WrongInput for fewer than two documents."""
        if self.queries == T5:
            found = _from_t5(material)
        elif self.queries == JUDGED:
            found = _judged(material)[: self.documents]
        else:
            rows = read_documents(material.path("documents"), self.documents)
            language = material.about["language"]
            made = (MADE[self.queries](title, text, language) for title, text in rows)
            found = [one for one in made if one is not None]
        if len(found) < 2:
            raise WrongInput(
                f"queries={self.queries} makes {len(found)} queries of these documents, and"
                " in-batch negatives need 2: choose other queries"
            )
        return found

    def system(self, model: Checkpoint) -> Dense:
        """Return dense retrieval with the model's similarity."""
        return Dense(checkpoint=model)


def _judged(material: Material) -> Asked:
    """Return each document judged relevant, with the queries for which it is relevant."""
    texts = _texts(material)
    table = pq.read_table(material.path("queries"), columns=["query_id", "text"])
    asked = {row["query_id"]: row["text"] for row in table.to_pylist() if row["text"]}
    queries: dict[str, list[str]] = {}
    for row in pq.read_table(material.path("judgements")).to_pylist():
        if row["relevance"] > 0 and row["doc_id"] in texts and row["query_id"] in asked:
            queries.setdefault(row["doc_id"], []).append(asked[row["query_id"]])
    return [(found, texts[doc_id]) for doc_id, found in queries.items()]


def _texts(material: Material) -> dict[str, str]:
    """Read the text of each document, by id."""
    table = pq.read_table(material.path("documents"), columns=["doc_id", "title", "text"])
    return {row["doc_id"]: joined(row["title"], row["text"]) for row in table.to_pylist()}


def _from_t5(material: Material) -> Asked:
    """Return each document with its generated queries."""
    texts = _texts(material)
    queries: dict[str, list[str]] = {}
    for row in pq.read_table(material.path("generated")).to_pylist():
        queries.setdefault(row["doc_id"], []).append(row["text"])
    return [(asked, texts[doc_id]) for doc_id, asked in queries.items()]
