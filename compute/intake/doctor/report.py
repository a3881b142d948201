"""The report on a file: its content, and each kind of fault with its treatment by an import."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Any, Literal

from compute.base.errors import BeirscopeError

_LONGEST = 300
"""Maximum length of an example, since ids can have any length."""

Kind = Literal[
    "run",
    "qrels",
    "run and qrels",
    "queries",
    "documents",
    "BEIR folder",
    "BEIR archive",
    "unreadable",
]


@dataclass(frozen=True)
class Where:
    """The place of a fault."""

    file: str
    """Path of the file; for a file in an archive, the names of both."""
    line: int = 0
    """The line number, counted from 1; 0 means the whole file."""

    def __str__(self) -> str:
        return f"{self.file} line {self.line}" if self.line else self.file


@dataclass(frozen=True)
class Finding:
    """A kind of fault: how often it occurs, its first place, and how an import treats it."""

    what: str
    count: int
    example: str
    where: Where
    treatment: str
    """What an import does about it; for a refused file, the next step."""
    refused: bool
    """Whether the fault stops an import; otherwise the treatment is applied."""

    def __str__(self) -> str:
        often = "once" if self.count == 1 else f"{self.count:,} times; first"
        verdict = "refused" if self.refused else "remark"
        return f"{verdict}: {self.what}, {often}: {self.where}: {self.example} → {self.treatment}"


@dataclass(frozen=True)
class Report:
    """The report on a path, with `counts` of its content in reading order."""

    path: str
    kind: Kind
    counts: dict[str, float]
    findings: tuple[Finding, ...]

    @property
    def refused(self) -> bool:
        """Whether one of the findings would stop an import."""
        return any(finding.refused for finding in self.findings)

    def record(self) -> dict[str, Any]:
        """Return the report as JSON values."""
        return asdict(self) | {"refused": self.refused}

    def lines(self) -> list[str]:
        """Return the report as lines of text; names in it may contain control characters."""
        counts = [f"  {name}: {number:,}" for name, number in self.counts.items()]
        findings = [f"  {finding}" for finding in self.findings]
        verdict = "  cannot be imported" if self.refused else "  can be imported"
        return [f"{self.path}: {self.kind}", *counts, *findings, verdict]


class Tally:
    """Counts faults by kind, and keeps the first of each kind."""

    def __init__(self) -> None:
        self._counts: dict[tuple[str, bool], int] = {}
        self._first: dict[tuple[str, bool], tuple[str, Where, str]] = {}

    def refuse(self, what: str, example: str, where: Where, treatment: str) -> None:
        """Count a fault for which an import refuses the file."""
        self._note((what, True), 1, (example, where, treatment))

    def remark(self, what: str, example: str, where: Where, treatment: str, count: int = 1) -> None:
        """Count a fault that an import treats as `treatment` says; do nothing if `count` is 0."""
        if count:
            self._note((what, False), count, (example, where, treatment))

    @contextmanager
    def step(self, what: str, file: str, aside: str = "") -> Iterator[None]:
        """Count an error within the block as a fault, and go on after the block. The file is
        refused, unless an import can leave it out: then `aside` is the treatment."""
        try:
            yield
        except BeirscopeError as error:
            example = str(error).removeprefix(file).lstrip(" :,")
            tell = self.remark if aside else self.refuse
            tell(what, example, Where(file), aside or "fix or replace the file")

    def findings(self) -> tuple[Finding, ...]:
        """Return the findings, refusals first."""
        found = [
            Finding(what, count, *self._first[what, refused], refused)
            for (what, refused), count in self._counts.items()
        ]
        return tuple(sorted(found, key=lambda finding: not finding.refused))

    def _note(self, kind: tuple[str, bool], count: int, first: tuple[str, Where, str]) -> None:
        self._counts[kind] = self._counts.get(kind, 0) + count
        example, where, treatment = first
        self._first.setdefault(kind, (example[:_LONGEST], where, treatment))
