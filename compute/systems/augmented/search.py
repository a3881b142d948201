"""Search with an augmented query: BM25 over word pieces, each with its own weight. Lucene gets the
weights w (bow + a) as boosts, without IDF, which Lucene applies itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from compute.base.settings import Settings
from compute.systems.checkpoints import Checkpoint, OfCheckpoint
from compute.systems.lexical import anserini, lucene
from compute.systems.lexical.bm25 import WordPiece
from compute.systems.neural import weights
from compute.systems.searcher import Ask, Request

# These are imported only for types, since the catalogue of systems must not load pandas.
if TYPE_CHECKING:
    from pandas import DataFrame

    from compute.systems.augmented.model import Augmenter

AT_ONCE = 32
"""Number of queries encoded together."""
COLUMNS = ["query_id", "piece", "in_query", "weight"]

Weighted = list[tuple[str, bool, float]]
"""An augmented query: (piece, whether the query contains it, w (bow + a)) of each term."""


@dataclass(frozen=True)
class Augmented(OfCheckpoint, WordPiece):
    """BM25 over word pieces, whose queries a trained model augments and weights. It searches the
    index of `bm25-wordpiece`. Pieces with weight 0 are not searched."""

    checkpoint: Checkpoint = field(kw_only=True)
    bm25: bool = True
    """True if a matching piece scores by BM25; otherwise it scores 1, as in a bag of words."""

    PARAMETERS: ClassVar[tuple[str, ...]] = ()

    def identity(self) -> dict[str, Any]:
        """Return the index, its ranking, and the trained model."""
        own = {"ranker": "augmented query", "bm25": self.bm25, "k1": self.k1, "b": self.b}
        return self.index_identity() | own | {"checkpoint": self.checkpoint.identity()}

    def check(self) -> None:
        """Raise Unavailable if Java, a library, the vocabulary or the model is missing."""
        super().check()
        self.checkpoint.check("torch", "transformers")

    def search(self, folder: Path, request: Request) -> DataFrame:
        """Search augmented queries: query_id, doc_id, score. At the cut-off, ties go to the first
        ids."""
        asked = self._augment(request.texts, request.settings)
        texts = [boosts(query) for query in asked]
        return lucene.search_singly(folder, request, texts, self._options())

    def queries(self, queries: DataFrame, settings: Settings) -> DataFrame:
        """Return the augmented terms of each of `queries` (query_id, text): query_id, piece,
        in_query, weight. The pieces of the query come first, in its order, including those with
        weight 0."""
        from pandas import DataFrame

        asked = self._augment(queries["text"].fillna("").tolist(), settings)
        rows = [
            (query_id, *row)
            for query_id, query in zip(queries["query_id"], asked, strict=True)
            for row in query
        ]
        return DataFrame(rows, columns=COLUMNS)

    @contextmanager
    def session(self, folder: Path, settings: Settings) -> Iterator[Ask]:
        """Open a function that encodes and answers one query; the hits stay in Lucene's process."""
        augment = _augmenter(self.checkpoint, settings)
        with anserini.session(folder / "lucene", self._options(), settings) as ask:

            def answer(text: str, depth: int) -> object:
                asked = boosts(augment([text])[0])
                return ask(asked, depth) if asked else 0

            yield answer

    def _augment(self, texts: list[str], settings: Settings) -> list[Weighted]:
        """Augment texts, AT_ONCE at a time."""
        augment = _augmenter(self.checkpoint, settings)
        found: list[Weighted] = []
        for start in range(0, len(texts), AT_ONCE):
            found += augment(texts[start : start + AT_ONCE])
        return found

    def _options(self) -> list[str]:
        boosts = ["-boosts", "bm25" if self.bm25 else "one"]
        return [*super()._options(), *self._analysis(), *boosts]


def boosts(query: Weighted) -> str:
    """Write the pieces of an augmented query and their boosts as input to the search session."""
    return " ".join(f"{piece} {weight!r}" for piece, _, weight in query if weight > 0)


def _augmenter(checkpoint: Checkpoint, settings: Settings) -> Callable[[list[str]], list[Weighted]]:
    """Load the model; returns a function from texts to augmented queries."""
    weights.torch_on(settings)
    from compute.systems.augmented import model, vectors

    loaded: Augmenter = model.load(checkpoint.folder())
    pieces, names = vectors.piece_ids(), vectors.names()

    def augment(texts: list[str]) -> list[Weighted]:
        read = [pieces(text) for text in texts]
        found = model.weights(loaded, loaded.batch(read))
        # A query without words is not searched.
        return [
            [(names[piece], own, weight) for piece, own, weight in query] if known else []
            for query, known in zip(found, read, strict=True)
        ]

    return augment
