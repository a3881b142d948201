"""Content of the judging form for a pair, without systems, ranked lists or other assessors."""

from collections.abc import Sequence
from typing import Any

from pandas import DataFrame

from compute.judgements.tasks.queue import Pair
from compute.views.shared.markup import blocks
from compute.views.shared.text import pieces

Sheet = dict[str, Any]
"""key, query, narrative, title, text, bare. The title is split into pieces, every second of which
is a word of the query; the text is a list of [kind, pieces], from `markup.blocks`."""


def sheets(
    pairs: Sequence[Pair], texts: DataFrame, queries: DataFrame, narratives: DataFrame
) -> list[Sheet]:
    """Return a sheet per pair, in order. `texts`: doc_id, title, text. `queries` and `narratives`:
    query_id, text. If a document has no text, its id is shown and its sheet is `bare`."""
    written = {row.doc_id: (row.title, row.text) for row in texts.itertuples()}
    asked = queries.set_index("query_id")["text"]
    told = narratives.set_index("query_id")["text"].dropna()
    return [
        _sheet(pair, asked.get(pair.query_id), *written.get(pair.doc_id, ("", "")))
        | {"narrative": told.get(pair.query_id, "")}
        for pair in pairs
    ]


def _sheet(pair: Pair, query: Any, title: Any, text: Any) -> Sheet:
    query, title, text = (word if isinstance(word, str) else "" for word in (query, title, text))
    bare = not (title.strip() or text.strip())
    return {
        "key": pair.id,
        "query": query or f"Query {pair.query_id}",
        "title": pieces(pair.doc_id if bare else title, query),
        "text": [[kind, pieces(words, query)] for kind, words in blocks(text)],
        "bare": bare,
    }
