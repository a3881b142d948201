"""What a packed file unpacks to is held against the room that there is, before it is taken in."""

import gzip
import shutil
import zipfile
from collections import namedtuple
from pathlib import Path

import pyarrow as pa
import pytest

from compute.__main__ import main
from compute.base.errors import BeirscopeError, Unavailable
from compute.datasets import Dataset, unpacked_size
from compute.intake import imports, upload_process
from compute.recompute.run import Bench
from tests.support.tiny import write_tiny

Usage = namedtuple("Usage", "total used free")
Memory = namedtuple("Memory", "available")
LINES = "".join(f"q1 Q0 d{n} 1 {n}.0 mine\n" for n in range(100_000)).encode()
"""2,777,780 bytes."""


@pytest.fixture
def free(monkeypatch: pytest.MonkeyPatch) -> None:
    """A disk with 1 MB beyond what is kept."""
    usage = Usage(10**12, 0, unpacked_size.RESERVE + 10**6)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage)


def _packed(folder: Path, kind: str, content: bytes) -> Path:
    file = folder / f"some.{kind}"
    file.write_bytes(pa.compress(content, codec=kind, asbytes=True))
    return file


@pytest.mark.parametrize("kind", ["gzip", "zstd"])
@pytest.mark.usefixtures("free")
def test_a_packed_run_without_room_is_refused_before_the_work(
    bench: Bench, tiny: Dataset, tmp_path: Path, kind: str
) -> None:
    file = _packed(tmp_path, kind, LINES)
    with pytest.raises(Unavailable, match=r"unpacks to more than 1\.0 MB, but 1\.0 MB are free"):
        imports.import_run(bench, file, tiny)
    assert bench.store.parts("hits") == []
    (looked,) = upload_process.look(bench, {"dataset": "", "files": [(str(file), "mine.gz")]})
    assert looked["report"]["refused"] and "1.0 MB are free" in str(looked["report"])
    # As plain text it holds what its person sees.
    plain = tmp_path / "plain.run"
    plain.write_bytes(b"q1 Q0 d1 1 3.0 mine\n" * 60_000)
    unpacked_size.require(plain, bench.settings.home)


@pytest.mark.usefixtures("free")
def test_packed_judgements_and_texts_without_room_are_refused(bench: Bench, tmp_path: Path) -> None:
    lines = "".join(f"q1 0 d{n} 1\n" for n in range(100_000)).encode()
    qrels = _packed(tmp_path, "gzip", lines)
    with pytest.raises(Unavailable, match="are free on the disk of"):
        imports.import_dataset(bench, "mine", qrels=qrels)
    few = tmp_path / "few.qrels"
    few.write_text("q1 0 d1 1\n", encoding="utf-8")
    texts = _packed(tmp_path, "zstd", b"q1\ttext\n" + b"\n" * 2_000_000)
    with pytest.raises(Unavailable, match=r"some\.zstd has .* and unpacks to more than 1\.0 MB"):
        imports.import_dataset(bench, "mine", qrels=few, queries=texts)
    assert bench.store.parts("judgements") == []


@pytest.mark.usefixtures("free")
def test_an_archive_without_room_is_refused_with_its_size(bench: Bench, tmp_path: Path) -> None:
    folder, archive = write_tiny(tmp_path / "tiny"), tmp_path / "tiny.zip"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packed:
        for file in sorted(folder.rglob("*.*")):
            packed.write(file, file.relative_to(folder).as_posix())
        packed.writestr("notes.txt", bytes(3_000_000))
    with pytest.raises(Unavailable, match=r"and unpacks to 3\.0 MB, but 1\.0 MB are free"):
        imports.import_dataset(bench, "mine", path=archive)
    assert bench.store.parts("judgements") == []


@pytest.mark.usefixtures("free")
def test_the_command_says_so_in_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BEIRSCOPE_HOME", str(tmp_path / "home"))
    file = _packed(tmp_path, "gzip", LINES)
    assert main(["check", str(file)]) == 2
    assert "1.0 MB are free" in capsys.readouterr().out


def test_what_is_held_in_memory_is_bounded_by_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = _packed(tmp_path, "gzip", LINES)
    unpacked_size.require(file, tmp_path)
    found = Memory(available=8_000_000)  # reading takes eight times as much
    monkeypatch.setattr(unpacked_size.psutil, "virtual_memory", lambda: found)
    with pytest.raises(
        Unavailable, match=r"1\.0 MB are free in the memory of this machine for text"
    ):
        unpacked_size.require(file, tmp_path)
    assert len(gzip.decompress(file.read_bytes())) == len(LINES) == 2_777_780


@pytest.mark.usefixtures("free")
def test_a_damaged_file_is_told_as_damaged(bench: Bench, tiny: Dataset, tmp_path: Path) -> None:
    file = _packed(tmp_path, "gzip", LINES[:900_000])
    file.write_bytes(file.read_bytes()[:-20])
    with pytest.raises(BeirscopeError, match="cannot be read"):
        imports.import_run(bench, file, tiny)
