"""Leakage: forms of training sets, what is stored and labelled, and what mistakes are told."""

import gzip
import json
from pathlib import Path

import pytest

from compute.__main__ import main
from compute.base.errors import Conflict, Missing, WrongInput
from compute.datasets import Dataset
from compute.intake import imports, leakage, query_labels
from compute.reading import database
from compute.recompute.run import read
from compute.store import provenance
from compute.store.loading import Bench
from compute.store.store import Part
from compute.views.shared import query_slices
from tests.support.tiny import DOCUMENTS, QUERIES

QUERY, OTHER = str(QUERIES[0]["text"]), "something else entirely"
DOCUMENT = str(DOCUMENTS[2]["text"])
TEXT = f"{QUERY.upper()}?\n\n{OTHER}\n{DOCUMENT}\n"
"""Query q1, and document d3, which is relevant to q2."""


def compare(bench: Bench, tiny: Dataset, content: str | bytes, **how: object) -> Part:
    file = bench.settings.home / "train"
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    return leakage.compare(bench, tiny, "set", files=[file], **how)[0]  # pyrefly: ignore


def pairs(part: Part) -> list[tuple[str, str]]:
    return [*read(part)[["of", "text_id"]].itertuples(index=False, name=None)]


def labels(bench: Bench) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = {}
    for part in bench.store.parts(query_labels.KIND, "tiny"):
        for query_id, key, value in read(part)[query_labels.COLUMNS].to_numpy():
            found.setdefault(key, {})[query_id] = value
    return found


@pytest.mark.parametrize(
    ("content", "places"),
    [
        (TEXT, ["line 4", "line 1"]),
        (gzip.compress(TEXT.encode()), ["line 4", "line 1"]),
        (f"{QUERY}\t{OTHER}\t{DOCUMENT}\nmore\tof it\n", ["line 1", "line 1"]),
        (f"7\t{QUERY}\n8\t{OTHER}\n9\t{DOCUMENT}\n", ["9", "7"]),
        (
            f"{json.dumps({'_id': 'a', 'text': QUERY})}\n"
            f"{json.dumps({'_id': 5, 'title': '', 'text': DOCUMENT, 'metadata': {}})}\n",
            ["5", "a"],
        ),
        (
            json.dumps({"query": QUERY, "id": "x", "pos": [OTHER], "neg": [DOCUMENT]}),
            ["line 1"] * 2,
        ),
        (json.dumps([QUERY, OTHER, DOCUMENT]), ["line 1"] * 2),
    ],
    ids=["lines", "gzip", "triples", "ids and texts", "BEIR", "lists of texts", "arrays"],
)
def test_each_form_holds_the_same_texts(
    bench: Bench, tiny: Dataset, content: str | bytes, places: list[str]
) -> None:
    part = compare(bench, tiny, content)
    assert pairs(part) == [("document", "d3"), ("query", "q1")]
    rows = read(part)
    assert rows["training_id"].tolist() == places
    assert set(rows["file"]) == {"train"}
    assert rows["similarity"].tolist() == [1, 1]


def test_touched_queries_become_labels_that_can_be_taken_away(bench: Bench, tiny: Dataset) -> None:
    file = bench.settings.home / "labels"
    file.write_text("q1\ttopic\tsea\n")
    query_labels.import_file(bench, file, tiny)
    part = compare(bench, tiny, TEXT)
    assert labels(bench) == {
        "leakage set": {"q1": "found", "q2": "found", "q3": "not found"},
        "leakage set, query text": {"q1": "found", "q2": "not found", "q3": "not found"},
        "topic": {"q1": "sea"},
    }
    assert leakage.said(part) == (
        "set and tiny: of 3 training texts 2 near-equal; 1 of 3 queries and 1 of 5 relevant"
        " documents found; 2 queries touched, labelled “leakage set”"
    )
    leakage.remove(bench.store, "tiny", "set")
    assert labels(bench) == {"topic": {"q1": "sea"}}
    assert bench.store.parts(leakage.KIND) == []
    with pytest.raises(Missing, match="no training set 'set' was compared with tiny"):
        leakage.remove(bench.store, "tiny", "set")


def test_labels_of_a_training_set_and_those_of_files_leave_each_other_alone(
    bench: Bench, tiny: Dataset, tmp_path: Path
) -> None:
    file = tmp_path / "labels"
    file.write_text("q1\tleakage set\tmine\n")
    query_labels.import_file(bench, file, tiny)
    with pytest.raises(Conflict, match="tiny has different labels “leakage set”: give the"):
        compare(bench, tiny, TEXT)
    assert labels(bench) == {"leakage set": {"q1": "mine"}}
    query_labels.drop(bench.store, "tiny", "leakage set")
    compare(bench, tiny, TEXT)
    with pytest.raises(Conflict, match="is what `leakage find` found on tiny: rename the key"):
        query_labels.import_file(bench, file, tiny, replace=True)
    with pytest.raises(Conflict, match="remove tiny --training set removes it"):
        query_labels.drop(bench.store, "tiny", "leakage set")
    (told,) = provenance.of_datasets(bench.store, ["tiny"])
    assert [one["key"] for one in told["labels"]] == ["leakage set", "leakage set, query text"]


def test_replaced_judgements_leave_out_what_was_found_and_no_other_labels(
    bench: Bench, tiny: Dataset, tmp_path: Path
) -> None:
    (tmp_path / "labels").write_text("q1\ttopic\tsea\n")
    query_labels.import_file(bench, tmp_path / "labels", tiny)
    compare(bench, tiny, TEXT)
    (tmp_path / "tiny" / "qrels" / "test.tsv").write_text(
        "query-id\tcorpus-id\tscore\nq1\td1\t1\nq3\td2\t1\n"
    )
    imports.import_dataset(bench, "tiny", path=tmp_path / "tiny", replace=True)
    cursor = database.open_version(bench.store).cursor()
    assert {*query_slices.labels(cursor, ["tiny"])["key"]} == {"topic"}


def test_nothing_found_is_stored_and_the_same_is_not_looked_for_again(
    bench: Bench, tiny: Dataset
) -> None:
    part = compare(bench, tiny, OTHER)
    assert part.rows == 0
    assert set(labels(bench)["leakage set"].values()) == {"not found"}
    assert compare(bench, tiny, OTHER).id == part.id
    assert compare(bench, tiny, OTHER, threshold=0.8).id != part.id
    leakage.remove(bench.store, "tiny", "set")
    assert labels(bench) == {}


def test_a_text_counts_with_and_without_its_title_and_the_most_alike_are_kept(
    bench: Bench, tiny: Dataset
) -> None:
    title, text = (str(DOCUMENTS[0][name]) for name in ("title", "text"))
    near = [f"{text} {'x' * n}" for n in range(1, 15)]
    part = compare(bench, tiny, "\n".join([*near, f"{title} {text}", text]))
    assert part.provenance["n_pairs"] > leakage.MOST_PAIRS == part.rows
    rows = read(part)
    assert rows["similarity"].is_monotonic_decreasing
    assert set(rows.loc[rows["similarity"] == 1, "training_id"]) == {"line 15", "line 16"}


def test_a_split_is_its_queries_and_their_relevant_documents(
    bench: Bench, tiny: Dataset, tmp_path: Path
) -> None:
    (tmp_path / "tiny" / "qrels" / "train.tsv").write_text(
        "query-id\tcorpus-id\tscore\nq3\td1\t1\nq3\td2\t0\n"
    )
    split = imports.import_dataset(bench, "tiny/train", path=tmp_path / "tiny").dataset
    part, new = leakage.compare(bench, tiny, "tiny/train", split=split)
    assert new
    assert pairs(part) == [("document", "d1"), ("query", "q3")]
    assert labels(bench)["leakage tiny/train"] == {"q1": "found", "q2": "not found", "q3": "found"}


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("", "train contains no text: give a file with texts"),
        ('{"_id": "a", "text": " "}\n{"n": 3}\n', "train contains no text: give a file with texts"),
        ("q1\td1\t1\nq2\td2\t1\n", "train: no column of texts, every cell .* is one word"),
        ('{"text": "a b"}\n{"text": \n', "train, line 2: broken JSON; fix the line"),
        (b"a b\n\xff\n", "train line 2: byte 1 is not UTF-8"),
        (b"PK\x03\x04", "a zip archive, not UTF-8 text"),
    ],
)
def test_a_file_without_texts_is_refused(
    bench: Bench, tiny: Dataset, content: str | bytes, told: str
) -> None:
    with pytest.raises(WrongInput, match=told):
        compare(bench, tiny, content)
    assert bench.store.parts(leakage.KIND) == []


def test_a_folder_and_a_split_without_texts_are_no_training_sets(
    bench: Bench, tiny: Dataset, tmp_path: Path
) -> None:
    with pytest.raises(WrongInput, match="is a folder: name a file"):
        leakage.compare(bench, tiny, "set", files=[tmp_path])
    (tmp_path / "some.qrels").write_text("q1 0 d1 1\n")
    bare = imports.import_dataset(bench, "bare", qrels=tmp_path / "some.qrels").dataset
    with pytest.raises(Missing, match="this split has no texts here to compare with"):
        leakage.compare(bench, tiny, "bare", split=bare)
    assert bench.store.parts(leakage.KIND) == []


def test_names_thresholds_and_datasets_without_texts_are_refused(
    bench: Bench, tiny: Dataset, tmp_path: Path
) -> None:
    with pytest.raises(WrongInput, match="'a: b' cannot name a training set"):
        leakage.compare(bench, tiny, "a: b")
    with pytest.raises(WrongInput, match=r"the threshold 2 is not between 0.1 and 1"):
        leakage.compare(bench, tiny, "a", threshold=2)
    (tmp_path / "qrels").write_text("q1 0 d1 1\n")
    bare = imports.import_dataset(bench, "bare", qrels=tmp_path / "qrels").dataset
    with pytest.raises(Missing, match=r"bare has no texts here to compare: .* add-texts bare PATH"):
        compare(bench, bare, TEXT)


@pytest.mark.long
def test_the_command_finds_shows_and_removes(
    bench: Bench,
    tiny: Dataset,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("BEIRSCOPE_HOME", str(bench.settings.home))
    assert main(["leakage", "show"]) == 2
    assert "no training set has been compared yet" in capsys.readouterr().err
    (tmp_path / "train").write_text(TEXT)
    (tmp_path / "some.run").write_text("q1 Q0 d1 1 2 t\nq2 Q0 d6 1 2 t\nq3 Q0 d6 1 1 t\n")
    imports.import_run(bench, tmp_path / "some.run", tiny, system="one")
    asked = ["leakage", "--dataset", "tiny"]
    given = ["--training", str(tmp_path / "train")]
    assert main([*asked, *given]) == main([*asked, "--name", "x"]) == 2
    assert main([*asked, "--split", "tiny"]) == 2
    assert "tiny contains its own queries" in capsys.readouterr().err
    assert main([*asked, *given, "--name", "set", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["n_touched"] == 2
    assert main(["leakage", "show", "--measure", "P@1", "--json"]) == 0
    both, own = json.loads(capsys.readouterr().out)
    assert (both["left_out"], both["n_found"], both["system"]) == ("query or document", 2, "one")
    # Of P@1 1, 0, 1 all queries have 2/3; q3 alone has 1, q2 and q3 have 1/2.
    assert both["change"] == pytest.approx(1 / 3)
    assert own["value_without"] == pytest.approx(1 / 2)
    removal = ["remove", "tiny", "--training", "set"]
    assert main(removal) == main([*removal, "--yes"]) == 0
    assert main(removal) == 2
    assert main(["remove", "tiny", "--system", "one", "--training", "set"]) == 2
