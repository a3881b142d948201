"""Paragraphs, headings, lists and code found in Markdown and reStructuredText, for reading only.
Links, images and HTML remain plain characters."""

import re
from collections.abc import Iterator
from typing import NamedTuple

PARAGRAPH, HEADING, ITEM, CODE = "paragraph", "heading", "item", "code"
_FENCE = re.compile(r"(```|~~~)[\w+.-]*")
_UNDERLINE = re.compile(r"([-=~^\"'`#*+])\1{2,}")
_HASHES = re.compile(r"#{1,6} +(.*?) *#*")
_ITEM = re.compile(r"[-*+•] +(.*)")
_NUMBERED = re.compile(r"\d{1,3}[.)] .*")
_RULE = re.compile(r"[-=+|: ]{6,}")
_DIRECTIVE = re.compile(r"\.\. +([\w-]+):: *(.*)")
_ROLE = re.compile(r"(?<!\w):[\w:]{1,40}:(?=`[^`]+`)")
_CODE = re.compile(r"(?<!`)(`{1,2})~?([^`]+)\1_?(?!`)")
_STRONG = re.compile(r"\*\*(\S(?:[^*]*\S)?)\*\*")


class Block(NamedTuple):
    """A piece of a document: its kind and its text; only code keeps its line breaks."""

    kind: str
    text: str


def blocks(text: str) -> Iterator[Block]:
    """Yield the blocks of a document in order; a text of one line is one paragraph."""
    lines = text.split("\n")
    place = 0
    while place < len(lines):
        block, place = _block(lines, place)
        if block.text:
            yield block


def _block(lines: list[str], place: int) -> tuple[Block, int]:
    """Return the block that begins at a line, and the index of the line after it."""
    line = lines[place].strip()
    if not line:
        return Block(PARAGRAPH, ""), place + 1
    if _FENCE.fullmatch(line) and (end := _closing(lines, place)):
        return Block(CODE, "\n".join(lines[place + 1 : end])), end + 1
    if line.startswith(">>>") or _RULE.fullmatch(line):
        return _until_blank(lines, place)
    below = lines[place + 1].strip() if place + 1 < len(lines) else ""
    if _UNDERLINE.fullmatch(below) and 2 * len(below) >= len(line):
        return Block(HEADING, _inline(line)), place + 2
    if found := _HASHES.fullmatch(line):
        return Block(HEADING, _inline(found[1])), place + 1
    if found := _DIRECTIVE.fullmatch(line):
        return Block(HEADING, f"{found[1].capitalize()} {found[2]}".strip()), place + 1
    return _flowing(lines, place)


def _closing(lines: list[str], place: int) -> int:
    """Return the index of the line that closes a fence; 0 if none does and the fence is text."""
    mark = lines[place].strip()[:3]
    later = range(place + 1, len(lines))
    return next((end for end in later if lines[end].strip() == mark), 0)


def _until_blank(lines: list[str], place: int) -> tuple[Block, int]:
    """Return the lines up to the next blank line as code, and the index of the line after them."""
    end = place
    while end < len(lines) and lines[end].strip():
        end += 1
    return Block(CODE, "\n".join(lines[place:end])), end


def _flowing(lines: list[str], place: int) -> tuple[Block, int]:
    """Return a paragraph or list item, joined into one line, and the index of the line after it."""
    item = _ITEM.fullmatch(lines[place].strip())
    words, end = [item[1] if item else lines[place].strip()], place + 1
    while end < len(lines) and not _begins(lines, end):
        words.append(lines[end].strip())
        end += 1
    return Block(ITEM if item else PARAGRAPH, _inline(" ".join(words))), end


def _begins(lines: list[str], place: int) -> bool:
    """Return true if a line ends the paragraph before it."""
    line = lines[place].strip()
    below = lines[place + 1].strip() if place + 1 < len(lines) else ""
    return (
        not line
        or line.startswith((">>>", "```", "~~~", ".. "))
        or any(one.fullmatch(line) for one in (_ITEM, _NUMBERED, _RULE, _HASHES))
        or bool(_UNDERLINE.fullmatch(below) and 2 * len(below) >= len(line))
    )


def _inline(words: str) -> str:
    """Remove the markup of code and bold: :func:`~numpy.sin` becomes numpy.sin."""
    bare = _CODE.sub(r"\2", _ROLE.sub("", words).replace("\\ ", ""))
    return _STRONG.sub(r"\1", bare)
