"""About the system: the same card from every page."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from compute.views.shared import catalogue
from tests.support.filled import HOSTILE
from tests.support.filled import home as filled_home
from tests.support.pages import PAGES, opened


@pytest.fixture(autouse=True)
def home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BEIRSCOPE_HOME", str(filled_home()))


def cards(app: AppTest) -> str:
    return " ".join(table.value.to_string() for table in app.table)


@pytest.mark.long
@pytest.mark.parametrize("file", PAGES)
def test_a_card_opens_from_every_page_but_the_one_of_annotators(file: str) -> None:
    app = opened(file, **{catalogue.CARD: "bm25+herbert-large"})
    assert ("RTX 3090" in cards(app)) == (Path(file).stem != "annotate")


def test_a_hostile_name_of_an_import_is_told_as_it_is() -> None:
    app = opened("pages/data.py", **{catalogue.CARD: HOSTILE})
    assert "imported" in cards(app)
    assert "No system here is called" in opened("pages/data.py", about="nobody").warning[0].value
