"""Bad input gets one sentence and exit status 2, and leaves nothing behind."""

import stat
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from compute.__main__ import main
from compute.base.settings import load
from compute.store.store import Store
from tests.support.bad_inputs import (
    COLLECTIONS,
    JUDGED,
    JUDGEMENTS,
    QRELS,
    RUNS,
    SETTINGS,
    TEXTS,
    WORDS,
)
from tests.support.tiny import write_tiny

Pack = Callable[[zipfile.ZipFile], None]


def _with(name: str | zipfile.ZipInfo, content: bytes = b"x") -> Pack:
    def pack(archive: zipfile.ZipFile) -> None:
        archive.writestr(name, content)

    return pack


def _link() -> zipfile.ZipInfo:
    link = zipfile.ZipInfo("tiny/qrels/dev.tsv")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    return link


ARCHIVES: list[tuple[Pack, str]] = [
    (_with("../evil"), "FILE: '../evil' leads out of the archive: it is not opened: AGAIN"),
    (_with("/etc/evil"), "FILE: '/etc/evil' leads out of the archive: it is not opened: AGAIN"),
    (_with("a\\..\\b"), "FILE: 'a\\\\..\\\\b' leads out of the archive: it is not opened: AGAIN"),
    (_with("../\x1b[2J"), "FILE: '../\\x1b[2J' leads out of the archive: it is not opened: AGAIN"),
    (_with(_link()), "FILE: 'tiny/qrels/dev.tsv' is a link: it is not opened: AGAIN"),
    (
        _with("more", bytes(30 * 1024**2)),
        "FILE: 'more' would unpack to 31,457,280 bytes: it is not opened: AGAIN",
    ),
    (_with("a/b/c/corpus.jsonl"), "FILE contains no corpus.jsonl: it is not in the BEIR layout"),
    (
        _with("tiny/corpus.jsonl", b"{}\n"),
        "FILE: tiny/queries.jsonl is missing: add it",
    ),
]
PACKINGS = {
    zipfile.ZIP_STORED: "Bad CRC-32 for file 'tiny/queries.jsonl'",
    zipfile.ZIP_DEFLATED: "Error -3 while decompressing data: invalid literal/lengths set",
    zipfile.ZIP_BZIP2: "Invalid data stream",
    zipfile.ZIP_LZMA: "Corrupt input data",
}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A home in which the tiny collection is stored."""
    folder = tmp_path_factory.mktemp("bad")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BEIRSCOPE_HOME", str(folder / "home"))
        patch.setenv("BEIRSCOPE_DATASETS", "")
        assert main(["import-dataset", str(write_tiny(folder / "tiny")), "--name", "tiny"]) == 0
        yield folder


@pytest.fixture
def said(home: Path, capsys: pytest.CaptureFixture[str]) -> Iterator[Callable[..., str]]:
    """What a command says that is refused; nothing of it may stay in the home."""

    def answer(*words: str) -> str:
        capsys.readouterr()
        assert main(words) == 2
        out, err = capsys.readouterr()
        assert out == ""
        sentence = err.removesuffix("\n")
        assert sentence.isprintable()
        return sentence

    def kept() -> tuple[int, list[Path]]:
        return Store(load()).version(), sorted((home / "home" / "parts").rglob("*"))

    before = kept()
    yield answer
    assert kept() == before


@pytest.fixture
def file(tmp_path: Path) -> Callable[[str | bytes], Path]:
    """Writes a file of some content."""

    def write(content: str | bytes) -> Path:
        path = tmp_path / "file"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


Said = Callable[..., str]
Write = Callable[[str | bytes], Path]


def test_at_least_sixty_inputs_are_listed() -> None:
    tables = (RUNS, QRELS, TEXTS, COLLECTIONS, JUDGEMENTS, SETTINGS, WORDS, ARCHIVES, PACKINGS)
    assert sum(map(len, tables)) >= 60


@pytest.mark.long
@pytest.mark.parametrize(("content", "sentence"), RUNS, ids=range(len(RUNS)))
def test_runs(said: Said, file: Write, content: str | bytes, sentence: str) -> None:
    path = str(file(content))
    assert said("import-run", path, "--dataset", "tiny").replace(path, "FILE") == sentence


@pytest.mark.parametrize(("content", "sentence"), QRELS, ids=range(len(QRELS)))
def test_qrels(said: Said, file: Write, content: str | bytes, sentence: str) -> None:
    path = str(file(content))
    words = ("import-dataset", "--qrels", path, "--name", "mine")
    assert said(*words).replace(path, "FILE") == sentence


@pytest.mark.parametrize(("content", "sentence"), TEXTS, ids=range(len(TEXTS)))
def test_texts_of_queries(
    said: Said, file: Write, tmp_path: Path, content: str | bytes, sentence: str
) -> None:
    judged, path = tmp_path / "judged", str(file(content))
    judged.write_text(JUDGED, "utf-8")
    words = ("import-dataset", "--qrels", str(judged), "--queries", path, "--name", "mine")
    assert said(*words).replace(path, "FILE") == sentence


@pytest.mark.parametrize(
    ("name", "old", "new", "sentence"), COLLECTIONS, ids=range(len(COLLECTIONS))
)
def test_collections(
    said: Said, tmp_path: Path, name: str, old: str, new: str | bytes | None, sentence: str
) -> None:
    folder = write_tiny(tmp_path / "tiny")
    broken = folder / name
    if new is None:
        broken.unlink()
    else:
        content, bad = broken.read_bytes(), new if isinstance(new, bytes) else new.encode()
        assert old.encode() in content
        broken.write_bytes(content.replace(old.encode(), bad, 1) if old else b"")
    words = ("import-dataset", str(folder), "--name", "mine")
    assert said(*words).replace(str(folder), "FILE") == sentence


@pytest.mark.parametrize(("pack", "sentence"), ARCHIVES, ids=range(len(ARCHIVES)))
def test_archives(said: Said, tmp_path: Path, pack: Pack, sentence: str) -> None:
    path = tmp_path / "tiny.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        pack(archive)
    answer = said("import-dataset", str(path), "--name", "mine").replace(str(path), "FILE")
    assert answer == sentence.replace("AGAIN", "pack or fetch it again")


@pytest.mark.parametrize("packing", PACKINGS)
def test_damaged_archives(said: Said, tmp_path: Path, packing: int) -> None:
    folder, path = write_tiny(tmp_path / "tiny"), tmp_path / "tiny.zip"
    with zipfile.ZipFile(path, "w", packing) as archive:
        for member in ("queries.jsonl", "corpus.jsonl", "qrels/test.tsv"):
            archive.write(folder / member, f"tiny/{member}")
    packed = bytearray(path.read_bytes())
    packed[60:70] = bytes(10)
    path.write_bytes(packed)
    answer = said("import-dataset", str(path), "--name", "mine").replace(str(path), "FILE")
    assert answer == f"FILE: tiny/queries.jsonl is damaged ({PACKINGS[packing]}): fetch it again"


@pytest.mark.parametrize(("content", "sentence"), JUDGEMENTS, ids=range(len(JUDGEMENTS)))
def test_judgements(said: Said, file: Write, content: str | bytes, sentence: str) -> None:
    path = str(file(content))
    words = ("judgements", "import", path, "--dataset", "tiny")
    assert said(*words).replace(path, "FILE") == sentence


@pytest.mark.parametrize(("content", "sentence"), SETTINGS, ids=range(len(SETTINGS)))
def test_settings(
    capsys: pytest.CaptureFixture[str],
    file: Write,
    monkeypatch: pytest.MonkeyPatch,
    content: str | bytes,
    sentence: str,
) -> None:
    written = file(content)
    path = written.rename(written.with_name("settings.toml"))
    monkeypatch.setenv("BEIRSCOPE_HOME", str(path.parent))
    assert main(["scores"]) == 2
    assert capsys.readouterr().err.replace(str(path), "FILE") == sentence + "\n"


@pytest.mark.parametrize(("words", "sentence"), WORDS, ids=range(len(WORDS)))
def test_words(said: Said, home: Path, words: list[str], sentence: str) -> None:
    assert said(*(str(home / "tiny") if word == "TINY" else word for word in words)) == sentence


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (
            ["admin", "snapshot"],
            "admin snapshot needs FILE: beirscope admin snapshot",
        ),
        (["check", "x", "--\x1b[2J"], "Unknown option: --\\x1b[2J: beirscope check"),
        (
            ["worker", "--concurrency", "0"],
            "Invalid value for --concurrency: it must be 1 or more: beirscope worker",
        ),
    ],
)
def test_wrong_options_are_one_sentence_that_names_the_help(
    capsys: pytest.CaptureFixture[str], words: list[str], sentence: str
) -> None:
    assert main(words) == 2
    assert capsys.readouterr().err == f"{sentence} --help explains it\n"
