"""Gathered files: equal to the parts that they are made from, whatever happened in between."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from compute.datasets import Dataset
from compute.intake import imports
from compute.reading import length_counts, score_arrays, top_ranks
from compute.reading.database import open_version
from compute.store.loading import Bench
from compute.store.store import Store
from tests.support.storage import hits, open_store, publish_run, scores
from tests.support.tiny import DOCUMENTS, write_tiny

SYSTEMS = ("bm25", "minilm", "absent")
LISTED = "select system, query_id, doc_id, rank from top where dataset = 'tiny' order by all"


@pytest.fixture
def store(tmp_path: Path) -> Store:
    store = open_store(tmp_path / "home")
    run = hits(("q2", "d1", 1), ("q1", "d1", 1), ("q1", "d2", 2))
    publish_run(store, "tiny", "bm25", run, scores("R@10", q1=0.1, q2=0.7, q10=0.0))
    publish_run(store, "tiny", "minilm", hits(("q1", "é", 1)), scores("R@10", q1=0.25))
    return store


def arrays(store: Store, measure: str = "R@10") -> dict[str, list[float]]:
    """By query the values of SYSTEMS."""
    reading = open_version(store)
    (found,) = score_arrays.of_measure(reading.cursor(), ["tiny"], measure, SYSTEMS).values()
    reading.close()
    return dict(zip(found.queries.to_pylist(), found.values.T.tolist(), strict=True))


def listed(store: Store) -> list[tuple]:
    """The ranks that the gathered file has, as `LISTED` has those of the parts."""
    reading = open_version(store)
    cursor = reading.cursor()
    rows = top_ranks.of_systems(cursor, "tiny", SYSTEMS).to_pylist()
    found = sorted((SYSTEMS[row.pop("system")], *row.values()) for row in rows)
    assert found == [row for row in cursor.execute(LISTED).fetchall() if row[0] in SYSTEMS]
    reading.close()
    return found


def gathered(store: Store, kind: str) -> Path:
    (file,) = (store.home / "caches").glob(f"{kind}-*.parquet")
    return file


NAN = pytest.approx(float("nan"), nan_ok=True)


def test_scores_are_arrays_of_systems_and_queries(store: Store) -> None:
    expected = {"q1": [0.1, 0.25, NAN], "q10": [0.0, NAN, NAN], "q2": [0.7, NAN, NAN]}
    assert arrays(store) == expected
    # From the file that the first question left.
    assert list(arrays(store)) == ["q1", "q10", "q2"]
    assert arrays(store) == expected
    assert arrays(store, "nDCG@10") == {}


def test_lengths_of_two_datasets_are_counted_together(
    bench: Bench, tiny: Dataset, tmp_path: Path
) -> None:
    """A collection and its copy: no other lengths, and each twice as often."""
    imports.import_dataset(bench, "copy", path=write_tiny(tmp_path / "copy"))
    reading = open_version(bench.store)
    of = length_counts.runs(reading.cursor())
    one, both = (
        length_counts.together([of[name] for name in names], [""], 10)
        for names in (["tiny"], ["tiny", "copy"])
    )
    reading.close()
    assert one.counts[one.groups == 0].sum() == len(DOCUMENTS)
    assert [column.tolist() for column in both[:-1]] == [column.tolist() for column in one[:-1]]
    assert both.counts.tolist() == (2 * one.counts).tolist()


def test_ranks_are_those_of_the_parts(store: Store) -> None:
    assert ("bm25", "q1", "d2", 2) in listed(store)
    assert gathered(store, "top").is_file()
    assert len(listed(store)) == 4
    reading = open_version(store)
    first = top_ranks.of_systems(reading.cursor(), "tiny", ["minilm"], 1)
    assert first.to_pylist() == [{"system": 0, "query_id": "q1", "doc_id": "é", "rank": 1}]
    assert first["doc_id"].type == pa.dictionary(pa.int32(), pa.string())
    assert len(top_ranks.of_systems(reading.cursor(), "nothing", ["bm25"])) == 0
    reading.close()


@pytest.mark.long
@pytest.mark.parametrize("system", ["bm25", "third"])
def test_what_is_replaced_or_added_shows(store: Store, system: str) -> None:
    arrays(store), listed(store)
    publish_run(store, "tiny", system, hits(("q3", "d9", 1)), scores("R@10", q3=1.0))
    assert (system == "bm25") == (arrays(store).get("q3") == [1.0, NAN, NAN])
    assert (system == "bm25") == (("bm25", "q3", "d9", 1) in listed(store))


def _flipped(file: Path) -> None:
    content = bytearray(file.read_bytes())
    # Past the magic bytes and the header of the first page.
    content[40] ^= 1
    file.write_bytes(content)


def _cut(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:50])


def _foreign(file: Path) -> None:
    file.write_bytes(b"no such file")


@pytest.mark.long
@pytest.mark.parametrize("harm", [_flipped, _cut, _foreign])
@pytest.mark.parametrize("kind", ["scores", "top"])
def test_a_damaged_file_is_made_again(
    store: Store, kind: str, harm: Callable[[Path], None]
) -> None:
    before = arrays(store), listed(store)
    file = gathered(store, kind)
    whole = file.read_bytes()
    harm(file)
    assert file.read_bytes() != whole
    after = arrays(store), listed(store)
    assert np.allclose(list(before[0].values()), list(after[0].values()), equal_nan=True)
    assert before[1] == after[1]
    assert file.read_bytes() == whole


@pytest.mark.long
@pytest.mark.parametrize("kind", ["scores", "top"])
def test_a_part_that_was_damaged_is_not_read_from_what_was_gathered(
    store: Store, kind: str
) -> None:
    before = arrays(store), listed(store)
    reading = open_version(store)
    cursor, file = reading.cursor(), reading.parts[kind, "tiny", "bm25"].path
    whole = file.read_bytes()
    file.write_bytes(bytes(len(whole)))
    with pytest.raises(pa.ArrowException):
        score_arrays.of_measure(cursor, ["tiny"], "R@10", SYSTEMS)
        top_ranks.of_systems(cursor, "tiny", SYSTEMS)
    reading.close()
    file.write_bytes(whole)
    assert repr((arrays(store), listed(store))) == repr(before)


def test_a_measure_with_a_point_in_its_name_is_found(store: Store) -> None:
    name = "RBP(p=0.8)@10"
    publish_run(store, "tiny", "bm25", hits(("q1", "d1", 1)), scores(name, q1=0.5))
    for _ in range(2):
        assert arrays(store, name) == {"q1": [0.5, NAN, NAN]}


def test_what_a_killed_writer_left_is_written_over(store: Store) -> None:
    (store.home / "caches").mkdir(exist_ok=True)
    arrays(store)
    file = gathered(store, "scores")
    file.unlink()
    file.with_name(f".{file.name}.tmp").write_bytes(b"half")
    arrays(store)
    assert file.is_file()
    assert not list(file.parent.glob("*.tmp"))


def test_a_home_without_room_is_read_all_the_same(store: Store) -> None:
    reading = open_version(store)
    (store.home / "caches" / "means.parquet").unlink()
    (store.home / "caches").rmdir()
    (store.home / "caches").write_text("in the way", "utf-8")
    found = score_arrays.of_measure(reading.cursor(), ["tiny"], "R@10", SYSTEMS)["tiny"]
    assert found.queries.to_pylist() == ["q1", "q10", "q2"]
    reading.close()
