"""Files uploaded by a browser, which Streamlit keeps in memory until they are released."""

from collections.abc import Sequence
from io import BytesIO
from pathlib import Path

import streamlit as st

from compute.base.errors import BeirscopeError, WrongInput
from compute.base.settings import Settings
from compute.intake import packed, uploads
from pages._shared import streamlit_internals
from pages._shared.streamlit_internals import UploadedFile

ARCHIVES = (".zip", ".tar", ".tgz", ".gz", ".xz", ".bz2")
"""Endings of file names that may be archives."""


class Inside(BytesIO):
    """A file of an uploaded archive, with the interface of Streamlit's uploaded files."""

    def __init__(self, name: str, file_id: str, content: bytes) -> None:
        super().__init__(content)
        self.name, self.file_id = name, file_id


File = UploadedFile | Inside


def opened(settings: Settings, files: Sequence[UploadedFile]) -> list[File]:
    """Return the files, replacing an archive that is not a BEIR archive by its files, unpacked
    once. Raises WrongInput if it is damaged, empty, or has too many or too large files."""
    ids = {file.file_id for file in files}
    before: dict[str, list[Inside]] = st.session_state.get("_inside", {})
    held = {name: inside for name, inside in before.items() if name in ids}
    for file in files:
        if file.file_id not in held and file.name.lower().endswith(ARCHIVES):
            held[file.file_id] = _inside(settings, file)
    st.session_state["_inside"] = held
    return [one for file in files for one in held.get(file.file_id) or [file]]


def _inside(settings: Settings, file: UploadedFile) -> list[Inside]:
    """Return the files of an archive; empty for another file."""
    with uploads.kept(settings, [(file.name, file)]) as [(_, path)]:
        try:
            with packed.opened([path], settings.home) as found:
                if found == [path]:
                    return []
                sizes = [one.stat().st_size for one in found]
                uploads.check(settings, [*zip(map(_named, found), sizes, strict=True)])
                return [
                    Inside(_named(one), f"{file.file_id}/{number}", one.read_bytes())
                    for number, one in enumerate(found)
                ]
        except BeirscopeError as error:
            raise WrongInput(str(error).replace(str(path), file.name)) from None


def _named(inside: Path) -> str:
    """Return the name of an archive's file, with .txt if it has no ending."""
    known = inside.name.lower().endswith(uploads.ENDINGS)
    return inside.name if known else f"{inside.name}.txt"


def sizes(session: str) -> list[int]:
    """Return the size in bytes of each file that a session keeps."""
    held = streamlit_internals.uploads()
    return [len(one.data) for one in held.file_storage.get(session, {}).values()] if held else []


def forget() -> None:
    """Release this session's uploads after an import, or when the page was left."""
    session, held = streamlit_internals.session(), streamlit_internals.uploads()
    if session and held:
        held.remove_session_files(session)


def end_left() -> None:
    """End sessions that keep files but whose browsers are gone, since nothing else would."""
    if held := streamlit_internals.uploads():
        for session in [*held.file_storage]:
            if streamlit_internals.end(session):
                held.remove_session_files(session)
