"""Lists are kept until what they rest on changes."""

from pathlib import Path

import pandas as pd
import pytest

from compute.judgements import PERSON, Choice
from compute.reading.database import open_version
from compute.reading.overlay import Overlays
from compute.store.store import Store, top
from compute.views.shared.held_lists import held
from tests.support.storage import hits, judgement, open_store, publish_run, scores

RUN = hits(("q1", "d1", 1), ("q1", "d2", 2))
OTHER = hits(("q1", "d2", 1), ("q1", "d1", 2))
VALUES = scores("nDCG@10", q1=1.0)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """Two runs on one dataset with a judgement."""
    store = open_store(tmp_path / "home")
    publish_run(store, "tiny", "a", RUN, VALUES)
    publish_run(store, "tiny", "b", OTHER, VALUES)
    judged = pd.DataFrame({"query_id": ["q1"], "doc_id": ["d1"], "relevance": [1]})
    with store.publishing("load") as publication:
        publication.add("judgements", judged, dataset="tiny", fingerprint="j", provenance={})
    return store


def test_systems_stand_in_the_order_that_is_asked_for(store: Store) -> None:
    cursor = open_version(store).cursor()
    forth, back = (held(cursor, "tiny", names, 2) for names in (["a", "b"], ["b", "a"]))
    assert (forth.document == back.document[::-1]).all()
    assert back.systems == ("b", "a")


def test_an_added_judgement_and_another_run_are_seen_at_once(store: Store) -> None:
    choice, systems = Choice(), ["a", "b"]
    overlays = Overlays(store, open_version(store))
    with overlays.cursor(0, choice) as cursor:
        before = held(cursor, "tiny", systems, 2)
    store.add_judgements(judgement("q1", "d2", 1).assign(source=PERSON))
    with overlays.cursor(store.judgement_version(), choice) as cursor:
        after = held(cursor, "tiny", systems, 2)
        assert held(cursor, "tiny", systems, 2, official=True).holes.sum() == 2
        assert held(cursor, "tiny", systems, 2, closed=True).document.min() >= 0
    assert (before.holes.sum(), after.holes.sum()) == (2, 0)
    with overlays.cursor(store.judgement_version()) as cursor:
        assert held(cursor, "tiny", systems, 2).holes.sum() == 2
    publish_run(store, "tiny", "b", RUN, VALUES)
    again = held(open_version(store).cursor(), "tiny", systems, 2)
    assert (again.document[0] == again.document[1]).all()
    assert (before.document[0] != before.document[1]).all()


def test_of_a_run_whose_extract_alone_is_stored_the_ten_ranks_are_there(store: Store) -> None:
    run = hits(*(("q1", f"d{rank}", rank) for rank in range(1, 13)))
    with store.publishing("run c tiny") as publication:
        publication.add("top", top(run), dataset="tiny", system="c", fingerprint="f", provenance={})
    cursor = open_version(store).cursor()
    filled = [held(cursor, "tiny", ["c"], k).filled.sum() for k in (9, 10, 11)]
    assert filled == [9, 10, 0]
