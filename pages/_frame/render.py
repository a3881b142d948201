"""A page without a browser window, for the command line: what it draws, as files.

`python -m pages._frame.render` reads one JSON object: what to write, of which page, where. The page
runs as it does for a browser, so that an address gives the same figure here as there.
"""

import json
import logging
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from streamlit.testing.v1 import AppTest

from compute.base import disk_refusals, printable, settings
from compute.base.errors import BeirscopeError, Missing, Unavailable, WrongInput
from compute.base.files import written_aside
from compute.base.settings import PROJECT
from compute.exports import figures, tables
from compute.exports.figures import Figure
from compute.exports.formats import Paper
from compute.exports.page_archive import Shown
from pages._shared.page_files import PAGES

SECONDS = 600
FREE = {"dataset", "system", "systems", "query", "document", "from", "a", "b", "pair"}
"""Keys that addresses may have though no picker shows them."""


def run(page: str, given: Mapping[str, Sequence[str]]) -> AppTest:
    """The page with this address, after its run. Raises WrongInput, Missing, Unavailable."""
    file = PROJECT / "pages" / f"{page}.py"
    if page.startswith("_") or not file.is_file():
        known = sorted(file.stem for file in PAGES)
        raise WrongInput(f"no page {page!r}; known: {', '.join(known)}")
    app = AppTest.from_file(str(PROJECT / "app.py"), default_timeout=SECONDS)
    for key, values in given.items():
        app.query_params[key] = list(values)
    if page != "leaderboard":
        app.switch_page(str(file))
    try:
        app.run()
    except RuntimeError as error:  # its time is over
        raise Unavailable(f"the page {page} was not drawn within {SECONDS} s") from error
    _check(app, page, given)
    return app


def _check(app: AppTest, page: str, given: Mapping[str, Sequence[str]]) -> None:
    """Raises Unavailable for what the page shows as an error, Missing for unknown names."""
    for shown in [*app.exception, *app.error]:
        raise Unavailable(_plain(shown.value))
    for words in state(app, "_missing"):
        raise Missing(words)
    pickers = state(app, "_picked")
    for key in given.keys() - pickers.keys() - FREE:
        raise WrongInput(
            f"the page {page} shows no picker {key!r} for these choices;"
            f" it has: {', '.join(sorted(pickers))}"
        )


def _plain(shown: str) -> str:
    return re.sub(r"\\(.)", r"\1", shown)


def state(app: AppTest, key: str) -> dict[str, Any]:
    return app.session_state.get(key, {})


def find(app: AppTest, page: str, key: str, *, figure: bool) -> Shown:
    """What the page drew under this key. Raises Missing."""
    drawn: dict[str, Shown] = state(app, "_drawn")
    found = drawn.get(key)
    if found is None or isinstance(found, Figure) != figure:
        known = [name for name, one in drawn.items() if isinstance(one, Figure) == figure]
        kind = "figure" if figure else "table"
        told = " ".join(_plain(shown.value) for shown in app.info)
        there = f"it draws {', '.join(known)}. " if known else ""
        raise Missing(f"the page {page} draws no {kind} {key!r} for these choices; {there}{told}")
    return found


def write(asked: Mapping[str, Any]) -> None:
    """Write what is asked for: `kind` (figure, table or view), `page`, `given`, `key`, `out`."""
    page, out = asked["page"], Path(asked["out"])
    app = run(page, asked["given"])
    form = out.suffix.removeprefix(".")
    if asked["kind"] == "view":
        if "_save" not in app.session_state:
            raise Missing(f"the page {page} draws nothing for these choices")
        content = app.session_state["_save"](escaped=False)
    else:
        found = find(app, page, asked["key"], figure=asked["kind"] == "figure")
        if isinstance(found, Figure):
            content = figures.write(found, form, Paper(*asked["paper"]))
        else:
            content = tables.write(found, form)
    put(out, content)


def put(file: Path, content: bytes) -> None:
    """Write a file whole, or not at all."""
    with written_aside(file) as opened:
        opened.write(content)


def main(work: Callable[[Mapping[str, Any]], object]) -> int:
    """Do what the standard input asks for: what `work` returns, 2 for wrong input."""
    # Streamlit warns that no browser is there.
    logging.disable(logging.WARNING)
    try:
        with disk_refusals.explained(settings.load().home):
            return int(bool(work(json.load(sys.stdin))))
    except BeirscopeError as error:
        printable.warn(error)
        return 2


if __name__ == "__main__":
    sys.exit(main(write))
