"""JSON from any source. Any failure of Python's parser is treated as an error in the file."""

import json
from pathlib import Path
from typing import Any

from compute.base.errors import WrongInput


def parsed(text: str | bytes) -> Any:
    """Return the value of a JSON text. Raises ValueError if it is invalid or nested too deeply."""
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
