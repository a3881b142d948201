"""Ownership: the state to which a home and its parts belong. A state has an identity from its
creation on. `home.json` names it, and so does a file next to the parts, which several homes may
share. A state that is new, or is not the one named there, knows none of the existing parts; it is
refused before anything is written."""

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from compute.base import json_files
from compute.base.errors import Conflict, Unavailable, WrongInput
from compute.base.files import make_folder, plain_text, written_aside
from compute.base.words import counted
from compute.store.kinds import COLUMNS

WAY_ON = (
    "set `state` (BEIRSCOPE_STATE) as it was, put state.sqlite back if it is lost, or read the"
    " output of `python -m compute admin adopt`"
)


@dataclass(frozen=True)
class Marks:
    """A home's marks, which identify its state; 0 and empty texts if it has none."""

    format: int
    home: str
    """The identity in `home.json`."""
    parts: str
    """The identity in the folder of parts."""
    unfinished: str = ""
    """The command that is filling the home, or was interrupted."""


def read(home: Path) -> Marks:
    """Return the marks of a home. Raises WrongInput for an invalid file."""
    format_, named, unfinished = _home_record(home_file(home))
    return Marks(format_, named, _parts_record(parts_file(home)), unfinished)


def home_file(home: Path) -> Path:
    """Return the file that records a home's format and state."""
    return home / "home.json"


def parts_file(home: Path) -> Path:
    """Return the file in the folder of parts that names their state."""
    return home / "parts" / "identity.json"


def check(
    home: Path, marks: Marks, identity: str, listed: Callable[[], set[str]], where: str
) -> None:
    """Raise Conflict if a home or its parts belong to a state other than the one at `where`, which
    has this `identity` (empty if it is new or of an older format) and has `listed` these parts.
    Parts without a mark belong to it if it lists any of them."""
    marked = ((home_file(home), marks.home), (parts_file(home), marks.parts))
    for file, named in marked:
        if named not in ("", identity):
            if marks.unfinished:
                raise Conflict(
                    f"`{marks.unfinished}` has not finished: wait for it or run it again,"
                    " or set BEIRSCOPE_HOME to another folder"
                )
            new = "" if identity else ", which is missing, new or of an older version"
            raise Conflict(f"{file} names another state than {where}{new}: {WAY_ON}")
    # The mark is read again at the end, since another machine may have marked its parts meanwhile.
    found = set() if marks.parts else {file.stem for file in part_files(home)}
    if found and not found & listed() and not read(home).parts:
        lying = f"{counted(len(found), 'part')} in {home / 'parts'}"
        raise Conflict(f"{where} lists none of the {lying}: {WAY_ON}")


def write(home: Path, marks: Marks) -> None:
    """Mark the parts and the home, unless they have these marks. The home is marked last, and the
    state was created before, so that a killed command can be repeated. Raises Unavailable for a
    link to a missing folder of parts."""
    now = read(home)
    _mark_parts(home, now.parts, marks.parts)
    if now != replace(marks, parts=now.parts):
        _write(home_file(home), {"format": marks.format, "state": marks.home})


def begin(home: Path, format_: int, identity: str, command: str) -> None:
    """Mark a home as that of a state that `command` is about to create, so that nothing else opens
    it. The home is marked first, so that a killed command can be run again."""
    _write(home_file(home), {"format": format_, "state": identity, "unfinished": command})
    _mark_parts(home, "", identity)


def _mark_parts(home: Path, now: str, identity: str) -> None:
    parts = home / "parts"
    if parts.is_symlink() and not parts.is_dir():
        raise Unavailable(f"{parts} leads to a missing folder: mount or create it first")
    if now != identity:
        make_folder(parts)
        _write(parts_file(home), {"state": identity})


def part_files(home: Path) -> list[Path]:
    """Return the files in the folders of parts, listed or not."""
    folders = (home / "parts" / kind for kind in COLUMNS)
    return [file for folder in folders for file in sorted(folder.glob("*.parquet"))]


def _home_record(file: Path) -> tuple[int, str, str]:
    try:
        record: Any = json_files.parsed(plain_text(file))
        state, unfinished = (str(record.get(name, "")) for name in ("state", "unfinished"))
        return int(record["format"]), state, unfinished
    except FileNotFoundError:
        return 0, "", ""
    except (ValueError, KeyError, TypeError, AttributeError):
        raise WrongInput(f'{file}: not {{"format": <number>}}: fix or remove it') from None


def _parts_record(file: Path) -> str:
    try:
        record: Any = json_files.parsed(plain_text(file))
        return str(record["state"])
    except FileNotFoundError:
        return ""
    except (ValueError, KeyError, TypeError):
        raise WrongInput(f'{file}: not {{"state": "<identity>"}}: fix or remove it') from None


def _write(file: Path, record: dict[str, Any]) -> None:
    with written_aside(file) as aside:
        aside.write(json.dumps(record).encode("utf-8"))
