"""Archives that are not what they seem are refused, and nothing of them is ever written."""

import stat
import zipfile
from pathlib import Path

import pytest

from compute.base.errors import WrongInput
from compute.datasets import layout
from compute.datasets.reading import open_path
from compute.intake import doctor
from tests.support.tiny import write_tiny


def _archive(path: Path, *, extra: zipfile.ZipInfo | str | None = None, data: bytes = b"x") -> Path:
    folder = write_tiny(path / "tiny")
    with zipfile.ZipFile(path / "tiny.zip", "w", zipfile.ZIP_DEFLATED) as packed:
        for file in sorted(folder.rglob("*.*")):
            packed.write(file, f"tiny/{file.relative_to(folder).as_posix()}")
        if extra is not None:
            packed.writestr(extra, data)
    return path / "tiny.zip"


@pytest.mark.parametrize("name", ["../evil.jsonl", "tiny/../../evil", "/etc/evil", "a\\..\\evil"])
def test_a_name_that_leads_out_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(WrongInput, match="leads out of the archive"):
        open_path(_archive(tmp_path, extra=name))


@pytest.mark.parametrize("way", ["tiny\\{}", "./tiny/{}", "./{}", "\\.\\tiny\\{}"[1:]])
def test_names_as_windows_or_with_a_dot_before_them_are_read(tmp_path: Path, way: str) -> None:
    folder, path = write_tiny(tmp_path / "tiny"), tmp_path / "tiny.zip"
    with zipfile.ZipFile(path, "w") as packed:
        for file in folder.rglob("*.*"):
            name = way.format(file.relative_to(folder).as_posix())
            name = name.replace("/", "\\") if "\\" in way else name
            packed.writestr(name, file.read_bytes())
    archive, plain = open_path(path), open_path(folder)
    assert [*archive.documents()] == [*plain.documents()]
    assert archive.judgements().equals(plain.judgements())
    assert not doctor.check(path).refused


def test_a_link_is_refused(tmp_path: Path) -> None:
    link = zipfile.ZipInfo("tiny/qrels/dev.tsv")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    with pytest.raises(WrongInput, match="is a link"):
        open_path(_archive(tmp_path, extra=link, data=b"/etc/passwd"))


def test_a_file_that_unpacks_to_absurd_size_is_refused(tmp_path: Path) -> None:
    with pytest.raises(WrongInput, match="would unpack to 31,457,280 bytes"):
        open_path(_archive(tmp_path, extra="tiny/more.jsonl", data=bytes(30 * 1024**2)))


def test_a_file_twice_is_refused(tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match="Duplicate name"):
        archive = _archive(tmp_path, extra="tiny/corpus.jsonl")
    with pytest.raises(WrongInput, match=r"'tiny/corpus\.jsonl' twice"):
        open_path(archive)


def test_an_encrypted_file_is_refused(tmp_path: Path) -> None:
    archive = _archive(tmp_path)
    packed = bytearray(archive.read_bytes())
    packed[packed.index(b"PK\x01\x02") + 8] |= 1
    archive.write_bytes(packed)
    with pytest.raises(WrongInput, match="is encrypted"):
        open_path(archive)


def test_a_damaged_file_is_refused_with_its_name(tmp_path: Path) -> None:
    archive = _archive(tmp_path)
    packed = bytearray(archive.read_bytes())
    at = packed.index(b"tiny/corpus.jsonl") + 60
    packed[at : at + 40] = bytes(40)
    archive.write_bytes(packed)
    with pytest.raises(WrongInput, match=r"tiny/corpus\.jsonl is damaged|corpus\.jsonl line"):
        list(open_path(archive).documents())


@pytest.mark.parametrize("kept", [0, 10, 200, 700])
def test_half_an_archive_is_refused(tmp_path: Path, kept: int) -> None:
    archive = _archive(tmp_path)
    archive.write_bytes(archive.read_bytes()[:kept])
    with pytest.raises(WrongInput, match="fetch it again"):
        open_path(archive)
    assert doctor.check(archive).refused


def test_what_a_mac_adds_is_passed_over(tmp_path: Path) -> None:
    archive = _archive(tmp_path, extra="__MACOSX/tiny/corpus.jsonl", data=b"\x00\x05\x16\x07")
    assert len(list(open_path(archive).documents())) == 6


def test_a_line_without_end_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("compute.datasets.records.LONGEST_LINE", 60)
    with pytest.raises(WrongInput, match="line 1: longer than"):
        list(open_path(write_tiny(tmp_path / "tiny")).documents())


def test_reading_an_archive_writes_nothing(tmp_path: Path) -> None:
    archive = _archive(tmp_path)
    before = sorted(tmp_path.rglob("*"))
    origin = open_path(archive)
    assert len(list(origin.documents())) == 6
    assert layout.Archive(archive).splits("tiny") == ["test"]
    assert sorted(tmp_path.rglob("*")) == before


def test_files_that_share_their_packed_bytes_are_refused_together(tmp_path: Path) -> None:
    # The same local entry listed 40 times: each is within bounds, all of them are not.
    archive = tmp_path / "bomb.zip"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("corpus.jsonl", b"ab" * (3 * 1024**2))
        first = packed.filelist[0]
        for number in range(40):
            again = zipfile.ZipInfo(f"qrels/{number}.tsv")
            for name in ("compress_type", "CRC", "compress_size", "file_size", "header_offset"):
                setattr(again, name, getattr(first, name))
            packed.filelist.append(again)
    with pytest.raises(WrongInput, match=r"would unpack to 257,949,696 bytes in all"):
        open_path(archive)


def test_more_names_than_any_collection_has_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(layout, "MOST_FILES", 3)
    with pytest.raises(WrongInput, match="contains 4 files, more than 3"):
        open_path(_archive(tmp_path, extra="tiny/README"))


def test_an_archive_inside_is_never_opened(tmp_path: Path) -> None:
    inner = _archive(tmp_path).read_bytes()
    outer = tmp_path / "outer.zip"
    with zipfile.ZipFile(outer, "w") as packed:
        packed.writestr("outer/tiny.zip", inner)
    with pytest.raises(WrongInput, match=r"contains no corpus\.jsonl"):
        open_path(outer)
