"""What ships is small, sorted, and says nothing of the machine it was made on."""

import json
from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq
import pytest

from compute.base.errors import Missing, WrongInput
from compute.datasets import Dataset
from compute.exports.shipping import ship
from compute.intake import imports
from compute.reading.database import open_version
from compute.store import freshness
from compute.store.loading import Bench
from compute.store.provenance import portable
from compute.store.store import SHIPPED, Store
from tests.support.storage import hits, open_store, publish_run, scores

DEEP = hits(*(("q1", f"d{rank}", rank) for rank in range(150, 0, -1)))
ABOUT = {
    "command": "python -m compute import-run '/home/ada/my runs/a.txt' --dataset tiny",
    "source": {"path": "/home/ada/tiny.zip", "size": 12},
    "homepage": "https://example.org/a/b",
    "versions": ["numpy 2.4.6", "~/bin/java", "../shared/beir"],
}


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """A dataset with documents, and two runs of 150 hits."""
    store = open_store(tmp_path / "home")
    texts = {"doc_id": ["d2", "d1"], "title": ["", ""], "text": ["secret", "text"]}
    parts = {
        "documents": pd.DataFrame({**texts, "n_words": [1, 1]}),
        "lengths": pd.DataFrame({"doc_id": ["d2", "d1"], "n_words": [1, 1]}),
        "queries": pd.DataFrame({"query_id": ["q1"], "text": ["secret words"], "n_words": [2]}),
        "judgements": pd.DataFrame({"query_id": ["q1"], "doc_id": ["d1"], "relevance": [1]}),
    }
    with store.publishing("load") as publication:
        for kind, content in parts.items():
            publication.add(kind, content, dataset="tiny", fingerprint=kind, provenance=ABOUT)
    for system in ("bm25", "other"):
        publish_run(store, "tiny", system, DEEP, scores("nDCG@10", q1=1.0))
    return store


def test_hits_are_cut_at_100_and_no_text_ships(store: Store, tmp_path: Path) -> None:
    ship(store, ["tiny"], ["bm25"], tmp_path / "out")
    shipped = open_store(tmp_path / "other", shipped=tmp_path / "out")
    assert [(part.kind, part.system, part.rows) for part in shipped.parts()] == [
        ("hits", "bm25", 100),
        ("judgements", "", 1),
        ("lengths", "", 2),
        ("queries", "", 1),
        ("scores", "bm25", 1),
        ("top", "bm25", 10),
    ]
    run = shipped.part("hits", "tiny", "bm25")
    assert run and pq.read_table(run.path)["rank"].to_pylist() == list(range(1, 101))
    for file in (tmp_path / "out").rglob("*"):
        assert not file.is_file() or b"secret" not in file.read_bytes()


def test_counted_lengths_ship_with_their_runs(store: Store, tmp_path: Path) -> None:
    counts = {"of": ["top"], "level": [1], "n_words": [3], "count": [1]}
    with store.publishing("lengths") as publication:
        for system in ("", "bm25", "other"):
            publication.add(
                "length_counts",
                pd.DataFrame(counts),
                dataset="tiny",
                system=system,
                fingerprint=system or "all",
                provenance={"inputs": {"lengths": "lengths"}},
            )
    ship(store, ["tiny"], ["bm25"], tmp_path / "out")
    shipped = open_store(tmp_path / "other", shipped=tmp_path / "out")
    assert [part.system for part in shipped.parts("length_counts")] == ["", "bm25"]


def test_without_systems_every_stored_run_ships(store: Store, tmp_path: Path) -> None:
    ship(store, ["tiny"], folder=tmp_path / "out")
    shipped = open_store(tmp_path / "other", shipped=tmp_path / "out")
    assert [part.system for part in shipped.parts("hits")] == ["bm25", "other"]


def test_a_shipped_part_is_never_taken_for_a_finished_step(store: Store, tmp_path: Path) -> None:
    ship(store, ["tiny"], ["bm25"], tmp_path / "out")
    shipped = open_store(tmp_path / "other", shipped=tmp_path / "out")
    assert shipped.part("queries", "tiny") is not None
    assert shipped.done("queries", "tiny", "", "queries") is None


def test_shipping_again_changes_no_file_and_leaves_nothing_old(
    store: Store, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    ship(store, ["tiny"], folder=out)
    (out / "parts" / "hits" / "notes.txt").write_text("somebody's")
    before = {file: file.read_bytes() for file in out.rglob("*.*")}
    ship(store, ["tiny"], folder=out)
    assert {file: file.read_bytes() for file in out.rglob("*.*")} == before
    ship(store, ["tiny"], ["bm25"], out)
    left = set(before) - set(out.rglob("*.*"))
    assert {file.parent.name for file in left} == {"hits", "top", "scores"}


def _second(store: Store) -> None:
    """A second dataset, judgements alone, with a run."""
    frames = {
        "queries": pd.DataFrame({"query_id": ["q1"], "text": ["words"], "n_words": [1]}),
        "judgements": pd.DataFrame({"query_id": ["q1"], "doc_id": ["d1"], "relevance": [1]}),
    }
    with store.publishing("load") as publication:
        for kind, content in frames.items():
            publication.add(kind, content, dataset="second", fingerprint=kind, provenance=ABOUT)
    publish_run(store, "second", "bm25", DEEP, scores("nDCG@10", q1=1.0))


def test_what_ships_of_other_datasets_stays_unless_told(store: Store, tmp_path: Path) -> None:
    _second(store)
    out = tmp_path / "out"
    ship(store, ["tiny"], folder=out)
    before = {file: file.read_bytes() for file in out.rglob("*.parquet")}
    second = ship(store, ["second"], folder=out)
    assert {file: file.read_bytes() for file in before} == before
    shipped = open_store(tmp_path / "other", shipped=out)
    assert {part.dataset for part in shipped.parts("hits")} == {"tiny", "second"}
    assert str(second).endswith(" bytes\nkept the shipped parts of tiny")
    alone = ship(store, ["second"], folder=out, only=True)
    assert {part.dataset for part in open_store(tmp_path / "third", shipped=out).parts()} == {
        "second"
    }
    assert "removed hits of bm25 on tiny, " in str(alone)


def test_what_was_replaced_and_removed_is_told(store: Store, tmp_path: Path) -> None:
    out = tmp_path / "out"
    ship(store, ["tiny"], folder=out)
    publish_run(store, "tiny", "bm25", DEEP, scores("nDCG@10", q1=0.5), mark="changed")
    told = ship(store, ["tiny"], ["bm25"], out)
    assert [identity[0] for identity in told.replaced] == ["hits", "top", "scores"]
    assert {identity[2] for identity in told.removed} == {"other"}


def test_what_is_not_stored_is_named_before_anything_is_written(
    store: Store, tmp_path: Path
) -> None:
    with pytest.raises(Missing, match="no hits of rm3 on tiny: python -m compute run rm3 tiny"):
        ship(store, ["tiny"], ["bm25", "rm3"], tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_provenance_ships_without_the_paths_of_a_machine() -> None:
    assert portable(ABOUT) == {
        "command": "python -m compute import-run … --dataset tiny",
        "source": {"size": 12},
        "homepage": "https://example.org/a/b",
        "versions": ["numpy 2.4.6", "…", "…"],
    }
    assert portable({"a": "read file:///srv/x y", "b": "title + text, 3 words/s, and/or 1/2"}) == {
        "a": "read … y",
        "b": "title + text, 3 words/s, and/or 1/2",
    }


@pytest.mark.skipif(not (SHIPPED / "manifest.json").exists(), reason="nothing ships yet")
def test_what_ships_here_is_whole_small_and_names_no_folder(tmp_path: Path) -> None:
    parts = open_store(tmp_path / "home", shipped=SHIPPED).parts()
    assert all(part.path.stat().st_size == part.bytes for part in parts)
    assert sum(part.bytes for part in parts) < 25_000_000
    assert "documents" not in {part.kind for part in parts}
    for part in parts:
        assert portable(part.provenance) == part.provenance
        if part.kind == "queries":
            assert pq.read_table(part.path)["text"].null_count == part.rows


def test_costs_ship_with_their_runs(store: Store, tmp_path: Path) -> None:
    costs = pd.DataFrame({"measure": ["latency_p50_ms", "index_bytes"], "value": [1.5, 9.0]})
    with store.publishing("costs") as publication:
        for system in ("bm25", "other"):
            about = ABOUT | {"hardware": {"processor": "Abacus"}, "inputs": {"hits": "f"}}
            publication.add(
                "efficiency",
                costs,
                dataset="tiny",
                system=system,
                fingerprint="costs",
                provenance=about,
            )
    ship(store, ["tiny"], ["bm25"], tmp_path / "out")
    shipped = open_store(tmp_path / "other", shipped=tmp_path / "out")
    (part,) = shipped.parts("efficiency")
    assert part.system == "bm25"
    assert part.provenance["hardware"] == {"processor": "Abacus"}
    assert pq.read_table(part.path)["measure"].to_pylist() == ["index_bytes", "latency_p50_ms"]


def test_what_a_run_is_made_from_ships_with_it(store: Store, tmp_path: Path) -> None:
    name, about = "rrf(bm25,other)", {"inputs": {"hits:bm25": "f", "hits:other": "f"}}
    publish_run(store, "tiny", name, DEEP, scores("nDCG@10", q1=1.0))
    with store.publishing("run") as publication:
        publication.add(
            "hits", DEEP, dataset="tiny", system=name, fingerprint="f", provenance=about
        )
    ship(store, ["tiny"], [name], tmp_path / "out")
    shipped = open_store(tmp_path / "other", shipped=tmp_path / "out").parts()
    fresh, stale = freshness.split(shipped)
    assert {part.system for part in fresh} == {"", "bm25", "other", name}
    assert stale == []


def test_a_run_named_by_a_folder_of_this_machine_does_not_ship(
    store: Store, tmp_path: Path
) -> None:
    name = f"rrf(bm25,dense({tmp_path}))"
    publish_run(store, "tiny", name, DEEP, scores("nDCG@10", q1=1.0))
    with pytest.raises(WrongInput, match="names a folder of this machine"):
        ship(store, ["tiny"], None, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def _means_and_scores(home: Path, shipped: Path) -> tuple[float, float]:
    """Of the one system's nDCG@10: what the table of means has, and the mean of its scores."""
    cursor = open_version(open_store(home, shipped=shipped)).cursor()
    rows = cursor.execute("""
        select (select value from means where measure = 'nDCG@10' and dataset = 'tiny'), avg(value)
        from scores where measure = 'nDCG@10'
    """).fetchall()
    return rows[0]


def test_mended_scores_of_one_fingerprint_ship_under_another_id(
    bench: Bench, tiny: Dataset, tmp_path: Path
) -> None:
    (tmp_path / "one.run").write_text("q1 Q0 d1 1 3.0 one\n", encoding="utf-8")
    old = imports.import_run(bench, tmp_path / "one.run", tiny).scores
    out, reader = tmp_path / "out", tmp_path / "reader"
    ship(bench.store, ["tiny"], folder=out)
    before = {file: file.read_bytes() for file in out.rglob("*.parquet")}
    mean, of_scores = _means_and_scores(reader, out)
    assert mean == of_scores > 0
    mended = pq.read_table(old.path).to_pandas().assign(value=0.25)
    with bench.store.publishing("score") as publication:
        publication.add(
            "scores",
            mended,
            dataset="tiny",
            system="one",
            fingerprint=old.fingerprint,
            provenance=old.provenance,
        )
    assert ship(bench.store, ["tiny"], folder=out).replaced == [("scores", "tiny", "one")]
    left = {file for file in before if file.exists()}
    assert len(left) == len(before) - 1
    assert all(file.read_bytes() == before[file] for file in left)
    assert _means_and_scores(reader, out) == (0.25, 0.25)


def test_what_shipped_under_an_older_kind_of_id_keeps_it_while_its_content_stays(
    store: Store, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    ship(store, ["tiny"], ["bm25"], out)
    record = json.loads((out / "manifest.json").read_text("utf-8"))
    for number, part in enumerate(record["parts"]):
        old = out / part["path"]
        part["path"] = f"parts/{old.parent.name}/{number:032x}.parquet"
        old.rename(out / part["path"])
    (out / "manifest.json").write_text(json.dumps(record), "utf-8")
    before = {file: file.read_bytes() for file in out.rglob("*.parquet")}
    assert ship(store, ["tiny"], ["bm25"], out).replaced == []
    assert {file: file.read_bytes() for file in out.rglob("*.parquet")} == before
