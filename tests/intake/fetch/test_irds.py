"""Datasets of ir_datasets, from a stand-in for that package, which is not installed here."""

import sys
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest

from compute.__main__ import main
from compute.base.errors import Conflict, Missing, Unavailable, WrongInput
from compute.datasets import dataset
from compute.intake.fetch import irds
from compute.recompute.run import read
from compute.store import loading
from compute.store.loading import Bench
from compute.store.own_datasets import own_datasets
from tests.support.tiny import DOCUMENTS, JUDGEMENTS, QUERIES


class _Titled(NamedTuple):
    doc_id: str
    title: str
    text: str


class _Fields(NamedTuple):
    query_id: str
    description: str
    narrative: str | None = None

    def default_text(self) -> str:
        return self.description


class _Judgement(NamedTuple):
    query_id: str
    doc_id: str
    relevance: int
    iteration: str


class _Tiny:
    """What the package gives for a name."""

    def __init__(self, *, qrels: bool = True, cut: bool = False) -> None:
        self._qrels, self._cut = qrels, cut

    def has_docs(self) -> bool:
        return True

    def has_queries(self) -> bool:
        return True

    def has_qrels(self) -> bool:
        return self._qrels

    def docs_iter(self) -> Iterator[_Titled]:
        for record in DOCUMENTS:
            yield _Titled(record["_id"], record["title"], record["text"])
        if self._cut:
            raise RuntimeError("expected md5 a to be b\nmore")

    def queries_iter(self) -> Iterator[_Fields]:
        return (_Fields(one["_id"], one["text"], f"of {one['_id']}") for one in QUERIES)

    def qrels_iter(self) -> Iterator[_Judgement]:
        return (_Judgement(*row, "0") for row in JUDGEMENTS)


@pytest.fixture
def package(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The datasets of the package, by name."""
    known: dict[str, Any] = {
        "tiny/test": _Tiny(),
        "tiny": _Tiny(qrels=False),
        "cut": _Tiny(cut=True),
    }
    monkeypatch.setitem(sys.modules, "ir_datasets", SimpleNamespace(load=known.__getitem__))
    return known


def test_a_dataset_of_the_package_becomes_an_own_one(
    bench: Bench,
    package: dict[str, Any],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("BEIRSCOPE_HOME", str(bench.settings.home))
    assert main(["fetch", "irds:tiny/test"]) == 0
    assert "tiny-test: 6 documents, 3 queries, 5 judgements" in capsys.readouterr().out
    stored = loading.stored(bench.store, dataset("tiny-test", own_datasets(bench.store)))
    assert stored is not None and stored.documents is not None and stored.narratives
    assert set(read(stored.narratives)["text"]) == {"of q1", "of q2", "of q3"}
    assert irds.fetch(bench, "irds:tiny/test", called="mine").dataset.name == "mine"
    names = [path.name for path in (bench.settings.home / "datasets").glob("[!.]*")]
    assert sorted(names) == ["mine.zip", "tiny-test.zip"]
    assert main(["fetch", "irds:tiny/test", "scifact"]) == 2


def test_what_the_package_cannot_bring_gets_a_sentence(
    bench: Bench, package: dict[str, Any]
) -> None:
    with pytest.raises(Missing, match="ir_datasets has no dataset 'tyni'"):
        irds.fetch(bench, "irds:tyni")
    with pytest.raises(WrongInput, match="tiny of ir_datasets has no judgements"):
        irds.fetch(bench, "irds:tiny")
    with pytest.raises(Unavailable, match=r"could not load cut: expected md5 a to be b$"):
        irds.fetch(bench, "irds:cut")
    with pytest.raises(Conflict, match="'scifact' is a dataset of the catalogue"):
        irds.fetch(bench, "irds:tiny/test", called="scifact")
    with pytest.raises(WrongInput, match="dataset name"):
        irds.fetch(bench, "irds:tiny/test", called="../evil")
    left = [path.name for path in (bench.settings.home / "datasets").iterdir()]
    assert [name for name in left if not name.endswith(".lock")] == []


def test_without_the_package_it_is_named(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ir_datasets", None)
    with pytest.raises(Unavailable, match="need the package ir_datasets: pip install ir_datasets"):
        irds.fetch(bench, "irds:antique/test")
