"""A home in which something is in the way, or odd, is told in one sentence and is no bug."""

import shutil
import zlib
from pathlib import Path

import pytest

from compute.__main__ import main
from tests.support.tiny import write_tiny

FOLDERS = ("locks", "parts", "parts/hits", "parts/queries", "tmp", "logs", "trash", "caches")
FILES = (
    "state.sqlite",
    "home.json",
    "parts/identity.json",
    "checksums.txt",
    "beirscope.duckdb",
    "locks/home.lock",
    "settings.toml",
)
HARMLESS = {"logs", "trash", "caches", "checksums.txt", "parts/hits"}
COMMANDS = (
    ["scores"],
    ["check", "--store"],
    ["import-dataset", "TINY", "--name", "other"],
    ["import-run", "RUN", "--dataset", "tiny"],
    ["admin", "backup", "BACKUP"],
    ["jobs", "list", "--json"],
)


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a home, a collection and a run."""
    folder = tmp_path_factory.mktemp("odd")
    run = "".join(
        f"q{query} Q0 d{rank} {rank} {9 - rank} mine\n" for query in (1, 2) for rank in (1, 2)
    )
    (folder / "RUN").write_text(run, "utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BEIRSCOPE_HOME", str(folder / "home"))
        patch.setenv("BEIRSCOPE_DATASETS", "")
        assert main(["import-dataset", str(write_tiny(folder / "TINY")), "--name", "tiny"]) == 0
        assert main(["import-run", str(folder / "RUN"), "--dataset", "tiny", "--system", "a"]) == 0
    return folder


@pytest.fixture
def home(filled: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the home, and the working folder with what commands take in."""
    shutil.copytree(filled, tmp_path / "copy")
    monkeypatch.chdir(tmp_path / "copy")
    monkeypatch.setenv("BEIRSCOPE_HOME", str(tmp_path / "copy" / "home"))
    monkeypatch.setenv("BEIRSCOPE_DATASETS", "")
    return tmp_path / "copy" / "home"


def _said(words: list[str], capfd: pytest.CaptureFixture[str]) -> str:
    """What a command says that does its work all the same, or refuses it in one sentence."""
    capfd.readouterr()
    status = main(words)
    said = capfd.readouterr().err
    assert status in (0, 2) and "bug" not in said and "Traceback" not in said, (words, said)
    assert not status or words[0] == "check" or said.count("\n") == 1, (words, said)
    return said if status else ""


@pytest.mark.parametrize(
    "name",
    [
        # Six commands do their work beside those that are in nobody's way.
        pytest.param(name, marks=pytest.mark.long if name in HARMLESS - {"logs"} else ())
        for name in (*FOLDERS, *FILES)
    ],
)
def test_a_file_for_a_folder_and_a_folder_for_a_file(
    name: str, home: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    place = home / name
    shutil.rmtree(place) if place.is_dir() else place.unlink(missing_ok=True)
    if name in FOLDERS:
        place.write_text("x")
    else:
        (place / "inner").mkdir(parents=True)
    said = "".join(_said(words, capfd) for words in COMMANDS)
    assert str(place) in said or name in HARMLESS, said


@pytest.mark.parametrize("name", ["home.json", "parts/identity.json", "settings.toml"])
@pytest.mark.parametrize("content", ["[" * 100_000, "[]", "\udcff", "9" * 5000])
def test_json_that_cannot_be_read(
    name: str, content: str, home: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (home / name).write_bytes(content.encode("utf-8", "surrogateescape"))
    assert str(home / name) in _said(["scores"], capfd)


@pytest.mark.long
def test_odd_lines_among_the_checksums(home: Path, capfd: pytest.CaptureFixture[str]) -> None:
    odd = [b"", b"x", b"a b c", b"\xff 1 2 3 4", b"a b c d e", b"a 1 2 3 4 5"]
    with (home / "checksums.txt").open("ab") as file:
        file.writelines(line + b" %08x\n" % zlib.crc32(line) for line in odd)
    for words in COMMANDS:
        assert _said(words, capfd) == ""


def test_an_input_that_the_disk_does_not_give_is_named(
    home: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    broken = home.parent / "broken"
    # The kernel answers with EIO to who reads it from its beginning.
    broken.symlink_to("/proc/self/mem")
    for words in (
        ["import-run", "broken", "--dataset", "tiny"],
        ["import-dataset", "--qrels", "broken", "--name", "x"],
        ["import-labels", "broken", "--dataset", "tiny"],
        ["judgements", "import", "broken", "--dataset", "tiny"],
    ):
        assert "broken" in _said(words, capfd)
    for inner in ("corpus.jsonl", "queries.jsonl", "qrels/test.tsv"):
        folder = shutil.copytree(home.parent / "TINY", home.parent / inner.replace("/", "-"))
        (folder / inner).unlink()
        (folder / inner).symlink_to("/proc/self/mem")
        assert str(folder.name) in _said(["import-dataset", str(folder), "--name", "x"], capfd)
