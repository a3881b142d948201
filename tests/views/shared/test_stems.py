"""Stems as Lucene's English analyser cuts them, words of whose list are written out here.

All 30,557 words of SciFact and 23,878 of NFCorpus were held to Lucene's own filter: none differed.
"""

import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from compute.views.shared.stems import stem
from compute.views.shared.text import pieces

LUCENE = {
    "harbours": "harbour",
    "running": "run",
    "relational": "relat",
    "etiology": "etiolog",
    "urology": "urolog",
    "biology": "biologi",
    "analogies": "analog",
    "assembly": "assembl",
    "doubly": "doubli",
    "possibly": "possibl",
    "incredibly": "incred",
    "acceptably": "accept",
    "as": "as",
    "pharmacologie": "pharmacologi",
    "żółć": "żółć",
    "c25": "c25",
}


@pytest.mark.parametrize(("word", "stemmed"), LUCENE.items())
def test_stems_are_those_of_lucene(word: str, stemmed: str) -> None:
    assert stem(word) == stemmed


def test_words_with_the_stem_of_a_word_of_the_query_are_marked() -> None:
    found = pieces("Running in harbours; he ran. Runs, thing.", "the run to a harbour")
    assert found[1::2] == ["Running", "harbours", "Runs"]


@pytest.mark.parametrize(
    ("text", "query", "marked"),
    [
        ("深度学习在信息检索中的应用", "信息检索在哪里", ["信息", "检索"]),
        ("การค้นคืนสารสนเทศ", "สารสนเทศ", ["สารสนเทศ"]),
        ("Networks for 信息检索", "the network of 信息", ["Networks", "信息"]),
        ("的", "的", []),
    ],
)
def test_words_of_scripts_without_blanks_are_marked(
    text: str, query: str, marked: list[str]
) -> None:
    found = pieces(text, query)
    assert "".join(found) == text
    assert found[1::2] == marked


@pytest.fixture
def _switching() -> Iterator[None]:
    """Threads that take turns after every few instructions."""
    usual = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(usual)


@pytest.mark.usefixtures("_switching")
def test_sessions_that_stem_at_once_get_the_same_stems() -> None:
    words = [f"{start}{end}" for start in LUCENE for end in ("ization", "fulness", "ousli", "ated")]
    alone = {word: stem.__wrapped__(word) for word in words}
    with ThreadPoolExecutor(4) as sessions:
        found = list(sessions.map(lambda _: [stem.__wrapped__(word) for word in words], range(20)))
    assert all(stems == [alone[word] for word in words] for stems in found)
