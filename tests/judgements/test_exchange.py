"""Added judgements out and in, on the command line and off it."""

import hashlib
import json
import re
import shutil
import zipfile
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from pandas import DataFrame

from compute.__main__ import main
from compute.base.errors import WrongInput
from compute.base.settings import Settings
from compute.datasets.qrels import read_qrels
from compute.judgements import ADJUDICATION, IMPORT, MODEL, PERSON, WITHDRAWN, Choice, resolve
from compute.judgements.exchange import COLUMNS, exported, from_csv, from_qrels, lacking
from compute.store.store import Store
from tests.support import worlds
from tests.support.filled import withdraw
from tests.support.storage import open_store
from tests.support.tiny import JUDGEMENTS, write_tiny

OFFICIAL = DataFrame(JUDGEMENTS, columns=["query_id", "doc_id", "relevance"])
NASTY = 'a "quoted", note\nof two lines; =1+1 é'


def rows(*given: tuple) -> DataFrame:
    """For `Store.add_judgements`, from query_id, doc_id, relevance, person, source."""
    frame = DataFrame(given, columns=["query_id", "doc_id", "relevance", "person", "source"])
    frame = frame.astype({"relevance": "Int64"})
    return frame.assign(dataset="tiny", task="t1", guideline_version="2", note=NASTY, unsure=1)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with the tiny collection in it, to be copied."""
    folder = tmp_path_factory.mktemp("made")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BEIRSCOPE_HOME", str(folder / "home"))
        patch.delenv("BEIRSCOPE_STATE", raising=False)
        assert main(["import-dataset", str(write_tiny(folder / "tiny")), "--name", "tiny"]) == 0
    return folder / "home"


@pytest.fixture
def home(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home with the tiny collection in it."""
    monkeypatch.setenv("BEIRSCOPE_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("BEIRSCOPE_STATE", raising=False)
    return shutil.copytree(made, tmp_path / "home")


@pytest.fixture
def store(home: Path) -> Store:
    return Store(Settings(home=home, threads=1))


def said(*words: object) -> int:
    return main(["judgements", *map(str, words), "--dataset", "tiny"])


def test_qrels_and_tsv_hold_one_label_per_pair_and_official_ones_on_request(
    home, store, tmp_path, capsys
):
    store.add_judgements(
        rows(
            ("q1", "d2", 2, "ada", PERSON),
            ("q1", "d2", 1, "bob", PERSON),
            ("q2", "d6", 0, "ada", PERSON),
            ("q1", "d1", 0, "ada", PERSON),  # judged officially
        )
    )
    assert said("export", tmp_path / "out.txt") == 0
    assert (tmp_path / "out.txt").read_text() == "q1 0 d2 1\nq2 0 d6 0\n"
    assert said("export", tmp_path / "high.tsv", "--rule", "highest") == 0
    head, *lines = (tmp_path / "high.tsv").read_text().splitlines()
    assert head == "query-id\tcorpus-id\tscore"
    assert lines == ["q1\td2\t2", "q2\td6\t0"]
    assert said("export", tmp_path / "all.txt", "--with-official") == 0
    whole = read_qrels(tmp_path / "all.txt").itertuples(index=False, name=None)
    assert list(whole) == [*JUDGEMENTS, ("q1", "d2", 1), ("q2", "d6", 0)]
    assert "all.txt: 7 lines of qrels" in capsys.readouterr().out


def test_an_export_never_takes_the_place_of_a_file(home, store, tmp_path, capsys):
    store.add_judgements(rows(("q1", "d2", 2, "ada", PERSON)))
    (tmp_path / "mine.qrels").write_text("precious")
    assert said("export", tmp_path / "mine.qrels") == 2
    assert "exists: remove it or name another file" in capsys.readouterr().err
    assert said("export", tmp_path / "none" / "out.qrels") == 2
    assert (tmp_path / "mine.qrels").read_text() == "precious"
    left = {file.name for file in tmp_path.iterdir() if file.is_file()}
    assert left == {"mine.qrels"}


def test_nothing_to_export_is_said(home, tmp_path, capsys):
    assert said("export", tmp_path / "out.qrels") == 2
    assert "tiny has no added judgement" in capsys.readouterr().err
    assert not (tmp_path / "out.qrels").exists()


def test_a_file_that_cannot_mark_its_sources_does_not_mix_them(home, store, tmp_path, capsys):
    store.add_judgements(rows(("q1", "d2", 2, "ada", PERSON), ("q1", "d3", 1, "robot", MODEL)))
    both = ["--source", PERSON, MODEL]
    assert said("export", tmp_path / "out.qrels", *both) == 2
    assert (
        "cannot mark the sources of judgements (language models, people" in capsys.readouterr().err
    )
    assert said("export", tmp_path / "people.qrels") == 0
    assert (tmp_path / "people.qrels").read_text() == "q1 0 d2 2\n"
    assert said("export", tmp_path / "out.csv", *both) == 0
    assert pd.read_csv(tmp_path / "out.csv")["source"].tolist() == [PERSON, MODEL]


def test_an_export_names_the_sources_that_it_left_out(home, store, tmp_path, capsys):
    given = [("q1", "d2", 2, "ada", PERSON), ("q1", "d3", 1, "robot", MODEL)]
    given += [(f"q{n}", "d6", 1, "study", IMPORT) for n in (1, 2)]
    store.add_judgements(rows(*given))
    assert said("export", tmp_path / "out.qrels") == 0
    left_out = "; left out: 2 of imported files, 1 of language models (--source import model)\n"
    assert capsys.readouterr().out == f"{tmp_path / 'out.qrels'}: 1 line of qrels{left_out}"
    assert said("export", tmp_path / "all.csv", "--source", PERSON, IMPORT, MODEL) == 0
    assert "left out" not in capsys.readouterr().out
    assert said("export", tmp_path / "no.qrels", "--person", "study") == 2
    assert "from these sources; left out: 2 of imported files" in capsys.readouterr().err


@pytest.mark.long
def test_what_an_import_brought_is_shown_on_the_command_line(home, tmp_path, capsys):
    (tmp_path / "a.run").write_text("q1 Q0 d2 1 1 a\n")
    assert main(["import-run", str(tmp_path / "a.run"), "--dataset", "tiny"]) == 0
    (tmp_path / "one.qrels").write_text("q1 0 d2 1\n")
    assert said("import", tmp_path / "one.qrels", "--person", "ada") == 0
    asked = ["scores", "--dataset", "tiny", "--measure", "Hole@10", "--json"]
    capsys.readouterr()
    shown = []
    added = ["--judgements", "added"]
    for more in ([], ["--judgements", "official"], added, [*added, "--source", IMPORT]):
        assert main([*asked, *more]) == 0
        shown += [row["value"] for row in json.loads(capsys.readouterr().out)]
    assert shown == [1, 1, 1, 0]
    asked = ["holes", "--dataset", "tiny", "--measure", "P@10", "--json", *added]
    assert main([*asked, "--source", IMPORT]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert row["value"] == pytest.approx(0.1 / 3)
    assert main(["jobs", "list", *added]) == 2
    assert "Unknown option: --judgements: beirscope jobs list --help" in capsys.readouterr().err


@pytest.mark.long
def test_qrels_become_a_persons_imports_once_and_official_pairs_stay(home, store, tmp_path, capsys):
    file = tmp_path / "extra.qrels"
    file.write_text("q1 0 d1 2\nq1 0 d5 0\nq1 0 d3 1\nq2 0 d6 0\nq9 0 d1 1\n")
    assert said("import", file) == 2
    assert "does not name its assessor: add --person NAME" in capsys.readouterr().err
    assert said("import", file, "--person", "ada") == 0
    told = capsys.readouterr().out
    assert "3 judgements added to tiny; 2 pairs with an official judgement are unchanged" in told
    assert "1 of these have a different grade" in told
    assert "1 for queries that tiny lacks do not count" in told
    saved = store.added_judgements()
    assert set(saved["source"]) == {IMPORT}
    assert set(saved["note"]) == {"extra.qrels"}
    assert set(saved["person"]) == {"ada"}
    assert said("import", file, "--person", "ada") == 0
    assert "0 judgements added to tiny; 3 were already stored" in capsys.readouterr().out
    assert said("import", file, "--person", "bob") == 0
    assert len(store.added_judgements()) == 6


def test_a_file_of_another_dataset_or_of_a_blank_name_is_refused_whole(
    home, store, tmp_path, capsys
):
    file = tmp_path / "other.qrels"
    file.write_text("z1 0 d1 2\nz2 0 d5 0\n")
    assert said("import", file, "--person", "ada") == 2
    assert "tiny has none of the queries of" in capsys.readouterr().err
    file.write_text("q1 0 d5 2\n")
    assert said("import", file, "--person", " ") == 2
    assert "does not name its assessor" in capsys.readouterr().err
    assert store.added_judgements().empty


@pytest.mark.long
def test_a_changed_grade_is_a_new_row_and_may_change_back(home, store, tmp_path):
    for text in ("q1 0 d3 1\n", "q1 0 d3 2\n", "q1 0 d3 2\n", "q1 0 d3 1\n", "q1 0 d3 1\n"):
        (tmp_path / "one.qrels").write_text(text)
        assert said("import", tmp_path / "one.qrels", "--person", "ada") == 0
    assert store.added_judgements()["relevance"].tolist() == [1, 2, 1]
    withdraw(store, 3, WITHDRAWN)
    assert said("import", tmp_path / "one.qrels", "--person", "ada") == 0
    assert len(store.added_judgements()) == 5


def test_a_grade_without_a_time_is_named_by_its_content_and_what_stood_before(
    home, store, tmp_path
):
    for grade in (1, 2):
        (tmp_path / "one.qrels").write_text(f"q1 0 d3 {grade}\n")
        assert said("import", tmp_path / "one.qrels", "--person", "ada") == 0
    # Homes of all versions name it so: only then does a CSV of one bring nothing twice to another.
    texts = [
        f'{{"after":{before},"dataset":"tiny","doc_id":"d3","guideline_version":"",'
        f'"note":"one.qrels","person":"ada","query_id":"q1","relevance":{grade},'
        '"source":"import","task":"","time":null,"unsure":0}'
        for before, grade in ((0, 1), (1, 2))
    ]
    names = [f"content-{hashlib.sha256(text.encode()).hexdigest()}" for text in texts]
    assert store.added_judgements()["entry"].tolist() == names


def test_a_csv_brings_everything_to_another_home_and_nothing_to_its_own(home, store, tmp_path):
    store.add_judgements(rows(("q1", "d2", 2, "ada", PERSON)).assign(entry="x"))
    store.add_judgements(rows(("q1", "d2", 0, "bob", PERSON)))
    store.add_judgements(rows(("q1", "d2", 1, "cy", ADJUDICATION)))
    withdraw(store, 2, WITHDRAWN)
    assert said("export", tmp_path / "all.csv") == 0
    assert said("import", tmp_path / "all.csv") == 0
    saved = store.added_judgements()
    assert len(saved) == 4
    other = open_store(tmp_path / "other")
    new = lacking(from_csv(tmp_path / "all.csv", "tiny").rows, other.added_judgements())
    other.add_judgements(new)
    kept = [name for name in COLUMNS if name not in ("entry", "verified")]
    pd.testing.assert_frame_equal(other.added_judgements()[kept], saved[kept])
    assert lacking(from_csv(tmp_path / "all.csv", "tiny").rows, other.added_judgements()).empty
    other.close()


def test_mondays_file_leaves_what_the_person_changed_on_tuesday(home, store, tmp_path):
    judged = rows(("q1", "d2", 0, "ada", PERSON)).assign(time="2026-06-01T09:00:00.000000+00:00")
    changed = judged.assign(relevance=2, time="2026-06-02T09:00:00.000000+00:00")
    monday = judged.assign(id=1, entry="a", verified=0, takes_back=None)
    monday = exported(monday, OFFICIAL, "csv")
    (tmp_path / "monday.csv").write_bytes(monday)
    store.add_judgements(changed)
    assert said("import", tmp_path / "monday.csv") == 0
    assert store.added_judgements()["relevance"].tolist() == [2, 0]
    assert resolve(store.added_judgements())["relevance"].tolist() == [2]
    assert store.added_judgements()["imported"].notna().tolist() == [False, True]


def test_a_file_from_the_future_is_said_and_what_is_judged_here_wins(home, store, tmp_path, capsys):
    file = tmp_path / "ahead.csv"
    head = "query_id,doc_id,relevance,person,source,time\n"
    file.write_text(f"{head}q1,d2,2,ada,person,2099-01-01\nq1,d3,2,ada,person,2026-06-01\n")
    assert said("import", file) == 0
    assert "1 dated in the future count as judged at the time of this import" in (
        capsys.readouterr().out
    )
    assert resolve(store.added_judgements())["relevance"].tolist() == [2, 2]
    store.add_judgements(rows(("q1", "d2", 0, "ada", PERSON)))
    withdraw(store, 2, WITHDRAWN)
    assert resolve(store.added_judgements())["relevance"].tolist() == [0]


def test_what_says_no_time_is_held_against_what_was_judged_last(home, store, tmp_path):
    old, new = (f"2026-06-0{day}T09:00:00.000000+00:00" for day in (1, 2))
    for grade, time in ((2, new), (1, old)):
        judged = rows(("q1", "d3", grade, "ada", IMPORT)).assign(time=time, imported=new)
        store.add_judgements(judged)
    for grade, expected in ((2, 2), (1, 3)):
        (tmp_path / "one.qrels").write_text(f"q1 0 d3 {grade}\n")
        assert said("import", tmp_path / "one.qrels", "--person", "ada") == 0
        assert len(store.added_judgements()) == expected


@pytest.mark.long
def test_what_a_csv_counts_as_is_said_and_may_be_as_import_alone(home, store, tmp_path, capsys):
    file = tmp_path / "all.csv"
    sources = [PERSON, PERSON, ADJUDICATION, WITHDRAWN, MODEL]
    lines = [f"q1,d{n},{n % 3},ada,{source}" for n, source in enumerate(sources, 2)]
    file.write_text("\n".join(["query_id,doc_id,relevance,person,source", *lines]) + "\n")
    assert said("import", file) == 0
    told = capsys.readouterr().out
    assert "5 judgements added to tiny; 2 count as human judgements, 1 as" in told
    assert said("import", file) == 0
    assert "count as judgements" not in capsys.readouterr().out
    before = len(store.added_judgements())
    assert said("import", file, "--as-import") == 0
    told = capsys.readouterr().out
    assert "added to tiny; 0 count as human judgements, 0 as settled" in told
    added = store.added_judgements(before)
    assert set(added["source"]) == {IMPORT}
    assert added["relevance"].isna().tolist() == [False, False, False, True, False]
    assert said("import", file, "--as-import") == 0
    assert len(store.added_judgements()) == before + 5


TYPED = ["=1+1", "'=1+1", "''@x", "'plain", "a\rb", "\ttab", "x\r\ny", "-2", "+3", "'", ""]


def test_typed_words_come_back_as_they_were_and_a_spreadsheet_computes_none(home, store, tmp_path):
    given = [("q1", f"d{n}", 1, words or "ada", PERSON) for n, words in enumerate(TYPED)]
    store.add_judgements(rows(*given).assign(note=TYPED))
    assert said("export", tmp_path / "all.csv") == 0
    written = pd.read_csv(tmp_path / "all.csv", dtype="str", keep_default_na=False)
    for column in ("person", "note"):
        assert not written[column].str.contains(r"^[=+\-@\t\r]").any()
    back = from_csv(tmp_path / "all.csv", "tiny").rows
    assert back["note"].tolist() == TYPED
    assert back["person"].tolist() == [words or "ada" for words in TYPED]


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ("q1,d2,,ada,person,x,0", "time is 'x', not of ISO 8601"),
        ("q1,d2,1.5,ada,person,,0", "relevance is '1.5', not a whole number"),
        ("q1,d2,3000000000,ada,person,,0", "relevance is '3000000000', too large a number"),
        (
            "q1,,1,ada,person,,0",
            "query_id or doc_id is empty or contains a byte order mark; fix the line",
        ),
        ("q1,d2,1,,person,,0", "no assessor is named: add --person NAME"),
        ("q1,d2,1,ada,oracle,,0", "no source 'oracle'; known: person, adjudication"),
        ("q1,d2,1,ada,person,,yes", "unsure is 'yes', neither 0 nor 1"),
        ("q1,d2,1", "not as many columns as the header names"),
        ("q1,d2,1,ada,person,,0,more", "not as many columns as the header names"),
    ],
)
def test_a_wrong_line_of_a_csv_is_named_and_nothing_is_taken(home, store, tmp_path, line, fault):
    file = tmp_path / "wrong.csv"
    head = "query_id,doc_id,relevance,person,source,time,unsure\n"
    file.write_text(f"{head}q1,d3,1,ada,person,,0\n{line}\n")
    with pytest.raises(WrongInput, match=re.escape(f"{file}, line 3: {fault}")):
        from_csv(file, "tiny")
    assert said("import", file) == 2
    assert store.added_judgements().empty


def test_a_csv_of_three_columns_and_a_person_is_enough(home, store, tmp_path):
    file = tmp_path / "plain.csv"
    file.write_text("\ufeffquery_id,doc_id,relevance\r\nq1,d3,+1.0\r\n", encoding="utf-8")
    assert said("import", file, "--person", "ada") == 0
    (row,) = store.added_judgements().to_dict("records")
    assert (row["doc_id"], row["relevance"], row["source"]) == ("d3", 1, IMPORT)
    assert (row["note"], row["verified"]) == ("plain.csv", 0)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("query_id,doc_id\nq1,d2\n", "line 1: no column relevance"),
        ("query_id,doc_id,relevance\n", "contains no judgement"),
        ("dataset,query_id,doc_id,relevance,person\nscifact,q1,d1,1,a\n", "line 2: of scifact"),
    ],
)
def test_a_csv_that_is_none_of_the_datasets_is_refused(home, tmp_path, capsys, text, fault):
    (tmp_path / "wrong.csv").write_text(text)
    assert said("import", tmp_path / "wrong.csv") == 2
    assert fault in capsys.readouterr().err


@pytest.mark.parametrize("packed", [False, True])
def test_an_archive_with_more_judgements_adds_those(home, store, tmp_path, capsys, packed):
    """As the published TREC-COVID archive holds 980 judgements beyond the official ones."""
    folder = write_tiny(tmp_path / "published" / "tiny")
    with (folder / "qrels" / "test.tsv").open("a") as file:
        file.write("q1\td2\t0\nq3\td1\t1\n")
    path = folder
    if packed:
        path = tmp_path / "tiny.zip"
        with zipfile.ZipFile(path, "w") as archive:
            for file in folder.rglob("*.*"):
                archive.write(file, file.relative_to(folder.parent))
    assert said("import", path, "--person", "study") == 0
    told = capsys.readouterr().out
    assert "2 judgements added to tiny; 5 pairs with an official judgement are unchanged" in told
    saved = store.added_judgements()[["query_id", "doc_id", "relevance"]]
    assert saved.to_numpy().tolist() == [["q1", "d2", 0], ["q3", "d1", 1]]


def test_a_dataset_of_parts_or_one_that_is_not_stored_is_refused(home, tmp_path, capsys):
    assert main(["judgements", "export", "x", "--dataset", "cqadupstack"]) == 2
    assert "has parts: name one of them" in capsys.readouterr().err
    assert main(["judgements", "export", "x", "--dataset", "nq"]) == 2
    assert "nq is not stored here" in capsys.readouterr().err


_texts = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=5)
_names = st.sampled_from(["q1", "ü", "a b", 'x"y', "p,q", "=1"])
_added = st.lists(
    st.tuples(
        _names,
        _names,
        st.none() | st.integers(-1, 3),
        st.sampled_from(["ada", "bob"]),
        st.sampled_from([PERSON, ADJUDICATION, IMPORT, MODEL, WITHDRAWN]),
        _texts,
    ),
    min_size=1,
    max_size=8,
)


# Each case opens two stores: to shrink one would take minutes.
@pytest.mark.long
@settings(
    worlds.CASES,
    max_examples=worlds.CASES.max_examples // 10,
    phases=(Phase.explicit, Phase.generate),
)
@given(_added, st.integers(0, 8))
def test_what_goes_out_as_csv_comes_in_the_same_whatever_was_there(tmp_path_factory, added, some):
    folder = tmp_path_factory.mktemp("csv")
    one, other = open_store(folder / "one"), open_store(folder / "other")
    columns = ["query_id", "doc_id", "relevance", "person", "source", "note"]
    frame = DataFrame(added, columns=columns).astype({"relevance": "Int64"})
    one.add_judgements(frame.assign(dataset="tiny", task="", guideline_version=""))
    whole = Choice(sources=(PERSON, ADJUDICATION, IMPORT, MODEL))
    content = exported(one.added_judgements(), OFFICIAL, "csv", whole)
    (folder / "out.csv").write_bytes(content)
    found = from_csv(folder / "out.csv", "tiny").rows
    assert lacking(found, one.added_judgements()).empty
    other.add_judgements(lacking(found.head(some), other.added_judgements()))
    other.add_judgements(lacking(found, other.added_judgements()))
    kept = [name for name in COLUMNS if name not in ("entry", "verified", "note")]
    # Rows that were saved together and are alike in everything are one.
    left, right = (s.added_judgements().drop_duplicates([*kept, "note"]) for s in (other, one))
    assert left[kept].to_numpy().tolist() == right[kept].to_numpy().tolist()
    assert resolve(other.added_judgements(), whole).equals(resolve(one.added_judgements(), whole))
    one.close()
    other.close()


@pytest.mark.long
def test_many_at_once(tmp_path):
    """More than a database takes values in one statement."""
    number = 40_000
    file = DataFrame(
        {
            "query_id": [f"q{n % 50}" for n in range(number)],
            "doc_id": [f"d{n}" for n in range(number)],
            "relevance": 1,
        }
    )
    store = open_store(tmp_path / "home")
    for expected in (number, 0):
        found = from_qrels(file, OFFICIAL.head(0), "tiny", "ada", "many.qrels")
        new = lacking(found.rows, store.added_judgements())
        assert len(new) == expected
        store.add_judgements(new)
    assert store.judgement_version() == number
    store.close()
