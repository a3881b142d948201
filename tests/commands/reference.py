"""Writer of `docs/reference.md` and of the definitions in `docs/methods.md`, from records.

`python -m tests.commands.reference` writes both; `tests/test_papers.py` holds them to it.
"""

import ast
import re
from collections.abc import Iterable, Sequence
from dataclasses import fields
from inspect import getsource
from itertools import pairwise

from compute.base.settings import PROJECT, Settings
from compute.commands import app
from compute.evaluate.measures import FORMULAS
from compute.systems import SYSTEMS
from compute.views.about import contract
from tests.commands.arguments import arguments

REFERENCE, METHODS = PROJECT / "docs" / "reference.md", PROJECT / "docs" / "methods.md"
INTRODUCTION = """# Reference

`python -m tests.commands.reference` generates this page from the program; do not edit it by hand.
[Files](files.md), [analyses](analyses.md) and [models](models.md) explain more, and
[Methods](methods.md) defines every measure.
"""
COMMANDS = """
`python -m compute COMMAND --help`, or `beirscope COMMAND --help`, explains every option.
"""
SETTINGS = """
A setting is `BEIRSCOPE_<NAME>` in the environment, or a line of `settings.toml` in the home folder;
the environment takes precedence.
"""
MEASURES = """
k can be any rank. `python -m compute rescore --measure P@20` scores the stored runs by one more
measure; the setting `measures` adds measures to every new run.
"""
SYSTEM_ROWS = """
`python -m compute systems` shows which systems run on this machine, and with `--json` their
parameters. [Models](models.md) explains training, and how names contain parameters.
"""


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Markdown of a table."""
    lines = [head, ["---"] * len(head), *rows]
    cells = [[one.replace("|", "\\|") for one in line] for line in lines]
    return "\n" + "\n".join(f"| {' | '.join(line)} |" for line in cells) + "\n"


def commands() -> str:
    """A table for each group of commands."""
    return "".join(
        f"\n### {title}\n"
        + table(
            ["command", "purpose", "options"], [_command(name, path) for name, path in of.items()]
        )
        for title, of in app.COMMANDS.items()
    )


def _command(name: str, path: str) -> tuple[str, str, str]:
    sentence = app._docstring(path).partition("\n")[0].rstrip(".")
    of = arguments(name)
    positional = [one.names[0].upper() for one in of if not one.names[0].startswith("-")]
    options = [one.names[0] for one in of if one.names[0].startswith("--")]
    return f"`{' '.join([name, *positional])}`", sentence, ", ".join(map("`{}`".format, options))


def settings() -> str:
    """A row for each field of `Settings`, with the sentence under it."""
    (record,) = ast.parse(getsource(Settings)).body
    assert isinstance(record, ast.ClassDef)
    sentences = {
        one.target.id: " ".join(str(below.value.value).split())
        for one, below in pairwise(record.body)
        if isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name)
        if isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant)
    }
    rows = [
        (f"`{one.name}`", _default(one.name, one.default), sentences[one.name])
        for one in fields(Settings)
    ]
    return table(["setting", "default", "meaning"], rows)


def _default(name: str, value: object) -> str:
    """A default as a reader would write it."""
    if name in ("home", "threads"):
        return "`data/local`" if name == "home" else "all cores"
    if name.endswith("_bytes"):
        return f"{int(str(value)) // 1024**3} GiB"
    if value in ("", (), None):
        return "none"
    return f"`{str(value).lower() if isinstance(value, bool) else value}`"


def measures() -> str:
    """A row for each formula."""
    rows = [
        (
            f"`{row.written('@k')}`" + (f", `{row.written('')}`" if row.whole else ""),
            re.sub(r" \(.*| as BEIR's code", "", row.label.format(k="k")),
            ", ".join(f"`{one}`" for one in row.takes) or "none",
            "lower" if row.better < 0 else "higher",
            "with subtopics" if row.diverse else "all",
        )
        for row in FORMULAS.values()
    ]
    return table(["measure", "name", "parameters", "better", "datasets"], rows)


def systems() -> str:
    """A row for each system of the catalogue."""
    rows = [
        (
            f"`{row.name}`",
            row.title,
            row.family,
            f"`{row.parameters['model']}`" if row.parameters.get("model") else "",
            row.verified,
        )
        for row in SYSTEMS.values()
    ]
    return table(["system", "in print", "family", "weights", "verification"], rows)


def reference() -> str:
    """The whole of `docs/reference.md`."""
    return (
        f"{INTRODUCTION}\n## Commands\n{COMMANDS}{commands()}"
        f"\n## Settings\n{SETTINGS}{settings()}"
        f"\n## Measures\n{MEASURES}{measures()}"
        f"\n## Systems\n{SYSTEM_ROWS}{systems()}"
    )


def methods() -> str:
    """`docs/methods.md`, its last section written from the docstrings of the measures."""
    prose, _, _ = METHODS.read_text("utf-8").partition("\n## Measures\n")
    frame = contract.definitions()
    frame["Measure"] = frame["Measure"].map("`{}`".format)
    return (
        f"{prose.rstrip()}\n\n## Measures\n{table([*map(str, frame)], frame.to_numpy().tolist())}"
    )


if __name__ == "__main__":
    REFERENCE.write_text(reference(), "utf-8")
    METHODS.write_text(methods(), "utf-8")
