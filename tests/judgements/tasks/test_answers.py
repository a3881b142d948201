"""What the form gets and sends: guideline, sheets, answers; nothing hostile, nothing to peek at."""

import re
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from compute.base.errors import WrongInput
from compute.judgements.tasks import guideline
from compute.judgements.tasks.answers import LONGEST_PAUSE, parsed
from compute.judgements.tasks.queue import Pair
from compute.views.annotate import judging_form
from compute.views.shared.markup import blocks
from compute.views.shared.text import STOP_WORDS, pieces, query_words
from tests.support.tiny import HOSTILE
from tests.support.worlds import CASES

HOSTILE_GUIDELINE = """
# Judge <script>alert(1)</script>
[here](https://evil.example/a) ![pixel](https://evil.example/pixel.png) <https://evil.example/b>
<img src="https://evil.example/c.png" onerror="alert(2)"> [ref] &lt;b&gt;

<iframe src="https://evil.example/d"></iframe>

[ref]: https://evil.example/e

| a | b |
|---|---|
| 1 | javascript:alert(3) |
"""


def tags(tree: list[Any]) -> set[str]:
    found = set()
    for node in tree:
        if isinstance(node, list):
            found |= {node[0]} | tags(node[1:])
    return found


def words(tree: list[Any]) -> str:
    return "".join(node if isinstance(node, str) else words(node[1:]) for node in tree)


def test_a_guideline_keeps_its_structure() -> None:
    tree = guideline.tree("# Judge\n\nBy *need*:\n\n- **yes**\n- `no`")
    assert tree == [
        ["h1", ["span", "Judge"]],
        ["p", ["span", "By ", ["em", "need"], ":"]],
        ["ul", ["li", ["p", ["span", ["strong", "yes"]]]], ["li", ["p", ["span", ["code", "no"]]]]],
    ]


def test_a_hostile_guideline_leads_nowhere_and_loads_nothing() -> None:
    tree = guideline.tree(HOSTILE_GUIDELINE)
    assert tags(tree) <= guideline.TAGS
    assert not tags(tree) & {"a", "img", "script", "iframe", "b"}
    shown = words(tree)
    for piece in ("<script>alert(1)</script>", "![pixel](", "<iframe", "&lt;b&gt;", "[ref]: "):
        assert piece in shown, "what is not Markdown here stays readable"


@CASES
@given(st.text(alphabet="<>[]()!#*_`|-: \nahttp/.&;\"'", max_size=80))
def test_any_guideline_becomes_harmless_elements(markdown: str) -> None:
    def check(node: Any) -> None:
        if isinstance(node, str):
            return
        assert node[0] in guideline.TAGS
        for child in node[1:]:
            check(child)

    for node in guideline.tree(markdown):
        check(node)


def test_a_guideline_of_endless_nesting_is_shown_as_written() -> None:
    deep = "*a " * 4000 + "a*" * 4000
    assert words(guideline.tree(deep)) == deep


@CASES
@given(st.text(max_size=60), st.text(max_size=20))
def test_pieces_join_to_the_text_and_every_second_is_a_word_of_the_query(
    text: str, query: str
) -> None:
    cut = pieces(text, query)
    assert "".join(cut) == text
    assert all(piece.casefold() in query_words(query) for piece in cut[1::2])
    marked = [piece for piece in re.findall(r"\w+", text) if piece.casefold() in query_words(query)]
    assert cut[1::2] == marked
    assert not {piece.casefold() for piece in cut[1::2]} & STOP_WORDS


def shown(pair: Pair) -> dict[str, Any]:
    texts = pd.DataFrame({"doc_id": ["d4"], "title": [HOSTILE], "text": ["The ships"]})
    queries = pd.DataFrame({"query_id": ["q1", "q2"], "text": ["ships in the harbour", None]})
    narratives = pd.DataFrame({"query_id": ["q1"], "text": ["Any ship.\n\nNo boat."]})
    return judging_form.sheets([pair], texts, queries, narratives)[0]


def test_a_sheet_holds_query_and_document_under_a_key_and_no_more() -> None:
    sheet = shown(Pair("f00", "q1", "d4"))
    assert sheet == {
        "key": "f00",
        "query": "ships in the harbour",
        "narrative": "Any ship.\n\nNo boat.",
        "title": [HOSTILE],
        "text": [["paragraph", ["The ", "ships", ""]]],
        "bare": False,
    }


def test_a_sheet_has_the_paragraphs_lists_and_code_that_query_shows() -> None:
    text = f"Ships\n=====\n\n- one ship\n- {HOSTILE}\n\n```\n<i>x</i>\n```"
    texts = pd.DataFrame({"doc_id": ["d4"], "title": [""], "text": [text]})
    queries = pd.DataFrame({"query_id": ["q1"], "text": ["ship"]})
    (sheet,) = judging_form.sheets([Pair("f00", "q1", "d4")], texts, queries, queries[:0])
    assert [(kind, "".join(pieces)) for kind, pieces in sheet["text"]] == list(blocks(text))
    assert sheet["text"][0] == ["heading", ["", "Ships", ""]]
    assert sheet["text"][1] == ["item", ["one ", "ship", ""]]
    # Nothing of it is markup: the form makes text nodes of the pieces.
    assert sheet["text"][-1] == ["code", ["<i>x</i>"]]


def test_ids_stand_for_texts_that_are_not_here() -> None:
    sheet = shown(Pair("f00", "q2", "d9"))
    assert (sheet["query"], sheet["title"], sheet["bare"]) == ("Query q2", ["d9"], True)


RECORD = {"entry": "w-1", "pair": "p1", "act": "grade", "relevance": 1, "seconds": 3, "version": 1}


def test_answers_are_read_from_the_log() -> None:
    (answer,) = parsed([RECORD | {"note": "n", "unsure": True, "seconds": 1e6}])
    assert (answer.relevance, answer.note, answer.unsure) == (1, "n", True)
    assert answer.seconds == LONGEST_PAUSE
    assert parsed([RECORD | {"act": "skip"}])[0].relevance is None
    assert parsed([]) == []


def test_a_note_that_no_database_takes_does_not_hold_up_the_answers_behind_it() -> None:
    (answer,) = parsed([RECORD | {"note": "half \ud83d, nothing \0, whole 🙂"}])
    assert answer.note == "half , nothing , whole 🙂"


@pytest.mark.parametrize(
    "log",
    [
        None,
        "text",
        {"entry": "w"},
        [1],
        [RECORD | {"act": "delete"}],
        [RECORD | {"relevance": "1"}],
        [RECORD | {"relevance": 1.5}],
        [RECORD | {"entry": "a b"}],
        [RECORD | {"entry": ""}],
        [RECORD | {"pair": None}],
        [RECORD | {"seconds": float("nan")}],
        [RECORD | {"seconds": -1}],
        [RECORD | {"version": "1"}],
        [{"entry": "w-1"}],
    ],
)
def test_anything_else_is_refused(log: object) -> None:
    with pytest.raises(WrongInput, match="reload the page"):
        parsed(log)
