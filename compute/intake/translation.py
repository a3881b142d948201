"""How near translated texts are to the originals by a multilingual encoder (BEIR-PL, Table 2)."""

import random

import numpy as np
import pyarrow.parquet as pq
from pandas import DataFrame

from compute.base.errors import Missing, WrongInput
from compute.datasets import Dataset
from compute.store import loading
from compute.store.loading import Bench
from compute.systems import system
from compute.systems.neural import encoding
from compute.systems.neural.dense import Dense


def similarity(
    bench: Bench, one: Dataset, other: Dataset, encoder: str = "labse", n: int = 100, seed: int = 0
) -> DataFrame:
    """Texts of two datasets with equal ids: part (queries, documents), pairs, mean, sd.

    The cosine of the vectors of n pairs, drawn with a seed. Raises WrongInput for a system that is
    no dense encoder, Missing where no ids are equal.
    """
    method = system(encoder).search
    if not isinstance(method, Dense):
        raise WrongInput(f"{encoder} gives no vector of a text: name a dense system, such as labse")
    method.check()
    sides = [loading.load(bench, dataset) for dataset in (one, other)]
    encode, rows = method.encoder(bench.settings, "documents"), []
    for part, key in (("queries", "query_id"), ("documents", "doc_id")):
        stored = [getattr(side, part) for side in sides]
        if None in stored:
            continue
        texts = [_texts(kept.path, key) for kept in stored]
        ids = sorted(set(texts[0]) & set(texts[1]))
        drawn = random.Random(seed).sample(ids, min(n, len(ids)))
        if drawn:
            cosines = _cosines(encode, *([of[name] for name in drawn] for of in texts))
            rows.append((part, len(drawn), cosines.mean(), cosines.std()))
    if not rows:
        raise Missing(f"{one.name} and {other.name} have no texts with equal ids")
    return DataFrame(rows, columns=["part", "pairs", "mean", "sd"])


def _texts(path: object, key: str) -> dict[str, str]:
    columns = [name for name in ("title", "text") if name in pq.read_schema(path).names]
    rows = pq.read_table(path, columns=[key, *columns]).to_pylist()
    texts = {row[key]: " ".join(row[name] or "" for name in columns).strip() for row in rows}
    return {name: text for name, text in texts.items() if text}


def _cosines(encode: encoding.Encode, one: list[str], other: list[str]) -> np.ndarray:
    sides = [np.stack(encoding.by_length(encode, of, list(map(len, of)))) for of in (one, other)]
    units = [side / np.linalg.norm(side, axis=1, keepdims=True) for side in sides]
    return (units[0] * units[1]).sum(axis=1)
