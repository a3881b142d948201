"""The journal of requests: what may be sent, what was spent, what is asked again."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from compute.base.errors import Conflict, Unavailable
from compute.base.settings import Settings
from compute.judgements.asking import journal
from compute.judgements.asking.journal import (
    ATTEMPTS,
    FAILED,
    GRADE,
    INTERRUPTED,
    REFUSED,
    UNREADABLE,
    Journal,
    Spent,
)
from compute.store.store import Store

TO = "http://a/v1"
LIMITS = Spent(7, 100)


@pytest.fixture(params=["sqlite", "postgresql"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    state = request.getfixturevalue("postgres") if request.param == "postgresql" else ""
    found = Store(Settings(home=tmp_path / "home", state=state, threads=1), tmp_path / "nothing")
    yield found
    found.close()


def test_what_was_asked_is_counted_and_asked_again_only_where_it_failed(store: Store) -> None:
    own = Journal(store, "tiny", "gpt", "judge-1", "1-x", TO)
    with pytest.raises(Conflict, match="no text of tiny may be sent to http://a/v1"):
        own.begin(("q", "graded"), 10, LIMITS)
    journal.allow(store, "tiny", TO, "ada")
    journal.allow(store, "tiny", TO, "ada")
    for name, outcome in (
        ("graded", GRADE),
        ("failed", FAILED),
        ("refused", REFUSED),
        ("talk", UNREADABLE),
        ("twice", UNREADABLE),
        ("twice", UNREADABLE),
    ):
        relevance = 2 if outcome == GRADE else None
        request = own.begin(("q", name), 10, LIMITS)
        own.end(request, outcome, relevance=relevance, reason=outcome, tokens=5)
    own.begin(("q", "ended"), 10, LIMITS)
    assert journal.spent(store, "judge-1") == Spent(7, 40)
    assert journal.spent(store, "another") == Spent(0, 0)
    with pytest.raises(Unavailable, match="stopped at the limit of 7 requests"):
        own.begin(("q", "more"), 10, LIMITS)
    with pytest.raises(Unavailable, match="limit of 49 tokens: 40 are spent or pending"):
        own.begin(("q", "more"), 10, Spent(8, 49))
    rows = journal.asked(store, "tiny", "gpt")
    assert journal.grades(rows).to_dict("records") == [
        {"query_id": "q", "doc_id": "graded", "relevance": 2}
    ]
    used = journal.attempts(rows, "judge-1", again=False)
    all_used = {name for (_, name), number in used.items() if number >= ATTEMPTS}
    assert all_used == {"graded", "refused", "twice", "ended"}
    assert (used["q", "talk"], used["q", "failed"]) == (1, 0)
    anew = journal.attempts(rows, "judge-2", again=True)
    assert dict(anew) == {("q", "graded"): ATTEMPTS}
    assert journal.ungraded(rows) == {FAILED: 1, REFUSED: 1, UNREADABLE: 2, INTERRUPTED: 1}
    assert journal.forbid(store, "tiny") == 1
    journal.forget(store, "tiny", "other")
    assert len(journal.asked(store, "tiny", "gpt")) == 7
    journal.forget(store, "tiny")
    assert journal.asked(store, "tiny", "gpt").empty
