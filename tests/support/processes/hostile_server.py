"""An HTTP server on this machine that does to a client what bad networks and bad servers do."""

import contextlib
import re
import socket
import struct
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import ClassVar
from weakref import WeakKeyDictionary

DRIP = 0.01
"""Seconds between two bytes of a server that drips."""


@dataclass(frozen=True)
class Answer:
    """What the server does with one request."""

    content: bytes = b""
    """The whole file; of it the part that is asked for is sent, if `ranges`."""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    etag: str = '"v1"'
    ranges: bool = True
    deaf: bool = False
    """Sends the part that is asked for though If-Range names another version."""
    cut: int | None = None
    """The connection breaks off after so many bytes of the body."""
    announced: int | None = -1
    """Content-Length; -1: the truth, None: none, the body ends with the connection."""
    chunked: bool = False
    endless: bool = False
    """After the content come zeros without end."""
    drips: bool = False
    silent: bool = False
    """Nothing is ever answered."""
    breaks: bool = False
    """The connection breaks off before anything is answered."""
    raw: bytes | None = None
    """Sent as it is, in place of an answer."""


@dataclass(frozen=True)
class Asked:
    """A request that came."""

    path: str
    headers: Mapping[str, str]


Script = Callable[[str, int], Answer]
"""(path, how many requests for it came before) to what is done."""


class Hostile:
    """The running server: its address, and what was asked of it."""

    def __init__(self, port: int) -> None:
        self.address = f"http://127.0.0.1:{port}"
        self.asked: list[Asked] = []
        self.answers: dict[str, Sequence[Answer] | Script] = {}
        """By path without its query; of a sequence the last repeats. What has none gets 404."""
        self.ended = threading.Event()
        self._lock = threading.Lock()

    def of(self, path: str) -> list[Asked]:
        """The requests for a path, in order."""
        return [one for one in self.asked if one.path == path]

    def next(self, path: str, headers: Mapping[str, str]) -> Answer:
        """What to do now with a request for this path."""
        with self._lock:
            before = len(self.of(path))
            self.asked.append(Asked(path, headers))
        found = self.answers.get(path)
        if found is None:
            return Answer(status=404)
        if callable(found):
            return found(path, before)
        return found[min(before, len(found) - 1)]


@contextmanager
def listening(
    handler: type[BaseHTTPRequestHandler], port: int = 0
) -> Iterator[ThreadingHTTPServer]:
    """A server on a thread of its own."""
    server = ThreadingHTTPServer(("127.0.0.1", port), handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@contextmanager
def hostile() -> Iterator[Hostile]:
    """A server of the test's own."""
    with listening(_Handler) as server:
        _Handler.of[server] = found = Hostile(server.server_port)
        try:
            yield found
        finally:
            found.ended.set()


class _Handler(BaseHTTPRequestHandler):
    # One for all handlers, by their server, as long as that lives.
    of: ClassVar[WeakKeyDictionary[object, Hostile]] = WeakKeyDictionary()

    def do_GET(self) -> None:
        state = self.of[self.server]
        answer = state.next(self.path.partition("?")[0], dict(self.headers.items()))
        self.close_connection = True
        with contextlib.suppress(OSError):
            if answer.silent:
                state.ended.wait()
            elif answer.breaks:
                self._break_off()
            elif answer.raw is not None:
                self.wfile.write(answer.raw)
            else:
                self._answer(answer, state)

    def _answer(self, answer: Answer, state: Hostile) -> None:
        status, start, headers = self._part(answer)
        body = answer.content[start:] if status in (200, 206) else b""
        length = len(body) if answer.announced == -1 else answer.announced
        self.send_response(status)
        for name, value in {**headers, **answer.headers}.items():
            self.send_header(name, value)
        if answer.chunked:
            self.send_header("Transfer-Encoding", "chunked")
        elif length is not None:
            self.send_header("Content-Length", str(length))
        self.end_headers()
        self._body(answer, body, state)

    def _part(self, answer: Answer) -> tuple[int, int, dict[str, str]]:
        """The status, the first byte that is sent, and the headers that say so."""
        tag = {"ETag": answer.etag} if answer.etag else {}
        found = re.fullmatch(r"bytes=(\d+)-", self.headers.get("Range", ""))
        same = answer.deaf or self.headers.get("If-Range", answer.etag) == answer.etag
        if answer.status != 200 or not answer.ranges or not found or not same:
            return answer.status, 0, tag
        start, total = int(found[1]), len(answer.content)
        if start >= total:
            return 416, total, {**tag, "Content-Range": f"bytes */{total}"}
        return 206, start, {**tag, "Content-Range": f"bytes {start}-{total - 1}/{total}"}

    def _body(self, answer: Answer, body: bytes, state: Hostile) -> None:
        sent = body if answer.cut is None else body[: answer.cut]
        if answer.drips:
            for number in range(len(sent)):
                self.wfile.write(sent[number : number + 1])
                if state.ended.wait(DRIP):
                    return
        elif answer.chunked:
            middle = len(sent) // 2
            for piece in (sent[:middle], sent[middle:]):
                if piece:
                    self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
        else:
            self.wfile.write(sent)
        while answer.endless and not state.ended.is_set():
            self.wfile.write(bytes(1 << 16))
        if answer.cut is not None:
            self._break_off()
        elif answer.chunked:
            self.wfile.write(b"0\r\n\r\n")

    def _break_off(self) -> None:
        """Reset the connection, as a router that forgets it does."""
        self.wfile.flush()
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.close()

    def log_message(self, format: str, *args: object) -> None:
        """Tests print nothing."""
