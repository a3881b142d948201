"""The known ids and facts of the dataset to which a run or qrels file belongs."""

from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from pandas import DataFrame

from compute.base.errors import Missing
from compute.datasets import Dataset
from compute.intake import by_text
from compute.store import damage
from compute.store.store import Part, Store


@dataclass(frozen=True)
class Known:
    """A dataset's ids, for comparison with those of a run or qrels file."""

    dataset: str
    query_ids: pa.ChunkedArray
    """Ids of the split's queries, as large strings."""
    doc_ids: pa.ChunkedArray | None = None
    """Ids of the corpus's documents, as large strings; None if unknown."""
    drop_self: bool | None = False
    """Whether documents whose id equals the query's are dropped; None if unknown."""
    depth: int = 1000
    """Hits stored per query."""
    texts: DataFrame | None = None
    """query_id and text of the queries; None if unknown."""
    judged: pa.Table | None = None
    """query_id, doc_id (large strings) and relevance of the judgements; None if unknown."""

    def by_ids(self, table: pa.Table, file: Path, fold: Path | bool = False) -> pa.Table:
        """Return a file's rows with query ids instead of texts; `fold` merges chunks."""
        if self.texts is not None:
            table = by_text.by_ids(table, self.texts, self.dataset, file)
        return by_text.folded(table, self.doc_ids, fold, file)[0] if fold else table


def known(store: Store, dataset: Dataset) -> Known:
    """Return the ids of a stored dataset. Raises Missing if it is not stored."""
    queries = store.part("queries", dataset.name)
    if queries is None:
        damage.refuse(store.parts("queries", dataset.name))
        raise Missing(
            f"{dataset.name} is not stored here: python -m compute run bm25 {dataset.name}"
        )
    # Lengths are shipped even where documents are not, so they tell which ids the corpus has.
    documents = store.part("lengths", dataset.collection)
    judgements = store.part("judgements", dataset.name)
    return Known(
        dataset.name,
        _ids(queries, "query_id"),
        _ids(documents, "doc_id") if documents else None,
        drop_self=dataset.drop_self,
        depth=store.settings.depth,
        texts=pq.read_table(queries.path, columns=["query_id", "text"]).to_pandas(),
        judged=pairs(judgements) if judgements else None,
    )


def pairs(judgements: Part) -> pa.Table:
    """Return stored judgements as a table: query_id, doc_id (large strings) and relevance."""
    kinds = {"query_id": pa.large_string(), "doc_id": pa.large_string(), "relevance": pa.int32()}
    return pq.read_table(judgements.path, columns=list(kinds)).cast(pa.schema(list(kinds.items())))


def _ids(part: Part, column: str) -> pa.ChunkedArray:
    return pq.read_table(part.path, columns=[column])[column].cast(pa.large_string())
