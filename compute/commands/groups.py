"""Groups of options that several commands share, each with its value for the rooms."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from compute.commands.options import OFFICIAL, SEVERAL, numbers
from compute.datasets.shapes import How
from compute.judgements import HUMAN, RULES, SOURCES, Choice
from compute.store import run_versions


@Parameter(name="*")
@dataclass(frozen=True)
class Shape:
    """What a person says of how a file is read."""

    role: Annotated[str, Parameter(name="--as", choices=("run", "judgements"))] = ""
    """What the file holds, where nothing in it says so."""
    part: str = ""
    """Which of several runs in one file, such as default/test."""

    def how(self, grades: "Grades | None" = None, fold: str | None = None) -> How:
        """The same for readers of files."""
        folded = fold is not None and (Path(fold) if fold else True)
        grades = grades or Grades()
        return How(self.role, grades.levels, grades.round, self.part, folded)


@Parameter(name="*")
@dataclass(frozen=True)
class Grades:
    """How grades that are fractions become whole."""

    levels: Annotated[
        tuple[float, ...], Parameter(converter=numbers, n_tokens=1, metavar="N,N")
    ] = ()
    """Grades that are fractions: from which on a document has grade 1, 2, …."""
    round: bool = False
    """Grades that are fractions: round them."""


@Parameter(name="*")
@dataclass(frozen=True)
class AsVersion:
    """Whether the run that is replaced stays as a version."""

    as_version: Annotated[str | None, Parameter(metavar="[LABEL]")] = None
    """Keep the run that it replaces as a version (default: the next number)."""
    note: str = ""
    """With --as-version: what is new."""

    def version(self) -> run_versions.Version | None:
        """None where it does not stay. Raises WrongInput."""
        return run_versions.given(self.as_version, self.note)


@Parameter(name="*")
@dataclass(frozen=True)
class Counted:
    """Which added judgements count."""

    rule: Annotated[str, Parameter(choices=tuple(RULES), show_default=True)] = "majority"
    """One grade of several."""
    source: Annotated[tuple[str, ...], SEVERAL, Parameter(choices=tuple(SOURCES))] = HUMAN
    """Which count."""

    def choice(self) -> Choice:
        """The same for readers of judgements."""
        return Choice(self.rule, self.source)


@Parameter(name="*")
@dataclass(frozen=True)
class Judged(Counted):
    """Which judgements make scores."""

    judgements: Annotated[str, Parameter(metavar="SET", show_default=True)] = OFFICIAL
    """Official; added: added judgements counted in; a set that `sets` lists: by that one only."""
