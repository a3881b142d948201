import shutil
from pathlib import Path
from threading import Thread

import pandas as pd
import pytest

from compute.base.errors import Missing, Unavailable, WrongInput
from compute.base.locks import locked
from compute.base.settings import Settings
from compute.datasets import DATASETS, Dataset
from compute.intake import imports
from compute.recompute import pairs, run
from compute.recompute.run import Bench
from compute.store.own_datasets import own_datasets
from compute.store.run_versions import Version
from compute.store.store import Part
from compute.systems import SYSTEMS, system
from tests.support import filled
from tests.support.tiny import write_tiny


@pytest.fixture
def searched(tmp_path: Path) -> Bench:
    """The tiny collection, on which BM25 is run."""
    return filled.searched(tmp_path)


@pytest.fixture
def row(searched: Bench) -> Dataset:
    return own_datasets(searched.store)["tiny"]


@pytest.mark.long
def test_a_run_is_scored_and_published_whole_when_its_source_is_gone(
    bench: Bench, tiny: Dataset, tmp_path: Path
) -> None:
    shutil.rmtree(tmp_path / "tiny")
    outcome = run.run(bench, system("bm25"), tiny)
    assert outcome.new
    kinds = {part.kind for part in bench.store.parts(dataset="tiny")}
    counted = {"lengths", "length_counts", "efficiency"}
    assert kinds == {"documents", "queries", "judgements", "hits", "top", "scores"} | counted
    scores = run.read(outcome.scores).set_index(["query_id", "measure"])["value"]
    hits = run.read(outcome.hits)
    # q2 has two relevant documents, d2 and d3, and BM25 puts them first: both share its words.
    assert set(hits[hits["query_id"] == "q2"]["doc_id"][:2]) == {"d2", "d3"}
    assert scores["q2", "nDCG@10"] == pytest.approx(1)


@pytest.mark.long
def test_what_is_stored_is_not_computed_again(searched: Bench, row: Dataset) -> None:
    version, stored = searched.store.version(), searched.store.part("hits", "tiny", "bm25")
    second = run.run(searched, system("bm25(k1=0.9)"), row)
    assert (second.new, second.hits) == (False, stored)
    assert searched.store.version() == version
    assert run.run(searched, system("bm25"), row, again=True).hits.id != second.hits.id


@pytest.mark.long
def test_other_parameters_are_another_system(searched: Bench, row: Dataset) -> None:
    run.run(searched, system("bm25(b=0.9)"), row)
    names = {part.system for part in searched.store.parts("hits")}
    assert names == {"bm25", "bm25-multifield", "bm25(b=0.9)"}


def test_new_judgements_score_again_without_searching_again(
    searched: Bench, row: Dataset, tmp_path: Path
) -> None:
    first = run.run(searched, system("bm25"), row)
    folder = write_tiny(tmp_path / "tiny")
    with (folder / "qrels" / "test.tsv").open("a", encoding="utf-8") as file:
        file.write("q1\td4\t1\n")
    imports.import_dataset(searched, "tiny", path=folder, replace=True)
    second = run.run(searched, system("bm25"), row)
    assert (first.new, second.new) == (False, True)
    assert second.hits.id == first.hits.id
    assert second.scores.id != first.scores.id


@pytest.mark.long
def test_a_changed_corpus_is_searched_again(searched: Bench, row: Dataset, tmp_path: Path) -> None:
    first = run.run(searched, system("bm25"), row)
    folder = write_tiny(tmp_path / "tiny")
    with (folder / "corpus.jsonl").open("a", encoding="utf-8") as file:
        file.write('{"_id": "d7", "title": "", "text": "ships ships ships"}\n')
    imports.import_dataset(searched, "tiny", path=folder, replace=True)
    second = run.run(searched, system("bm25"), row)
    assert second.hits.fingerprint != first.hits.fingerprint
    assert "d7" in set(run.read(second.hits)["doc_id"])


@pytest.mark.long
def test_self_hits_leave_before_the_cut(bench: Bench, tmp_path: Path) -> None:
    now = Settings(home=bench.settings.home, threads=1, depth=2, latency_queries=0)
    folder = write_tiny(tmp_path / "own")
    queries = folder / "queries.jsonl"
    queries.write_text(queries.read_text("utf-8").replace('"q1"', '"d1"'), encoding="utf-8")
    qrels = folder / "qrels" / "test.tsv"
    qrels.write_text(qrels.read_text("utf-8").replace("q1\t", "d1\t"), encoding="utf-8")
    shallow = Bench(bench.store, now)
    kept = imports.import_dataset(shallow, "kept", path=folder).dataset
    dropped = imports.import_dataset(shallow, "dropped", path=folder, drop_self=True).dataset
    for row, answers in ((kept, 2), (dropped, 2)):
        hits = run.read(run.run(shallow, system("bm25"), row).hits)
        found = hits[hits["query_id"] == "d1"]["doc_id"]
        assert len(found) == answers
        assert ("d1" in set(found)) == (row is kept)


def test_a_system_that_cannot_run_is_refused_before_anything_is_read(bench: Bench) -> None:
    with pytest.raises(Unavailable, match="seal is published figures only"):
        run.run(bench, SYSTEMS["seal"], DATASETS["scifact"])
    assert bench.store.version() == 0


def test_a_dataset_that_is_nowhere_is_missing_with_the_next_step(bench: Bench) -> None:
    with pytest.raises(Missing, match=r"put the archive scifact\.zip"):
        run.run(bench, system("bm25"), DATASETS["scifact"])


@pytest.mark.long
def test_a_run_with_a_version_waits_for_what_else_takes_the_place(
    searched: Bench, row: Dataset
) -> None:
    first = searched.store.part("hits", "tiny", "bm25")
    how = {"again": True, "version": Version()}
    other = Thread(target=run.run, args=[searched, system("bm25"), row], kwargs=how)
    with locked(searched.store.home / "locks" / "import.lock"):
        other.start()
        other.join(1)
        assert searched.store.part("hits", "tiny", "bm25") == first
    other.join()
    assert searched.store.part("hits", "tiny", "bm25") != first


def test_a_collection_without_documents_cannot_be_searched(bench: Bench, tmp_path: Path) -> None:
    qrels = tmp_path / "qrels.txt"
    qrels.write_text("1 0 a 1\n1 0 b 0\n", encoding="utf-8")
    row = imports.import_dataset(bench, "bare", qrels=qrels).dataset
    with pytest.raises(WrongInput, match="no documents to search"):
        run.run(bench, system("bm25"), row)


def test_scores_are_those_of_the_stored_ranking(searched: Bench, row: Dataset) -> None:
    outcome, loaded = (
        run.run(searched, system("bm25"), row),
        run.stored_dataset(searched.store, row),
    )
    again = run.score(searched, loaded, outcome.hits)
    assert not again.new
    forced = run.score(searched, loaded, outcome.hits, again=True)
    pd.testing.assert_frame_equal(run.read(forced.scores), run.read(outcome.scores))


def test_everything_that_changes_the_hits_changes_their_name(bench: Bench, tmp_path: Path) -> None:
    folder = write_tiny(tmp_path / "tiny")
    row = imports.import_dataset(bench, "tiny", path=folder).dataset
    (folder / "other").mkdir()
    other_folder = write_tiny(folder / "other" / "x")
    for file, old, new in (
        ("queries.jsonl", "ships in", "boats in"),
        ("corpus.jsonl", "Ships", "Boats"),
    ):
        path = other_folder / file
        path.write_text(path.read_text("utf-8").replace(old, new), encoding="utf-8")
    other = imports.import_dataset(bench, "other", path=other_folder)
    loaded = run.stored_dataset(bench.store, row)
    documents, others = loaded.documents, other.documents
    assert documents is not None
    assert others is not None

    def name(
        title: str = "bm25",
        queries: run.Loaded = loaded,
        corpus: Part = documents,
        depth: int = 10,
        drop_self: bool = False,
    ) -> str:
        chosen = system(title)
        assert chosen.search is not None
        found = pairs.names(
            chosen, chosen.search, queries, corpus, depth=depth, drop_self=drop_self
        )
        return found.hits

    made = [
        name(),
        name("bm25(k1=1.2)"),
        name("bm25-multifield"),
        name(queries=other),
        name(corpus=others),
        name(depth=11),
        name(drop_self=True),
    ]
    assert len(set(made)) == len(made)
    assert name() == made[0]
