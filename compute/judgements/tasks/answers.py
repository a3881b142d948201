"""Parses and checks the answers that the judging form sends."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from compute.base.errors import WrongInput

GRADE, SKIP, UNDO = "grade", "skip", "undo"
LONGEST_NOTE = 2000
LONGEST_PAUSE = 3600.0
"""Maximum number of seconds that count for an answer, since people take breaks."""


@dataclass(frozen=True)
class Answer:
    """A key press of an assessor."""

    entry: str
    """Id from the browser, so that an answer that is sent twice is saved once."""
    pair: str
    act: str
    relevance: int | None
    """Relevance of a grade; None for other answers."""
    unsure: bool
    note: str
    seconds: float
    guideline_version: int
    texts: str = ""
    """Identity of the judged texts (`queue.texts`); empty if the form does not send it."""


def parsed(log: object) -> list[Answer]:
    """Return the answers in a browser's log, in order. Raises WrongInput for anything else."""
    if not isinstance(log, Sequence) or isinstance(log, str | bytes):
        raise _unreadable()
    return [_answer(record) for record in log]


def _answer(record: Any) -> Answer:
    try:
        answer = Answer(
            entry=_name(record["entry"]),
            pair=_name(record["pair"]),
            act=record["act"],
            relevance=_whole(record["relevance"]) if record["act"] == GRADE else None,
            unsure=bool(record.get("unsure")),
            note=_note(record.get("note")),
            seconds=float(record["seconds"]),
            guideline_version=_whole(record["version"]),
            texts=str(record.get("texts") or ""),
        )
    except (KeyError, TypeError, ValueError, AttributeError):
        raise _unreadable() from None
    if answer.act not in (GRADE, SKIP, UNDO) or not 0 <= answer.seconds < math.inf:
        raise _unreadable()
    if answer.seconds > LONGEST_PAUSE:
        return replace(answer, seconds=LONGEST_PAUSE)
    return answer


def _name(word: object) -> str:
    if not isinstance(word, str) or not re.fullmatch(r"[0-9a-zA-Z-]{1,80}", word):
        raise ValueError(word)
    return word


def _note(words: object) -> str:
    # Databases refuse half a character, and an answer that cannot be saved would block all others.
    whole = str(words or "").encode("utf-8", "ignore").decode("utf-8")
    return whole.replace("\0", "")[:LONGEST_NOTE]


def _whole(number: object) -> int:
    if not isinstance(number, int):
        raise ValueError(number)
    return number


def _unreadable() -> WrongInput:
    return WrongInput("The form sent something unreadable: reload the page; your answers are kept.")
