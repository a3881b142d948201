"""Addresses of commit f1938bd, when no page was a record: each opens what it names, without error.

Of every page the keys that its address had then, with values that the home of these tests has;
which of them stand together in an address is drawn with a seed.
"""

import random
from pathlib import Path
from typing import Any

import pytest

from compute.base.settings import Settings
from compute.exports.pages import PAGES
from compute.store.store import Store
from compute.views.page.store_ask import StoreAsk
from compute.views.page.store_ask import opened as asking
from compute.views.page.walk import Walk
from tests.support import filled
from tests.support.filled import HOSTILE
from tests.support.pages import opened

SEED, ADDRESSES, MOST = 44, 100, 4
TINY = {"dataset": ["tiny"]}
MEASURES = ["nDCG@10", "R@100", "RR@10", "Hole@10"]
BOTH = ["plain", HOSTILE]
ONE_OR_BOTH = ["plain", HOSTILE, BOTH]
ORDERS = ["by difference", "lowest score first", "highest score first", "by id"]
KINDS = ["words:4", "relevant:2"]
COMPUTED = {
    **{"measure": MEASURES, "view": ["Heatmap", "Table"], "systems": ONE_OR_BOTH},
    **{"baseline": BOTH, "group": ["own"], "family": ["imported"], "over": ["tiny"]},
    **{"returned": ["true", "false"], "shared": ["true"], "colour": ["Value"]},
}
TABLES = ["BEIR v4, Table 2", "BEIR-PL, Table 3", "BEIR v1, Table 2"]
PRINTED = {"table": TABLES, "view": ["Heatmap", "Table"], "shared": ["true", "false"]}
SHOWN = ["Systems", "Overview", "Queries", "Kinds of queries", "Judgements", "Documents"]
LISTS = {"measure": MEASURES, "order": ORDERS, "ranks": ["10", "20", "50", "100"]}
KEYS: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("leaderboard", {"numbers": ["Computed"]}, COMPUTED),
    ("leaderboard", {"numbers": ["Published"]}, PRINTED),
    ("dataset", TINY, {"show": SHOWN, "measure": MEASURES, "queries": KINDS}),
    ("compare", TINY, {"a": BOTH, "measure": MEASURES, "slice": ["words"], "by": ["b ahead"]}),
    ("compare", TINY | {"a": ["plain"], "b": [HOSTILE]}, {"queries": KINDS, "fuse": ["true"]}),
    ("query", TINY | {"query": ["q1", "q2"]}, LISTS | {"systems": ONE_OR_BOTH}),
    ("query", TINY | {"query": ["q1"], "document": ["d1"]}, {"a": BOTH, "ranks": ["20"]}),
    ("map", TINY, LISTS | {"system": BOTH, "other": ["–", HOSTILE], "from": ["1"]}),
    ("overlap", {"numbers": ["Published"], "view": ["Heatmap"]}, {"order": ["By domain"]}),
    ("overlap", {"view": ["Graph"]}, {"numbers": ["Published"]}),
    ("overlap", {"view": ["Domain shift"]}, {"unit": ["unigrams", "bigrams"], "left_out": ["nq"]}),
    ("lengths", TINY, {"k": ["10", "5", "3", "1"], "axis": ["Logarithmic"], "cut": ["true"]}),
    ("lengths", TINY, {"systems": ONE_OR_BOTH, "a": BOTH, "queries": KINDS}),
    ("holes", TINY, {"measure": ["nDCG@10", "P@5"], "systems": ONE_OR_BOTH, "queries": KINDS}),
    ("efficiency", {}, {"systems": ["bm25-multifield"]}),
    ("about", {}, {}),
    ("annotate", {}, {"view": ["new"], "dataset": ["tiny"]}),
    ("jobs", {}, {"systems": ["bm25"], "datasets": ["tiny"], "again": ["true"], "all": ["true"]}),
    ("data", {}, {"show": ["Import", "Fetch", "Runs"], "dataset": ["tiny"], "system": BOTH}),
]


def _addresses() -> list[tuple[str, dict[str, Any]]]:
    chance = random.Random(SEED)
    drawn = []
    for number in range(ADDRESSES):
        page, given, others = KEYS[number % len(KEYS)]
        named = chance.sample(sorted(others), min(len(others), chance.randint(0, MOST)))
        keys = given | {key: others[key] for key in named}
        values = {key: chance.choice(found) for key, found in keys.items()}
        listed = {key: one if isinstance(one, list) else [one] for key, one in values.items()}
        drawn.append((page, listed))
    return drawn


def _values(value: Any) -> list[str]:
    """A value of a control as an address has it."""
    many = value if isinstance(value, list | tuple) else [value]
    return sorted(str(one).lower() if isinstance(one, bool) else str(one) for one in many)


@pytest.fixture
def home(monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("BEIRSCOPE_HOME", str(filled.home()))
    return filled.home()


@pytest.mark.long
def test_a_hundred_addresses_open_what_they_name(home: Path) -> None:
    drawn = _addresses()
    assert {page for page, _ in drawn} == {*PAGES, "annotate", "jobs", "data"}
    with asking(Store(Settings(home=home, threads=1))) as ask:
        for page, address in drawn:
            shown = _asked(ask, page, address) if page in PAGES else _drawn(page, address)
            wrong = {key: shown[key] for key in address if shown.get(key) != _values(address[key])}
            assert wrong == {}, (page, address)


def _asked(ask: StoreAsk, page: str, address: dict[str, Any]) -> dict[str, list[str]]:
    """What the controls of a page show, asked as data; a key without a control as it is given."""
    walk = Walk(address)
    for _ in (steps := walk.run(lambda: PAGES[page](ask), [])):
        pass
    walk.check(steps)
    given = {key: value for key, value in address.items() if key not in walk.asked}
    return {key: _values(value) for key, value in (walk.asked | given).items()}


def _drawn(page: str, address: dict[str, Any]) -> dict[str, list[str]]:
    """The same of a page of forms."""
    state = opened(page, **address).session_state
    return {key: _values(state[key] if key in state else address[key]) for key in address}
