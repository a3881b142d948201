"""Homes of collections that are judgements only, with three systems on each."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from compute.base.settings import Settings
from compute.datasets import Dataset
from compute.intake import imports
from compute.judgements import PERSON
from compute.store.loading import Bench
from compute.store.store import Store
from tests.support import filled
from tests.support.filled import HOSTILE

RANKS = {"good": 1, "alike": 1, HOSTILE: 6}
"""The rank that each system gives the relevant document of most queries."""
N_QUERIES = 40


def judged(home: Path) -> Path:
    """A home with two collections; on one a hole of each query was judged."""
    filled.copied("boards", home, _judge)
    return home


def _judge(bench: Bench, _: Path) -> Dataset:
    random = np.random.default_rng(1)
    for name in ("one", "two"):
        dataset = _dataset(bench, name, [f"q{q} 0 d{q} 1\n" for q in range(N_QUERIES)])
        for system, rank in RANKS.items():
            _run(bench, dataset, system, _lines(rank, random))
    about = {"person": "ada", "task": "", "guideline_version": "", "source": PERSON}
    rows = [{"dataset": "one", "query_id": f"q{q}", "doc_id": "x6"} for q in range(N_QUERIES)]
    bench.store.add_judgements(pd.DataFrame(rows).assign(relevance=1, **about))
    return dataset


def _lines(rank: int, random: np.random.Generator) -> list[str]:
    """Ten documents per query, the relevant one near a rank, the others unjudged."""
    lines = []
    for q in range(N_QUERIES):
        place = min(10, rank + int(random.integers(0, 3)))
        for at in range(1, 11):
            document = f"d{q}" if at == place else f"x{at if rank < 6 else 11 - at}"
            lines.append(f"q{q} Q0 {document} {at} {11 - at} t\n")
    return lines


def few(home: Path, n_queries: int, *names: str) -> Path:
    """A home with collections of which the systems answer half of the queries, or the only one."""
    bench = _bench(home)
    for name in names or ("few",):
        dataset = _dataset(bench, name, [f"q{q} 0 d 1\n" for q in range(n_queries)])
        for rank, system in enumerate(("good", "middling", "bad"), 1):
            lines = [
                f"q{q} Q0 {'d' if at == rank else f'x{at}'} {at} {9 - at} t\n"
                for q in range(max(n_queries // 2, 1))
                for at in (1, 2, 3)
            ]
            _run(bench, dataset, system, lines)
    return home


def _bench(home: Path) -> Bench:
    settings = Settings(home=home, threads=1)
    return Bench(Store(settings, shipped=home / "nothing"), settings)


def _dataset(bench: Bench, name: str, judgements: Sequence[str]) -> Dataset:
    file = bench.store.home.with_name("qrels.txt")
    file.write_text("".join(judgements), encoding="utf-8")
    return imports.import_dataset(bench, name, qrels=file).dataset


def _run(bench: Bench, dataset: Dataset, system: str, lines: Sequence[str]) -> None:
    file = bench.store.home.with_name("some.run")
    file.write_text("".join(lines), encoding="utf-8")
    imports.import_run(bench, file, dataset, system=system)
