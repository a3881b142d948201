"""Masking of secrets (passwords of databases and proxies, tokens of hubs) in all output."""

import logging
import os
import re
from collections.abc import Mapping

from compute.base.printable import printable, printable_lines

_IN_ADDRESS = re.compile(r"(://[^:/?#@\s'\"]*):[^@\s'\"]+@")
"""Matches a password in an address, up to the @; SQLAlchemy also accepts slashes in a password."""
_IN_WORDS = re.compile(
    r"(?i)\b(password|passwd|pwd|client_secret|cookie_secret)(['\"]?\s*[=:]\s*)\S+"
)
_TOKEN = re.compile(r"\bhf_[\w-]{4,}")
_NAMES = re.compile(r"(TOKEN|SECRET|PASSWORD|PASSWD|_KEY)$")
_SHORTEST = 6
"""Length of the shortest secret that is masked; shorter values would mask unrelated words."""
MASK = "***"
_LOADED = set[str]()
"""Secrets that this process read from files. They belong to no single user, so sharing is safe."""


def keep(secret: str) -> None:
    """Mask this value from now on, regardless of where it was read."""
    if secret:
        _LOADED.add(secret)


def masked(text: str, environment: Mapping[str, str] = os.environ) -> str:
    """Return the text with *** instead of passwords in addresses, tokens, and secrets that come
    from the environment or from `keep`."""
    named = {value for name, value in environment.items() if _NAMES.search(name.upper())}
    for value in sorted(named | _LOADED, key=len, reverse=True):
        if len(value) >= _SHORTEST:
            text = text.replace(value, MASK)
    text = _IN_ADDRESS.sub(rf"\1:{MASK}@", text)
    text = _IN_WORDS.sub(rf"\1\2{MASK}", text)
    return _TOKEN.sub(f"hf_{MASK}", text)


class Formatter(logging.Formatter):
    """Formats log lines, tracebacks included, without secrets and terminal escapes."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the lines with secrets masked."""
        return printable_lines(masked(super().format(record)))

    def formatMessage(self, record: logging.LogRecord) -> str:
        """Return the message as one line, whatever text it contains."""
        return printable(super().formatMessage(record))
