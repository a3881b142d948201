import math
from collections import defaultdict
from statistics import multimode

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pandas import DataFrame

from compute.base.errors import WrongInput
from compute.base.scratch_database import scratch
from compute.judgements import (
    ADJUDICATION,
    HUMAN,
    IMPORT,
    IN_VIEW,
    MODEL,
    PERSON,
    RULES,
    WITHDRAWN,
    Choice,
    labels,
    resolve,
)
from compute.views.annotate import select_added
from tests.support import worlds


def judged(*rows: tuple) -> DataFrame:
    """Rows of added judgements from (person, document, relevance) and, if need be, the source,
    the time, the task, the time of import and the entry taken back; row n has the entry en."""
    usual = (PERSON, "12:00", "t1", None, None)
    whole = [(*row, *usual[len(row) - 3 :]) for row in rows]
    columns = ["person", "doc_id", "relevance", "source", "time", "task", "imported", "takes_back"]
    frame = DataFrame(whole, columns=columns).assign(dataset="tiny", query_id="q")
    frame["id"] = range(1, len(frame) + 1)
    frame["entry"] = [f"e{number}" for number in frame["id"]]
    return frame.astype(dict.fromkeys(columns, "str") | {"relevance": "Int64"})


def brought(person: str, relevance: int | None, time: str, source: str = PERSON, at="06-09"):
    """A row of document d that a file brought."""
    return person, "d", relevance, source, time, "t1", at


def label(*rows: tuple, rule: str = "majority", sources: tuple[str, ...] = HUMAN) -> int | None:
    """The one label of document d."""
    found = resolve(judged(*rows), Choice(rule, sources))
    assert len(found) <= 1
    return int(found["relevance"].iloc[0]) if len(found) else None


@pytest.mark.parametrize(
    ("rule", "expected"),
    [("majority", 0), ("latest", 2), ("lowest", 0), ("highest", 3), ("mean", 1)],
)
def test_each_rule_on_five_labels(rule, expected):
    rows = [("ada", "d", 0), ("bob", "d", 3), ("cy", "d", 2), ("dan", "d", 0), ("eve", "d", 2)]
    assert label(*rows, rule=rule) == expected  # 0 and 2 tie; the mean is 1.4


@pytest.mark.parametrize(("grades", "expected"), [((0, 1), 0), ((1, 2), 1), ((-1, 0), -1)])
def test_a_mean_halfway_goes_to_the_lower_grade(grades, expected):
    assert label(("ada", "d", grades[0]), ("bob", "d", grades[1]), rule="mean") == expected


def test_a_person_counts_once_with_the_newest_row():
    assert label(("ada", "d", 2), ("bob", "d", 0), ("ada", "d", 0), rule="highest") == 0


def test_a_row_without_relevance_takes_the_persons_label_back():
    assert label(("ada", "d", 2), ("bob", "d", 1), ("ada", "d", None)) == 1
    assert label(("ada", "d", 2), ("ada", "d", None)) is None
    assert label(("ada", "d", 2), ("ada", "d", None, WITHDRAWN), ("ada", "d", 1)) == 1


def test_of_files_the_newest_is_what_was_judged_last_not_what_was_saved_last():
    monday, tuesday = brought("ada", 0, "06-01"), brought("ada", 2, "06-02")
    assert label(tuesday, monday) == label(monday, tuesday) == 2
    assert label(tuesday, brought("ada", None, "06-01")) == 2
    assert label(tuesday, brought("ada", None, "06-01", WITHDRAWN)) == 2
    assert label(brought("ada", None, "06-02", WITHDRAWN), monday) is None
    settled = brought("cy", 1, "06-02", ADJUDICATION), brought("dan", 3, "06-01", ADJUDICATION)
    assert label(*settled) == 1
    assert label(tuesday, brought("bob", 0, "06-01"), rule="latest") == 2


def test_what_was_judged_here_counts_by_its_number_whatever_the_clock_said():
    ahead, after = ("ada", "d", 0, PERSON, "2099"), ("ada", "d", 2, PERSON, "2026")
    assert label(ahead, after) == 2
    assert label(ahead, ("ada", "d", None, WITHDRAWN, "2026")) is None
    assert label(ahead, ("bob", "d", 2, PERSON, "2026"), rule="latest") == 2
    settled = ("cy", "d", 1, ADJUDICATION, "2099"), ("dan", "d", 3, ADJUDICATION, "2026")
    assert label(*settled) == 3


def test_what_was_judged_here_wins_over_what_any_file_says():
    here, file = ("ada", "d", 0, PERSON, "06-01"), brought("ada", 2, "2099")
    assert label(here, file) == label(file, here) == 0
    assert label(file, ("ada", "d", None, WITHDRAWN, "06-01")) is None
    assert label(here, brought("ada", None, "2099", WITHDRAWN)) == 0
    assert label(here, brought("bob", 2, "2099"), rule="latest") == 0
    seen = ("ada", "d", 2, PERSON, "2099", IN_VIEW, "06-09")
    assert label(seen, ("ada", "d", None, WITHDRAWN, "06-01", IN_VIEW)) is None


def test_a_time_after_that_of_the_import_counts_as_that_of_the_import():
    future, next_week = brought("ada", 2, "2099"), brought("ada", 0, "06-15", at="06-16")
    assert label(future) == 2
    assert label(future, next_week) == label(next_week, future) == 0
    assert label(future, brought("ada", 0, "06-08")) == 2


def test_a_row_that_is_taken_back_by_its_entry_is_as_if_never_saved():
    first, second = brought("ada", 0, "06-01"), brought("ada", 2, "2099")
    back = ("ada", "d", None, PERSON, "06-10", "t1", None, "e2")
    assert label(first, second, back) == 0
    assert label(first, second, ("bob", *back[1:])) == 2
    assert label(("ada", "d", 1), ("ada", "d", 2), back) == 1
    in_a_file = (*back[:6], "06-10", "e2")
    assert label(first, second, in_a_file) == 0
    assert label(("ada", "d", 1), ("ada", "d", 2), in_a_file) == 2


def test_what_was_not_blind_never_takes_the_place_of_a_blind_label():
    blind, seen = ("ada", "d", 0), ("ada", "d", 2, PERSON, "13:00", IN_VIEW)
    assert label(seen) == 2
    assert label(blind, seen) == label(seen, blind) == 0
    assert label(blind, seen, ("ada", "d", None, PERSON, "14:00")) == 2
    assert label(blind, seen, ("ada", "d", None, WITHDRAWN, "14:00")) is None


def test_taking_back_on_the_page_query_leaves_what_was_said_elsewhere():
    back = ("ada", "d", None, WITHDRAWN, "14:00", IN_VIEW)
    seen = ("ada", "d", 2, PERSON, "13:00", IN_VIEW)
    assert label(("ada", "d", 0), seen, back) == 0
    assert label(("ada", "d", 1, ADJUDICATION), seen, back) == 1
    assert label(seen, back) is None
    assert label(("ada", "d", 1, IMPORT, "12:00", IN_VIEW), back, sources=(IMPORT,)) is None


def test_a_withdrawal_counts_whatever_sources_are_chosen():
    rows = [("ada", "d", 2, IMPORT), ("ada", "d", None, WITHDRAWN)]
    assert label(*rows, sources=(IMPORT,)) is None


def test_the_newest_adjudication_beats_all_labels():
    rows = [("ada", "d", 2), ("bob", "d", 2), ("cy", "d", 0, ADJUDICATION), ("dan", "d", 2)]
    assert label(*rows) == 0
    assert label(*rows, ("ada", "d", 1, ADJUDICATION)) == 1
    assert label(*rows, ("cy", "d", None, ADJUDICATION)) == 2


def test_only_people_count_until_others_are_chosen():
    rows = [("file", "d", 3, IMPORT), ("robot", "d", 2, MODEL)]
    assert label(*rows) is None
    assert label(*rows, sources=(IMPORT,)) == 3
    assert label(*rows, sources=(MODEL,)) == 2


def test_unknown_rules_and_sources_are_answered_with_the_known():
    with pytest.raises(WrongInput, match="no rule 'median'; known: majority, latest"):
        Choice("median")
    with pytest.raises(WrongInput, match="no source 'ai'; known: person, adjudication"):
        Choice(sources=("ai",))
    assert Choice(sources=(MODEL, PERSON)) == Choice(sources=(PERSON, MODEL))


_rows = st.lists(
    st.tuples(
        st.sampled_from(["ada", "bob", "cy"]),
        st.sampled_from(["d1", "d2"]),
        st.none() | st.integers(-1, 3),
        st.sampled_from([PERSON, PERSON, ADJUDICATION, IMPORT, WITHDRAWN]),
        st.sampled_from(["08:00", "12:00", "12:30"]),
        st.sampled_from(["t1", "t1", IN_VIEW]),
        st.sampled_from([None, None, "12:15"]),
        st.sampled_from([None, None, None, "e1", "e2", "e3", "e5"]),
    ),
    max_size=20,
)
BY_WORD = {
    "majority": lambda grades: min(multimode(grades)),
    "latest": lambda grades: grades[-1],
    "lowest": min,
    "highest": max,
    "mean": lambda grades: math.ceil(sum(grades) / len(grades) - 0.5),
}


@pytest.mark.long
@worlds.CASES
@given(_rows, st.sampled_from(list(RULES)), st.sampled_from([HUMAN, (PERSON, IMPORT)]))
def test_labels_are_what_the_rules_say_word_by_word(rows, rule, sources):
    gone = set()
    for place, (person, doc_id, *_, imported, back) in enumerate(rows):
        old = int(back[1:]) - 1 if back else len(rows)
        if old < len(rows) and rows[old][:2] == (person, doc_id) and (rows[old][6] or not imported):
            gone |= {place, old}
    there = [row for place, row in enumerate(rows) if place not in gone]
    from_files = sorted((row for row in there if row[6]), key=lambda row: min(row[4], row[6]))
    said: dict = defaultdict(dict)  # by document: grade by (person, what), in order
    in_order = from_files + [row for row in there if not row[6]]
    for person, doc_id, grade, source, _, task, _, _ in in_order:
        what = "settled" if source == ADJUDICATION else "seen" if task == IN_VIEW else "blind"
        if source == WITHDRAWN:
            for taken in ["seen"] if task == IN_VIEW else ["settled", "seen", "blind"]:
                said[doc_id].pop((person, taken), None)
        elif source in sources:
            said[doc_id].pop((person, what), None)
            if grade is not None:
                said[doc_id][person, what] = grade
    expected = {}
    for doc_id, of_document in said.items():
        given_ = [
            grade
            for (person, what), grade in of_document.items()
            if what == "blind" or (what == "seen" and (person, "blind") not in of_document)
        ]
        settled = [grade for (_, what), grade in of_document.items() if what == "settled"]
        if settled or given_:
            expected[doc_id] = settled[-1] if settled else BY_WORD[rule](given_)
    found = resolve(judged(*rows), Choice(rule, sources))
    assert dict(zip(found["doc_id"], found["relevance"], strict=True)) == expected


# Each case opens a database.
@settings(worlds.CASES, max_examples=worlds.CASES.max_examples // 8)
@given(_rows, st.sampled_from([HUMAN, (PERSON, IMPORT)]))
def test_what_is_counted_on_the_page_is_what_stands(rows, sources):
    frame = judged(*rows)
    standing = labels(frame, sources)
    with scratch() as database:
        database.register("added_judgements", frame)
        found = select_added.counted(database, sources)
    total = found[found["source"].isna()].iloc[0]
    assert total["n_judgements"] == len(standing)
    assert total["n_people"] == standing["person"].nunique()
    assert total["n_pairs"] == standing["doc_id"].nunique()
    by_source = standing["source"].value_counts().to_dict()
    rest = found[found["source"].notna()]
    assert dict(zip(rest["source"], rest["n_judgements"], strict=True)) == by_source
