"""JSON from any source. Whatever Python's parser fails on counts as a fault of the file."""

import json
from pathlib import Path
from typing import Any

from compute.base.errors import WrongInput


def parsed(text: str | bytes) -> Any:
    """Return the value of a JSON text. Raises ValueError, also if it is nested too deeply."""
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def read(file: Path) -> Any:
    """Return the value in a JSON file. Raises WrongInput if it is not JSON, or
    FileNotFoundError."""
    try:
        return parsed(file.read_text("utf-8"))
    except ValueError as error:
        raise WrongInput(f"{file} is not valid JSON ({error}): fix or remove it") from None
