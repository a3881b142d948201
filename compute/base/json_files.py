"""JSON from any source: a failure of Python's reader is the file's fault."""

import json
from pathlib import Path
from typing import Any

from compute.base.errors import WrongInput


def parsed(text: str | bytes) -> Any:
    """The value. Raises ValueError, also for nesting deeper than Python allows."""
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def read(file: Path) -> Any:
    """The value in a file. Raises WrongInput if it is not JSON, FileNotFoundError without it."""
    try:
        return parsed(file.read_text("utf-8"))
    except ValueError as error:
        raise WrongInput(f"{file} is not valid JSON ({error}): fix or remove it") from None
