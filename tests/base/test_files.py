"""Files and folders, whatever they hold."""

import io
import tarfile
from pathlib import Path

import pytest

from compute.base.errors import WrongInput
from compute.base.files import untar


def _archive(*members: tuple[str, bytes, bytes]) -> io.BytesIO:
    """A tar of (name, type, content or target of a link)."""
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w:gz") as tar:
        for name, kind, content in members:
            member = tarfile.TarInfo(name)
            member.type = kind
            if kind == tarfile.SYMTYPE:
                member.linkname = content.decode()
                tar.addfile(member)
            else:
                member.size = len(content)
                tar.addfile(member, io.BytesIO(content))
    file.seek(0)
    return file


def _files(folder: Path) -> dict[str, bytes]:
    found = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in found}


@pytest.mark.parametrize("mode", ["r:gz", "r|gz"])
def test_files_come_out_as_they_went_in(tmp_path: Path, mode: str) -> None:
    packed = _archive(("a.txt", tarfile.REGTYPE, b"a"), ("sub/b.txt", tarfile.REGTYPE, b"b"))
    with tarfile.open(fileobj=packed, mode=mode) as archive:  # pyrefly: ignore
        untar(archive, tmp_path / "out")
    assert _files(tmp_path / "out") == {"a.txt": b"a", "sub/b.txt": b"b"}


@pytest.mark.parametrize("name", ["../out.txt", "/out.txt", "sub/../../out.txt"])
def test_a_name_that_leads_out_of_the_folder_is_refused(tmp_path: Path, name: str) -> None:
    packed = _archive((name, tarfile.REGTYPE, b"x"))
    with (
        tarfile.open(fileobj=packed) as archive,
        pytest.raises(WrongInput, match="leads out of the archive"),
    ):
        untar(archive, tmp_path / "deep" / "out")
    assert _files(tmp_path) == {}


def test_a_link_is_left_out_and_so_is_what_would_be_written_through_it(tmp_path: Path) -> None:
    packed = _archive(
        ("link", tarfile.SYMTYPE, str(tmp_path / "elsewhere").encode()),
        ("link/b.txt", tarfile.REGTYPE, b"b"),
    )
    with tarfile.open(fileobj=packed) as archive:
        untar(archive, tmp_path / "out")
    assert _files(tmp_path) == {"out/link/b.txt": b"b"}
    assert not (tmp_path / "elsewhere").exists()
