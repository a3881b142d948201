"""Documents as HTML: nothing from outside becomes markup, the words of the query are marked."""

import html
import re

from compute.datasets.scripts import words_without_blanks
from compute.views.shared.markup import CODE, HEADING, ITEM, PARAGRAPH, blocks
from compute.views.shared.stems import stem

_WORD = re.compile(r"(\w+)")
# The 33 of Lucene's English analyser first, then the function words that claims and questions
# are full of, English and Polish: marking them would hide the words that matter.
STOP_WORDS = frozenset(
    _WORD.findall(
        """
        a an and are as at be but by for if in into is it no not of on or such that the their then
        there these they this to was will with
        about after all also am any because been before being between both can could did do does
        doing during each from had has have having he her here his how i its just may me might more
        most must my of our out over she should so some than them those through too under until up
        us very we were what when where which while who whom why would you your
        ale albo bo by być co czy dla do gdzie i ich ile jak jaka jakie jaki jako jest jej jego już
        kiedy kto która które który lub ma mi mnie może na nad nie o od oraz po pod przez przy są
        się ta tak także te tej ten to tu tym w we więc z za ze że
        """
    )
)

_MARK = (
    '<mark style="color:inherit;background:color-mix(in srgb, #f5c400 38%, transparent);'
    'border-radius:0.2rem;padding:0 0.1rem">'
)


def query_words(query: str) -> frozenset[str]:
    """The words of a query worth marking: lower case, no stop words, no single letters."""
    words = {word.casefold() for word in _WORD.findall(query)}
    return frozenset(word for word in words - STOP_WORDS if len(word) > 1)


def pieces(text: str, query: str) -> list[str]:
    """`text` cut in pieces: every second one, from the second on, has the stem of a query's word.

    Neighbours of a word may be empty; joined, the pieces are the text.
    """
    marked = {stem(word) for word in query_words(query)}
    # A single sign is a particle more often than not.
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
    """`text` as HTML with the query's words in `<mark>`; everything else is escaped.

    Each piece is escaped by itself, so nothing from the text or the query reaches the page as
    markup.
    """
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
    """A document as HTML at reading width, title in bold, the query's words marked.

    Its paragraphs, headings, lists and code are set as such; nothing else of it is markup.
    """
    heading = f"<strong>{highlighted(title, query)}</strong>" if title.strip() else ""
    body = "".join(_PARTS[kind].format(highlighted(words, query)) for kind, words in blocks(text))
    return f'<div dir="auto" style="max-width:72ch">{heading}{body}</div>'
