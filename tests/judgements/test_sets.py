"""Judgement sets: each person, model and imported file alone, and all by a rule."""

from pandas import DataFrame

from compute.judgements import ADJUDICATION, IMPORT, MODEL, PERSON, WITHDRAWN, Choice, sets

NEXT = "2026-06-01T00:00:00", "2026-06-02T00:00:00"


def rows(*given: tuple) -> DataFrame:
    """doc_id, relevance, person, source, note and import, each row a day of its own."""
    columns = ["doc_id", "relevance", "person", "source", "note", "imported"]
    frame = DataFrame([(*row, "", None)[:6] for row in given], columns=columns)
    about = {"dataset": "tiny", "query_id": "q1", "task": "", "entry": None, "takes_back": None}
    times = [f"2026-01-{day + 1:02}" for day in range(len(frame))]
    return frame.astype({"relevance": "Int64"}).assign(time=times, **about)


def grades(found: dict[str, DataFrame]) -> dict[str, dict[str, int]]:
    return {
        name: dict(zip(of["doc_id"], of["relevance"], strict=True)) for name, of in found.items()
    }


def test_each_person_and_model_is_a_set_of_what_stands() -> None:
    given = rows(
        ("d1", 2, "ada", PERSON),
        ("d1", 0, "bob", PERSON),
        ("d1", 1, "ada", ADJUDICATION),
        ("d2", 1, "bob", PERSON),
        ("d2", None, "bob", WITHDRAWN),
        ("d1", 3, "gpt", MODEL),
    )
    found = grades(sets.of_added(given))
    assert found == {"person:ada": {"d1": 2}, "person:bob": {"d1": 0}, "model:gpt": {"d1": 3}}


def test_a_file_is_called_by_its_note_else_by_the_time_of_its_import() -> None:
    given = rows(
        ("d1", 2, "ada", IMPORT, "more.qrels", NEXT[0]),
        ("d1", 1, "bob", IMPORT, "more.qrels", NEXT[0]),
        ("d2", 1, "ada", IMPORT, "why", NEXT[1]),
        ("d3", 0, "ada", IMPORT, "because", NEXT[1]),
    )
    found = grades(sets.of_added(given, "highest"))
    assert found == {
        "file:2026-06-02T00:00:00": {"d2": 1, "d3": 0},
        "file:more.qrels": {"d1": 2},
    }


def test_no_file_takes_a_grade_from_another_of_the_same_person() -> None:
    given = rows(
        ("d1", 1, "gpt", IMPORT, "old.qrels", NEXT[0]),
        ("d2", 1, "gpt", IMPORT, "old.qrels", NEXT[0]),
        ("d1", 0, "gpt", IMPORT, "new.qrels", NEXT[1]),
        ("d2", None, "gpt", WITHDRAWN),
    )
    found = grades(sets.of_added(given))
    assert found == {"file:new.qrels": {"d1": 0}, "file:old.qrels": {"d1": 1}}


def test_nothing_added_is_no_set() -> None:
    assert sets.of_added(rows()) == {}


def test_added_judgements_stand_beside_the_official_ones_which_win() -> None:
    official = DataFrame([("q1", "d1", 0)], columns=["query_id", "doc_id", "relevance"])
    given = rows(("d1", 2, "ada", PERSON), ("d2", 2, "ada", PERSON), ("d2", 1, "bob", PERSON))
    whole = sets.with_added(official, given, Choice("lowest"))
    assert whole.to_numpy().tolist() == [["q1", "d1", 0], ["q1", "d2", 1]]
