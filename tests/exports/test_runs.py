"""Stored runs as TREC run files: the same ranking comes back."""

import gzip
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given

from compute.base.errors import Conflict, Missing, WrongInput
from compute.datasets import Dataset
from compute.evaluate.runs import canonical
from compute.exports.runs import export_run, file_name, run_file
from compute.intake import imports
from compute.recompute.run import read
from compute.store.loading import Bench
from compute.store.store import Store
from tests.support import worlds
from tests.support.ranked_lists import read_trec
from tests.support.storage import hits, open_store, publish_run, scores

# The largest 32-bit float and numbers beyond it, which are one number to trec_eval.
LARGEST = float(np.finfo(np.float32).max)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    return open_store(tmp_path_factory.mktemp("exports") / "home")


def _publish(store: Store, run: pd.DataFrame, system: str = "rrf(a,b)") -> None:
    publish_run(store, "tiny", system, run, scores("nDCG@10", q1=1.0))


def _same(run: pd.DataFrame, again: pd.DataFrame) -> None:
    columns = ["query_id", "doc_id", "rank"]
    assert again[columns].to_numpy().tolist() == run[columns].to_numpy().tolist()
    with np.errstate(over="ignore"):
        one, other = (frame["score"].to_numpy().astype(np.float32) for frame in (run, again))
    assert np.array_equal(one, other)


@worlds.FEWER
@given(worlds.hits().map(worlds.of_32_bits).filter(len))
def test_a_run_that_goes_out_and_comes_in_is_the_same(
    store: Store, tmp_path_factory: pytest.TempPathFactory, found: pd.DataFrame
) -> None:
    run = canonical(found, depth=1000, drop_self=False).frame
    _publish(store, run)
    for ending in ("", ".gz", ".zst"):
        file = tmp_path_factory.getbasetemp() / f"out.run{ending}"
        file.unlink(missing_ok=True)
        assert export_run(store, "tiny", "rrf(a,b)", file).hits == len(run)
        tag, again = read_trec(file)
        assert tag == "rrf(a,b)"
        _same(run, canonical(again, depth=1000, drop_self=False).frame)


def test_scores_beyond_32_bits_keep_their_order(store: Store, tmp_path: Path) -> None:
    """As runs may have them that were taken in before such files were refused."""
    found = pd.DataFrame(
        {
            "query_id": ["q"] * 6,
            "doc_id": ["a", "b", "c", "d", "e", "f"],
            "score": [1e39, LARGEST, 1e300, -1e39, -LARGEST, -1e300],
        }
    )
    run = canonical(found, depth=10, drop_self=False).frame
    assert "".join(run["doc_id"]) == "cabefd"
    _publish(store, run)
    export_run(store, "tiny", "rrf(a,b)", tmp_path / "run")
    names = ["query_id", "Q0", "doc_id", "rank", "score", "tag"]
    again = pd.read_csv(tmp_path / "run", sep=" ", names=names)
    _same(run, canonical(again, depth=10, drop_self=False).frame)
    # Whoever compares in 64 bits sees the same.
    wide = again.sort_values(["score", "doc_id"], ascending=False)
    assert "".join(wide["doc_id"]) == "cabefd"


def test_an_import_of_what_was_exported_has_the_same_scores(
    bench: Bench, tiny: Dataset, tmp_path: Path
) -> None:
    file = tmp_path / "first.run"
    lines = ["q1 Q0 d1 1 0.1 t", "q1 Q0 d5 2 0.1 t", "q2 Q0 d3 9 7e-5 t", "q3 Q0 d4 1 -2.5 t"]
    file.write_text("\n".join(lines), encoding="utf-8")
    first = imports.import_run(bench, file, tiny, system="first")
    export_run(bench.store, "tiny", "first", tmp_path / "again.gz")
    again = imports.import_run(bench, tmp_path / "again.gz", tiny, system="again")
    _same(read(first.hits), read(again.hits))
    assert read(first.scores).equals(read(again.scores))


def test_a_download_is_the_file(store: Store) -> None:
    _publish(store, hits(("q1", "d1", 1)))
    plain = run_file(store, "tiny", "rrf(a,b)", "")
    assert plain == b"q1 Q0 d1 1 1 rrf(a,b)\n"
    assert gzip.decompress(run_file(store, "tiny", "rrf(a,b)")) == plain


def test_what_cannot_be_written_is_said_and_leaves_nothing(store: Store, tmp_path: Path) -> None:
    _publish(store, hits(("q1", "d1", 1)))
    with pytest.raises(Missing, match="no run of bm25 on tiny"):
        export_run(store, "tiny", "bm25", tmp_path / "a.run")
    with pytest.raises(WrongInput, match="no folder"):
        export_run(store, "tiny", "rrf(a,b)", tmp_path / "none" / "a.run")
    (tmp_path / "a.run").write_text("mine")
    with pytest.raises(Conflict, match="exists"):
        export_run(store, "tiny", "rrf(a,b)", tmp_path / "a.run")
    _publish(store, hits(("q1", "a b", 1)))
    with pytest.raises(WrongInput, match="does not allow"):
        export_run(store, "tiny", "rrf(a,b)", tmp_path / "b.run")
    assert [file.name for file in tmp_path.iterdir()] == ["a.run"]
    assert (tmp_path / "a.run").read_text() == "mine"


def test_a_system_is_found_by_every_spelling_of_its_name(store: Store, tmp_path: Path) -> None:
    _publish(store, hits(("q1", "d1", 1)), "rrf(bm25,genq[tiny])")
    other = "rrf(bm25(k1=0.9), genq[tiny](epochs=1))"
    assert export_run(store, "tiny", other, tmp_path / "a.run").hits == 1
    with pytest.raises(Missing, match=r"did you mean .*rrf\(bm25,genq\[tiny\]\)"):
        export_run(store, "tiny", "rrf(bm25,genq[big])", tmp_path / "b.run")


@pytest.mark.parametrize(
    ("dataset", "system", "expected"),
    [
        ("scifact", "rrf(bm25,minilm)", "scifact.rrf-bm25-minilm.run.gz"),
        ("cqadupstack/android", "../../etc/passwd", "cqadupstack-android.-.-etc-passwd.run.gz"),
        ("d", "<b>*x*&$", "d.-b-x.run.gz"),
    ],
)
def test_the_name_of_a_file_leads_nowhere(dataset: str, system: str, expected: str) -> None:
    assert file_name(dataset, system) == expected
    assert "/" not in expected
