"""What the tests of the Holes page share: a tiny store with values worked by hand."""

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from duckdb import DuckDBPyConnection
from pandas import DataFrame
from streamlit.testing.v1 import AppTest

from compute.base.settings import Settings
from compute.judgements import PERSON, Choice
from compute.reading.database import open_version
from compute.reading.overlay import Overlays
from compute.store.store import Store
from compute.views.holes.page import page
from compute.views.page import Figure, Heading, Note, Part, Passage, Table, parts, store_ask
from tests.support import filled, pages
from tests.support.filled import HOSTILE
from tests.support.pages import noted
from tests.views.records import written

EVIL = HOSTILE
RUNS = {
    "sure": "q1 Q0 d1 1 3.0 t\nq1 Q0 d6 2 2.0 t\nq2 Q0 d3 1 1.0 t\nq3 Q0 d6 1 1.0 t\n",
    EVIL: "q1 Q0 d4 1 3.0 t\nq1 Q0 d1 2 2.0 t\nq2 Q0 d2 1 1.0 t\n",
}
ASKED: dict[str, Any] = {"dataset": "tiny", "systems": list(RUNS), "measure": "nDCG@10"}
SECOND = 1 / math.log2(3)


BEST_OF_Q1 = 2 + SECOND


BEST_OF_Q2 = 1 + SECOND


def fill(folder: Path) -> Path:
    """A home with the tiny collection and two runs."""
    return filled.having(folder, RUNS).settings.home


def judge(home: Path, *rows: tuple[str, str, int], source: str = PERSON) -> int:
    """Add judgements of one person; returns the id of the last."""
    frame = DataFrame(rows, columns=["query_id", "doc_id", "relevance"])
    about = {"dataset": "tiny", "person": "ada", "task": "", "guideline_version": ""}
    return Store(Settings(home=home)).add_judgements(frame.assign(source=source, **about))


@contextmanager
def cursor(home: Path, *, added: bool) -> Iterator[DuckDBPyConnection]:
    store = Store(Settings(home=home, threads=1), home / "none")
    overlays = Overlays(store, open_version(store))
    with overlays.cursor(store.judgement_version(), Choice() if added else None) as found:
        yield found
    overlays.reading.close()


def by_system(frame: DataFrame) -> dict[Any, dict[Any, Any]]:
    return {row["system"]: row for row in frame.to_dict("records")}


def shown(home: Path, *, added: bool = False, **chosen: Any) -> list[Part]:
    """Parts of the page for these values, by official judgements or with the added ones."""
    store = Store(Settings(home=home, threads=1), home / "none")
    with store_ask.opened(store, choice=Choice() if added else None) as ask:
        return parts(page, ask, **chosen)


def found(of: Sequence[Part], key: str) -> Any:
    """The figure or table of this key."""
    return next(one for one in of if isinstance(one, Figure | Table) and one.key == key)


def heads(of: Sequence[Part]) -> list[str]:
    """Headings of a page."""
    return [one.text for one in of if isinstance(one, Heading)]


def words(*of: Part) -> str:
    """All that these parts say."""
    notes = (f"{one.shown} {one.behind()}" if isinstance(one, Note) else one for one in of)
    told = (one.finding if isinstance(one, Figure) else one for one in notes)
    said = (f"{one.title} {one.text}" if isinstance(one, Passage) else one for one in told)
    return " ".join(one if isinstance(one, str) else getattr(one, "text", "") for one in said)


def html(table: Table) -> str:
    """A table as the page writes it."""
    return written(table).to_html()


def opened(home: Path, monkeypatch: pytest.MonkeyPatch, **address: Any) -> AppTest:
    monkeypatch.setenv("BEIRSCOPE_HOME", str(home))
    return pages.opened("holes", **address)


def captions(app: AppTest) -> str:
    return " ".join(caption.value for caption in noted(app)).replace("\\", "")
