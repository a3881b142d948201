"""Judgements with query texts: two kinds of files, one rule."""

import gzip
from pathlib import Path

import pytest

from compute.base.errors import Missing, WrongInput
from compute.datasets.without_documents import JudgedQueries

QRELS = "q1 0 d1 1\nq2 0 d2 0\n"
TEXTS = {
    "queries.jsonl": (
        '{"_id": "q2", "text": "two", "metadata": {"narrative": "More.", "desc": "two "}}\n'
        '{"_id": "q1", "text": "one, first", "narr": ["no"], "metadata": {"narr": null},'
        ' "desc": "\\ud83d"}\n'
    ),
    "topics.tsv": "q2\ttwo\n\nq1\tone, first\r\n",
    "topics.xml": (
        '<?xml version="1.0"?>\n<topics task="some">\n<topic number="q2"><query>two</query>\n'
        "<question>which?</question><narrative>any of\nthem</narrative></topic>\n"
        '<topic number="q1"><title>one,\n first</title></topic>\n</topics>\n'
    ),
    "topics": (
        "<top>\n<num> Number: q2\n<title> Topic: two\n<desc> Description:\nMore.\n</top>\n\n"
        "<top>\n<num> Number: q1\n<title> one, first\n\n<narr> Narrative:\nMore.\n</top>\n"
    ),
}


NARRATIVES = {
    "queries.jsonl": [["q2", "More."], ["q1", "?"]],
    "topics.tsv": [],
    "topics.xml": [["q2", "which?\n\nany of them"]],
    "topics": [["q2", "More."], ["q1", "More."]],
}


def _source(tmp_path: Path, text: str | bytes) -> JudgedQueries:
    (tmp_path / "qrels").write_text(QRELS, "utf-8")
    file = tmp_path / "texts"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return JudgedQueries(tmp_path / "qrels", file)


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("packed", [False, True])
def test_queries_have_their_texts(tmp_path: Path, name: str, packed: bool) -> None:
    content = TEXTS[name].encode()
    origin = _source(tmp_path, gzip.compress(content) if packed else content)
    assert origin.queries().to_dict("list") == {
        "query_id": ["q2", "q1"],
        "text": ["two", "one, first"],
    }
    assert origin.narratives().to_numpy().tolist() == NARRATIVES[name]


MARKED = {
    "<topic number='q1'>\n A R&amp;D <b>life</b> cycle. </topic>": "A R&D life cycle.",
    "<topic number='q1'><title><![CDATA[R&D <3%]]></title></topic>": "R&D <3%",
    "<top><num>q1</num><EN-title>plants & < 3%</EN-title><EN-desc>d</EN-desc></top>": (
        "plants & < 3%"
    ),
    "<topic number='q1'><title>growth of <i>E. coli</i><br/>in milk</title></topic>": (
        "growth of E. coli in milk"
    ),
    "<top>\n<num> Number: q1\n<title> BMI <b>below</b> < 30, a<b\n<desc> x\n</top>": (
        "BMI below < 30, a<b"
    ),
    "<Topic number='q1'><Title>Bound of <span id='a'>$x$</span>!</Title><Tags>t</Tags></Topic>": (
        "Bound of $x$!"
    ),
    "<topic number='q1'><!-- <title>no</title> --><title>one</title></topic>": "one",
    "<topic number='q1'>one<br>two<p>three</p>four</topic>": "one two three four",
    "<topic number='q1'><title>one<p>two</p>three<hr/>four</title></topic>": "one two three four",
    "<topic number='q1'><title>x.org/?a=1&copy=2 R&amp;D</title></topic>": "x.org/?a=1&copy=2 R&D",
}


@pytest.mark.parametrize("marked", MARKED)
def test_the_text_of_a_topic_is_whole(tmp_path: Path, marked: str) -> None:
    rest = "<topic number='q2'><title>two</title></topic>"
    texts = _source(tmp_path, f"<topics>{marked}\n{rest}</topics>").queries()["text"]
    assert list(texts) == [MARKED[marked], "two"]


@pytest.mark.parametrize(
    ("topic", "narrative"),
    [
        ("<C-title>c</C-title><E-title>e</E-title><E-desc>de</E-desc><C-desc>dc</C-desc>", "dc"),
        (
            "<title>a</title><desc>Description</desc><narr>Narrative: Topic: <b>n</b></narr>",
            "Topic: n",
        ),
        ("<title>a</title><desc>a</desc><narr> </narr><narr>n</narr>", "n"),
        ("<title>a<narr> Narrative:\nNo.<p>But\nyes.", "No. But yes."),
        ("<query>a</query><question>A?</question><narrative>A?</narrative>", "A?"),
    ],
)
def test_a_narrative_is_in_the_language_of_the_text(
    tmp_path: Path, topic: str, narrative: str
) -> None:
    origin = _source(tmp_path, f"<top><num>q1</num>{topic}</top><top><num>q2<title>b</top>")
    assert origin.narratives().to_numpy().tolist() == [["q1", narrative]]


def test_what_topics_hold_beside_the_texts_is_counted(tmp_path: Path) -> None:
    one = "<topic number='q1'><title>a <i>b</i> <i>c</i></title><x>n</x>stray</topic>out"
    origin = _source(tmp_path, one + "<topic number='q2'><title>two</title><x>m</x></topic>")
    assert origin.left_out() == {
        "<i>": 2,
        "x": 2,
        "text outside of fields": 1,
        "text outside of topics": 1,
    }
    two = "<topic number='q1'><num>7</num><title>a</title><title lang='de'>b</title></topic>"
    origin = _source(tmp_path, two + "<topic number='q2'>t<b>w</b>o<br>2</topic>")
    assert origin.left_out() == {"num": 1, "title": 1, "<b>": 1, "<br>": 1}


def test_topics_have_the_encoding_that_they_declare(tmp_path: Path) -> None:
    titles = "".join(f"<topic number='{q}'><title>café</title></topic>" for q in ("q1", "q2"))
    declared = '<?xml version="1.0" encoding="{}"?>\n' + titles
    for name in ("ISO-8859-1", "windows-1252", "UTF-8"):
        source = _source(tmp_path, declared.format(name).encode(name))
        assert list(source.queries()["text"]) == ["café", "café"]
    for content, fault in (
        (declared.format("UTF-8").encode("latin-1"), "line 2: byte 30 is not UTF-8: save the file"),
        (titles.encode("latin-1"), "line 1: byte 30 is not UTF-8: save the file"),
        (declared.format("none").encode(), "in the encoding 'none', which is unknown"),
        (declared.format("hex").encode(), "in the encoding 'hex', which is unknown"),
        (declared.format("a\0b").encode(), r"in the encoding 'a\\x00b', which is unknown"),
    ):
        with pytest.raises(WrongInput, match=fault):
            _source(tmp_path, content).queries()


def test_queries_of_other_splits_are_counted_not_asked(tmp_path: Path) -> None:
    origin = _source(tmp_path, TEXTS["topics.tsv"] + "q3\tthree\n")
    assert len(origin.all_queries()) == 3
    assert list(origin.queries()["query_id"]) == ["q2", "q1"]


def test_other_texts_are_another_source(tmp_path: Path) -> None:
    before = _source(tmp_path, TEXTS["topics.tsv"]).identity()
    assert _source(tmp_path, TEXTS["topics.tsv"] + "q3\tthree\n").identity() != before


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (
            "q1\tone\n",
            "texts lacks the texts of 1 of 2 judged queries, such as 'q2': add these texts",
        ),
        ("q1\tone\nq2 two\n", "texts line 2: no tab: write the query's id"),
        ("q1\tone\nq1\ttwo\n", "texts line 2: query 'q1' already occurs above"),
        ('{"_id": "q1"}\n', "texts line 1: no text"),
        ("", "lacks the texts of 2 of 2 judged queries, such as 'q1'"),
        ("<topics></topics>", "texts has no <topic> or <top>"),
        ("<top>\n<title> one\n</top>", "texts line 1: a topic has no number"),
        ("\n<top>\n<num> q1\n<desc> one\n</top>", "texts line 2: topic 'q1' has no title"),
        (
            '<topic number="q1"><title>&lt;a&gt;</title></topic>',
            "1 of 2 judged queries, such as 'q2'",
        ),
    ],
)
def test_a_wrong_file_is_one_sentence(tmp_path: Path, text: str, fault: str) -> None:
    with pytest.raises(WrongInput, match=fault):
        _source(tmp_path, text).queries()


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "qrels").write_text(QRELS, "utf-8")
    with pytest.raises(Missing, match="does not exist"):
        JudgedQueries(tmp_path / "qrels", tmp_path / "nowhere").queries()
