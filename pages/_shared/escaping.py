"""Outside text, shown literally in places that interpret Markdown."""

import re
from collections.abc import Iterable

_MARKDOWN = str.maketrans({mark: f"\\{mark}" for mark in "\\`*_{}[]()<>#+-.!|~$:&\"'"})


_LINKED = re.compile(r"(?<=:)(?=//)|(?<=www)(?=\.)|(?<=@)(?=[-\w]+\.[-\w])", re.IGNORECASE)
"""Places in addresses that Markdown would turn into links even if escaped."""


def text(words: str) -> str:
    """Escape outside text so that a place that interprets Markdown, such as a caption, shows it
    literally. An invisible word joiner (U+2060) keeps addresses from becoming links."""
    return _LINKED.sub("\u2060", " ".join(str(words).split())).translate(_MARKDOWN)


def listed(lines: Iterable[str]) -> str | None:
    """Return lines of outside text as a list in Markdown, for a tooltip; None without lines."""
    return "\n".join(f"- {text(line)}" for line in lines) or None
