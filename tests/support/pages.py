"""Pages as an address opens them, without a browser, and what is looked for on them."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import Button

from compute.base.settings import PROJECT
from pages._frame import menu

TITLES = {f"pages/{name}.py": page.title for name, page in menu.PAGES.items()}
"""By file."""
PAGES = list(TITLES)


def opened(page: str = "leaderboard", state: Mapping[str, Any] = {}, /, **address: Any) -> AppTest:
    """The page as this address opens it in a visit that holds a state; it shows no error."""
    app = visited(page, state, **address)
    assert not app.error, [error.value for error in app.error]
    return app


def visited(page: str = "leaderboard", state: Mapping[str, Any] = {}, /, **address: Any) -> AppTest:
    """The same of a page that may show an error; it may not raise."""
    app = AppTest.from_file(str(PROJECT / "app.py"), default_timeout=60)
    app.query_params.update(address)
    for key, value in state.items():
        app.session_state[key] = value
    if (name := Path(page).stem) != "leaderboard":
        app.switch_page(f"pages/{name}.py")
    app.run()
    assert not app.exception, app.exception
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
