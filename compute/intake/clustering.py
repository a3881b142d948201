"""Clusters of a stored dataset's queries, stored as labels of the key `cluster`."""

import time

import numpy as np
from pandas import DataFrame

from compute.base import printable
from compute.base.errors import Conflict, Missing, WrongInput
from compute.base.settings import Settings
from compute.corpora import query_clusters
from compute.corpora.query_clusters import Clusters
from compute.corpora.stop_words import STOP_WORDS
from compute.datasets import Dataset
from compute.evaluate.slices import MOST_VALUES
from compute.intake import query_labels
from compute.recompute import run as recompute
from compute.store import provenance
from compute.store.loading import Bench
from compute.store.store import Part, Store
from compute.systems.catalogue import SYSTEMS
from compute.systems.neural import encoding
from compute.systems.neural.dense import Dense

KEY = "cluster"


def cluster(
    bench: Bench, dataset: Dataset, k: int = 0, *, replace: bool = False
) -> tuple[Part, Clusters]:
    """Publish the cluster of each query with a text; return the part and the clustering. `k` is the
    number of clusters, chosen automatically if 0. Raises Missing without stored texts, WrongInput
    for a dataset of parts and for too few queries, Conflict if the key has different labels and
    `replace` is false, and Unavailable without the model."""
    start = time.perf_counter()
    dataset.refuse_parts()
    if k and not 2 <= k <= MOST_VALUES:
        raise WrongInput(f"{k} clusters: ask for 2 to {MOST_VALUES}")
    rows = recompute.read(recompute.stored_dataset(bench.store, dataset).queries)
    rows = rows[rows["text"].fillna("").str.strip() != ""]
    if rows.empty:
        raise Missing(
            f"the queries of {dataset.name} are stored without text: python -m compute add-texts"
            f" {dataset.name}"
        )
    texts = [text.strip() for text in rows["text"]]
    # This is checked before the model is loaded, which takes seconds.
    query_clusters.possible(texts, k)
    if not replace:
        _require_own(bench.store, dataset.name)
    found = query_clusters.found(_vectors(texts, bench.settings), texts, STOP_WORDS, k)
    labels = DataFrame({"query_id": rows["query_id"].to_list(), "key": KEY, "value": found.names})
    words = ["cluster-queries", dataset.name, *(["--clusters", str(k)] if k else [])]
    told = {str(k): round(value, 4) for k, value in found.silhouettes.items()}
    facts = {"model": "minilm", "seed": query_clusters.SEED, "silhouettes": told}
    made = provenance.record(words, time.perf_counter() - start, **facts)
    part, _ = query_labels.put(bench.store, dataset.name, labels, made, replace=replace)
    return part, found


def _require_own(store: Store, dataset: str) -> None:
    """Raise Conflict if labels of this key came from a file."""
    part = store.part(query_labels.KIND, dataset)
    for made in query_labels.made_by_key(part).get(KEY, []) if part else []:
        if made.get("file"):
            raise Conflict(
                f"{dataset} has labels {KEY!r} from {printable.printable(made['file'])}:"
                " --replace replaces them with clusters"
            )


def _vectors(texts: list[str], settings: Settings) -> np.ndarray:
    """Return the texts' (n, d) vectors by all-MiniLM-L6-v2, whose weights come with a package."""
    system = SYSTEMS["minilm"].search
    assert isinstance(system, Dense)
    system.check()
    encode = system.encoder(settings, "queries")
    return np.stack(encoding.by_length(encode, texts))
