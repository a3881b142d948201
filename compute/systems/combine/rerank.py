"""Reranking: a model that reads both query and document rescores the first ranks of another
system's run. Every reranker is a combiner of one run. torch and its libraries are imported inside
the functions that compute."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from compute.base.errors import Unavailable, WrongInput
from compute.base.settings import Settings
from compute.systems.checkpoints import Checkpoint, OfCheckpoint
from compute.systems.neural import encoding, maxsim, multivector
from compute.systems.neural.weights import declared, loading, refuse_longer, torch_on
from compute.systems.searcher import AskWith, Limited, Request, limited, no_hits

# These are imported only for types, since the catalogue of systems must not load pandas.
if TYPE_CHECKING:
    from pandas import DataFrame, Series

PAIRS = 16_384
"""Number of pairs whose documents are in memory at once and sorted by length."""

Pair = tuple[str, str]
"""The text of a query and that of a document."""
Score = Callable[[list[Pair]], np.ndarray]
"""A function from pairs to their scores, (pairs,)."""


@dataclass(frozen=True)
class Reranker(OfCheckpoint, Limited):
    """Orders the first `depth` ranks of a run by a model's score and drops deeper ranks. A query
    without hits gets none. The document is `title + " " + text`, truncated to `max_length` word
    pieces including the query. Raises WrongInput for a depth below 1."""

    checkpoint: Checkpoint
    depth: int = limited(100, 1)

    PARAMETERS: ClassVar[tuple[str, ...]] = ("model", "depth")
    READS_DOCUMENTS: ClassVar[bool] = True

    def identity(self) -> dict[str, Any]:
        """Return the weights, the depth, and the fields of documents."""
        return self.checkpoint.identity() | {
            "depth": self.depth,
            "fields": ["title + ' ' + text"],
        }

    def check(self) -> None:
        """Raise Unavailable if a library or the weights are missing."""
        self.checkpoint.check("torch", "transformers", "sentence_transformers")

    def combine(
        self, inputs: Sequence[DataFrame], documents: Path | None, request: Request
    ) -> DataFrame:
        """Rescore the first ranks of the only input: query_id, doc_id, score."""
        top = _top(inputs, self.depth)
        # An imported run may answer queries that are not in the split.
        top = top[top["query_id"].isin(request.queries["query_id"])]
        if top.empty:
            return no_hits()
        texts = request.queries.set_index("query_id")["text"].fillna("")
        score, parts = self._scorer(request.settings), []
        for start in range(0, len(top), PAIRS):
            block = top.iloc[start : start + PAIRS]
            found = read_texts(documents, block["doc_id"])
            pairs = list(zip(texts.loc[block["query_id"]], found, strict=True))
            report = encoding.after(request.progress, start, len(top), "pairs")
            parts += encoding.by_length(score, pairs, report, [len(q) + len(d) for q, d in pairs])
        return top[["query_id", "doc_id"]].assign(score=np.array(parts, np.float64))

    @contextmanager
    def session(self, documents: Path | None, settings: Settings) -> Iterator[AskWith]:
        """Open a function that reranks the hits of a query; it also reads their documents."""
        score = self._scorer(settings)

        def ask(text: str, inputs: Sequence[DataFrame]) -> DataFrame:
            top = _top(inputs, self.depth)
            pairs = [(text, found) for found in read_texts(documents, top["doc_id"])]
            return top.assign(score=score(pairs) if pairs else [])

        yield ask

    def _scorer(self, settings: Settings) -> Score:
        """Load the model; returns a function from pairs to scores."""
        raise NotImplementedError


@dataclass(frozen=True)
class CrossEncoder(Reranker):
    """A model that reads query and document together and returns one number. The score is the raw
    number (the logit) rather than one from 0 to 1, where 32-bit floats cannot separate good
    documents. Both are truncated to `max_length` word pieces together, the longer one first. Raises
    WrongInput for a `max_length` below 3."""

    max_length: int = limited(512, 3)

    PARAMETERS: ClassVar[tuple[str, ...]] = ("model", "depth", "max_length")

    def identity(self) -> dict[str, Any]:
        """Return the weights, depth and truncation."""
        return super().identity() | {
            "ranker": "cross-encoder, logit",
            "max_length": self.max_length,
        }

    def _scorer(self, settings: Settings) -> Score:
        folder, device = self.checkpoint.folder(), settings.device
        _refuse_other_kinds(folder, self.model)
        torch = torch_on(settings)
        from sentence_transformers import CrossEncoder as Model

        with loading(folder):
            model = Model(
                str(folder), device=device, local_files_only=True, max_length=self.max_length
            )
        refuse_longer(model.config, self.model, self.max_length)
        if model.num_labels != 1:
            raise WrongInput(
                f"{self.model} gives {model.num_labels} numbers for a pair: a reranker gives one"
            )
        as_it_is = torch.nn.Identity()
        return lambda pairs: model.predict(
            pairs, batch_size=32, activation_fn=as_it_is, show_progress_bar=False
        )


@dataclass(frozen=True)
class LateReranker(Reranker):
    """Late interaction as a reranker: MaxSim of token vectors that are computed on demand. The
    query is truncated (and padded, if the model does so) to `query_length` word pieces and the
    document to `document_length`; 0 means the model's own length."""

    query_length: int = 0
    document_length: int = 0

    PARAMETERS: ClassVar[tuple[str, ...]] = ("model", "depth", "query_length", "document_length")

    def identity(self) -> dict[str, Any]:
        """Return the weights, depth and truncation."""
        return super().identity() | {
            "ranker": "MaxSim",
            "query_length": self.query_length,
            "document_length": self.document_length,
        }

    def check(self) -> None:
        """Raise Unavailable if a library or the weights are missing, or were never published."""
        if not self.model:
            raise Unavailable(
                "the paper's Polish ColBERT was never published: give the folder of a model, "
                "bm25+colbert-pl(model=/FOLDER)"
            )
        super().check()

    def _scorer(self, settings: Settings) -> Score:
        model = multivector.load(
            self.checkpoint.folder(),
            query_length=self.query_length,
            document_length=self.document_length,
            settings=settings,
        )
        queries, documents = multivector.queries(model), multivector.documents(model)

        def score(pairs: list[Pair]) -> np.ndarray:
            """Encode each distinct query once, and score its documents."""
            texts = list(dict.fromkeys(query for query, _ in pairs))
            vectors = dict(zip(texts, queries(texts), strict=True))
            rows = documents([document for _, document in pairs])
            counts = np.ones(1, np.int64)
            return np.array(
                [
                    maxsim.maxsim(vectors[query], row, counts * len(row))[0]
                    for (query, _), row in zip(pairs, rows, strict=True)
                ]
            )

        return score


def read_texts(documents: Path | None, ids: Series) -> list[str]:
    """Read the text of each document of `ids`, title first; only these are in memory. Raises
    Unavailable without documents, and WrongInput for an unknown id."""
    if documents is None:
        raise Unavailable(
            "a reranker needs texts, and the documents of this corpus are not here: "
            "import them with python -m compute import-dataset"
        )
    wanted = pa.array(ids.tolist(), pa.string())
    table = pq.read_table(
        documents,
        columns=["doc_id", "title", "text"],
        filters=pc.field("doc_id").isin(wanted.unique()),
    )
    known = pc.SetLookupOptions(table["doc_id"].combine_chunks().cast(pa.string()))
    places = pc.call_function("index_in", [wanted], known)
    if places.null_count:
        lost = wanted.filter(places.is_null())[0].as_py()
        raise WrongInput(
            f"the first stage found {lost!r}, which is not in the corpus: import its run again"
        )
    found = table.take(places)
    return [
        encoding.joined(title or "", text or "")
        for title, text in zip(found["title"].to_pylist(), found["text"].to_pylist(), strict=True)
    ]


def _top(inputs: Sequence[DataFrame], depth: int) -> DataFrame:
    """Return the first ranks of the only run."""
    (run,) = inputs
    return run[run["rank"] <= depth].reset_index(drop=True)


def _refuse_other_kinds(folder: Path, name: str) -> None:
    """Raise WrongInput for a model whose last layer would be initialised with random numbers."""
    if multivector.kind(folder) == "CrossEncoder":
        return
    kinds = declared(folder, "config.json").get("architectures") or ["nothing"]
    if not kinds[0].endswith("ForSequenceClassification"):
        raise WrongInput(
            f"{name} is not a cross-encoder (its config.json says {kinds[0]}): "
            "monot5(FIRST,MODEL) runs T5 rerankers, rerank-maxsim(FIRST,MODEL) late interaction"
        )
