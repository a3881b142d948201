"""Similarity of translated texts and their originals, by a multilingual encoder (BEIR-PL)."""

import random
import time
from collections.abc import Sequence

import numpy as np
import pyarrow.parquet as pq
from pandas import DataFrame

from compute.base.errors import Missing, WrongInput
from compute.base.result_identity import fingerprint
from compute.datasets import Dataset
from compute.store import loading, provenance
from compute.store.loading import Bench, Loaded
from compute.store.store import Part
from compute.systems import system
from compute.systems.neural import encoding
from compute.systems.neural.dense import Dense


def similarity(
    bench: Bench, one: Dataset, other: Dataset, encoder: str = "labse", n: int = 100, seed: int = 0
) -> DataFrame:
    """Compare texts of two datasets that have equal ids; store and return `of` (queries or
    documents), pairs, mean, sd. The similarity of a pair is the cosine of its vectors, for n random
    pairs. Raises WrongInput unless the system is a dense encoder, and Missing without equal ids."""
    start, row = time.perf_counter(), system(encoder)
    method = row.search
    if not isinstance(method, Dense):
        raise WrongInput(
            f"{encoder} does not encode texts as vectors: name a dense system, such as labse"
        )
    method.check()
    sides = [loading.load(bench, dataset) for dataset in (one, other)]
    found, texts = _compared(method.encoder(bench.settings, "documents"), sides, n, seed)
    if found.empty:
        raise Missing(f"{one.name} and {other.name} have no texts with equal ids")
    words = ["translation", one.name, other.name, "--system", row.name]
    words += ["--pairs", str(n), "--seed", str(seed)]
    inputs = {f"{part.kind}:{part.dataset}": part.fingerprint for part in texts}
    made = provenance.record(words, time.perf_counter() - start, inputs=inputs)
    mark = fingerprint("translation", [*inputs.values()], by=method.identity(), n=n, seed=seed)
    about = {"dataset": other.name, "system": row.name, "provenance": made, "fingerprint": mark}
    with bench.store.publishing(f"translation of {other.name}") as publication:
        publication.add("translation", found, **about)
    return found


def _compared(
    encode: encoding.Encode, sides: Sequence[Loaded], n: int, seed: int
) -> tuple[DataFrame, list[Part]]:
    """Return the rows of `similarity`, and the parts that were compared."""
    rows, texts = [], list[Part]()
    for part, key in (("queries", "query_id"), ("documents", "doc_id")):
        stored = [getattr(side, part) for side in sides]
        if None in stored:
            continue
        read = [_texts(kept.path, key) for kept in stored]
        ids = sorted(set(read[0]) & set(read[1]))
        drawn = random.Random(seed).sample(ids, min(n, len(ids)))
        if drawn:
            cosines = _cosines(encode, *([of[name] for name in drawn] for of in read))
            rows.append((part, len(drawn), cosines.mean(), cosines.std()))
            texts += stored
    return DataFrame(rows, columns=["of", "pairs", "mean", "sd"]), texts


def _texts(path: object, key: str) -> dict[str, str]:
    columns = [name for name in ("title", "text") if name in pq.read_schema(path).names]
    rows = pq.read_table(path, columns=[key, *columns]).to_pylist()
    texts = {row[key]: " ".join(row[name] or "" for name in columns).strip() for row in rows}
    return {name: text for name, text in texts.items() if text}


def _cosines(encode: encoding.Encode, one: list[str], other: list[str]) -> np.ndarray:
    sides = [np.stack(encoding.by_length(encode, of)) for of in (one, other)]
    units = [side / np.linalg.norm(side, axis=1, keepdims=True) for side in sides]
    return (units[0] * units[1]).sum(axis=1)
