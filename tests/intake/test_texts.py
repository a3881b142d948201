"""Texts are added to what is stored by its ids, and nothing else changes."""

import json
import shutil
from functools import partial
from pathlib import Path

import pytest

from compute.base.errors import Conflict, Missing, WrongInput
from compute.base.settings import Settings
from compute.datasets import Dataset, catalogue, dataset
from compute.datasets.shapes import How
from compute.exports.shipping import ship
from compute.intake import imports, texts
from compute.jobs.matrix import MISSING, cells
from compute.recompute import run
from compute.store import damage, freshness
from compute.store.loading import Bench
from compute.store.own_datasets import own_datasets
from compute.store.store import Part
from compute.systems import system
from tests.support.storage import open_store
from tests.support.tiny import DOCUMENTS, JUDGEMENTS, QUERIES, write_tiny

RUN = "q1 Q0 d1 1 3.0 mine\nq1 Q0 d2 2 2.0 mine\nq2 Q0 d2 1 1.0 mine\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_tiny(tmp_path / "beir")


@pytest.fixture
def alone(tmp_path: Path) -> tuple[Bench, Dataset]:
    """Judgements alone, and a run on them: ids stand for all texts."""
    now = Settings(home=tmp_path / "alone")
    bench = Bench(open_store(now.home), now)
    lines = "".join(f"{query} 0 {doc} {value}\n" for query, doc, value in JUDGEMENTS)
    (tmp_path / "qrels.txt").write_text(lines, "utf-8")
    imports.import_dataset(bench, "alone", qrels=tmp_path / "qrels.txt")
    row = dataset("alone", own_datasets(bench.store))
    (tmp_path / "mine.run").write_text(RUN, "utf-8")
    imports.import_run(bench, tmp_path / "mine.run", row)
    return bench, row


@pytest.fixture
def shipped(tmp_path: Path, folder: Path) -> Bench:
    """A home beside which a collection and a run on it ship, without texts."""
    now = Settings(home=tmp_path / "maker", latency_queries=0)
    maker = Bench(open_store(now.home), now)
    loaded = imports.import_dataset(maker, "tiny", path=folder)
    run.run(maker, system("bm25"), loaded.dataset)
    ship(maker.store, ["tiny"], folder=tmp_path / "out")
    there = Settings(home=tmp_path / "there")
    return Bench(open_store(there.home, shipped=tmp_path / "out"), there)


def _lacks(bench: Bench, name: str) -> bool:
    return texts.lacks_texts(bench.store.parts(), name)


def _runs(bench: Bench) -> list[Part]:
    fresh, stale = freshness.split(bench.store.parts())
    assert stale == []
    kinds = ("hits", "scores", "efficiency", "judgements")
    return [part for part in fresh if part.kind in kinds]


def test_judgements_that_came_alone_get_their_texts_and_keep_their_runs(
    alone: tuple[Bench, Dataset], folder: Path
) -> None:
    bench, row = alone
    assert _lacks(bench, "alone")
    before = _runs(bench)
    loaded = texts.add_texts(bench, row, folder)
    assert _runs(bench) == before
    assert not _lacks(bench, "alone")
    assert loaded.documents is not None and loaded.documents.rows == len(DOCUMENTS)
    asked = run.read(loaded.queries).set_index("query_id")["text"]
    assert asked.to_dict() == {row["_id"]: row["text"] for row in QUERIES}
    assert texts.said(loaded) == "texts of 6 documents and 3 queries"


def test_what_ships_gets_its_texts_and_keeps_its_runs_and_their_costs(
    shipped: Bench, folder: Path
) -> None:
    row = catalogue.own("tiny", split="test")
    before = _runs(shipped)
    assert {part.kind for part in before} >= {"hits", "scores", "efficiency"}
    zipped = Path(shutil.make_archive(str(folder.parent / "0"), "zip", folder.parent, folder.name))
    loaded = texts.add_texts(shipped, row, zipped, called="tiny.zip")
    assert _runs(shipped) == before and all(part.shipped for part in before)
    assert not _lacks(shipped, "tiny") and not loaded.queries.shipped
    assert [file["name"] for file in loaded.queries.provenance["source"]["files"]] == ["tiny.zip"]
    # What runs on it here is offered.
    ((_, cell),) = cells(shipped.store, [("bm25-wordpiece", "tiny")]).items()
    assert cell.state == MISSING


@pytest.mark.long
def test_another_version_of_what_ships_is_refused_and_nothing_written(
    shipped: Bench, folder: Path
) -> None:
    changed = [{**row, "text": row["text"].replace("dawn", "dusk")} for row in DOCUMENTS]
    lines = "".join(json.dumps(row) + "\n" for row in changed)
    (folder / "corpus.jsonl").write_text(lines, "utf-8")
    version = shipped.store.version()
    with pytest.raises(WrongInput, match=r"texts differ from those behind .* \(6 documents there"):
        texts.add_texts(shipped, catalogue.own("tiny", split="test"), folder)
    assert shipped.store.version() == version


@pytest.mark.long
def test_other_queries_than_those_that_ship_are_refused(shipped: Bench, folder: Path) -> None:
    changed = [{**row, "text": row["text"] + "?"} for row in QUERIES]
    lines = "".join(json.dumps(row) + "\n" for row in changed)
    (folder / "queries.jsonl").write_text(lines, "utf-8")
    with pytest.raises(WrongInput, match="differ from those behind the stored results"):
        texts.add_texts(shipped, catalogue.own("tiny", split="test"), folder)


def test_a_collection_without_a_stored_query_is_refused(
    alone: tuple[Bench, Dataset], folder: Path
) -> None:
    bench, row = alone
    lines = "".join(json.dumps(one) + "\n" for one in QUERIES[1:])
    (folder / "queries.jsonl").write_text(lines, "utf-8")
    with pytest.raises(WrongInput, match="1 query of alone, as 'q1', "):
        texts.add_texts(bench, row, folder)


def test_a_collection_with_few_of_the_judged_documents_is_refused(
    alone: tuple[Bench, Dataset], folder: Path
) -> None:
    bench, row = alone
    lines = "".join(json.dumps(one) + "\n" for one in DOCUMENTS[3:5])
    (folder / "corpus.jsonl").write_text(lines, "utf-8")
    with pytest.raises(WrongInput, match="1 of the 5 judged documents of alone"):
        texts.add_texts(bench, row, folder)


def test_a_dataset_of_runs_only_gets_no_documents_of_others(tmp_path: Path, folder: Path) -> None:
    now = Settings(home=tmp_path / "runs")
    bench = Bench(open_store(now.home), now)
    (tmp_path / "mine.run").write_text(RUN, "utf-8")
    topics = "".join(f"{one['_id']}\t{one['text']}\n" for one in QUERIES)
    (tmp_path / "topics.tsv").write_text(topics, "utf-8")
    files = [(tmp_path / "mine.run", How())]
    imports.import_dataset(bench, "runs", files=files, queries=tmp_path / "topics.tsv")
    row = dataset("runs", own_datasets(bench.store))
    imports.import_run(bench, tmp_path / "mine.run", row)
    strange = tmp_path / "strange.jsonl"
    strange.write_text(json.dumps(DOCUMENTS[3]) + "\n", "utf-8")
    with pytest.raises(WrongInput, match="0 of the 2 retrieved documents of runs"):
        texts.add_texts(bench, row, strange)
    whole = texts.add_texts(bench, row, folder / "corpus.jsonl")
    assert texts.said(whole) == "texts of 6 documents and 2 queries"
    assert not _lacks(bench, "runs")


def test_texts_need_no_judgements_beside_them(alone: tuple[Bench, Dataset], folder: Path) -> None:
    bench, row = alone
    (folder / "qrels" / "test.tsv").unlink()
    assert texts.add_texts(bench, row, folder).queries.rows == len(QUERIES)


def test_what_is_not_stored_or_has_its_texts_is_said(
    alone: tuple[Bench, Dataset], folder: Path
) -> None:
    bench, row = alone
    texts.add_texts(bench, row, folder)
    with pytest.raises(Conflict, match="the texts of alone are already here"):
        texts.add_texts(bench, row, folder)
    with pytest.raises(Missing, match="absent is not stored"):
        texts.add_texts(bench, catalogue.own("absent", split="test"), folder)


def _narratives(bench: Bench, row: Dataset) -> dict[str, str]:
    """The stored narratives by query."""
    part = run.stored_dataset(bench.store, row).narratives
    return dict(run.read(part)[["query_id", "text"]].to_numpy().tolist()) if part else {}


def _with_narratives(folder: Path, **told: str) -> Path:
    """Give queries of a BEIR folder these narratives, by id."""
    lines = [json.dumps(one | {"metadata": {"narrative": told.get(one["_id"])}}) for one in QUERIES]
    (folder / "queries.jsonl").write_text("\n".join(lines), "utf-8")
    return folder


def test_narratives_come_from_topics_and_stay(
    alone: tuple[Bench, Dataset], folder: Path, tmp_path: Path
) -> None:
    bench, row = alone
    topics = tmp_path / "topics"
    topics.write_text(
        "<top>\n<num>q1\n<title>t\n<narr>Any.\n<p>But\n</top>\n<top><num>x<title>x</top>"
    )
    before = {part.identity: part.fingerprint for part in bench.store.parts()}
    assert texts.add(bench, row, topics) == "narratives of 1 query"
    assert _narratives(bench, row) == {"q1": "Any. But"}
    now = {part.identity: part.fingerprint for part in bench.store.parts()}
    assert now.items() > before.items() and len(now) == len(before) + 1
    # A collection without narratives brings texts, and takes no narrative away.
    assert texts.add(bench, row, folder) == "texts of 6 documents and 3 queries"
    assert _narratives(bench, row) == {"q1": "Any. But"}
    with pytest.raises(WrongInput, match="no narrative of a query of alone, whose texts are"):
        texts.add(bench, row, folder)
    texts.add(bench, row, _with_narratives(folder, q2="Two."))
    assert _narratives(bench, row) == {"q2": "Two."}
    # What is lost comes from its source again, and narratives from elsewhere stay.
    documents = bench.store.part("documents", "alone")
    assert documents is not None
    documents.path.unlink()
    shutil.copytree(folder, tmp_path / "again")
    (tmp_path / "again" / "queries.jsonl").write_text(
        "".join(json.dumps(query) + "\n" for query in QUERIES), "utf-8"
    )
    imports.import_dataset(bench, "alone", path=tmp_path / "again", replace=False)
    assert _narratives(bench, row) == {"q2": "Two."}
    with pytest.raises(Missing, match="absent is not stored"):
        texts.add_narratives(bench, catalogue.own("absent", split="test"), folder)


def test_narratives_of_a_collection_join_those_that_are_stored(
    alone: tuple[Bench, Dataset], folder: Path, tmp_path: Path
) -> None:
    bench, row = alone
    lines = (json.dumps({"_id": name, "text": "t", "desc": f"of {name}"}) for name in ("q1", "q2"))
    (tmp_path / "queries.jsonl").write_text("\n".join(lines), "utf-8")
    assert texts.add(bench, row, tmp_path / "queries.jsonl") == "narratives of 2 queries"
    assert bench.store.part("documents", "alone") is None, "queries are no corpus"
    _with_narratives(folder, q2="Two.")
    with (folder / "queries.jsonl").open("a", encoding="utf-8") as file:
        file.write('\n{"_id": "other", "text": "t", "narrative": "n"}')
    texts.add(bench, row, folder)
    assert _narratives(bench, row) == {"q2": "Two.", "q1": "of q1"}


def test_narratives_change_with_their_dataset_only(bench: Bench, folder: Path) -> None:
    plain = shutil.copytree(folder, folder.with_name("plain"))
    imported = partial(imports.import_dataset, bench, "mine", replace=False)
    row = imported(path=_with_narratives(folder, q1="One.")).dataset
    assert _narratives(bench, row) == {"q1": "One."}
    imported(path=plain)
    assert _narratives(bench, row) == {"q1": "One."}, "the same queries, of which less is known"
    with pytest.raises(Conflict, match=r"mine is already stored here \(1 narratives would go\)"):
        imported(path=_with_narratives(plain, q1="Another."))
    (bench.store.home / "parts" / "narratives").rename(bench.store.home / "lost")
    assert _narratives(bench, row) == {}, "a score does not depend on them"
    (part,) = bench.store.parts("narratives")
    assert damage.mend(part).startswith("python -m compute add-texts mine FILE")
    imported(path=folder)
    assert _narratives(bench, row) == {"q1": "One."}
