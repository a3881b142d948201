"""Corpora cut into shards that any worker makes: the same results as of the undivided ones."""

import os
import re
import shutil
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from pandas import DataFrame

from compute import jobs
from compute.base.errors import Conflict
from compute.base.settings import Settings
from compute.corpora import overlap
from compute.intake import imports
from compute.jobs import records
from compute.jobs.matrix import known_datasets
from compute.recompute import efficiency, pairs, run, shards
from compute.store import loading
from compute.store.loading import Bench
from compute.store.store import Part, Store, shard_path
from compute.systems import system
from tests.support import models
from tests.support.corpora import write_many
from tests.support.processes import s3
from tests.support.processes.jobbing import HASTY, ended, session, until, worker

DOCUMENTS = 4500
"""Two whole shards of vectors, and a piece of a third."""
FEW = 1100
"""The same of weighted terms; with 50 documents to a shard, of BM25 and of counts of words."""
TWO = 800
"""Two pieces of BM25 and of counts of words."""


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("model")
    """The folder of two."""
    models.sparse_encoder(folder / "sparse", models.masked_bert(folder / "masked"))
    models.sentence_transformer(folder / "dense", models.bert(folder / "bert"))
    return folder


def home(folder: Path, documents: int = FEW, state: str = "", parts_at: str = "") -> Bench:
    settings = Settings(
        home=folder / "home",
        state=state,
        parts_at=parts_at,
        threads=1,
        latency_queries=0,
        shard_documents=50,
    )
    store = Store(settings, shipped=folder / "nothing")
    source = write_many(folder / "corpus", documents)
    imports.import_dataset(Bench(store, settings), "many", path=source)
    return Bench(store, settings)


def undivided(bench: Bench, name: str) -> DataFrame:
    """The run by this process alone, its index built anew and as a whole."""
    alone = Bench(bench.store, replace(bench.settings, shard_documents=0, home=bench.store.home))
    for folder in (bench.store.home / "caches").glob("*"):
        if folder.is_dir():
            shutil.rmtree(folder)
    outcome = run.run(alone, system(name), known_datasets(bench.store.parts())["many"], again=True)
    return run.read(outcome.hits)


@pytest.mark.long
def test_shards_of_vectors_make_the_run_of_the_undivided_corpus(
    tmp_path: Path, model: Path
) -> None:
    bench, row = home(tmp_path, DOCUMENTS), system(f"dense({model}/dense)")
    pair = pairs.pair(bench, row, known_datasets(bench.store.parts())["many"])
    planned = shards.plan(bench, pair)
    spans = [(0, 2048), (2048, 4096), (4096, 4500)]
    assert [(shard.first, shard.last) for shard in planned] == spans
    # One is missing, one is made twice.
    work = shards.of_index(pair)
    assert [shards.make(bench, work, planned[place]) for place in (0, 2, 2)] == [True, True, False]
    encoded: list[int] = []
    watching = replace(bench, progress=lambda done, total, unit: encoded.append(done))
    with run.index(watching, pair) as (folder, built):
        assert built
        assert {file.name for file in folder.iterdir()} == {
            *("ids.parquet", "vectors.npy", "facts.json", "built.json")
        }
        assert efficiency.of_index(folder, DOCUMENTS)["index_seconds"] > 0
    # Only the second was encoded.
    assert set(range(1, 2048)) & set(encoded) == set()
    assert shards.plan(bench, pair) == []
    divided = run.read(run.run(bench, row, pair.loaded.dataset).hits)
    assert undivided(bench, row.name).equals(divided)


@pytest.mark.long
def test_token_vectors_in_shards_are_those_of_the_undivided_corpus(
    tmp_path: Path, model: Path
) -> None:
    divided_equals_undivided(home(tmp_path, DOCUMENTS), f"maxsim({model}/dense)")


@pytest.mark.long
def test_a_shard_that_another_machine_made_comes_from_the_bucket(
    tmp_path: Path, postgres: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with s3.server() as address:
        for name, value in s3.environment(address).items():
            monkeypatch.setenv(name, value)
        bench = home(tmp_path, TWO, postgres, f"s3://{s3.BUCKET}/shards")
        pair = pairs.pair(bench, system("bm25"), known_datasets(bench.store.parts())["many"])
        planned = shards.plan(bench, pair)
        work = shards.of_index(pair)
        assert [shards.make(bench, work, shard) for shard in planned] == [True, True]
        now = replace(bench.settings, home=tmp_path / "other")
        other = Bench(Store(now, shipped=tmp_path / "nothing"), now)
        there = pairs.pair(other, pair.system, known_datasets(other.store.parts())["many"])
        index = shards.of_index(there)
        assert len(shards.gather(other, index, scratch_folder(now))) == 2
        assert not shards.make(other, index, planned[0])
        # So do the words that one has counted.
        with shards.counts(other, there.loaded) as pieces:
            assert pieces is None
        words = shards.of_counts(pair.loaded)
        for shard in shards.divided(bench, words):
            assert shards.make(bench, words, shard)
        with shards.counts(other, there.loaded) as pieces:
            assert pieces is not None and pieces.number == 2
        # One whose content changed there is made anew.
        lies = other.store.home / shard_path(shards.divided(other, words)[0].name)
        spoilt = bytearray(lies.read_bytes())
        spoilt[len(spoilt) // 3] ^= 1
        name = f"{s3.BUCKET}/shards/shards/{lies.name}"
        with s3.client(address).open_output_stream(name) as file:
            file.write(spoilt)
        lies.unlink()
        assert shards.make(other, words, shards.divided(other, words)[0])
        lies.unlink()
        assert not shards.make(other, words, shards.divided(other, words)[0])


@pytest.mark.long
@pytest.mark.parametrize(
    "spoil", [lambda whole: whole[: len(whole) // 2], lambda whole: b"", bytes.swapcase]
)
def test_a_shard_that_was_spoilt_is_made_anew(
    tmp_path: Path, spoil: Callable[[bytes], bytes]
) -> None:
    bench = home(tmp_path, TWO)
    loaded = loading.load(bench, known_datasets(bench.store.parts())["many"])
    work = shards.of_counts(loaded)
    planned = shards.divided(bench, work)
    for shard in planned:
        assert shards.make(bench, work, shard)
    lies = bench.store.home / shard_path(planned[0].name)
    lies.write_bytes(spoil(lies.read_bytes()))
    assert overlap.count(bench, loaded)
    alone = counts(bench, "ngrams").path.read_bytes()
    with shards.counts(bench, loaded) as pieces:
        assert pieces is not None and not lies.exists()
        assert overlap.count(bench, loaded, again=True, pieces=pieces)
    assert counts(bench, "ngrams").path.read_bytes() == alone


def scratch_folder(now: Settings) -> Path:
    folder = now.home / "index"
    folder.mkdir()
    return folder


@pytest.mark.soak
def test_weighted_terms_in_shards_are_those_of_the_undivided_corpus(
    tmp_path: Path, model: Path
) -> None:
    divided_equals_undivided(home(tmp_path), f"sparse({model}/sparse)")


@pytest.mark.long
def test_merged_indexes_score_as_the_undivided_one(tmp_path: Path) -> None:
    divided_equals_undivided(home(tmp_path), "bm25")


def divided_equals_undivided(bench: Bench, name: str) -> None:
    pair = pairs.pair(bench, system(name), known_datasets(bench.store.parts())["many"])
    planned = shards.plan(bench, pair)
    assert len(planned) == 3
    # The first is missing.
    assert all(shards.make(bench, shards.of_index(pair), shard) for shard in planned[1:])
    divided = run.read(run.run(bench, pair.system, pair.loaded.dataset).hits)
    alone = undivided(bench, pair.system.name)
    assert len(alone) > 1000
    assert alone.equals(divided)


@pytest.mark.long
def test_counts_of_words_in_shards_are_those_of_the_undivided_corpus(tmp_path: Path) -> None:
    bench = home(tmp_path)
    loaded = loading.load(bench, known_datasets(bench.store.parts())["many"])
    with shards.counts(bench, loaded) as pieces:
        # As from the command line: without a shard nothing is divided.
        assert pieces is None
    assert overlap.count(bench, loaded)
    alone = [counts(bench, kind) for kind in ("ngrams", "wordpieces")]
    work = shards.of_counts(loaded)
    planned = shards.divided(bench, work)
    spans = [(0, 400), (400, 800), (800, 1100)]
    assert [(shard.first, shard.last) for shard in planned] == spans
    # The first is missing, the last is made twice.
    assert [shards.make(bench, work, planned[place]) for place in (1, 2, 2)] == [True, True, False]
    assert overlap.current(bench.store, "many")
    with shards.counts(bench, loaded) as pieces:
        assert overlap.count(bench, loaded, again=True, pieces=pieces)
    for before in alone:
        after = counts(bench, before.kind)
        assert after.id != before.id
        assert after.fingerprint == before.fingerprint
        assert after.provenance["units"] == before.provenance["units"]
        assert after.provenance["shards"] == 3
        assert after.path.read_bytes() == before.path.read_bytes()
    with pytest.raises(Conflict, match="many changed meanwhile"):
        shards.make(bench, work, replace(planned[0], last=7))
    few = replace(bench, settings=replace(bench.settings, shard_documents=FEW // 16 + 1))
    assert shards.divided(few, work) == []


def counts(bench: Bench, kind: str) -> Part:
    part = bench.store.part(kind, "many")
    assert part is not None
    return part


def test_shards_are_made_of_what_they_were_planned_for(tmp_path: Path) -> None:
    bench = home(tmp_path)
    pair = pairs.pair(bench, system("bm25"), known_datasets(bench.store.parts())["many"])
    planned = shards.plan(bench, pair)[0]
    with pytest.raises(Conflict, match="changed meanwhile"):
        shards.make(bench, shards.of_index(pair), replace(planned, last=7))
    fused = pairs.pair(bench, system("rrf(bm25,bm25-rm3)"), pair.loaded.dataset)
    # Both inputs search one index.
    assert [shard.name for shard in shards.plan(bench, fused)] == [
        shard.name for shard in shards.plan(bench, pair)
    ]
    whole = replace(bench, settings=replace(bench.settings, shard_documents=0))
    assert shards.plan(whole, pair) == []
    few = replace(bench, settings=replace(bench.settings, shard_documents=FEW // 16 + 1))
    assert shards.plan(few, pair) == []


def test_shards_go_a_day_after_they_were_used(tmp_path: Path) -> None:
    bench = home(tmp_path, TWO)
    pair = pairs.pair(bench, system("bm25"), known_datasets(bench.store.parts())["many"])
    used, unused = (bench.store.home / shard_path(shard.name) for shard in shards.plan(bench, pair))
    used.parent.mkdir()
    yesterday = time.time() - 25 * 3600
    for file in (used, unused):
        file.touch()
        os.utime(file, (yesterday, yesterday))
    assert not shards.make(bench, shards.of_index(pair), shards.plan(bench, pair)[0])
    assert bench.store.tidy() == [unused]
    assert used.exists()


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> DataFrame:
    """The run of `bm25` on the undivided corpus."""
    return undivided(home(tmp_path_factory.mktemp("whole"), TWO), "bm25")


def shards_of(settings: Settings, job: str) -> list[jobs.Job]:
    return records.named(settings, [f"{job}.0000.{number:04}" for number in range(9)])


def made_by(settings: Settings, job: str) -> list[str]:
    """The workers that took shards, in order."""
    lines = jobs.log_tail(settings, f"{job}.0000", 999)
    return re.findall(r"documents .* to .*: (worker-\w+) takes it", lines)


@pytest.mark.long
def test_one_worker_makes_the_shards_of_its_own_task_and_does_not_wait_for_itself(
    tmp_path: Path, whole: DataFrame
) -> None:
    bench = home(tmp_path, TWO)
    settings = bench.settings
    asked = jobs.start(bench.store, "run", ["bm25"], ["many"])
    with worker(settings):
        seen = until(lambda: told(settings, asked.job), "documents over all shards")
        assert (seen.step, seen.total, seen.unit) == ("index", TWO, "documents")
        done = ended(settings, asked.job)
    assert (done.state, done.error) == ("done", "")
    made = shards_of(settings, asked.job)
    assert {shard.title for shard in made} == {
        f"bm25 on many, documents {places}" for places in ("1 to 400", "401 to 800")
    }
    assert {shard.state for shard in made} == {"done"}
    assert [task.id for task in jobs.tasks(settings, asked.job)] == [f"{asked.job}.0000"]
    hits = bench.store.part("hits", "many", "bm25")
    assert hits is not None
    assert whole.equals(run.read(hits))


def told(settings: Settings, job: str) -> jobs.Progress | None:
    """How far the shards are together, once one has ended."""
    found = jobs.job(settings, job)
    progress = found.progress if found else None
    return progress if progress and progress.step == "index" and progress.done else None


@pytest.mark.long
def test_a_cancelled_job_ends_its_shards_too(tmp_path: Path) -> None:
    bench = home(tmp_path, TWO)
    settings = bench.settings
    asked = jobs.start(bench.store, "run", ["bm25"], ["many"])
    with worker(settings) as busy:
        until(lambda: told(settings, asked.job), "the first shard")
        jobs.cancel(settings, asked.job)
        until(lambda: session(busy.pid) == {busy.pid}, "the end of the hands")
        assert ended(settings, asked.job).state == "cancelled"
    states = {shard.state for shard in shards_of(settings, asked.job)}
    assert states <= {"done", "cancelled"}
    assert "cancelled" in states
    assert bench.store.part("hits", "many", "bm25") is None


@pytest.mark.long
def test_of_two_workers_one_is_killed_and_the_other_makes_its_shard(
    tmp_path: Path, whole: DataFrame, postgres: str
) -> None:
    bench = home(tmp_path, TWO, state=postgres)
    settings = bench.settings
    with worker(settings, *HASTY, "20") as one, worker(settings, *HASTY, "20") as two:
        until(lambda: len(jobs.workers_alive(settings)) == 2, "two workers")
        asked = jobs.start(bench.store, "run", ["bm25"], ["many"])
        until(lambda: len(set(made_by(settings, asked.job))) == 2, "a shard begun by each")
        # It may be the one that waits with the task itself, too.
        one.kill()
        done = ended(settings, asked.job)
        assert (done.state, done.error) == ("done", "")
        assert {found.process for found in jobs.workers_alive(settings)} == {two.pid}
    hits = bench.store.part("hits", "many", "bm25")
    assert hits is not None
    assert whole.equals(run.read(hits))
