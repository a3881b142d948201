"""The server of an LLM, with OpenAI's chat interface. Errors never repeat what it sent.

Nothing that the server sends is repeated in an error: it may echo the key or a text.
"""

import importlib.util
import logging
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from compute.base.errors import Unavailable, WrongInput
from compute.base.settings import Settings
from compute.judgements.asking.prompt import LONGEST_ANSWER, Message

LONGEST_WAIT = 60.0
"""Most seconds that a server may ask us to wait before a retry."""
_NO_KEY = "none"
"""Placeholder key for a server without one, since the package requires a key."""
_HOST = r"[a-z0-9._:-]+"
_AGAIN = (408, 409, 429)
_MOST = 10**9
"""Most tokens of a request for which a server's count is trusted."""
_UNSUPPORTED = ("unsupported_parameter", "unsupported_value")
_CODES = (
    "billing_hard_limit_reached",
    "content_filter",
    "content_policy_violation",
    "context_length_exceeded",
    "insufficient_quota",
    "invalid_api_key",
    "model_not_found",
    "rate_limit_exceeded",
    "server_error",
    *_UNSUPPORTED,
)
"""Error words of servers that may be repeated; other words could be a text or the key."""


@dataclass(frozen=True)
class Reply:
    """Answer of the server."""

    text: str
    tokens: int | None
    """Tokens of request and answer by the server's count; None without one."""
    cut: bool
    """True if the length limit truncated the answer."""


class Busy(Exception):
    """The request may be retried: the server is busy, broken or unreachable."""

    def __init__(self, reason: str, *, wait: float | None = None, unspent: bool = False) -> None:
        super().__init__(reason)
        self.wait = wait
        """Seconds to wait, as requested by the server."""
        self.unspent = unspent
        """True if the server did not start; otherwise tokens may have been spent."""


class Refused(Exception):
    """The server rejects this request but may accept another."""


class Forbidden(Unavailable):
    """The key or this request is rejected; status 403 means either."""


class Strange(Unavailable):
    """An invalid answer came; tokens may have been spent."""


def address(settings: Settings) -> str:
    """Address of requests, normalised. Raises WrongInput."""
    return normal(settings.judge_address)


def normal(given: str) -> str:
    """An address, normalised as in consents. Raises WrongInput."""
    try:
        parts = urlsplit(given.strip() if re.fullmatch(r"[\x21-\x7e]+", given.strip()) else "")
        named = parts.scheme in ("http", "https") and re.fullmatch(_HOST, parts.hostname or "")
        named = named and parts.port != 0 and parts.hostname
        port = f":{parts.port}" if parts.port else ""
    except ValueError:
        named, port, parts = None, "", urlsplit("")
    if not named or "@" in parts.netloc or parts.query or parts.fragment:
        raise WrongInput(
            "the address of an LLM server is http or https with a host, without a password,"
            " spaces or non-ASCII letters, such as http://localhost:8000/v1: fix the setting"
            " judge_address, or the given address"
        )
    host = f"[{named}]" if ":" in str(named) else named
    return f"{parts.scheme}://{host}{port}{parts.path.rstrip('/')}"


class Endpoint:
    """A connection that several threads may ask through."""

    def __init__(self, settings: Settings, answer: int = LONGEST_ANSWER) -> None:
        """With room for an answer of this many tokens.

        Raises Unavailable if the package is not installed, WrongInput for bad settings."""
        self.address = address(settings)
        self._key = settings.judge_key or _NO_KEY
        if not re.fullmatch(r"[\x21-\x7e]+", self._key):
            raise WrongInput(
                "judge_key has a space or a character that keys do not have: fix the setting"
            )
        if importlib.util.find_spec("openai") is None:
            raise Unavailable("the package openai is not installed: pip install openai")
        # Imported here because it takes half a second and only requests need it.
        import openai

        from compute.judgements.asking import connection

        # Regardless of OPENAI_LOG, since its log would contain texts.
        logging.getLogger("openai").setLevel(logging.WARNING)
        self._openai = openai
        self._model = settings.judge_model
        self._client = openai.OpenAI(
            api_key=self._key,
            base_url=self.address,
            timeout=settings.judge_seconds,
            max_retries=0,
            # Texts are sent only to the allowed address.
            http_client=connection.client(self._key, settings.judge_seconds),
        )
        self._too_long = connection.TooLong
        self._parameters: dict[str, int] = {"temperature": 0, "max_tokens": answer}

    def ask(self, messages: Sequence[Message]) -> Reply:
        """The answer. Raises Busy, Refused, or Unavailable if further requests are pointless."""
        wanted: Any = list(messages)
        parameters: Any = self._parameters
        try:
            found = self._client.chat.completions.create(
                model=self._model, messages=wanted, **parameters
            )
        except self._openai.APIStatusError as error:
            raise self._of_status(error, parameters) from None
        except self._openai.APITimeoutError:
            raise Busy("no answer in time") from None
        except self._openai.APIConnectionError as error:
            if isinstance(error.__cause__, self._too_long):
                raise self._strange() from None
            raise Busy("the connection failed") from None
        except (self._openai.OpenAIError, ValueError, RecursionError, OverflowError):
            raise self._strange() from None
        return self._reply(found)

    def _reply(self, found: Any) -> Reply:
        try:
            choice, usage = found.choices[0], found.usage
            tokens = getattr(usage, "total_tokens", None)
            # A bool is also an int.
            known = type(tokens) is int and 0 <= tokens <= _MOST
            text = choice.message.content or ""
            cut = choice.finish_reason == "length"
            return Reply(str(text), tokens if known else None, cut)
        except (AttributeError, IndexError, KeyError, TypeError, ValueError):
            raise self._strange() from None

    def _of_status(self, error: Any, sent: Mapping[str, int]) -> Exception:
        status, code = error.status_code, self._code(error)
        if status in (400, 422) and self._adapts(error, sent):
            return Busy(f"status {status}{code}", wait=0, unspent=True)
        if status in _AGAIN or status >= 500:
            wait = _wait(error.response.headers)
            return Busy(f"status {status}{code}", wait=wait, unspent=status < 500)
        if status == 401:
            return Unavailable(f"{self.address} does not accept the key{code}: fix judge_key")
        if status == 403:
            return Forbidden(
                f"{self.address} does not accept the key, or forbids the request{code}: fix"
                " judge_key"
            )
        if status == 402:
            return Unavailable(f"{self.address} requires payment{code}: settle it there")
        if status == 404:
            return Unavailable(
                f"{self.address} has no such model or path{code}: fix judge_model or"
                " judge_address, which ends in /v1 at most servers"
            )
        if 300 <= status < 400:
            return Unavailable(
                f"{self.address} redirects requests to another address, to which no text is sent:"
                " set judge_address to the right one"
            )
        return Refused(f"refused with status {status}{code}")

    def _adapts(self, error: Any, sent: Mapping[str, int]) -> bool:
        """Return whether the server rejects a named parameter, which is then no longer sent.
        Reasoning models need `max_completion_tokens`, and no temperature."""
        if error.code in _CODES and error.code not in _UNSUPPORTED:
            return False
        words = f"{error.param} {error.message}"
        named = next((name for name in ("temperature", "max_tokens") if name in words), "")
        if named not in sent:
            return False
        kept = {name: value for name, value in self._parameters.items() if name != named}
        if named == "max_tokens":
            kept["max_completion_tokens"] = sent[named]
        self._parameters = kept
        return True

    def _code(self, error: Any) -> str:
        """The server's error word, if it is a known one."""
        return f" ({error.code})" if error.code in _CODES else ""

    def _strange(self) -> Strange:
        return Strange(
            f"{self.address} answers, but not as OpenAI's chat interface does: fix judge_address,"
            " which ends in /v1 at most servers"
        )


def _wait(headers: Any) -> float | None:
    """Seconds of Retry-After; None for a date or without one."""
    given = str(headers.get("retry-after", ""))
    return min(float(given), LONGEST_WAIT) if re.fullmatch(r"\d{1,6}(\.\d+)?", given) else None
