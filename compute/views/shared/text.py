"""Documents as HTML: outside text never becomes markup, and the query's words are marked."""

import html
import re

from compute.corpora.stop_words import STOP_WORDS
from compute.datasets.scripts import words_without_blanks
from compute.views.shared.markup import CODE, HEADING, ITEM, PARAGRAPH, blocks
from compute.views.shared.stems import stem

_WORD = re.compile(r"(\w+)")

_MARK = (
    '<mark style="color:inherit;background:color-mix(in srgb, #f5c400 38%, transparent);'
    'border-radius:0.2rem;padding:0 0.1rem">'
)


def query_words(query: str) -> frozenset[str]:
    """Return the words to mark: in lower case, without stop words and single letters."""
    words = {word.casefold() for word in _WORD.findall(query)}
    return frozenset(word for word in words - STOP_WORDS if len(word) > 1)


def pieces(text: str, query: str) -> list[str]:
    """Split `text` so that the second, fourth … piece has the stem of a query word. The other
    pieces may be empty; joined, all pieces are the text."""
    marked = {stem(word) for word in query_words(query)}
    # In scripts without spaces, a single character is usually a particle.
    unspaced = {word for word in words_without_blanks(query) if len(word) > 1}
    longest_first = sorted(map(re.escape, unspaced), key=len, reverse=True)
    within = re.split(f"({'|'.join(longest_first)})", text) if unspaced else [text]
    cut = [""]
    for place, part in enumerate(within):
        if place % 2:
            cut += [part, ""]
            continue
        for piece in _WORD.split(part):
            word = piece.casefold()
            if word not in STOP_WORDS and stem(word) in marked:
                cut += [piece, ""]
            else:
                cut[-1] += piece
    return cut


def highlighted(text: str, query: str) -> str:
    """Return `text` as HTML with the query's words in `<mark>`. Each piece is escaped separately,
    so nothing from the text or the query becomes markup."""
    return "".join(
        f"{_MARK}{html.escape(piece)}</mark>" if place % 2 else html.escape(piece)
        for place, piece in enumerate(pieces(text, query))
    )


_PARTS = {
    PARAGRAPH: '<p style="margin:0 0 0.7em">{}</p>',
    HEADING: '<p style="margin:0.9em 0 0.3em"><strong>{}</strong></p>',
    ITEM: '<p style="margin:0 0 0.3em 1.2em;text-indent:-1em">• {}</p>',
    CODE: '<pre style="margin:0 0 0.7em;white-space:pre-wrap;font-size:0.88em">{}</pre>',
}


def document(title: str, text: str, query: str) -> str:
    """Return a document as HTML at reading width, with the title in bold and the query's words
    marked. Its paragraphs, headings, lists and code are formatted; nothing else becomes markup."""
    heading = f"<strong>{highlighted(title, query)}</strong>" if title.strip() else ""
    body = "".join(_PARTS[kind].format(highlighted(words, query)) for kind, words in blocks(text))
    return f'<div dir="auto" style="max-width:72ch">{heading}{body}</div>'
