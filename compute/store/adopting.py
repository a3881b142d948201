"""Adoption: a state takes over a home whose parts belong to another state, or to a lost one."""

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from compute.base.locks import locked
from compute.base.settings import Settings
from compute.base.words import counted
from compute.store import ownership, state, trash


@dataclass(frozen=True)
class Adoption:
    """The effects of an adoption."""

    state: str
    """Path or address of the adopting state."""
    own: bool
    """Whether the home and its parts already belong to this state."""
    listed: list[Path]
    """Files of parts that the state lists; they stay."""
    unknown: list[Path]
    """Files of parts that the state does not list; they go to the trash."""
    thrown: list[Path]
    """Files in the trash that the state lists; they are restored."""

    def __str__(self) -> str:
        if self.own:
            return f"the home already belongs to {self.state}"
        stay = f"{counted(len(self.listed), 'part')} that it lists stay"
        goes = f"{counted(len(self.unknown), 'other')} to the trash"
        back = f", {len(self.thrown):,} back from there" if self.thrown else ""
        return f"{self.state} as the state of this home: {stay}, {goes}{back}"


def planned(settings: Settings) -> Adoption:
    """Return the effects of an adoption; nothing is written."""
    home, engine = settings.home, state.engine_of(settings)
    with state.opening(engine, home):
        identity, listed = state.identity_of(engine), state.listed(engine)
    engine.dispose()
    marks = ownership.read(home)
    found = ownership.part_files(home)
    away = listed - {file.stem for file in found}
    empty = "" if identity or listed else ", which is new and has no judgements and no tasks,"
    return Adoption(
        state.where(engine) + empty,
        identity == marks.home == marks.parts != "",
        [file for file in found if file.stem in listed],
        [file for file in found if file.stem not in listed],
        trash.lying(home, away),
    )


def adopt(settings: Settings) -> Adoption:
    """Mark the home and its parts as the state's, move the parts that it does not list to the
    trash, and restore those in the trash that it lists. If it is killed, it can be repeated. Raises
    the database errors of `state.open_state`."""
    with locked(settings.home / "locks" / "home.lock"):
        adoption = planned(settings)
        state.open_state(settings, adopting=True).dispose()
        if not adoption.own:
            trash.put(settings.home, adoption.unknown, datetime.now(UTC))
            trash.put_back(settings.home, adoption.thrown)
    return adoption
