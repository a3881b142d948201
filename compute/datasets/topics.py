"""TREC topics: the texts of queries as TREC gives them out, in XML or in its own older markup.

Both are read by their marks, not as XML: the older one closes no field, and nothing in a file from
outside is to be expanded.
"""

import html
import re
from collections.abc import Iterator

from compute.base.errors import WrongInput
from compute.base.words import shown
from compute.datasets.records import Query

_TOPIC = re.compile(r"<(topic|top)\b([^>]*)>(.*?)(?=</\1>|<\1\b|\Z)", re.DOTALL | re.IGNORECASE)
_NUMBER = re.compile(r"\b(?:number|num|id)\s*=\s*[\"']([^\"']*)", re.IGNORECASE)
_FIELD = re.compile(r"<(num|number|query|title)\b[^>]*>([^<]*)", re.IGNORECASE)
_LABEL = re.compile(r"^(?:Number|Topic)\s*:\s*", re.IGNORECASE)
"""What the older markup writes before a number and a title."""


def is_topics(content: bytes) -> bool:
    """Whether a file holds topics, by its beginning."""
    return content.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"<")


def topics(content: bytes, file: str) -> Iterator[tuple[int, Query]]:
    """Line and query of each topic: its query, or its title where it has no such field.

    Raises WrongInput with file and line for a topic without a number or text, and for a file
    without topics.
    """
    text = content.decode("utf-8", "replace")
    found = list(_TOPIC.finditer(text))
    if not found:
        raise WrongInput(f"{file} has no <topic> or <top>: give TREC topics, or id, tab and text")
    for topic in found:
        line = text.count("\n", 0, topic.start()) + 1
        fields: dict[str, str] = {}
        for field in _FIELD.finditer(topic[3]):
            fields.setdefault(field[1].lower(), _plain(field[2]))
        attribute = _NUMBER.search(topic[2])
        number = attribute[1].strip() if attribute else fields.get("num") or fields.get("number")
        if not number:
            raise WrongInput(f"{file} line {line}: a topic without a number: add its <num>")
        words = fields.get("query") or fields.get("title")
        if not words:
            raise WrongInput(f"{file} line {line}: topic {shown(number)} has no title: add it")
        yield line, Query(number, words)


def _plain(field: str) -> str:
    return _LABEL.sub("", " ".join(html.unescape(field).split()))
