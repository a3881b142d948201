"""Words from outside, shown as they are where Markdown is read."""

import re

_MARKDOWN = str.maketrans({mark: f"\\{mark}" for mark in "\\`*_{}[]()<>#+-.!|~$:&\"'"})


_LINKED = re.compile(r"(?<=:)(?=//)|(?<=www)(?=\.)|(?<=@)(?=[-\w]+\.[-\w])", re.IGNORECASE)
"""Places where Markdown would make links of escaped letters."""


def text(words: str) -> str:
    """Words from outside for a place that reads Markdown, such as a caption: letter by letter.

    Addresses get an invisible word joiner (U+2060), without which they would become links.
    """
    return _LINKED.sub("\u2060", " ".join(str(words).split())).translate(_MARKDOWN)
