"""Groups of options that several commands share, each with the value that it produces."""

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
    """Options for reading a file."""

    role: Annotated[str, Parameter(name="--as", choices=("run", "judgements"))] = ""
    """Content of the file, if it is ambiguous."""
    part: str = ""
    """The run to read if the file has several, such as default/test."""

    def how(self, grades: "Grades | None" = None, fold: str | None = None) -> How:
        """Return the options as file readers expect them."""
        folded = fold is not None and (Path(fold) if fold else True)
        grades = grades or Grades()
        return How(self.role, grades.levels, grades.round, self.part, folded)


@Parameter(name="*")
@dataclass(frozen=True)
class Grades:
    """Options for fractional grades."""

    levels: Annotated[
        tuple[float, ...], Parameter(converter=numbers, n_tokens=1, metavar="N,N")
    ] = ()
    """Minimum values of grades 1, 2, …, if grades are fractions."""
    round: bool = False
    """Round fractional grades."""


@Parameter(name="*")
@dataclass(frozen=True)
class AsVersion:
    """Options for keeping the replaced run as a version."""

    as_version: Annotated[str | None, Parameter(metavar="[LABEL]")] = None
    """Keep the replaced run as a version (default label: the next number)."""
    note: str = ""
    """Note on the change, with --as-version."""

    def version(self) -> run_versions.Version | None:
        """Return the version, or None if no run is kept. Raises WrongInput for an invalid one."""
        return run_versions.given(self.as_version, self.note)


@Parameter(name="*")
@dataclass(frozen=True)
class Counted:
    """Options for the added judgements that count."""

    rule: Annotated[str, Parameter(choices=tuple(RULES), show_default=True)] = "majority"
    """Rule that resolves several judgements of a document."""
    source: Annotated[tuple[str, ...], SEVERAL, Parameter(choices=tuple(SOURCES))] = HUMAN
    """Sources of the judgements that count."""

    def choice(self) -> Choice:
        """Return the options in the form that functions reading judgements expect."""
        return Choice(self.rule, self.source)


@Parameter(name="*")
@dataclass(frozen=True)
class Judged(Counted):
    """Options for the judgements by which results are scored."""

    judgements: Annotated[str, Parameter(metavar="SET", show_default=True)] = OFFICIAL
    """official; added (official and added); or one of the sets that `sets` lists, by itself."""
