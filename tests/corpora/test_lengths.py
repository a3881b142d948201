"""Document lengths: worked by hand, against NumPy on the lengths themselves, kept up to date."""

import json
import os
import shutil
from collections.abc import Sequence
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pandas import DataFrame

from compute.__main__ import main
from compute.base.errors import Missing, WrongInput
from compute.base.settings import Settings
from compute.corpora import lengths
from compute.datasets import DATASETS, Dataset
from compute.datasets.reading import open_path
from compute.intake import imports
from compute.jobs.kinds import KINDS
from compute.jobs.steps import STEPS
from compute.reading.database import open_version
from compute.recompute import run as recompute
from compute.recompute.run import Bench
from compute.store import freshness
from compute.store.loading import load
from compute.store.parts import KINDS as PARTS
from compute.store.parts import write_part
from compute.store.store import Store
from compute.views.lengths import select as queries
from tests.support.tiny import DOCUMENTS

RUN = "q1 Q0 d1 1 3.0 mine\nq1 Q0 d2 2 2.0 mine\nq2 Q0 d2 1 1.0 mine\nq2 Q0 gone 2 0.5 mine\n"
REFERENCE = os.environ.get("BEIRSCOPE_REFERENCE", "")


def run_file(tmp_path: Path, text: str = RUN) -> Path:
    file = tmp_path / "some.run"
    file.write_text(text, encoding="utf-8")
    return file


def part(folder: Path, kind: str, **columns: Sequence[object]) -> Path:
    """A part of the dataset `toy` on the disk."""
    path = folder / f"{kind}.parquet"
    write_part(path, PARTS[kind], DataFrame(columns), {"dataset": "toy"})
    return path


def rows(table: pa.Table) -> list[tuple[object, ...]]:
    return [tuple(row.values()) for row in table.to_pylist()]


def test_a_dataset_worked_by_hand(tmp_path: Path) -> None:
    known = part(tmp_path, "lengths", doc_id=["d1", "d2", "d3", "d4"], n_words=[3, 5, 5, 0])
    asked = part(tmp_path, "queries", query_id=["q1", "q2"], text=["a b", "a b"], n_words=[2, 2])
    judged = part(
        tmp_path,
        "judgements",
        query_id=["q1", "q1", "q2", "q2", "q2"],
        doc_id=["d1", "d2", "d2", "d3", "not in the corpus"],
        relevance=[2, 0, 1, 1, 1],
    )
    assert rows(lengths.of_dataset(known, asked, judged)) == [
        ("corpus", 0, 0, 1),
        ("corpus", 0, 3, 1),
        ("corpus", 0, 5, 2),
        # d2 is judged twice, for two queries, and counts for each.
        ("judged", 0, 5, 1),
        ("judged", 1, 5, 2),
        ("judged", 2, 3, 1),
        ("queries", 0, 2, 2),
    ]


def test_queries_without_texts_have_no_lengths(tmp_path: Path) -> None:
    known = part(tmp_path, "lengths", doc_id=["d1"], n_words=[3])
    asked = part(tmp_path, "queries", query_id=["q1"], text=[None], n_words=[0])
    judged = part(tmp_path, "judgements", query_id=["q1"], doc_id=["d1"], relevance=[1])
    counts = lengths.of_dataset(known, asked, judged)
    assert set(counts["of"].to_pylist()) == {"corpus", "judged"}


def test_a_run_worked_by_hand(tmp_path: Path) -> None:
    known = part(tmp_path, "lengths", doc_id=["d1", "d2"], n_words=[3, 5])
    hits = DataFrame(
        {
            "doc_id": ["d1", "d2", "d2", "d1", "d1", "nowhere"],
            "rank": [1, 2, 1, 10, 11, 2],
            "score": 1.0,
        }
    )
    assert rows(lengths.of_run(hits, known)) == [
        ("top", 1, 3, 1),
        ("top", 1, 5, 1),
        ("top", 2, 5, 1),
        ("top", 10, 3, 1),
    ]


def test_a_text_of_white_space_is_an_empty_text(tmp_path: Path) -> None:
    texts = ["", " \n\t", "\u00a0\u3000", "a", " b "]
    documents = part(
        tmp_path,
        "documents",
        doc_id=[str(number) for number, _ in enumerate(texts)],
        title=["a title"] * len(texts),
        text=texts,
        n_words=[2, 2, 2, 3, 3],
    )
    assert lengths.empty_texts(documents) == 3


def test_what_is_imported_is_counted_at_once(bench: Bench, tiny: Dataset, tmp_path: Path) -> None:
    own = bench.store.part("length_counts", "tiny")
    assert own is not None
    assert own.provenance["empty_texts"] == 0
    imports.import_run(bench, run_file(tmp_path), tiny)
    run = bench.store.part("length_counts", "tiny", "mine")
    assert run is not None
    assert run.provenance["hits_without_length"] == 1
    # d1 has 8 words, title and text together, and d2 has 9.
    assert rows(recompute_table(run.path)) == [("top", 1, 8, 1), ("top", 1, 9, 1), ("top", 2, 9, 1)]
    assert lengths.count(bench, recompute.stored_dataset(bench.store, tiny)) == 0
    assert lengths.count(bench, recompute.stored_dataset(bench.store, tiny), again=True) == 2


def test_hits_without_length_are_those_of_the_first_ten_ranks(
    bench: Bench, tiny: Dataset, tmp_path: Path
) -> None:
    file = tmp_path / "deep.run"
    file.write_text("".join(f"q1 Q0 d{rank} 0 {-rank} deep\n" for rank in range(1, 13)), "utf-8")
    imports.import_run(bench, file, tiny)
    run = bench.store.part("length_counts", "tiny", "deep")
    assert run is not None
    # The corpus ends with d6.
    assert run.provenance["hits_without_length"] == 4


def recompute_table(path: Path) -> pa.Table:
    return pq.read_table(path).drop_columns(["dataset", "system"])


@pytest.mark.long
def test_a_run_is_no_longer_counted_once_its_corpus_is_another(
    bench: Bench, tiny: Dataset, tmp_path: Path
) -> None:
    imports.import_run(bench, run_file(tmp_path), tiny)
    changed = [record | {"text": f"{record['text']} More."} for record in DOCUMENTS]
    lines = "".join(json.dumps(record) + "\n" for record in changed)
    (tmp_path / "tiny" / "corpus.jsonl").write_text(lines, encoding="utf-8")
    loaded = load(bench, tiny, open_path(tmp_path / "tiny", "test"))
    _, stale = freshness.split(bench.store.parts())
    assert [part.kind for part in stale] == ["length_counts"] * 2
    assert not lengths.is_counted(bench.store, loaded)
    assert lengths.count(bench, loaded) == 2
    assert lengths.is_counted(bench.store, loaded)
    rows_now = queries.medians(open_version(bench.store).cursor(), 10, system="mine")
    assert rows_now.set_index("of")["median"]["top"] == 10


def test_judging_anew_counts_the_judged_documents_anew(
    bench: Bench, tiny: Dataset, tmp_path: Path
) -> None:
    imports.import_run(bench, run_file(tmp_path), tiny)
    qrels = tmp_path / "tiny" / "qrels" / "test.tsv"
    qrels.write_text("query-id\tcorpus-id\tscore\nq1\td3\t1\nq2\td3\t1\nq3\td3\t1\n", "utf-8")
    loaded = load(bench, tiny, open_path(tmp_path / "tiny", "test"))
    assert not lengths.is_counted(bench.store, loaded)
    hits = bench.store.part("hits", "tiny", "mine")
    assert hits is not None
    recompute.score(bench, loaded, hits)
    assert lengths.is_counted(bench.store, loaded)


def test_a_collection_without_documents_says_what_is_missing(bench: Bench, tmp_path: Path) -> None:
    qrels = tmp_path / "qrels.txt"
    qrels.write_text("q1 0 d1 1\nq2 0 d2 1\n", encoding="utf-8")
    judged = imports.import_dataset(bench, "judged", qrels=qrels).dataset
    imports.import_run(bench, run_file(tmp_path), judged)
    assert bench.store.parts("length_counts") == []
    assert lengths.countable(bench.store) == []
    with pytest.raises(Missing, match="judged has no documents"):
        lengths.with_documents(bench, judged)


def test_texts_that_come_later_are_counted(bench: Bench, tiny: Dataset) -> None:
    loaded = recompute.stored_dataset(bench.store, tiny)
    without = recompute.Loaded(tiny, None, loaded.queries, loaded.judgements, loaded.lengths)
    assert lengths.count(bench, without, again=True) == 1
    only_lengths = bench.store.part("length_counts", "tiny")
    assert only_lengths is not None
    assert only_lengths.provenance["empty_texts"] is None
    assert lengths.is_counted(bench.store, without)
    assert lengths.count(bench, loaded) == 1
    assert lengths.is_counted(bench.store, loaded)


def test_the_job_counts_what_is_not_counted(bench: Bench, tiny: Dataset, tmp_path: Path) -> None:
    imports.import_run(bench, run_file(tmp_path), tiny)
    kind, store = KINDS["lengths"], bench.store
    targets = kind.targets(store, [], [])
    assert targets == kind.targets(store, [], ["tiny"]) == [("", "tiny")]
    assert list(kind.current(store, targets)) == targets
    with store.publishing("forget") as publication:
        publication.remove("length_counts", "tiny", "mine")
    assert list(kind.current(store, targets)) == []
    order = {"system": "", "dataset": "tiny", "options": {"again": False}, "job": "j"}
    (step,) = kind.steps
    assert STEPS[step](bench, order)
    assert not STEPS[step](bench, order)
    assert list(kind.current(store, targets)) == targets
    with pytest.raises(WrongInput, match="--systems"):
        kind.targets(store, ["bm25"], ["tiny"])


@pytest.mark.long
def test_the_command_counts_and_shows(
    bench: Bench,
    tiny: Dataset,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    imports.import_run(bench, run_file(tmp_path), tiny)
    monkeypatch.setenv("BEIRSCOPE_HOME", str(bench.settings.home))
    assert main(["lengths", "compute", "tiny"]) == 0
    assert "tiny: its documents and 1 run up to date" in capsys.readouterr().out
    assert main(["lengths", "compute", "tiny", "--again"]) == 0
    assert "counted" in capsys.readouterr().out
    assert main(["lengths", "show", "--dataset", "tiny", "--json"]) == 0
    shown = {row["of"]: row["median"] for row in json.loads(capsys.readouterr().out)}
    assert shown["top"] == 9
    assert main(["lengths", "show", "--dataset", "tiny", "--system", "mime"]) == 2
    assert "did you mean mine" in capsys.readouterr().err
    assert main(["lengths", "show", "--published", "--system", "tas-b", "--json"]) == 0
    assert [row["value"] for row in json.loads(capsys.readouterr().out)] == [10, 14]


def test_a_home_of_an_earlier_version_is_counted_by_the_command(
    bench: Bench, tiny: Dataset, tmp_path: Path
) -> None:
    imports.import_run(bench, run_file(tmp_path), tiny)
    with bench.store.publishing("forget") as publication:
        publication.remove("length_counts", "tiny")
        publication.remove("length_counts", "tiny", "mine")
    cursor = open_version(bench.store).cursor()
    row = queries.catalogue(cursor).set_index("dataset").loc["tiny"]
    assert (row["is_counted"], row["has_documents"]) == (False, True)
    assert (row["n_runs"], row["n_counted"]) == (1, 0)
    assert lengths.count(bench, recompute.stored_dataset(bench.store, tiny)) == 2


@pytest.mark.long
@pytest.mark.skipif(not REFERENCE, reason="BEIRSCOPE_REFERENCE is not set: no collections")
def test_average_words_of_the_papers_collections(tmp_path: Path) -> None:
    folder = shutil.copytree(Path(REFERENCE) / "beir", tmp_path / "beir")
    now = Settings(home=tmp_path / "home", datasets=folder)
    bench = Bench(Store(now, shipped=tmp_path / "nothing"), now)
    for name in ("scifact", "nfcorpus"):
        lengths.count(bench, lengths.with_documents(bench, DATASETS[name]))
    found = queries.averages(open_version(bench.store).cursor()).set_index("dataset")
    # Title and text; queries of all splits. The papers print 213.63, 232.26, 12.37 and 3.30.
    assert found["document_words"]["scifact"] == pytest.approx(214.63, abs=0.005)
    assert found["document_words"]["nfcorpus"] == pytest.approx(233.77, abs=0.005)
    assert found["all_query_words"]["scifact"] == pytest.approx(12.38, abs=0.005)
    assert found["all_query_words"]["nfcorpus"] == pytest.approx(3.32, abs=0.005)
    assert pd.isna(found["empty_texts"]).sum() == 0
