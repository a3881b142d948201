"""What the numbers of a view rest on, told by the frames that were read for it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from pandas import DataFrame

_SYSTEMS = ("systems", "system", "a", "b")
"""Parameters of a query that name systems."""


@dataclass(frozen=True)
class Shown:
    """Where numbers come from."""

    runs: frozenset[tuple[str, str]] = frozenset()
    """Dataset and system of stored runs."""
    datasets: frozenset[str] = frozenset()
    sources: frozenset[str] = frozenset()
    """Tables in print, as `published.results` calls them."""
    measures: frozenset[str] = frozenset()

    def __or__(self, other: "Shown") -> "Shown":
        return Shown(
            self.runs | other.runs,
            self.datasets | other.datasets,
            self.sources | other.sources,
            self.measures | other.measures,
        )


def of(frame: DataFrame, params: Mapping[str, Any]) -> Shown:
    """Where the numbers of a frame come from, which a query gave for these parameters.

    Nothing where it holds no numbers: it then only lists what may be picked. Where its columns do
    not name the runs, the parameters do: every system of theirs on every dataset.
    """
    # The columns of a map of ranks are the ranks, not words.
    numbers = not all(isinstance(name, str) for name in frame)
    if frame.empty or not (numbers or len(frame.select_dtypes("number").columns)):
        return Shown()
    measures = frozenset(_named(params, "measure"))
    printed = _named(params, "source") or _column(frame, "source")
    if printed and _systems(frame, params):
        return Shown(sources=frozenset(printed), measures=measures)
    runs = _runs(frame, params)
    datasets = {dataset for dataset, _ in runs}
    # Whole numbers without a system count what may be picked.
    if not runs and len(frame.select_dtypes("float").columns):
        datasets = {*_datasets(frame, params), *_column(frame, "other")}
    return Shown(frozenset(runs), frozenset(datasets), measures=measures)


def _runs(frame: DataFrame, params: Mapping[str, Any]) -> set[tuple[str, str]]:
    if {"dataset", "system"} <= set(frame):
        pairs = frame[["dataset", "system"]].drop_duplicates().dropna().to_numpy().tolist()
        return {(dataset, system) for dataset, system in pairs if system}
    systems = _systems(frame, params)
    return {(dataset, system) for dataset in _datasets(frame, params) for system in systems}


def _datasets(frame: DataFrame, params: Mapping[str, Any]) -> list[str]:
    return _column(frame, "dataset") or _named(params, "dataset", "datasets")


def _systems(frame: DataFrame, params: Mapping[str, Any]) -> list[str]:
    """The systems that the numbers are of; `other` is one beside a `system`, else a dataset."""
    named = _named(params, *_SYSTEMS, *(["other"] if "system" in params else []))
    return _column(frame, "system") or named


def _column(frame: DataFrame, name: str) -> list[str]:
    return [value for value in frame[name].dropna().unique() if value] if name in frame else []


def _named(params: Mapping[str, Any], *keys: str) -> list[str]:
    found: list[str] = []
    for key in keys:
        value = params.get(key)
        if isinstance(value, str):
            found += [value] if value else []
        elif isinstance(value, Iterable):
            found += [str(name) for name in value]
    return found
