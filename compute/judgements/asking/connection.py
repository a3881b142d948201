"""The connection to an LLM's server, which sends nothing from the environment."""

import time
from collections.abc import Iterator

import httpx2
import openai

LONGEST_BODY = 1_000_000
"""Maximum number of bytes read from an answer; a grade needs less than a thousandth of it."""
_SENT = ("host", "content-type", "content-length", "accept", "connection", "user-agent")
"""The only headers sent besides the key; the package would add others from the environment."""
_UNTIL = "answer_until"


class TooLong(httpx2.ReadError):
    """Raised when the server sends more than an answer can contain."""


def client(key: str, seconds: int) -> httpx2.Client:
    """Make a client that sends this key, uses no proxy, and limits the time to read an answer."""

    def sending(request: httpx2.Request) -> None:
        for name in set(request.headers) - {*_SENT}:
            del request.headers[name]
        request.headers["authorization"] = f"Bearer {key}"
        # A compressed answer could decompress to any size.
        request.headers["accept-encoding"] = "identity"
        request.extensions = {**request.extensions, _UNTIL: time.monotonic() + seconds}

    def receiving(response: httpx2.Response) -> None:
        if response.headers.get("content-encoding", "identity") != "identity":
            raise TooLong("compressed, which was not requested", request=response.request)
        assert isinstance(response.stream, httpx2.SyncByteStream)
        response.stream = _Short(response.stream, response.request)

    return openai.DefaultHttpx2Client(
        trust_env=False,
        follow_redirects=False,
        event_hooks={"request": [sending], "response": [receiving]},
    )


class _Short(httpx2.SyncByteStream):
    """A body that raises an error if it is too long or takes too long."""

    def __init__(self, stream: httpx2.SyncByteStream, request: httpx2.Request) -> None:
        self._stream, self._request = stream, request

    def __iter__(self) -> Iterator[bytes]:
        read = 0
        for piece in self._stream:
            read += len(piece)
            if read > LONGEST_BODY:
                raise TooLong("longer than an answer", request=self._request)
            if time.monotonic() > self._request.extensions[_UNTIL]:
                raise httpx2.ReadTimeout("incomplete when the time was up", request=self._request)
            yield piece

    def close(self) -> None:
        self._stream.close()
