"""Ways to a server of S3 (`s3_server.py`): straight, slow, or one that breaks off."""

import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress

from pyarrow.fs import S3FileSystem

from compute.base.settings import PROJECT

BUCKET = "beirscope-tests"
SECRET = "marker-of-the-secret-key"
_PIECE = 1 << 14
KEY = "key-of-the-tests"


def environment(address: str) -> dict[str, str]:
    """The variables that lead to a server."""
    return {
        "AWS_ENDPOINT_URL": address,
        "AWS_REGION": "us-east-1",
        "AWS_ACCESS_KEY_ID": KEY,
        "AWS_SECRET_ACCESS_KEY": SECRET,
    }


@contextmanager
def server(key: str = KEY) -> Iterator[str]:
    """The address of a server with one empty bucket, for who has this key."""
    words = [sys.executable, "-m", "tests.support.processes.s3_server", key]
    process = subprocess.Popen(words, cwd=PROJECT, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        yield f"http://127.0.0.1:{int(process.stdout.readline())}"
    finally:
        process.kill()
        process.communicate()


def client(address: str) -> S3FileSystem:
    """PyArrow's own way there, past the project's."""
    return S3FileSystem(
        access_key=KEY,
        secret_key=SECRET,
        region="us-east-1",
        scheme="http",
        endpoint_override=address.removeprefix("http://"),
    )


class Way:
    """A way to a server: every connection passes through here."""

    def __init__(self, to: str) -> None:
        self._to = int(to.rpartition(":")[2])
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self.up: int | None = None
        """A connection breaks off after so many bytes to the server."""
        self.down: int | None = None
        """The same of bytes from it."""
        self.pause = 0.0
        """Seconds before each piece passes."""
        self.ended = threading.Event()

    def serve(self) -> None:
        """Let connections pass until the way is closed."""
        with suppress(OSError):
            while True:
                near, _ = self._listener.accept()
                far = socket.create_connection(("127.0.0.1", self._to))
                for one, other, side in ((near, far, "up"), (far, near, "down")):
                    threading.Thread(target=self._pass, args=(one, other, side)).start()

    def close(self) -> None:
        """Refuse connections from now on."""
        self.ended.set()
        # Closing alone does not wake who waits for a connection.
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _pass(self, one: socket.socket, other: socket.socket, side: str) -> None:
        passed = 0
        with suppress(OSError):
            while piece := one.recv(_PIECE):
                self.ended.wait(self.pause)
                # A connection that is kept may be older than the limit.
                limit = getattr(self, side)
                if limit is not None and passed + len(piece) > limit:
                    other.sendall(piece[: max(limit - passed, 0)])
                    break
                other.sendall(piece)
                passed += len(piece)
        for end in (one, other):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)


@contextmanager
def way(to: str) -> Iterator[Way]:
    """A way to a server while the block runs."""
    made = Way(to)
    thread = threading.Thread(target=made.serve)
    thread.start()
    with closing(made):
        yield made
    thread.join()
