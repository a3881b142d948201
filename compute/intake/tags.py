"""Names of runs that are imported together: from their tags, or else from their files."""

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from compute.base.errors import BeirscopeError
from compute.datasets import trec

_ENDINGS = (".gz", ".zst", ".xz", ".bz2", ".lz4", ".txt", ".run", ".trec", ".res", ".out")
_ENDINGS += (".json", ".jsonl", ".csv", ".tsv", ".parquet")
"""Endings of run files' names that say nothing about the run."""


class Tagged(NamedTuple):
    """A run file: the name that is shown, and the tag in it."""

    file: str
    tag: str


def tag(file: Path) -> str:
    """Return the tag in the first run line; empty for other or unreadable files."""
    try:
        lines = trec.lines(file, 1000)
        # A sentence of six words in a JSON file is not a run line.
        if "".join(lines).lstrip()[:1] in ("[", "{"):
            return ""
        found = (line.split() for line in lines if not trec.foreign(line))
        return next((words[5] for words in found if len(words) == 6), "")
    except (BeirscopeError, OSError):
        return ""


def names(runs: Sequence[Tagged]) -> list[str]:
    """Return the name of each run: its tag, or the name of its file if several files share the tag.
    Otherwise, the first of them would get the name, and the others could not be imported. Files
    with the same name, such as run.gz in two folders, keep their tag."""
    shared = _repeated(run.tag for run in runs)
    called = [run.tag if run.tag and run.tag not in shared else stem(run.file) for run in runs]
    unclear = _repeated(called)
    return [run.tag if name in unclear else name for name, run in zip(called, runs, strict=True)]


def renamed(runs: Sequence[Tagged], called: Sequence[str]) -> list[str]:
    """Return a sentence for each tag that names no file because several files share it."""
    by_tag: dict[str, list[str]] = {}
    shared = _repeated(run.tag for run in runs)
    for run, name in zip(runs, called, strict=True):
        if run.tag in shared and name == stem(run.file):
            by_tag.setdefault(run.tag, []).append(name)
    return [
        f"{len(found)} files have the tag {each}:"
        f" they are named after their files, {', '.join(found)}"
        for each, found in by_tag.items()
    ]


def stem(file: str) -> str:
    """Return the file's name without endings and folders, such as `mine` for `runs/mine.txt.gz`.
    Spaces, which no system's name may contain, become _."""
    name = Path(file).name
    while name.lower().endswith(_ENDINGS) and name.rpartition(".")[0]:
        name = name.rpartition(".")[0]
    return "_".join(name.split())


def _repeated(words: Iterable[str]) -> set[str]:
    return {word for word, count in Counter(words).items() if word and count > 1}
