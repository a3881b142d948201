"""Connection to a server: nothing from the environment is sent, and little is read."""

import time
from collections.abc import Iterator

import httpx2
import openai

LONGEST_BODY = 1_000_000
"""Most bytes of an answer to read; an answer with a grade has less than a thousandth."""
_SENT = ("host", "content-type", "content-length", "accept", "connection", "user-agent")
"""Headers sent besides the key; the package would add others from the environment."""
_UNTIL = "answer_until"


class TooLong(httpx2.ReadError):
    """The server sends more than an answer can contain."""


def client(key: str, seconds: int) -> httpx2.Client:
    """A client that sends this key, without a proxy, and limits the time to read an answer."""

    def sending(request: httpx2.Request) -> None:
        for name in set(request.headers) - {*_SENT}:
            del request.headers[name]
        request.headers["authorization"] = f"Bearer {key}"
        # A compressed answer could unpack to any size.
        request.headers["accept-encoding"] = "identity"
        request.extensions = {**request.extensions, _UNTIL: time.monotonic() + seconds}

    def receiving(response: httpx2.Response) -> None:
        if response.headers.get("content-encoding", "identity") != "identity":
            raise TooLong("packed, which was not asked for", request=response.request)
        assert isinstance(response.stream, httpx2.SyncByteStream)
        response.stream = _Short(response.stream, response.request)

    return openai.DefaultHttpx2Client(
        trust_env=False,
        follow_redirects=False,
        event_hooks={"request": [sending], "response": [receiving]},
    )


class _Short(httpx2.SyncByteStream):
    """A body that ends with an error if it is too long or takes too long."""

    def __init__(self, stream: httpx2.SyncByteStream, request: httpx2.Request) -> None:
        self._stream, self._request = stream, request

    def __iter__(self) -> Iterator[bytes]:
        read = 0
        for piece in self._stream:
            read += len(piece)
            if read > LONGEST_BODY:
                raise TooLong("longer than an answer", request=self._request)
            if time.monotonic() > self._request.extensions[_UNTIL]:
                raise httpx2.ReadTimeout("not all in time", request=self._request)
            yield piece

    def close(self) -> None:
        self._stream.close()
