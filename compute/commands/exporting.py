"""The command that writes figures, tables, views and runs to files, without a browser window."""

import contextlib
import json
import os
import subprocess
import sys
from argparse import Namespace
from pathlib import Path

from compute.base import settings
from compute.base.errors import WrongInput
from compute.base.permissions import usual
from compute.base.printable import printable
from compute.base.settings import PROJECT
from compute.commands.bench import open_bench
from compute.commands.choices import EXPORTS
from compute.commands.common import scored_by
from compute.evaluate import scored_measures
from compute.exports import named, runs
from compute.exports.formats import WIDTHS, check
from compute.store.store import Store


def export(arguments: Namespace) -> int:
    """Write a figure, a table, a whole view or a run. Raises WrongInput."""
    file: Path = arguments.out
    if arguments.what == "run":
        return _run(arguments)
    if not file.parent.is_dir():
        raise WrongInput(f"no folder {file.parent}: make it first")
    check(arguments.what, file.suffix.removeprefix("."))
    page, key, given = _wanted(arguments)
    _score(given)
    asked = {
        "kind": arguments.what,
        "page": page,
        "key": key,
        "given": given,
        "width": WIDTHS["narrow" if arguments.narrow else "wide"],
        "out": str(file.absolute()),
    }
    return _on_page(asked)


def _score(given: dict[str, list[str]]) -> None:
    """Score the runs that lack the measure that is to be shown, which pages do not."""
    with contextlib.suppress(WrongInput):  # in print alone, or unknown: the page says so
        for measure in scored_measures.more(given.get("measure", ())):
            dataset, *_ = *given.get("dataset", ()), *given.get("over", ()), ""
            lacking = scored_by(open_bench(), measure, dataset)
            sys.stderr.writelines(f"{line}\n" for line in lacking)


def _wanted(arguments: Namespace) -> tuple[str, str, dict[str, list[str]]]:
    """The page, what of it, and what its pickers show; options go before the address."""
    page, in_address = named.address(arguments.address) if arguments.address else ("", {})
    options = {"measure": [arguments.measure]} if arguments.measure else {}
    options |= named.settings(arguments.set)
    if arguments.what == "view":
        shown = arguments.name or page or "leaderboard"
        if arguments.dataset:
            likely = named.FIGURES["order" if shown == "leaderboard" else "standing"]
            in_address |= named.of_dataset(shown, likely, arguments.dataset)
        return shown, "", in_address | options
    if not arguments.name:
        raise WrongInput(f"name one: {EXPORTS}")
    found = named.named(arguments.what, arguments.name)
    if arguments.narrow and arguments.name not in named.NARROW:
        raise WrongInput(
            f"{arguments.name} does not fit into one column: leave out --narrow;"
            f" figures that fit: {', '.join(named.NARROW)}"
        )
    if page and page != found.page:
        raise WrongInput(
            f"{arguments.name} is on the page {found.page}, and the address names {page}"
        )
    fixed = {name: [value] for name, value in found.given.items()}
    if arguments.dataset:
        in_address |= named.of_dataset(arguments.name, found, arguments.dataset)
    return found.page, found.key, fixed | in_address | options


def _on_page(asked: dict[str, object]) -> int:
    """Have a process of the pages' own draw it: nothing here knows of them."""
    done = subprocess.run(
        [sys.executable, "-m", "pages._frame.render"],
        cwd=PROJECT,
        # Who may run this reads the home folder anyway: there is nobody to sign in.
        env=os.environ | {"BEIRSCOPE_SIGN_IN": "false"},
        input=json.dumps(asked).encode(),
        check=False,
    )
    if done.returncode == 0:
        usual(Path(str(asked["out"])))
        sys.stdout.write(f"wrote {printable(str(asked['out']))}\n")
    return done.returncode


def _run(arguments: Namespace) -> int:
    """A stored run as a TREC file."""
    if not (arguments.dataset and arguments.system):
        raise WrongInput("export run needs --dataset and --system: which run?")
    store = Store(settings.load())
    written = runs.export_run(store, arguments.dataset, arguments.system, arguments.out)
    usual(arguments.out)
    sys.stdout.write(f"{printable(str(written))}\n")
    return 0
