"""What a checkpoint says is missing, before anything is loaded; no network is asked."""

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from huggingface_hub import constants

from compute.base.errors import Unavailable, WrongInput
from compute.base.settings import Settings
from compute.systems import SYSTEMS, checkpoints, system
from compute.systems.checkpoints import Checkpoint, from_text
from compute.systems.neural.dense import Dense
from tests.support import models

COMMIT = "0123456789abcdef0123456789abcdef01234567"


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache of a hub that cannot be reached."""
    # Its names in the environment are read once, when the first test imports the library.
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    return tmp_path / "hub"


def _cache(hub: Path, model: str, commit: str) -> Path:
    """The folder of a model's snapshot, laid out as the hub's library does."""
    place = hub / f"models--{model.replace('/', '--')}"
    (place / "refs").mkdir(parents=True)
    (place / "refs" / "main").write_text(commit)
    folder = place / "snapshots" / commit
    folder.mkdir(parents=True)
    return folder


def test_weights_neither_cached_nor_reachable_are_named(hub: Path) -> None:
    with pytest.raises(Unavailable, match=r"weights of a/b are not cached here.*model=/FOLDER"):
        from_text("a/b").check("torch")
    with pytest.raises(Unavailable, match="weights of a/b"):
        from_text("a/b").folder()


def test_a_cached_model_needs_no_network(hub: Path) -> None:
    folder = _cache(hub, "a/b", COMMIT)
    with pytest.raises(Unavailable, match="not cached here"):
        from_text("a/b").check()
    models.bert(folder)
    for name in ("a/b", f"a/b@{COMMIT}"):
        from_text(name).check("torch", "faiss")
        assert from_text(name).folder() == folder
    with pytest.raises(Unavailable, match="not cached here"):
        from_text("a/b@" + "f" * 40).check()
    # A run tells what main was.
    assert checkpoints.resolved(system("dpr(model=a/b)").search) == {"a/b": COMMIT}
    assert checkpoints.resolved(system("minilm").search) == {}


def test_half_a_download_is_gone_on_with(hub: Path) -> None:
    folder = _cache(hub, "a/b", COMMIT)
    (folder / "config.json").write_text("{}")
    (folder / "2_Dense").mkdir()
    (folder / "2_Dense" / "model.safetensors").write_bytes(b"x")
    with pytest.raises(Unavailable, match="not cached here"):
        from_text("a/b").check()


@pytest.mark.parametrize(
    "written",
    ["a/b/c", "a..b", "-a", "a/", "@main", "a/b@", "a--b", "é/b", "a/b@../..", "a/b@x/../../y"],
)
def test_what_the_hub_has_no_name_for_is_answered(written: str) -> None:
    for name in (f"dense({written})", f"dpr(query_model={written})"):
        with pytest.raises(
            WrongInput, match="is not a model: write a name of the Hugging Face hub"
        ):
            searcher = system(name).search
            assert searcher is not None
            searcher.identity()


def test_a_missing_library_is_named_first(hub: Path) -> None:
    with pytest.raises(Unavailable, match="no_such_library is not installed: pip install"):
        from_text("a/b").check("no_such_library", "torch")


@pytest.mark.parametrize(
    ("made", "message"),
    [
        ([], "is not a model's folder"),
        (["note.txt"], "is not a model's folder"),
        (["config.json"], "has no weights"),
    ],
)
def test_a_folder_that_is_no_model_is_refused(
    made: list[str], message: str, tmp_path: Path
) -> None:
    for name in made:
        (tmp_path / name).write_text("{}")
    with pytest.raises(Unavailable, match=message):
        from_text(str(tmp_path)).check()
    with pytest.raises(Unavailable, match="is not a model's folder"):
        from_text(str(tmp_path / "nowhere")).check()


def test_weights_larger_than_the_memory_are_refused_unread(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    weights = tmp_path / "model.safetensors"
    weights.touch()
    # A hole in a file takes no room.
    os.truncate(weights, 4_000_000_000_000)
    with pytest.raises(Unavailable, match=r"needs 4,000\.0 GB of memory .* are free"):
        from_text(str(tmp_path)).check()


def test_pickled_weights_count_only_where_there_are_no_others(tmp_path: Path) -> None:
    (tmp_path / "pytorch_model.bin").write_bytes(b"x" * 30)
    assert checkpoints.weights_bytes(tmp_path) == 30
    (tmp_path / "model.safetensors").write_bytes(b"x" * 20)
    assert checkpoints.weights_bytes(tmp_path) == 20


def test_a_folder_is_known_by_its_content(tmp_path: Path) -> None:
    first, second = models.bert(tmp_path / "a"), models.bert(tmp_path / "b")
    other = models.bert(tmp_path / "c", seed=1)
    identity = from_text(str(first)).identity()
    assert identity == from_text(str(second)).identity()
    assert identity != from_text(str(other)).identity()
    assert str(tmp_path) not in str(identity)


def test_a_name_alone_is_the_pinned_revision() -> None:
    labse = from_text("sentence-transformers/LaBSE")
    assert labse.identity()["revision"] == "e34fab64a3011d2176c99545a93d5cbddc9a91b7"
    assert from_text("a/b").identity() == {"model": "a/b", "revision": "main"}
    assert from_text(f"a/b@{COMMIT}").revision == COMMIT


def test_other_weights_than_the_pinned_ones_are_refused() -> None:
    searcher = SYSTEMS["minilm"].search
    assert isinstance(searcher, Dense)
    with pytest.raises(Unavailable, match="is not the pinned"):
        replace(searcher.checkpoint, sha256="0" * 64).check()


def test_a_package_that_is_not_installed_falls_back_on_the_hub(hub: Path) -> None:
    with pytest.raises(Unavailable, match="weights of a/b"):
        Checkpoint("a/b", package="no_such_package").check()


def test_every_row_answers_without_a_network(hub: Path) -> None:
    for name, row in SYSTEMS.items():
        if isinstance(row.search, Dense) and name != "minilm":
            with pytest.raises(Unavailable, match="are not cached here"):
                row.search.check()


def test_a_folder_that_does_not_load_is_answered(tmp_path: Path) -> None:
    models.bert(tmp_path)
    (tmp_path / "config.json").write_text('{"model_type": "no-such-kind"}')
    searcher: Any = system(f"dense({tmp_path})").search
    searcher.check()
    with pytest.raises(Unavailable, match="does not load"):
        searcher.encoder(Settings(threads=1), "queries")
