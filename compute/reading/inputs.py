"""Inputs of a view's numbers, from the queries that it asked."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Any

from pandas import DataFrame

from compute.datasets import published
from compute.reading.questions import Question, named
from compute.store.store import Part


@dataclass(frozen=True)
class Inputs:
    """The runs, datasets and published tables behind some numbers."""

    runs: frozenset[tuple[str, str]] = frozenset()
    """(dataset, system) of stored runs."""
    datasets: frozenset[str] = frozenset()
    sources: frozenset[str] = frozenset()
    """Published tables, named as in `published.results`."""
    measures: frozenset[str] = frozenset()
    samples: frozenset[tuple[tuple[str, str | int], ...]] = frozenset()
    """For estimates: the names and values of the inputs of each sample."""

    def __or__(self, other: "Inputs") -> "Inputs":
        names = [field.name for field in fields(self)]
        return Inputs(*(getattr(self, name) | getattr(other, name) for name in names))


def papers(parts: Iterable[Part]) -> dict[str, str]:
    """Return each published table's citation by its source; `parts` include imported tables."""
    known = published.results()[["source", "paper"]].drop_duplicates("source")
    own = {part.dataset: part.provenance["paper"] for part in parts if part.kind == "printed"}
    return dict(zip(known["source"], known["paper"], strict=True)) | own


def of_sample(about: Mapping[str, str | int], measure: str) -> Inputs:
    """Return the inputs of numbers that were estimated from a sample."""
    return Inputs(measures=frozenset([measure]), samples=frozenset([tuple(about.items())]))


def of(frame: DataFrame, asked: Question, params: Mapping[str, Any]) -> Inputs:
    """Return the inputs of the numbers that a query returned for these parameters; none if there
    are no rows. If its columns do not name the runs, the parameters do: each of their systems on
    each dataset, or only the datasets if no system is named."""
    if frame.empty or not asked.shows:
        return Inputs()
    measures = frozenset(named(params, ["measure"]))
    if asked.shows == "tables in print":
        printed = named(params, ["source"]) or _column(frame, "source")
        return Inputs(sources=frozenset(printed), measures=measures)
    runs = _runs(frame, asked, params) if asked.shows == "runs" else set[tuple[str, str]]()
    datasets = {dataset for dataset, _ in runs}
    if not runs:
        datasets = {*_datasets(frame, asked, params), *_column(frame, "other")}
    return Inputs(frozenset(runs), frozenset(datasets), measures=measures)


def _runs(frame: DataFrame, asked: Question, params: Mapping[str, Any]) -> set[tuple[str, str]]:
    if {"dataset", "system"} <= set(frame):
        pairs = frame[["dataset", "system"]].drop_duplicates().dropna().to_numpy().tolist()
        return {(dataset, system) for dataset, system in pairs if system}
    systems = _column(frame, "system") or named(params, asked.systems)
    return {(dataset, system) for dataset in _datasets(frame, asked, params) for system in systems}


def _datasets(frame: DataFrame, asked: Question, params: Mapping[str, Any]) -> list[str]:
    return _column(frame, "dataset") or named(params, asked.datasets)


def _column(frame: DataFrame, name: str) -> list[str]:
    return [value for value in frame[name].dropna().unique() if value] if name in frame else []
