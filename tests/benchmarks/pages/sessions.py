"""A dashboard of its own process, and people at it without a browser.

A session speaks Streamlit's own protocol over the WebSocket: it asks for an address as a browser
does that opens it, and takes in every message until the server says that the page is drawn. What
is measured so is the whole work of the server, with the packing and sending of what is drawn.
"""

import time
import urllib.request
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import psutil
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Origin, Subprotocol

from compute.jobs import serve
from tests.benchmarks.pages.addresses import Address

PATIENCE = 120.0
"""Seconds that a page may take."""
WHOLE = (
    ForwardMsg.ScriptFinishedStatus.FINISHED_SUCCESSFULLY,
    ForwardMsg.ScriptFinishedStatus.FINISHED_WITH_COMPILE_ERROR,
)
"""Other ends are followed by another run."""
PART = ForwardMsg.ScriptFinishedStatus.FINISHED_FRAGMENT_RUN_SUCCESSFULLY


@dataclass(frozen=True)
class Server:
    """A running dashboard."""

    process: psutil.Process
    port: int

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.port}"

    def cpu(self) -> float:
        """Seconds of processors so far."""
        used = self.process.cpu_times()
        return used.user + used.system + used.children_user + used.children_system

    def resident(self) -> float:
        """Megabytes that it and what it started hold."""
        total = 0
        for process in (self.process, *self.process.children(recursive=True)):
            with suppress(psutil.Error):
                total += process.memory_info().rss
        return total / 1e6

    def peak(self) -> float:
        """The most megabytes that it held; Linux alone tells."""
        for line in Path(f"/proc/{self.process.pid}/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024 / 1e6
        return float("nan")


@contextmanager
def serving(home: Path) -> Iterator[Server]:
    """A dashboard on a home."""
    port = serve.free_port(8700)
    process = serve.start(home, [f"--server.port={port}"])
    try:
        _await(f"http://127.0.0.1:{port}/_stcore/health")
        yield Server(psutil.Process(process.pid), port)
    finally:
        process.terminate()
        process.wait()


def _await(url: str) -> None:
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        with suppress(OSError), urllib.request.urlopen(url, timeout=5) as answer:
            if answer.status == 200:
                return
        time.sleep(0.05)
    raise TimeoutError(f"nothing answers at {url}")


@dataclass(frozen=True)
class Opening:
    """How long a page took."""

    page: str
    address: str
    seconds: float
    cpu: float
    """Seconds of processors that the server used meanwhile, for others too."""
    sent: int
    """Bytes that went to the browser."""
    fault: str
    """What the page shows as an error; empty if nothing."""


class Session:
    """One person at the dashboard."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._socket: ClientConnection = connect(
            f"ws://{server.host}/_stcore/stream",
            subprotocols=[Subprotocol("streamlit")],
            origin=Origin(f"http://{server.host}"),
            max_size=None,
            # What the server sends by itself waits here until the next page is opened.
            max_queue=None,
        )

    def close(self) -> None:
        self._socket.close()

    def open(self, address: Address) -> Opening:
        """Open an address, and wait until it is drawn."""
        page, query = address
        before, start = self._server.cpu(), time.perf_counter()
        sent, fault = self._say(asked(self._server.host, page, query))
        seconds = time.perf_counter() - start
        return Opening(page, query, seconds, self._server.cpu() - before, sent, fault)

    def _say(self, question: BackMsg, ends: Collection[int] = WHOLE) -> tuple[int, str]:
        """The bytes of all that came until the end, and what the page shows as an error."""
        with suppress(TimeoutError):
            # What the server drew by itself meanwhile is no answer.
            while True:
                self._socket.recv(timeout=0)
        self._socket.send(question.SerializeToString())
        sent, fault = 0, ""
        while True:
            raw = self._socket.recv(timeout=PATIENCE, decode=False)
            message = ForwardMsg.FromString(raw)
            sent += len(raw)
            self._told(message)
            kind = message.WhichOneof("type")
            if kind == "delta":
                fault = fault or _fault(message)
            if kind == "script_finished" and message.script_finished in ends:
                return sent, fault

    def _told(self, message: ForwardMsg) -> None:
        """For who wants to know what came."""


def asked(host: str, page: str, query: str) -> BackMsg:
    """What a browser asks that opens an address."""
    message = BackMsg()
    run = message.rerun_script
    run.query_string = query
    run.page_name = "" if page == "leaderboard" else page
    run.context_info.url = f"http://{host}/{run.page_name}"
    run.context_info.timezone = "UTC"
    run.context_info.locale = "en-GB"
    run.context_info.color_scheme = "light"
    return message


def _fault(message: ForwardMsg) -> str:
    element = message.delta.new_element
    match element.WhichOneof("type"):
        case "exception":
            return element.exception.message[:200]
        case "alert" if element.alert.icon == ":material/error:" or element.alert.format == 1:
            return element.alert.body[:200]
    return ""


@contextmanager
def session(server: Server) -> Iterator[Session]:
    """A person who leaves at the end."""
    person = Session(server)
    try:
        yield person
    finally:
        person.close()
