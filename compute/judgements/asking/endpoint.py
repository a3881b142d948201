"""The server of an LLM, with OpenAI's chat interface. Errors never repeat anything that the server
sent, since it may echo the key or a text."""

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
"""Maximum number of seconds that we wait before a retry if the server asks for it."""
_NO_KEY = "none"
"""Placeholder key for a server without one, since the package requires a key."""
_HOST = r"[a-z0-9._:-]+"
_AGAIN = (408, 409, 429)
_MOST = 10**9
"""Maximum number of tokens that is believed if a server reports it."""
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
"""Error codes of servers that messages may repeat; anything else could be a text or the key."""


@dataclass(frozen=True)
class Reply:
    """An answer of the server."""

    text: str
    tokens: int | None
    """Number of tokens of request and answer by the server's count; None without one."""
    cut: bool
    """True if the length limit truncated the answer."""


class Busy(Exception):
    """Raised if the request may be retried: the server is busy, broken or unreachable."""

    def __init__(self, reason: str, *, wait: float | None = None, unspent: bool = False) -> None:
        super().__init__(reason)
        self.wait = wait
        """Number of seconds to wait, if the server asks for it."""
        self.unspent = unspent
        """True if the server did not start on the request; otherwise tokens may have been spent."""


class Refused(Exception):
    """Raised if the server rejects this request but may accept another one."""


class Forbidden(Unavailable):
    """Raised if the key or this request is rejected; status 403 does not say which."""


class Strange(Unavailable):
    """Raised if the answer is invalid; tokens may have been spent."""


def address(settings: Settings) -> str:
    """Return the address of requests, normalised. Raises WrongInput for an invalid one."""
    return normal(settings.judge_address)


def normal(given: str) -> str:
    """Normalise an address as in consents. Raises WrongInput for an invalid one."""
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
    """A connection to an LLM that several threads may share."""

    def __init__(self, settings: Settings, answer: int = LONGEST_ANSWER) -> None:
        """Leave room for an answer of this many tokens. Raises Unavailable if the package is not
        installed, and WrongInput for bad settings."""
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

        # This overrides OPENAI_LOG, since that log would contain texts.
        logging.getLogger("openai").setLevel(logging.WARNING)
        self._openai = openai
        self._model = settings.judge_model
        self._client = openai.OpenAI(
            api_key=self._key,
            base_url=self.address,
            timeout=settings.judge_seconds,
            max_retries=0,
            # The client sends texts only to the allowed address.
            http_client=connection.client(self._key, settings.judge_seconds),
        )
        self._too_long = connection.TooLong
        self._parameters: dict[str, int] = {"temperature": 0, "max_tokens": answer}

    def ask(self, messages: Sequence[Message]) -> Reply:
        """Ask for an answer. Raises Busy, Refused, or Unavailable if more requests are
        pointless."""
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
        """Read the package's answer. Raises Strange if it has a different form."""
        try:
            choice, usage = found.choices[0], found.usage
            tokens = getattr(usage, "total_tokens", None)
            # `type` is compared, since a bool is also an int.
            known = type(tokens) is int and 0 <= tokens <= _MOST
            text = choice.message.content or ""
            cut = choice.finish_reason == "length"
            return Reply(str(text), tokens if known else None, cut)
        except (AttributeError, IndexError, KeyError, TypeError, ValueError):
            raise self._strange() from None

    def _of_status(self, error: Any, sent: Mapping[str, int]) -> Exception:
        """Return the exception to raise for an error status."""
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
        """Return whether the server rejects one of our parameters, and stop sending it. Reasoning
        models need `max_completion_tokens`, and no temperature."""
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
        """Return the server's error code in brackets if it is a known one, else nothing."""
        return f" ({error.code})" if error.code in _CODES else ""

    def _strange(self) -> Strange:
        return Strange(
            f"{self.address} answers, but not as OpenAI's chat interface does: fix judge_address,"
            " which ends in /v1 at most servers"
        )


def _wait(headers: Any) -> float | None:
    """Return the number of seconds in Retry-After; None for a date or without the header."""
    given = str(headers.get("retry-after", ""))
    return min(float(given), LONGEST_WAIT) if re.fullmatch(r"\d{1,6}(\.\d+)?", given) else None
