"""All commands by name, and the command-line parser. A command's module is loaded when it runs."""

import ast
from collections.abc import Callable, Mapping, Sequence
from dataclasses import is_dataclass
from functools import cache
from pathlib import Path

from cyclopts import (
    App,
    CycloptsError,
    Group,
    MissingArgumentError,
    Parameter,
    UnusedCliTokensError,
)

from compute.base.errors import WrongInput
from compute.base.words import near, shown

COMMANDS: Mapping[str, Mapping[str, str]] = {
    "Datasets and runs": {
        "datasets": "listing:datasets",
        "systems": "systems:systems",
        "check": "checking:check",
        "fetch": "fetching:fetch",
        "import-dataset": "importing:import_dataset",
        "import-run": "importing:import_run",
        "import-labels": "importing:import_labels",
        "import-table": "importing:import_table",
        "add-texts": "importing:add_texts",
        "sample": "importing:sample",
        "remove": "importing:remove",
    },
    "Compute": {
        "run": "recomputing:run",
        "train": "recomputing:train",
        "rescore": "recomputing:rescore",
        "cluster-queries": "analysing:cluster_queries",
        "translation": "analysing:translation_similarity",
        "overlap compute": "analysing:compute_overlap",
        "overlap show": "analysing:show_overlap",
        "lengths compute": "analysing:compute_lengths",
        "lengths show": "analysing:show_lengths",
        "leakage find": "leakage:find",
        "leakage show": "leakage:show",
        "jobs start": "jobs:start",
        "jobs list": "jobs:list_jobs",
        "jobs cancel": "jobs:cancel",
        "jobs retry": "jobs:retry",
        "worker": "jobs:worker",
        "serve": "jobs:serve",
    },
    "Judge": {
        "judgements export": "judgement_files:export",
        "judgements import": "judgement_files:import_file",
        "judgements withdraw": "judgement_files:withdraw",
        "tasks new": "tasks:new",
        "tasks list": "tasks:list_tasks",
        "tasks status": "tasks:status",
        "tasks extend": "tasks:extend",
        "import-grades": "importing:import_grades",
        "carry-judgements": "judgement_files:carry",
        "judge": "machine_judging:judge",
    },
    "Results": {
        "scores": "show.scores:scores",
        "slices": "show.slices:slices",
        "holes": "show.holes:holes",
        "power": "show.power:power",
        "estimates": "show.estimates:estimates",
        "sets": "show.sets:sets",
        "versions": "show.versions:versions",
        "efficiency": "show.efficiency:efficiency",
        "compare": "show.compare:compare",
        "gate": "gate:gate",
        "anchor": "gate:anchor",
        "export figure": "exporting:figure",
        "export table": "exporting:table",
        "export view": "exporting:view",
        "export run": "exporting:run",
        "export figures": "exporting:figures",
        "export site": "exporting:site",
    },
    "Operate": {
        "admin adopt": "homes:adopt",
        "admin trash": "homes:trash",
        "admin backup": "homes:backup",
        "admin restore": "homes:restore",
        "admin move-state": "homes:move_state",
        "admin demo": "recomputing:demo",
        "admin ship": "shipping:ship",
        "admin snapshot": "shipping:snapshot",
    },
}
"""Module and function of each command, grouped as in `--help`."""
FAMILIES = {
    "overlap": "Compute or show the vocabulary overlap of corpora.",
    "lengths": "Compute or show the lengths of documents.",
    "leakage": "Find test queries in a training set, or show the scores without them.",
    "jobs": "Start, list, cancel and retry jobs.",
    "judgements": "Export, import or withdraw added judgements.",
    "tasks": "Create and monitor judging tasks.",
    "export": "Write a figure, a table, a page, a run or a site to a file.",
    "admin": "Maintain a home (the data folder): backups, trash, demo, shipped results.",
}
"""Commands with subcommands."""
NAMES = [name for commands in COMMANDS.values() for name in commands]
PROGRAM = "beirscope"
HELP = ("--help", "-h")
COMPLETION = "--install-completion"
WITHOUT_WORD = ("--as-version", "--fold")
"""Options whose value may be omitted."""


def _docstring(path: str) -> str:
    """Read the docstring of "module:function" from its source, without importing the module."""
    module, _, name = path.partition(":")
    file = Path(__file__).parent / f"{module.replace('.', '/')}.py"
    return _docstrings(file)[name]


@cache
def _docstrings(file: Path) -> dict[str, str]:
    """Return the docstring of each function of a module, by the function's name."""
    functions = ast.parse(file.read_text("utf-8")).body
    return {f.name: ast.get_docstring(f) or "" for f in functions if isinstance(f, ast.FunctionDef)}


@cache
def parser() -> App:
    """Build the parser for the whole command line."""
    parameter = Parameter(negative=(), allow_repeating=True, show_default=False)
    top = App(
        name=PROGRAM,
        help="Compare retrieval systems, and see how unjudged documents affect the results.",
        usage=f"Usage: {PROGRAM} COMMAND, or python -m compute COMMAND",
        default_parameter=parameter,
        version_flags=(),
        help_format="markdown",
        group_parameters="Options",
    )
    groups = {title: Group.create_ordered(title) for title in COMMANDS}
    families: dict[str, App] = {}
    for title, commands in COMMANDS.items():
        for name, path in commands.items():
            first, _, second = name.partition(" ")
            above, group = top, groups[title]
            if second:
                if first not in families:
                    families[first] = App(name=first, help=FAMILIES[first], group=group)
                    top.command(families[first])
                above, group = families[first], None
            where = f"{__package__}.{path}"
            above.command(where, name=second or first, help=_docstring(path), group=group)
    top.register_install_completion_command(help="Install shell completion for this program.")
    return top


def name_of(words: Sequence[str]) -> str:
    """Return the command named by the first words, such as "jobs start", or "" if there is none."""
    found = [name for name in NAMES if [*words[: name.count(" ") + 1]] == name.split(" ")]
    return found[0] if found else ""


def parsed(words: Sequence[str]) -> Callable[[], int]:
    """Return the call that the arguments ask for. Raises WrongInput if no command accepts them."""
    if not name_of(words):
        _check(words)
    try:
        command, bound, _ = parser().parse_args(
            _with_words(words), print_error=False, exit_on_error=False
        )
    except CycloptsError as error:
        raise WrongInput(_told(error, name_of(words))) from None
    _refuse_odd_texts(bound.arguments)
    return lambda: command(*bound.args, **bound.kwargs) or 0


def _refuse_odd_texts(given: Mapping[str, object]) -> None:
    """Raise WrongInput for text that is not UTF-8, since a file name may contain any bytes."""
    for value in given.values():
        if is_dataclass(value):
            _refuse_odd_texts(vars(value))
        for text in value if isinstance(value, tuple) else (value,):
            if isinstance(text, str) and any("\ud800" <= sign <= "\udfff" for sign in text):
                raise WrongInput(f"{shown(text)} is not UTF-8: convert it or rename the file")


def _check(words: Sequence[str]) -> None:
    """Raise WrongInput for an unknown command; accept requests for help and completion."""
    family = words[0] if words and words[0] in FAMILIES else ""
    known = {name.split(" ")[1] for name in NAMES if name.startswith(f"{family} ")}
    known = known if family else {name.split(" ")[0] for name in NAMES}
    word = next(iter(words[1:] if family else words), "" if family else HELP[0])
    if word not in (HELP if family else (*HELP, COMPLETION)):
        told = f"there is no command {shown(' '.join(filter(None, (family, word))))}"
        told = f"{family} needs a command" if family and not word else told
        others = f"choose {', '.join(sorted(known))}" if family else f"{PROGRAM} --help lists all"
        raise WrongInput(f"{told}: {near(word, known)}{others}")


def _told(error: CycloptsError, name: str) -> str:
    """Describe an error in a command's arguments, and name the help that explains them."""
    told = str(error).rstrip(".")
    if isinstance(error, MissingArgumentError) and (option := error.argument):
        metavar = option.parameter.metavar if option.name.startswith("-") else ""
        told = " ".join(filter(None, (name, "needs", option.name, metavar)))
    elif isinstance(error, UnusedCliTokensError):
        told = f"{name} does not accept {', '.join(map(shown, error.unused_tokens or ()))}"
    return f"{told}{' ' if told.endswith('?') else ': '}{PROGRAM} {name} --help explains it"


def _with_words(words: Sequence[str]) -> list[str]:
    """Return the arguments with an empty value after each option that was given without one."""
    after = [*words, "-"][1:]
    return [
        f"{word}=" if word in WITHOUT_WORD and next_.startswith("-") else word
        for word, next_ in zip(words, after, strict=True)
    ]
