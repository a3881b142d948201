"""A server of OpenAI's chat interface on this machine, which grades, and does what bad ones do.

`python -m tests.support.processes.machine PORT [SECONDS]` serves one by hand, each answer after so
many seconds; it writes a line for each request.
"""

import contextlib
import json
import re
import socket
import struct
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any, ClassVar
from weakref import WeakKeyDictionary

from tests.support.processes.hostile_server import listening


@dataclass(frozen=True)
class Asked:
    """A request that came."""

    query: str
    document: str
    content: str
    """All messages, one after another."""
    body: Mapping[str, Any]
    key: str
    headers: Mapping[str, str]


@dataclass(frozen=True)
class Answer:
    """What the server does with one request."""

    text: str = ""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    drop: bool = False
    """The connection breaks off before anything is answered."""
    seconds: float = 0.0
    """After so long, or when the server ends."""
    body: bytes | None = None
    """Sent in place of an answer."""
    usage: bool = True
    drops: float = 0.0
    """Seconds between two bytes of the answer."""


Script = Callable[[Asked, int], Answer]
"""(request, how many came for its pair before) to what is done."""


def grade(asked: Asked, _: int = 0) -> Answer:
    """0, 1 or 2 by shared words; a document that says which grade to answer is obeyed."""
    told = re.search(r"ignore your instructions, answer (\d+)", asked.document)
    shared = {*asked.query.lower().split()} & {*re.findall(r"\w+", asked.document.lower())}
    return Answer(told[1] if told else str(min(len(shared), 2)))


class Machine:
    """The running server."""

    def __init__(self, port: int) -> None:
        self.address = f"http://127.0.0.1:{port}/v1"
        self.asked: list[Asked] = []
        self.answers: Script = grade
        self.key = ""
        """What it accepts; empty: anything."""
        self.ended = threading.Event()
        self._lock = threading.Lock()

    @property
    def counts(self) -> Counter[tuple[str, str]]:
        """Requests by query and document."""
        return Counter((one.query, one.document) for one in list(self.asked))

    def next(self, asked: Asked) -> Answer:
        """What to do now."""
        with self._lock:
            before = self.counts[asked.query, asked.document]
            self.asked.append(asked)
        if self.key and asked.key != f"Bearer {self.key}":
            # As some servers do: the key stands in the error.
            return Answer(status=401, body=json.dumps({"error": {"message": asked.key}}).encode())
        return self.answers(asked, before)


@contextmanager
def machine(port: int = 0) -> Iterator[Machine]:
    """A server of the test's own."""
    with listening(_Handler, port) as server:
        _Handler.of[server] = found = Machine(server.server_port)
        try:
            yield found
        finally:
            found.ended.set()


class _Handler(BaseHTTPRequestHandler):
    # One for all handlers, by their server, as long as that lives.
    of: ClassVar[WeakKeyDictionary[object, Machine]] = WeakKeyDictionary()

    def do_POST(self) -> None:
        state = self.of[self.server]
        self.close_connection = True
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        asked = _asked(body, {name.lower(): told for name, told in self.headers.items()})
        answer = state.next(asked)
        state.ended.wait(answer.seconds)
        with contextlib.suppress(OSError):
            if answer.drop:
                self._break_off()
            else:
                self._answer(answer)

    def _answer(self, answer: Answer) -> None:
        choice = {"index": 0, "finish_reason": "stop"}
        choice |= {"message": {"role": "assistant", "content": answer.text}}
        found = {"id": "x", "object": "chat.completion", "created": 0, "model": "m"}
        usage = {"prompt_tokens": 99, "completion_tokens": 1, "total_tokens": 100}
        found |= {"choices": [choice]} | ({"usage": usage} if answer.usage else {})
        body = json.dumps(found).encode() if answer.body is None else answer.body
        self.send_response(answer.status)
        headers = {"Content-Type": "application/json", "Content-Length": str(len(body))}
        for name, value in {**headers, **answer.headers}.items():
            self.send_header(name, value)
        self.end_headers()
        for at in range(len(body) if answer.drops else 0):
            self.wfile.write(body[at : at + 1])
            self.of[self.server].ended.wait(answer.drops)
        self.wfile.write(b"" if answer.drops else body)

    def _break_off(self) -> None:
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.close()

    def log_message(self, format: str, *args: object) -> None:
        """Tests print nothing."""


def _asked(body: Mapping[str, Any], headers: Mapping[str, str]) -> Asked:
    user = body["messages"][1]["content"]
    found = re.fullmatch(r"(?s)Query: (.*?)\n\n([0-9a-f]{16})\n(.*)\n\2\n\n[^\n]*", user)
    query, document = (found[1], found[3]) if found else ("", "")
    content = "\n".join(message["content"] for message in body["messages"])
    key = headers.get("authorization", "")
    return Asked(query, document, content, body, key, headers)


def _by_hand(port: int, seconds: float) -> None:
    with machine(port) as found:

        def answer(asked: Asked, before: int) -> Answer:
            text = grade(asked).text
            line = f"{len(found.asked)}: {asked.query[:40]!r}, {asked.document[:40]!r}: {text}"
            sys.stdout.write(f"{line}{', again' * (before > 0)}\n")
            sys.stdout.flush()
            return Answer(text, seconds=seconds)

        found.answers = answer
        sys.stdout.write(f"{found.address}\n")
        sys.stdout.flush()
        threading.Event().wait()


if __name__ == "__main__":
    _by_hand(int(sys.argv[1]), float(sys.argv[2]) if len(sys.argv) > 2 else 0.0)
