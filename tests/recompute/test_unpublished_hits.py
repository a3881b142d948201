import os

import pandas as pd
import pytest

from compute.datasets import Dataset
from compute.evaluate.runs import Run
from compute.recompute import pairs, unpublished_hits
from compute.recompute import run as recompute
from compute.recompute.unpublished_hits import Draft
from compute.store.loading import Bench
from compute.systems import system
from tests.support.storage import hits

NAME = "a" * 64


def test_a_draft_comes_back_as_it_was_kept(bench: Bench) -> None:
    run = Run(hits(("q1", "d2", 1), ("q1", "d1", 2)), duplicates=1, self_hits=2, tied=3)
    unpublished_hits.keep(bench.settings, NAME, Draft(run, {"search_seconds": 1.5}))
    found = unpublished_hits.kept(bench.settings, NAME)
    assert found is not None
    pd.testing.assert_frame_equal(found.run.frame, run.frame)
    assert (found.run.duplicates, found.run.self_hits, found.run.tied) == (1, 2, 3)
    assert found.facts == {"search_seconds": 1.5}
    unpublished_hits.drop(bench.settings, NAME)
    assert unpublished_hits.kept(bench.settings, NAME) is None


@pytest.mark.parametrize("left", [0, 4, 200])
def test_a_damaged_draft_is_none_and_goes(bench: Bench, left: int) -> None:
    unpublished_hits.keep(bench.settings, NAME, Draft(Run(hits(("q1", "d1", 1))), {}))
    (file,) = (bench.settings.home / "drafts").iterdir()
    file.write_bytes(file.read_bytes()[:left])
    assert unpublished_hits.kept(bench.settings, NAME) is None
    assert not file.exists()


def test_a_draft_of_another_form_is_none(bench: Bench) -> None:
    file = bench.settings.home / "drafts" / f"{NAME}.parquet"
    file.parent.mkdir(parents=True)
    hits(("q1", "d1", 1)).to_parquet(file)
    assert unpublished_hits.kept(bench.settings, NAME) is None


def test_nothing_is_left_beside_a_draft(bench: Bench) -> None:
    unpublished_hits.keep(bench.settings, NAME, Draft(Run(hits(("q1", "d1", 1))), {}))
    assert [file.name for file in (bench.settings.home / "drafts").iterdir()] == [f"{NAME}.parquet"]


def test_a_draft_that_cannot_be_written_leaves_nothing(bench: Bench) -> None:
    # A folder that is not empty, in the place of the file.
    (bench.settings.home / "drafts" / f"{NAME}.parquet" / "x").mkdir(parents=True)
    with pytest.raises(OSError, match="directory"):
        unpublished_hits.keep(bench.settings, NAME, Draft(Run(hits(("q1", "d1", 1))), {}))
    assert list((bench.settings.home / "drafts").glob("*.tmp")) == []


def test_the_draft_of_a_job_that_was_given_up_goes_after_a_day(bench: Bench) -> None:
    run = Run(hits(("q1", "d1", 1)))
    unpublished_hits.keep(bench.settings, NAME, Draft(run, {}))
    (file,) = (bench.settings.home / "drafts").iterdir()
    os.utime(file, (0, 0))
    unpublished_hits.keep(bench.settings, "b" * 64, Draft(run, {}))
    assert unpublished_hits.kept(bench.settings, NAME) is None


@pytest.mark.long
def test_what_was_searched_is_published_without_searching_again(
    bench: Bench, tiny: Dataset
) -> None:
    pair = pairs.pair(bench, system("bm25"), tiny)
    with recompute.index(bench, pair) as (_, built):
        assert built
    with recompute.index(bench, pair) as (_, built):
        assert not built
    draft, new = recompute.search(bench, pair)
    assert new
    assert not recompute.search(bench, pair)[1]
    outcome = recompute.publish(bench, pair)
    assert recompute.read(outcome.hits)["doc_id"].tolist() == draft.run.frame["doc_id"].tolist()
    assert outcome.hits.provenance["search_seconds"] == draft.facts["search_seconds"]
    assert outcome.hits.provenance["index_seconds"] > 0
    assert unpublished_hits.kept(bench.settings, pair.names.hits) is None
    assert not recompute.publish(bench, pair).new
