"""Pages as an address opens them, without a browser, and what is looked for on them."""

import ast
import json
from typing import NamedTuple

from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import Button

from compute.base.settings import PROJECT

HOSTILE = "<b>*mine*&$x$"
RUNS = {
    "plain": "q1 Q0 d1 1 3.0 t\nq1 Q0 d2 2 2.0 t\nq2 Q0 d3 1 1.0 t\nq3 Q0 d6 1 1.0 t\n",
    HOSTILE: "q1 Q0 d4 1 3.0 t\nq1 Q0 d1 2 2.0 t\nq2 Q0 d2 1 1.0 t\n",
}


def _pages() -> dict[str, str]:
    """By file the title, of app.py's table."""
    for node in ast.parse((PROJECT / "app.py").read_text("utf-8")).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "PAGES":
            return dict(ast.literal_eval(node.value))
    raise LookupError("no PAGES in app.py")


TITLES = _pages()
PAGES = list(TITLES)


def opened(page: str = PAGES[0], **address: str | list[str]) -> AppTest:
    """The page as this address opens it; none may raise."""
    app = AppTest.from_file(str(PROJECT / "app.py"), default_timeout=60)
    for key, value in address.items():
        app.query_params[key] = value
    if page != PAGES[0]:
        app.switch_page(page)
    app.run()
    assert not app.exception
    assert not [error for error in app.error if "Bug" in error.value]
    return app


def address_of(app: AppTest) -> dict[str, list[str]]:
    """The address that a browser shows once a page is drawn: what is named in place is in it."""
    told = [json.loads(one.proto.json) for one in app.get("bidi_component")]
    named = {key: names for one in told for key, names in one.get("named", {}).items()}
    given = {key: app.query_params[key] for key in app.query_params}
    listed = {key: one if isinstance(one, list) else [one] for key, one in given.items()}
    return {key: names for key, names in (listed | named).items() if names}


def button_named(app: AppTest, label: str) -> Button:
    return next(button for button in app.button if button.label == label)


class Noted(NamedTuple):
    """A caption."""

    value: str
    """What it says, and what stands behind its mark."""


def noted(app: AppTest) -> list[Noted]:
    """The captions of a page."""
    return [Noted(f"{part.value} {part.proto.help}".strip()) for part in app.caption]


def words_of(app: AppTest) -> str:
    """All that the page says, without the marks that keep it from being read as Markdown."""
    places = (app.markdown, noted(app), app.warning, app.info, app.error, app.code)
    return "\n".join(part.value for place in places for part in place).replace("\\", "")
