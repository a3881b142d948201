"""No clock decides which judgements count: random histories against a small model of the rule."""

from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pandas import DataFrame
from sqlalchemy import text

from compute.base.settings import Settings
from compute.judgements import IMPORT, PERSON, WITHDRAWN, Choice, resolve
from compute.judgements.exchange import COLUMNS, lacking, withdrawals
from compute.judgements.tasks.queue import exchange
from compute.store import state
from tests.support import worlds
from tests.support.annotating import ADA, answer, made
from tests.support.storage import open_store

EVERYTHING = Choice("highest", (PERSON, IMPORT))
DAYS = [f"{day}T00:00:00.000000+00:00" for day in ("2020-01-01", "2026-01-01", "2099-01-01")]
Row = dict[str, object]


def row(person: str, grade: int | None, source: str, time: str | None) -> DataFrame:
    """One row of the pair q1, d1 as a file brings it."""
    given_ = {"person": person, "relevance": grade, "source": source, "time": time}
    frame = DataFrame([dict.fromkeys(COLUMNS) | _ABOUT | given_])
    return frame.astype({"relevance": "Int64"})


_ABOUT: Row = {"dataset": "tiny", "query_id": "q1", "doc_id": "d1", "note": "f.csv", "task": ""}
_ABOUT |= {"guideline_version": "", "unsure": 0, "verified": 0}


class History:
    """What is saved, as the state keeps it, and beside it what the model makes of the same acts."""

    def __init__(self) -> None:
        none = row("", 0, PERSON, None).head(0).astype(object)
        self.saved = none.assign(id=pd.Series(dtype="int64"), imported=None)
        self.clock = DAYS[1]
        self.here: dict[str, int | None] = {}
        """The newest that each person said here."""
        self.files: dict[str, list[tuple[str, int, int]]] = {"ada": [], "bob": []}
        """What files say of each person: time or that of the import, number, grade."""
        self._brought: set[tuple] = set()

    def save(self, rows: DataFrame) -> None:
        first = len(self.saved) + 1
        rows = rows.assign(id=range(first, first + len(rows)), time=rows["time"].fillna(self.clock))
        rows = rows.assign(imported=rows.get("imported"))
        self.saved = pd.concat([self.saved.astype(object), rows.astype(object)], ignore_index=True)
        self.saved["relevance"] = self.saved["relevance"].astype("Int64")
        assert self.saved["entry"].dropna().is_unique

    def judge(self, person: str, grade: int | None) -> None:
        self.save(row(person, grade, WITHDRAWN if grade is None else PERSON, None))
        self.here[person] = grade

    def bring(self, person: str, grade: int, time: str | None) -> None:
        self.save(lacking(row(person, grade, IMPORT, time), self.saved, self.clock))
        said = self.files[person]
        repeated = (person, grade, time) in self._brought if time else self.newest(person) == grade
        if not repeated:
            said.append((min(time or self.clock, self.clock), len(self.saved), grade))
        self._brought |= {(person, grade, time)} if time else set()

    def take_back(self, person: str, grade: int, time: str | None) -> None:
        self.save(withdrawals(row(person, grade, IMPORT, time), self.saved))
        said = self.files[person]
        while said and max(said)[2] == grade and self._is(max(said), time):
            said.remove(max(said))

    def _is(self, said: tuple[str, int, int], time: str | None) -> bool:
        return time is None or self.saved["time"].iloc[said[1] - 1] == time

    def newest(self, person: str) -> int | None:
        return max(self.files[person], default=(None, None, None))[2]

    def expected(self) -> int | None:
        found = [self.here.get(person, self.newest(person)) for person in self.files]
        return max((grade for grade in found if grade is not None), default=None)

    def label(self) -> int | None:
        return next(iter(resolve(self.saved, EVERYTHING)["relevance"]), None)


_people, _grades = st.sampled_from(["ada", "bob"]), st.integers(0, 2)
_file = st.tuples(_people, _grades, st.none() | st.sampled_from(DAYS))
_acts = st.one_of(
    st.tuples(st.just("judge"), st.tuples(_people, st.none() | _grades)),
    st.tuples(st.sampled_from(["bring", "bring", "take_back"]), _file),
    st.tuples(st.just("clock"), st.tuples(st.sampled_from(DAYS))),
)


@pytest.mark.long
@settings(worlds.CASES, max_examples=worlds.CASES.max_examples // 3)
@given(st.lists(_acts, max_size=14))
def test_what_counts_is_what_the_rule_says_after_every_act(acts):
    history = History()
    for act, values in acts:
        if act == "clock":
            (history.clock,) = values
        else:
            getattr(history, act)(*values)
        assert history.label() == history.expected()


def test_what_is_judged_in_a_task_wins_over_a_file_from_the_future_and_so_does_undo(tmp_path):
    store = open_store(tmp_path)
    task = made(store)
    pair = exchange(store, task, ADA).held[0]
    ahead = row("ada", 2, PERSON, DAYS[2]).assign(query_id=pair.query_id, doc_id=pair.doc_id)
    store.add_judgements(lacking(ahead, store.added_judgements()))
    exchange(store, task, ADA, [answer(pair.id, relevance=0)])
    assert resolve(store.added_judgements())["relevance"].tolist() == [0]
    exchange(store, task, ADA, [answer(pair.id, "undo")])
    assert resolve(store.added_judgements()).empty


_SAVE = """
insert into added_judgements (id, dataset, query_id, doc_id, relevance, person, task,
    guideline_version, source, "time", entry)
values (:id, 'tiny', 'q1', :doc, :grade, 'ada', :task, '', :source, :time, :entry)
"""


def _old_rows(*rows: tuple) -> list[Row]:
    names = ("doc", "grade", "source", "time", "entry", "task")
    whole = [(*given_, *("x", "")[len(given_) - 4 :]) for given_ in rows]
    return [
        dict(zip(names, given_, strict=True)) | {"id": number, "entry": f"{given_[4]}-{number}"}
        for number, given_ in enumerate(whole, 1)
    ]


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_an_older_home_tells_what_files_brought_from_what_was_judged(
    tmp_path: Path, kind: str, request: pytest.FixtureRequest
) -> None:
    address = request.getfixturevalue("postgres") if kind == "postgresql" else ""
    rows = _old_rows(
        ("d1", 1, PERSON, "2026-06-02"),  # judged here, and after it an older file came
        ("d1", 2, PERSON, "2026-06-01"),
        ("d2", 2, PERSON, "2099-01-01", "content"),  # a file from the future, then judged here
        ("d2", 0, PERSON, "2026-06-03"),
        ("d3", 2, PERSON, "2026-06-03", "x", "of another home"),
        ("d3", 1, PERSON, "2026-06-02"),
        ("d4", 1, PERSON, "2026-06-03"),  # judged twice while a clock was ahead and right
        ("d4", 2, PERSON, "2026-06-04"),
        ("d5", 2, IMPORT, "2026-06-03", "content"),
        ("d5", None, IMPORT, "2026-06-04", "withdrawn"),
    )
    rows[-1]["entry"] = "withdrawn-9"
    settings_ = Settings(home=tmp_path, state=address)
    with state.writing(state.open_state(settings_, state.STEPS[:3])) as connection:
        connection.execute(text(_SAVE), rows)
    saved = open_store(tmp_path, address).added_judgements()
    brought = saved["imported"].notna()
    assert saved.loc[brought, "id"].tolist() == [2, 3, 5, 9]
    assert saved["takes_back"].dropna().to_dict() == {9: "content-9"}
    found = resolve(saved, Choice(sources=(PERSON, IMPORT)))
    assert dict(zip(found["doc_id"], found["relevance"], strict=True)) == {
        "d1": 1,
        "d2": 0,
        "d3": 1,
        "d4": 2,
    }
