"""Markdown and reStructuredText as blocks of text; nothing of a document becomes markup."""

import re
from html.parser import HTMLParser

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from compute.views.shared.markup import CODE, HEADING, ITEM, PARAGRAPH, blocks
from compute.views.shared.text import document

NUMPYDOC = """Compute the norm.
Over the last axis, see :func:`numpy.sum`.

Parameters
----------
x : array_like
Input.

.. note:: Only
real numbers.

- first
goes on
- second
1. third

>>> norm([3, 4])
5.0

## Title ##
```python
if x:
    y
```
end"""


def test_a_docstring_is_cut_into_its_blocks() -> None:
    assert list(blocks(NUMPYDOC)) == [
        (PARAGRAPH, "Compute the norm. Over the last axis, see numpy.sum."),
        (HEADING, "Parameters"),
        (PARAGRAPH, "x : array_like Input."),
        (HEADING, "Note Only"),
        (PARAGRAPH, "real numbers."),
        (ITEM, "first goes on"),
        (ITEM, "second"),
        (PARAGRAPH, "1. third"),
        (CODE, ">>> norm([3, 4])\n5.0"),
        (HEADING, "Title"),
        (CODE, "if x:\n    y"),
        (PARAGRAPH, "end"),
    ]


def test_numbers_stay_and_what_closes_no_fence_is_text() -> None:
    assert list(blocks("12. May 1945 was a day")) == [(PARAGRAPH, "12. May 1945 was a day")]
    assert list(blocks("```foo()```\nmore")) == [(PARAGRAPH, "```foo()``` more")]
    assert list(blocks("```\nopen")) == [(PARAGRAPH, "``` open")]


def test_a_text_of_one_line_is_one_paragraph() -> None:
    assert list(blocks("An abstract. Of two sentences.")) == [
        (PARAGRAPH, "An abstract. Of two sentences.")
    ]
    assert list(blocks("\n \n")) == []


class _Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, tuple[str, ...]]] = []
        self.words = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, tuple(name for name, _ in attrs)))

    def handle_data(self, data: str) -> None:
        self.words += data


OURS = {("div", ("dir", "style")), ("strong", ()), ("mark", ("style",))} | {
    (tag, ("style",)) for tag in ("p", "pre")
}


@pytest.mark.parametrize(
    "hostile",
    [
        "<script>alert(1)</script>\n\n- <img src=x onerror=alert(1)>\n\n```\n</pre><b>\n```",
        "[link](javascript:alert(1))\n====\n![i](http://x)\n.. raw:: html\n\n<iframe>",
        "> {0} {} %s \\u003cscript\\u003e &lt;b&gt;",
        "```\nnever closed\n<b>",
    ],
)
def test_a_hostile_document_brings_no_tag_of_its_own(hostile: str) -> None:
    page = _Tags()
    page.feed(document(hostile, hostile, "alert link b"))
    assert set(page.tags) <= OURS
    for word in ("alert(1)", "javascript", "iframe", "&lt;b&gt;", "never closed"):
        assert (word in hostile) == (word in page.words)


@given(st.text(alphabet="ab <>&\"'`*-=#.:>\n1)", max_size=80))
@example(":a:`")
@example("a :b:`a`")
@example(".. a:: b")
@example("```a\nb\n```")
def test_any_text_keeps_its_letters_and_brings_no_tag(text: str) -> None:
    """But for the name of a role and the language of a fence, which are markup."""
    page = _Tags()
    page.feed(document("", text, "a"))
    assert set(page.tags) <= OURS
    told = re.sub(r":[ab:]+:(?=`[^`]+`)|```[^\n]*", "", text)
    assert {"a", "b"} & set(told) <= set(page.words.lower())
