"""Converts a guideline's Markdown to a tree of harmless elements: no HTML, links or pictures."""

from typing import Any

from markdown_it import MarkdownIt
from markdown_it.tree import SyntaxTreeNode

Tree = list[Any]
"""Strings, and lists of a tag and its children."""

_BLOCKS = ["p", "h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "li", "pre", "blockquote", "hr"]
_INLINE = ["em", "strong", "code", "br", "span"]
_TABLES = ["table", "thead", "tbody", "tr", "th", "td"]
TAGS = frozenset([*_BLOCKS, *_INLINE, *_TABLES])
# Without these rules, their characters remain text, so nothing refers to other sites.
_MARKDOWN = (
    MarkdownIt("commonmark", {"html": False})
    .enable("table")
    .disable(["link", "image", "autolink", "reference", "html_inline", "html_block", "entity"])
)


def tree(markdown: str) -> Tree:
    """Return the guideline as strings and `[tag, child, …]`; every tag is one of `TAGS`."""
    try:
        return [_node(child) for child in SyntaxTreeNode(_MARKDOWN.parse(markdown)).children]
    except RecursionError:
        # A text with thousands of nested marks is shown as written.
        return [["pre", markdown]]


def _node(node: SyntaxTreeNode) -> Any:
    """Convert a node to a string, or to a list of its tag and children."""
    if node.type == "text":
        return node.content
    if node.type == "softbreak":
        return "\n"
    if node.type in ("fence", "code_block"):
        return ["pre", node.content]
    if node.type == "code_inline":
        return ["code", node.content]
    children = [child for child in map(_node, node.children) if child]
    return [node.tag if node.tag in TAGS else "span", *children]
