"""Secrets: passwords of databases and proxies, tokens of hubs. Masked in whatever is written."""

import logging
import os
import re
from collections.abc import Mapping

_IN_ADDRESS = re.compile(r"(://[^:/?#@\s'\"]*):[^@\s'\"]+@")
"""Up to the @, slashes included: SQLAlchemy takes them in a password."""
_IN_WORDS = re.compile(
    r"(?i)\b(password|passwd|pwd|client_secret|cookie_secret)(['\"]?\s*[=:]\s*)\S+"
)
_TOKEN = re.compile(r"\bhf_[\w-]{4,}")
_NAMES = re.compile(r"(TOKEN|SECRET|PASSWORD|PASSWD|_KEY)$")
_SHORTEST = 6
"""Letters: a shorter value would mask words that only look like it."""
MASK = "***"


def masked(text: str, environment: Mapping[str, str] = os.environ) -> str:
    """The text with *** for passwords in addresses, and for what the environment keeps secret."""
    for name, value in environment.items():
        if len(value) >= _SHORTEST and _NAMES.search(name.upper()):
            text = text.replace(value, MASK)
    text = _IN_ADDRESS.sub(rf"\1:{MASK}@", text)
    text = _IN_WORDS.sub(rf"\1\2{MASK}", text)
    return _TOKEN.sub(f"hf_{MASK}", text)


class Formatter(logging.Formatter):
    """Lines of a log, tracebacks included, without secrets."""

    def format(self, record: logging.LogRecord) -> str:
        """The line, masked."""
        return masked(super().format(record))
