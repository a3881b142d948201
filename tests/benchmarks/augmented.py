"""`bm25-augmented` trained and tested: the table of seeds, ablations and transfer.

    python -m tests.benchmarks.augmented [MODEL]

Trains on NFCorpus and on SciFact what is not trained yet in the home folder, searches both, and
prints nDCG@10 and R@100 beside `bm25-wordpiece` with a paired randomisation test, the pieces added
to a query, seconds and memory of the training. MODEL is the encoder (default: all-MiniLM-L6-v2).
"""

import sys
from collections.abc import Iterator

import numpy as np
import pyarrow.parquet as pq
from pandas import Series

from compute.base import settings
from compute.datasets import dataset
from compute.evaluate import significance
from compute.recompute import run, training
from compute.store.loading import Bench
from compute.store.store import Store
from compute.systems import system

PLAIN = "bm25-wordpiece"
COMMON = "precision=bfloat16,epochs=4,learning_rate=0.0001"
ABLATIONS = (
    "weights=none",
    "price=uniform",
    "vectors=words",
    "vectors=words,price=uniform",
)
ON = ("nfcorpus", "scifact")


def variants() -> Iterator[tuple[str, str, str]]:
    """Trained on, parameters, searched: three seeds, transfer of the first, ablations."""
    for trained in ON:
        for seed in (1, 2, 3):
            yield trained, f"seed={seed}", trained
        yield trained, "seed=1", next(name for name in ON if name != trained)
        for ablation in ABLATIONS:
            yield trained, f"seed=1,{ablation}", trained


def main(model: str = "sentence-transformers/all-MiniLM-L6-v2") -> None:
    """Print the table."""
    now = settings.load()
    bench = Bench(Store(now), now)
    for name in ON:
        run.run(bench, system(PLAIN), dataset(name))
    sys.stdout.write(
        "trained on | searched | variant | nDCG@10 | p | R@100 | p | pieces added | s | MB\n"
    )
    for trained, variant, searched in variants():
        text = f"bm25-augmented(model={model},{COMMON},{variant})"
        row = training.named(text, trained)
        made = training.train(bench, row, dataset(trained)).model
        run.run(bench, system(row.name), dataset(searched))
        told = [trained, searched, variant]
        for measure in ("nDCG@10", "R@100"):
            told += _tested(bench, searched, row.name, measure)
        told.append(_added(bench, searched, row.name))
        about = made.provenance
        told += [f"{about['train_seconds']:.0f}", f"{about['peak_memory_bytes'] / 1e6:.0f}"]
        sys.stdout.write(" | ".join(told) + "\n")
        sys.stdout.flush()


def _tested(bench: Bench, searched: str, name: str, measure: str) -> list[str]:
    """The mean with its difference to plain BM25 and that one's 95% interval, and p."""
    own, plain = (_values(bench, searched, of, measure) for of in (name, PLAIN))
    both = own.index.intersection(plain.index)
    found = significance.two(own[both].to_numpy(), plain[both].to_numpy())
    gain = f"{found.difference:+.4f} [{found.low:+.4f}, {found.high:+.4f}]"
    return [f"{own.mean():.4f} ({gain})", f"{found.p_randomisation:.4f}"]


def _values(bench: Bench, searched: str, name: str, measure: str) -> Series:
    part = bench.store.part("scores", searched, name)
    assert part is not None
    frame = pq.read_table(part.path).to_pandas()
    return frame[frame["measure"] == measure].set_index("query_id")["value"]


def _added(bench: Bench, searched: str, name: str) -> str:
    part = bench.store.part("augmented", searched, name)
    if part is None:
        return "–"
    frame = pq.read_table(part.path, columns=["query_id", "in_query"]).to_pandas()
    return f"{np.mean(frame.groupby('query_id')['in_query'].agg(lambda own: (~own).sum())):.1f}"


if __name__ == "__main__":
    main(*sys.argv[1:])
