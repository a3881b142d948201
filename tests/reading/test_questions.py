"""What an answer rests on: nothing that is published for other datasets changes it."""

import contextlib
import importlib
import inspect
import pkgutil
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from pandas import DataFrame
from pandas.testing import assert_frame_equal

from compute import views
from compute.base.settings import Settings
from compute.datasets import Dataset
from compute.intake import imports
from compute.reading import questions
from compute.reading.answers import Answers
from compute.reading.database import Reading, open_version
from compute.reading.questions import Holding
from compute.store.loading import Bench
from compute.store.store import Store
from compute.views.compare import select as compare_select
from compute.views.lengths import select as lengths_select
from compute.views.shared import catalogue, query_slices, standings
from tests.support import filled
from tests.support.tiny import write_tiny

ASKED: dict[str, Any] = {
    "dataset": "tiny",
    "datasets": ["tiny"],
    "english": ["tiny"],
    "polish": ["tiny"],
    "first_a": "one",
    "first_b": "",
    "collection": "tiny",
    "collections": ["tiny"],
    "systems": ["one", "two"],
    "system": "one",
    "other": "two",
    "a": "one",
    "b": "two",
    "baseline": "one",
    "measure": "nDCG@10",
    "key": "words",
    "value": "4 to 5",
    "name": "official",
    "source": "BEIR v1, Table 2",
    "sign": 1,
    "k": 10,
    "depth": 10,
    "steps": 4,
    "part": "d",
    "query_id": "q1",
    "query_ids": ["q1", "q3"],
    "doc_id": "d1",
    "doc_ids": ["d1", "d4"],
    "unit": "unigrams",
}
# All of them, whatever else was imported before.
for found in pkgutil.walk_packages(views.__path__, "compute.views."):
    importlib.import_module(found.name)
CONFINED = {
    query
    for query, asked in questions._DECLARED.items()
    if asked.confined and (asked.datasets or asked.collections)
}
QUERIES = sorted(CONFINED, key=lambda query: (query.__module__, query.__name__))


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    """A collection with two runs."""
    home = tmp_path / "home"
    filled.copied("questions", home, lambda made, _: added(made, "tiny", ("one", "two")))
    yield (bench := filled.bench(tmp_path))
    bench.store.close()


@pytest.fixture(scope="module")
def without_and_with(
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[list[tuple[Store, Reading]]]:
    """Such a home, and its copy with another collection and its runs."""
    folder = tmp_path_factory.mktemp("questions")
    with contextlib.ExitStack() as open_ones:

        def opened(name: str) -> Bench:
            settings = Settings(home=folder / name / "home", threads=1)
            store = Store(settings, shipped=folder / "nothing")
            open_ones.callback(store.close)
            return Bench(store, settings)

        added(without := opened("without"), "tiny", ("one", "two"))
        shutil.copytree(folder / "without", folder / "with")
        added(more := opened("with"), "another", ("one", "two", "three"))
        readings = [open_version(one.store) for one in (without, more)]
        for reading in readings:
            open_ones.callback(reading.close)
        yield [(one.store, reading) for one, reading in zip((without, more), readings, strict=True)]


def added(bench: Bench, name: str, systems: tuple[str, ...]) -> Dataset:
    """Import a collection, with the same ids as every other one, and runs."""
    path = write_tiny(bench.store.home.parent / f"of {name}")
    taken = imports.import_dataset(bench, name, path=path).dataset
    run(bench, taken, systems)
    return taken


def run(bench: Bench, dataset: Dataset, systems: tuple[str, ...]) -> None:
    """Import runs of systems, each with another document first."""
    for number, system in enumerate(systems):
        file = bench.store.home.parent / f"{dataset.name} {system}.run"
        ranks = (f"q1 Q0 d{1 + number} 1 {9 - number} t\n", "q3 Q0 d4 1 2.0 t\nq3 Q0 d1 2 1.0 t\n")
        file.write_text("".join(ranks))
        imports.import_run(bench, file, dataset, system=system)


def answer(reading: Reading, query: Callable[..., DataFrame]) -> DataFrame:
    with reading.cursor() as cursor:
        return query(cursor, **asked(query))


def asked(query: Callable[..., DataFrame]) -> dict[str, Any]:
    names = [*inspect.signature(query).parameters][1:]
    return {name: ASKED[name] for name in names if name in ASKED}


def under(store: Store, query: Callable[..., DataFrame]) -> Any:
    return Holding.of(store.parts()).under(query, asked(query))


# No table in print has these systems.
@pytest.mark.filterwarnings("ignore:invalid value encountered in cast")
@pytest.mark.parametrize("query", QUERIES, ids=lambda query: f"{query.__module__}.{query.__name__}")
def test_an_answer_about_a_dataset_rests_on_nothing_of_another(without_and_with, query):
    (before, reading), (after, other) = without_and_with
    assert len(after.parts()) > len(before.parts())
    assert under(before, query)
    assert under(after, query) == under(before, query)
    assert_frame_equal(answer(other, query), answer(reading, query))


def test_an_answer_rests_on_every_part_of_its_dataset(bench):
    rested = under(bench.store, compare_select.pairs)
    run(bench, Holding.of(bench.store.parts()).records["tiny"], ("three",))
    assert under(bench.store, compare_select.pairs) != rested


def test_a_query_about_everything_rests_on_everything(bench):
    holding = Holding.of(bench.store.parts())
    assert holding.under(compare_select.runs, {}) is None
    assert holding.under(lengths_select.medians, {"k": 10, "dataset": None}) is None


def test_a_dataset_of_parts_rests_on_all_of_them_and_on_their_collections():
    rested = Holding.of([]).under(standings.standing, {"datasets": ["cqadupstack"]})
    names = dict(rested or ())
    assert {"cqadupstack", "cqadupstack/android", "cqadupstack/wordpress"} <= names.keys()
    split = Holding.of([]).under(catalogue.facts, {"dataset": "msmarco/test"})
    assert dict(split or ()).keys() == {"msmarco", "msmarco/test"}


@pytest.mark.long
def test_pages_ask_again_only_for_what_changed(bench, monkeypatch):
    monkeypatch.setenv("BEIRSCOPE_HOME", str(bench.store.home))
    calls = []

    @questions.question(datasets=("dataset",))
    def counted(cursor: Any, dataset: str) -> DataFrame:
        calls.append(dataset)
        return cursor.execute("select count(*) as n from top where dataset = ?", [dataset]).df()

    answers = Answers(bench.store, query_slices.of_kind)

    def shown() -> int:
        store = bench.store
        version = store.version(), store.judgement_version()
        frame, _ = answers.read(version, None, counted, {"dataset": "tiny"})
        return int(frame["n"].iloc[0])

    try:
        before = shown()
        added(bench, "another", ("one",))
        judgement = {"dataset": "tiny", "query_id": "q3", "doc_id": "d4", "relevance": 1}
        by = {"person": "ada", "source": "person", "task": "", "guideline_version": ""}
        bench.store.add_judgements(pd.DataFrame([judgement | by]))
        assert shown() == before and calls == ["tiny"]
        run(bench, Holding.of(bench.store.parts()).records["tiny"], ("four",))
        assert shown() > before and calls == ["tiny", "tiny"]
    finally:
        questions._DECLARED.pop(counted)
