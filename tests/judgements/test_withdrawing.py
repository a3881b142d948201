"""An imported file taken back on the command line; one person's judgements alone."""

from pathlib import Path

import pytest
from pandas import DataFrame

from compute.__main__ import main
from compute.base.settings import Settings
from compute.judgements import ADJUDICATION, IMPORT, PERSON, Choice, resolve
from compute.judgements.exchange import exported, from_csv, lacking
from compute.store.store import Store
from tests.support import filled
from tests.support.storage import open_store
from tests.support.tiny import JUDGEMENTS

OFFICIAL = DataFrame(JUDGEMENTS, columns=["query_id", "doc_id", "relevance"])


def rows(*given: tuple) -> DataFrame:
    """For `Store.add_judgements`, from query_id, doc_id, relevance, person, source."""
    frame = DataFrame(given, columns=["query_id", "doc_id", "relevance", "person", "source"])
    frame = frame.astype({"relevance": "Int64"})
    return frame.assign(dataset="tiny", task="t1", guideline_version="1")


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    """Of a home with the tiny collection in it."""
    monkeypatch.setenv("BEIRSCOPE_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("BEIRSCOPE_STATE", raising=False)
    filled.tiny(tmp_path / "home")
    return Store(Settings(home=tmp_path / "home", threads=1))


def said(*words: object) -> int:
    return main(["judgements", *map(str, words), "--dataset", "tiny"])


@pytest.mark.long
def test_a_wrong_file_is_taken_back_after_saying_how_much_that_is(store, tmp_path, capsys):
    (tmp_path / "wrong.qrels").write_text("q1 0 d2 2\nq2 0 d6 1\nq3 0 d1 1\n")
    wrong = (tmp_path / "wrong.qrels", "--person", "ada")
    store.add_judgements(rows(("q1", "d2", 0, "ada", PERSON), ("q2", "d6", 3, "bob", PERSON)))
    own = resolve(store.added_judgements())
    assert said("import", *wrong) == 0
    (tmp_path / "one.qrels").write_text("q3 0 d1 0\n")  # on second thoughts
    assert said("import", tmp_path / "one.qrels", "--person", "ada") == 0
    capsys.readouterr()
    assert said("withdraw", *wrong) == 0
    told = "2 judgements of tiny by ada: 2 of imported files"
    assert capsys.readouterr().out == f"would withdraw {told}; add --yes to do it\n"
    assert len(store.added_judgements()) == 6
    assert said("withdraw", *wrong, "--yes") == 0
    assert f"withdrew {told}\n" in capsys.readouterr().out
    everything = Choice(sources=(PERSON, IMPORT))
    assert resolve(store.added_judgements()).equals(own)
    assert resolve(store.added_judgements(), everything)["relevance"].tolist() == [0, 3, 0]
    assert len(store.added_judgements()) == 8  # nothing is deleted
    assert said("withdraw", *wrong, "--yes") == 0
    assert "withdrew 0 judgements of tiny\n" in capsys.readouterr().out
    assert len(store.added_judgements()) == 8
    assert said("import", *wrong) == 0
    assert "3 judgements added to tiny" in capsys.readouterr().out


def test_a_csv_is_taken_back_but_not_what_its_people_changed_since(store, tmp_path, capsys):
    other = open_store(tmp_path / "other")
    other.add_judgements(
        rows(
            ("q1", "d2", 2, "ada", PERSON),
            ("q2", "d6", 0, "ada", PERSON),
            ("q2", "d6", 1, "cy", ADJUDICATION),
        )
    )
    whole = Choice(sources=(PERSON, ADJUDICATION))
    (tmp_path / "a.csv").write_bytes(exported(other.added_judgements(), OFFICIAL, "csv", whole))
    other.close()
    assert said("import", tmp_path / "a.csv") == 0
    store.add_judgements(rows(("q1", "d2", 1, "ada", PERSON)))
    capsys.readouterr()
    assert said("withdraw", tmp_path / "a.csv", "--yes") == 0
    told = "by ada, cy: 1 of people here, 1 of settled disagreements"
    assert told in capsys.readouterr().out
    assert resolve(store.added_judgements())["relevance"].tolist() == [1]


@pytest.mark.long
def test_a_file_from_the_future_is_taken_back_with_all_that_it_brought(store, tmp_path):
    head = "query_id,doc_id,relevance,person,source,time\n"
    (tmp_path / "old.csv").write_text(f"{head}q1,d2,0,ada,person,2026-05-01\n")
    ahead = f"{head}q1,d2,1,ada,person,2026-06-01\nq1,d2,2,ada,person,2099-01-01\n"
    (tmp_path / "ahead.csv").write_text(ahead)
    for name, expected in (("old.csv", 0), ("ahead.csv", 2)):
        assert said("import", tmp_path / name) == 0
        assert resolve(store.added_judgements())["relevance"].tolist() == [expected]
    assert said("withdraw", tmp_path / "ahead.csv", "--yes") == 0
    assert resolve(store.added_judgements())["relevance"].tolist() == [0]


@pytest.mark.long
def test_what_was_taken_back_goes_to_another_home_as_taken_back(store, tmp_path):
    (tmp_path / "one.qrels").write_text("q1 0 d2 2\n")
    one = (tmp_path / "one.qrels", "--person", "ada")
    assert said("import", *one) == said("withdraw", *one, "--yes") == 0
    whole = Choice(sources=(PERSON, IMPORT))
    (tmp_path / "a.csv").write_bytes(exported(store.added_judgements(), OFFICIAL, "csv", whole))
    other = open_store(tmp_path / "other")
    found = from_csv(tmp_path / "a.csv", "tiny").rows
    other.add_judgements(lacking(found, other.added_judgements()))
    assert len(other.added_judgements()) == 2
    assert resolve(other.added_judgements(), whole).empty
    other.close()


def test_one_persons_judgements_alone(store, tmp_path, capsys):
    store.add_judgements(rows(("q1", "d2", 2, "ada", PERSON), ("q1", "d2", 1, "bob", PERSON)))
    assert said("export", tmp_path / "ada.txt", "--person", "ada") == 0
    assert (tmp_path / "ada.txt").read_text() == "q1 0 d2 2\n"
    assert said("export", tmp_path / "eve.txt", "--person", "eve") == 2
    assert "tiny has no added judgement by eve" in capsys.readouterr().err
