"""The BEIR layout, read from folders and archives: what comes out, and what is refused."""

import json
import os
import zipfile
from collections.abc import Callable, Iterable
from pathlib import Path
from tempfile import TemporaryDirectory

import hypothesis
import pytest
from hypothesis import given
from hypothesis import strategies as st

from compute.base.errors import BeirscopeError, Missing, WrongInput
from compute.base.settings import Settings
from compute.datasets import DATASETS, layout
from compute.datasets.fingerprints import (
    CorpusCount,
    judgements_fingerprint,
    queries_fingerprint,
)
from compute.datasets.reading import BeirSource, QrelsOnly, open_path, source
from compute.datasets.records import Document, n_words
from tests.support.tiny import DOCUMENTS, write_tiny
from tests.support.worlds import CASES

REFERENCE = os.environ.get("BEIRSCOPE_REFERENCE")
needs_reference = pytest.mark.skipif(
    not REFERENCE, reason="BEIRSCOPE_REFERENCE is not set: no reference collections"
)


def pack(folder: Path, archive: Path, top: str = "") -> Path:
    """The folder's files as a zip archive, under a top folder or flat."""
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packed:
        for file in sorted(folder.rglob("*")):
            if file.is_file():
                packed.write(file, f"{top}{file.relative_to(folder).as_posix()}")
    return archive


def corpus_fingerprint(documents: Iterable[Document]) -> str:
    count = CorpusCount()
    for _ in count.watch(documents):
        pass
    return count.fingerprint


def prints(origin: BeirSource) -> tuple[str, str, str]:
    return (
        corpus_fingerprint(origin.documents()),
        queries_fingerprint(origin.queries()),
        judgements_fingerprint(origin.judgements()),
    )


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    return write_tiny(tmp_path / "tiny")


def edit(file: Path, change: Callable[[str], str]) -> None:
    file.write_text(change(file.read_text("utf-8")), encoding="utf-8")


def read_all(path: Path) -> None:
    origin = open_path(path)
    for _ in origin.documents():
        pass
    origin.queries()


def test_documents_come_in_file_order_with_an_empty_title_where_there_is_none(tiny: Path) -> None:
    edit(tiny / "corpus.jsonl", lambda text: text.replace('"title": "Harbour", ', ""))
    edit(tiny / "corpus.jsonl", lambda text: text.replace('"title": "Bridges"', '"title": null'))
    documents = list(open_path(tiny).documents())
    assert [document.doc_id for document in documents] == ["d1", "d2", "d3", "d4", "d5", "d6"]
    assert documents[0] == Document("d1", "", "Ships leave the old harbour at dawn.")
    assert documents[1].title == ""
    assert documents[3].title == DOCUMENTS[3]["title"]


def test_queries_of_the_split_are_those_with_judgements(tiny: Path) -> None:
    (tiny / "qrels" / "dev.tsv").write_text("query-id\tcorpus-id\tscore\nq2\td2\t0\n", "utf-8")
    origin = open_path(tiny, "dev")
    assert list(origin.queries()["query_id"]) == ["q2"]
    assert list(origin.all_queries()["query_id"]) == ["q1", "q2", "q3"]
    assert origin.judgements().to_dict("list") == {
        "query_id": ["q2"],
        "doc_id": ["d2"],
        "relevance": [0],
    }


def test_numbers_as_ids_become_the_digits_that_qrels_write(tiny: Path) -> None:
    edit(tiny / "corpus.jsonl", lambda text: text.replace('"d1"', "1"))
    edit(tiny / "queries.jsonl", lambda text: text.replace('"q1"', "7"))
    edit(tiny / "qrels/test.tsv", lambda text: text.replace("q1\td1", "7\t1").replace("q1", "7"))
    origin = open_path(tiny)
    assert next(origin.documents()).doc_id == "1"
    assert origin.judgements().iloc[0].to_list() == ["7", "1", 2]


def test_negative_relevance_is_kept(tiny: Path) -> None:
    edit(tiny / "qrels/test.tsv", lambda text: text.replace("d1\t2", "d1\t-2"))
    assert open_path(tiny).judgements()["relevance"].iloc[0] == -2


def test_a_byte_order_mark_and_windows_line_ends_change_nothing(tiny: Path) -> None:
    before = prints(open_path(tiny))
    for file in tiny.rglob("*.*"):
        file.write_bytes(b"\xef\xbb\xbf" + file.read_bytes().replace(b"\n", b"\r\n") + b"\r\n")
    assert prints(open_path(tiny)) == before


def test_a_whole_surrogate_pair_is_a_character_and_half_of_one_is_refused(tiny: Path) -> None:
    edit(tiny / "corpus.jsonl", lambda text: text.replace("Harbour", r"\ud83d\ude00"))
    assert next(open_path(tiny).documents()).title == "\U0001f600"
    edit(tiny / "corpus.jsonl", lambda text: text.replace(r"\ude00", ""))
    with pytest.raises(WrongInput, match="line 1: title contains half of a surrogate"):
        next(open_path(tiny).documents())


def test_a_relevance_with_a_plus_or_zeros_behind_it_is_a_whole_number(tiny: Path) -> None:
    """As trec_eval reads it."""
    before = open_path(tiny).judgements()
    edit(tiny / "qrels/test.tsv", lambda text: text.replace("\t1\n", "\t+1.0\n"))
    assert "+1.0" in (tiny / "qrels/test.tsv").read_text()
    assert open_path(tiny).judgements().equals(before)
    edit(tiny / "qrels/test.tsv", lambda text: text.replace("+1.0", "+-1"))
    with pytest.raises(WrongInput, match="not a whole number"):
        open_path(tiny).judgements()


def test_a_pair_judged_twice_differently_is_refused_as_in_qrels(tiny: Path) -> None:
    edit(tiny / "qrels/test.tsv", lambda text: text + "q1\td1\t2\n")
    origin = open_path(tiny)
    assert (len(origin.judgements()), origin.repeated_judgements()) == (5, [7])
    edit(tiny / "qrels/test.tsv", lambda text: text + "q1\td1\t1\n")
    with pytest.raises(
        WrongInput, match="line 8: query 'q1' and document 'd1' have a different grade"
    ):
        open_path(tiny).judgements()


def test_of_a_pair_judged_twice_in_a_dataset_of_the_catalogue_the_last_counts(tiny: Path) -> None:
    """As BEIR's own code reads it."""
    edit(tiny / "qrels/test.tsv", lambda text: text + "q1\td1\t0\n")
    origin = BeirSource(layout.files(tiny), "", "test", own=False)
    assert origin.judgements().iloc[0].to_list() == ["q1", "d1", 0]
    assert (len(origin.judgements()), origin.repeated_judgements()) == (5, [7])


def test_judgements_of_unknown_documents_are_counted_not_fatal(tiny: Path) -> None:
    edit(tiny / "qrels/test.tsv", lambda text: text + "q1\tghost\t1\n")
    origin = open_path(tiny)
    count = CorpusCount(origin.judgements()["doc_id"])
    assert sum(1 for _ in count.watch(origin.documents())) == count.n_documents == 6
    assert count.missing == {"ghost"}


def broken(tiny: Path, file: str, old: str, new: str) -> str:
    edit(tiny / file, lambda text: text.replace(old, new, 1))
    with pytest.raises(BeirscopeError) as caught:
        read_all(tiny)
    return str(caught.value)


@pytest.mark.parametrize(
    ("file", "old", "new", "sentence"),
    [
        ("corpus.jsonl", '"_id": "d2", ', "", "corpus.jsonl line 2: no _id"),
        ("corpus.jsonl", '{"_id": "d2"', '{"_id" "d2"', "corpus.jsonl line 2: not JSON"),
        ("corpus.jsonl", '"d2"', '"d1"', "corpus.jsonl line 2: _id 'd1' already occurs above"),
        ("corpus.jsonl", '"d2"', '"d 2"', "corpus.jsonl line 2: id 'd 2' is empty or contains"),
        ("corpus.jsonl", '"d2"', '""', "corpus.jsonl line 2: id '' is empty or contains"),
        ("corpus.jsonl", '"d2"', "2.5", "corpus.jsonl line 2: _id is a number"),
        ("corpus.jsonl", '"d2"', "true", "corpus.jsonl line 2: _id is true or false"),
        ("corpus.jsonl", '"Bridges"', "3", "corpus.jsonl line 2: title is a number"),
        (
            "corpus.jsonl",
            '"text": "The b',
            '"txt": "The b',
            "no text, its keys are _id, title, txt:",
        ),
        ("corpus.jsonl", '{"_id": "d1"', '[]\n{"_id": "d1"', "line 1: not a JSON object"),
        ("queries.jsonl", '"q2"', '"q1"', "queries.jsonl line 2: _id 'q1' already occurs above"),
        ("queries.jsonl", '"q2"', '"q4"', "test.tsv line 4: no query 'q2' in queries.jsonl"),
        ("qrels/test.tsv", "q1\td5\t1", "q1\td5\t0.5", "line 3: relevance '0.5' is not a whole"),
        ("qrels/test.tsv", "q1\td5\t1", "q1\td5\t1_0", "line 3: relevance '1_0' is not a whole"),
        (
            "qrels/test.tsv",
            "q1\td5\t1",
            "q1 d5 1",
            "line 3: 3 columns separated by spaces: put one",
        ),
        ("qrels/test.tsv", "q1\td5\t1", "q1\t0\td5\t1", "line 3: 4 columns, as TREC's qrels have"),
        ("qrels/test.tsv", "q1\td5\t1", "q1 0 d5 1", "line 3: 4 columns, as TREC's qrels have"),
        ("qrels/test.tsv", "q1\td5\t1", "q1", "test.tsv line 3: 1 column, not 3: separate them"),
        ("qrels/test.tsv", "q1\td5\t1", "q1\td5\t3000000000", "whole number of at most 9 digits"),
        (
            "qrels/test.tsv",
            "query-id\tcorpus-id\t",
            "query-id corpus-id ",
            "score, separated by tabs",
        ),
        ("qrels/test.tsv", "query-id\tcorpus-id\tscore\n", "", "line 1: a judgement, not the"),
    ],
)
def test_wrong_input_is_one_sentence_with_file_and_line(
    tiny: Path, file: str, old: str, new: str, sentence: str
) -> None:
    message = broken(tiny, file, old, new)
    assert sentence in message
    assert str(tiny) in message
    assert "\n" not in message


def test_bytes_that_are_not_utf8_are_refused_with_their_place(tiny: Path) -> None:
    file = tiny / "corpus.jsonl"
    file.write_bytes(file.read_bytes().replace(b"Bridges", b"Br\xfccken"))
    with pytest.raises(WrongInput, match=r"corpus\.jsonl line 2: byte 27 is not UTF-8"):
        read_all(tiny)


@pytest.mark.parametrize("name", ["corpus.jsonl", "queries.jsonl"])
def test_a_missing_file_is_named(tiny: Path, name: str) -> None:
    (tiny / name).unlink()
    with pytest.raises(BeirscopeError, match=name):
        read_all(tiny)


def test_a_missing_split_is_answered_with_those_there(tiny: Path) -> None:
    with pytest.raises(Missing, match=r"dev\.tsv is missing; splits there: test"):
        open_path(tiny, "dev").judgements()


def test_the_only_split_needs_no_name_and_of_several_it_is_test(tiny: Path) -> None:
    (tiny / "qrels/test.tsv").rename(tiny / "qrels/dev.tsv")
    assert open_path(tiny).split == "dev"
    (tiny / "qrels/train.tsv").write_text((tiny / "qrels/dev.tsv").read_text("utf-8"), "utf-8")
    with pytest.raises(WrongInput, match="splits dev, train: name one"):
        open_path(tiny)


def test_an_empty_corpus_is_refused(tiny: Path) -> None:
    (tiny / "corpus.jsonl").write_text("\n", "utf-8")
    with pytest.raises(WrongInput, match="it contains no document"):
        read_all(tiny)


@pytest.mark.parametrize("content", ["query-id\tcorpus-id\tscore\n", ""])
def test_a_split_without_judgements_has_all_queries(tiny: Path, content: str) -> None:
    (tiny / "qrels/test.tsv").write_text(content, "utf-8")
    found = open_path(tiny)
    assert found.judgements().empty
    assert len(found.queries()) == len(found.all_queries())
    (tiny / "queries.jsonl").write_text("", "utf-8")
    with pytest.raises(WrongInput, match="it contains no query"):
        read_all(tiny)


@pytest.mark.parametrize("top", ["", "tiny/", "another name/"])
def test_folder_and_archive_of_the_same_data_have_equal_fingerprints(tiny: Path, top: str) -> None:
    archive = pack(tiny, tiny.with_suffix(".zip"), top)
    assert prints(open_path(archive)) == prints(open_path(tiny))


_texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
_ids = st.text(
    st.characters(exclude_categories=["Cs", "Cc", "Zs", "Zl", "Zp"]), min_size=1, max_size=5
)


@hypothesis.settings(CASES, max_examples=CASES.max_examples // 5)
@given(
    documents=st.dictionaries(_ids, st.tuples(_texts, _texts), min_size=1, max_size=6),
    queries=st.dictionaries(_ids, _texts, min_size=1, max_size=4),
    ascii_only=st.booleans(),
    ends=st.sampled_from(["\n", "\r\n"]),
)
def test_any_data_reads_back_alike_from_folder_and_archive(
    documents: dict[str, tuple[str, str]],
    queries: dict[str, str],
    ascii_only: bool,
    ends: str,
) -> None:
    corpus = [
        {"_id": key, "title": title, "text": text} for key, (title, text) in documents.items()
    ]
    asked = [{"_id": key, "text": text} for key, text in queries.items()]
    judged = [(query, next(iter(documents)), 1) for query in queries]
    rows = ["query-id\tcorpus-id\tscore", *("\t".join(map(str, row)) for row in judged)]
    files = {
        "corpus.jsonl": [json.dumps(record, ensure_ascii=ascii_only) for record in corpus],
        "queries.jsonl": [json.dumps(record, ensure_ascii=ascii_only) for record in asked],
        "qrels/test.tsv": rows,
    }
    with TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "qrels").mkdir()
        for file, lines in files.items():
            (folder / file).write_bytes(ends.join(lines).encode())
        origin = open_path(folder)
        assert list(origin.documents()) == [Document(key, *rest) for key, rest in documents.items()]
        assert dict(origin.queries().itertuples(index=False, name=None)) == queries
        assert prints(open_path(pack(folder, folder / "all.zip"))) == prints(origin)


_ODD_LINES = [
    b'{"_id": "d1", "text": "t"}',
    b'{"_id": "\\ud800", "text": ""}',
    b'{"_id": 1e999}',
    b'{"_id": ' + b"9" * 5000 + b"}",
    b"[" * 9999,
    b"q1\td1\t1",
    b"q1\td1",
    b"\t\t",
    b"\xef\xbb\xbf",
]
_lines = st.binary(max_size=40) | st.sampled_from(_ODD_LINES)


@CASES
@given(lines=st.lists(_lines, max_size=4), file=st.sampled_from(["corpus", "queries", "test"]))
def test_no_line_at_all_is_a_bug(lines: list[bytes], file: str) -> None:
    with TemporaryDirectory() as name:
        folder = write_tiny(Path(name) / "tiny")
        target = "qrels/test.tsv" if file == "test" else f"{file}.jsonl"
        with (folder / target).open("ab") as stream:
            stream.write(b"\n".join(lines))
        try:
            read_all(folder)
        except BeirscopeError as error:
            assert target in str(error)


def test_a_fingerprint_depends_on_content_and_order_alone() -> None:
    one, two = Document("1", "a", "b"), Document("2", "", "c")
    assert corpus_fingerprint([one, two]) == corpus_fingerprint(iter((one, two)))
    others = [[two, one], [one], [one, two, one], [Document("1", "", "a b"), two]]
    assert len({corpus_fingerprint(other) for other in [[one, two], *others]}) == 5


def test_words_are_what_white_space_separates_in_title_and_text() -> None:
    assert n_words("On  ships", "Ships,\tleave\u00a0the harbour. ") == 6


def test_judgements_alone_make_a_collection_without_texts(tmp_path: Path) -> None:
    file = tmp_path / "qrels.txt"
    file.write_text("2 0 d9 1\n2 0 d8 0\n10 0 d9 2\n", "utf-8")
    origin = QrelsOnly(file)
    assert list(origin.documents()) == []
    assert list(origin.queries()["query_id"]) == ["2", "10"]
    assert origin.queries()["text"].isna().all()
    assert list(origin.judgements()["relevance"]) == [1, 0, 2]
    assert len(queries_fingerprint(origin.queries())) == 64


def test_identity_changes_with_the_files_and_only_then(tiny: Path) -> None:
    before = open_path(tiny).identity()
    assert open_path(tiny).identity() == before
    edit(tiny / "queries.jsonl", lambda text: text + "\n")
    assert open_path(tiny).identity() != before


def test_a_dataset_is_found_as_archive_or_folder_in_either_place(tiny: Path) -> None:
    home = tiny.parent / "home"
    settings = Settings(home=home, datasets=tiny.parent / "given")
    row = DATASETS["scifact"]
    with pytest.raises(Missing, match=r"put the archive scifact\.zip .*BEIRSCOPE_DATASETS"):
        source(row, settings)
    write_tiny(home / "datasets" / "scifact")
    assert str(source(row, settings).identity()).count("home") == 1
    (tiny.parent / "given").mkdir()
    pack(tiny, tiny.parent / "given" / "scifact.zip", "scifact/")
    assert "scifact.zip" in str(source(row, settings).identity())
    with pytest.raises(Missing, match=r"train\.tsv is missing; splits there: test"):
        source(DATASETS["scifact/train"], settings).judgements()


@pytest.mark.parametrize("top", ["", "cqadupstack/"])
def test_a_forum_lies_in_a_folder_of_the_whole(tiny: Path, top: str) -> None:
    base = tiny.parent / "all"
    for forum in ("android", "unix"):
        write_tiny(base / f"{top}{forum}")
    edit(base / f"{top}unix/corpus.jsonl", lambda text: text.replace('"d6"', '"d7"'))
    pack(base, tiny.parent / "cqadupstack.zip")
    settings = Settings(home=tiny.parent / "home", datasets=tiny.parent)
    android = source(DATASETS["cqadupstack/android"], settings)
    assert [document.doc_id for document in android.documents()][-1] == "d6"
    with pytest.raises(WrongInput, match="contains no single folder 'gis', but"):
        source(DATASETS["cqadupstack/gis"], settings)
    with pytest.raises(WrongInput, match="several collections"):
        open_path(tiny.parent / "cqadupstack.zip")


def test_what_cannot_be_run_says_why(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path)
    with pytest.raises(WrongInput, match="mean of its parts"):
        source(DATASETS["cqadupstack"], settings)
    with pytest.raises(Missing, match="only published figures"):
        source(DATASETS["triviaqa"], settings)
    with pytest.raises(Missing, match="forbids downloading its documents"):
        source(DATASETS["bioasq"], settings)


@needs_reference
@pytest.mark.parametrize(
    ("name", "documents", "words", "queries", "judgements", "all_words"),
    [("scifact", 5183, 214.6, 300, 339, 12.38), ("nfcorpus", 3633, 233.8, 323, 12334, 3.32)],
)
def test_real_collections_by_count(
    name: str, documents: int, words: float, queries: int, judgements: int, all_words: float
) -> None:
    settings = Settings(datasets=Path(str(REFERENCE)) / "beir")
    origin = source(DATASETS[name], settings)
    lengths = [n_words(document.title, document.text) for document in origin.documents()]
    assert (len(lengths), round(sum(lengths) / len(lengths), 1)) == (documents, words)
    assert (len(origin.queries()), len(origin.judgements())) == (queries, judgements)
    asked = origin.all_queries()["text"].map(n_words)
    assert round(float(asked.mean()), 2) == all_words
