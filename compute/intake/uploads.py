"""Uploaded files: of supported kinds, of limited size, never stored under their original names."""

import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, NamedTuple

from compute.base import scratch
from compute.base.errors import WrongInput
from compute.base.settings import Settings
from compute.base.words import counted

ENDINGS = (
    ".zip",
    ".tsv",
    ".txt",
    ".csv",
    ".jsonl",
    ".run",
    ".trec",
    ".qrels",
    ".xml",
    ".json",
    ".parquet",
    ".gz",
    ".zst",
    ".xz",
    ".bz2",
    ".lz4",
    ".tar",
    ".tgz",
)
"""Files may be uploaded if their names end in one of these."""
MOST = 100
"""Maximum number of files in one upload."""
LONGEST = 100
"""Maximum number of characters of a file's name that are kept."""


class Upload(NamedTuple):
    """An uploaded file: the name that the user gave it, and the path of its content."""

    name: str
    path: Path


def check(settings: Settings, sizes: Sequence[tuple[str, int]]) -> None:
    """Raise WrongInput for the first file (name, bytes) that is refused."""
    if len(sizes) > MOST:
        raise WrongInput(f"{len(sizes)} files are too many at once: at most {MOST} at a time")
    most = settings.upload_megabytes
    for name, size in sizes:
        if not name.lower().endswith(ENDINGS):
            known = ", ".join(ENDINGS)
            raise WrongInput(f"{name} is not of a supported kind: {known}")
        if size > most * 1024**2:
            raise WrongInput(
                f"{name} is larger than {most} MB (setting upload_megabytes): import it with"
                " python -m compute import-run or import-dataset on the server"
            )
    if sum(size for _, size in sizes) > most * 1024**2:
        raise WrongInput(
            f"the {counted(len(sizes), 'file')} are together larger than {most} MB (setting"
            " upload_megabytes): upload fewer at a time"
        )


@contextmanager
def kept(settings: Settings, files: Sequence[tuple[str, IO[bytes]]]) -> Iterator[list[Upload]]:
    """Check the uploaded files (name, content), and yield them in a folder that is removed after
    the block. On disk, a file's name is a number with its known ending, since names from outside
    are never part of a path. Raises WrongInput as `check` does."""
    check(settings, [(name, _size(content)) for name, content in files])
    with scratch.folder(settings.home, "upload-", scratch.UPLOADS) as folder:
        found = []
        for number, (name, content) in enumerate(files):
            path = folder / f"{number}{_ending(name)}"
            content.seek(0)
            with path.open("wb") as out:
                shutil.copyfileobj(content, out)
            found.append(Upload(shown(name), path))
        yield found


def shown(name: str) -> str:
    """Return a file's name without folders, truncated to LONGEST characters but with its ending."""
    last = name.replace("\\", "/").rsplit("/", 1)[-1]
    return last if len(last) <= LONGEST else f"{last[: LONGEST - 12]}…{last[-11:]}"


def _size(content: IO[bytes]) -> int:
    content.seek(0, 2)
    return content.tell()


def _ending(name: str) -> str:
    """Return the known endings of a name, in order, such as `.run.gz` for `x.run.gz`."""
    low, found = name.lower(), ""
    while end := next((end for end in ENDINGS if low.endswith(end)), ""):
        low, found = low[: -len(end)], end + found
    return found
