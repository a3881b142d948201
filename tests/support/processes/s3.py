"""A server of S3 in a process of its own, and a way to it that is slow or breaks off.

Moto's server keeps objects in memory, does multipart uploads, lists, copies, and refuses who has
no key when it is told to.
"""

import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress

from pyarrow.fs import S3FileSystem

BUCKET = "beirscope-tests"
SECRET = "marker-of-the-secret-key"
_PIECE = 1 << 14
_RUN = """
import sys
from werkzeug.serving import make_server
from moto.server import DomainDispatcherApplication, create_backend_app
server = make_server("127.0.0.1", 0, DomainDispatcherApplication(create_backend_app), threaded=True)
print(server.server_port, flush=True)
server.serve_forever()
"""


def environment(address: str) -> dict[str, str]:
    """The variables that lead to a server."""
    return {
        "AWS_ENDPOINT_URL": address,
        "AWS_REGION": "us-east-1",
        "AWS_ACCESS_KEY_ID": "key-of-the-tests",
        "AWS_SECRET_ACCESS_KEY": SECRET,
    }


@contextmanager
def server(*, refuses: bool = False) -> Iterator[str]:
    """The address of a server with one empty bucket; with `refuses` it knows no key after that."""
    own = {"INITIAL_NO_AUTH_ACTION_COUNT": "2" if refuses else "inf"}
    process = subprocess.Popen(
        [sys.executable, "-c", _RUN],
        env={**os.environ, **own},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        assert process.stdout is not None
        address = f"http://127.0.0.1:{int(process.stdout.readline())}"
        client(address).create_dir(BUCKET)
        yield address
    finally:
        process.kill()
        process.communicate()


def client(address: str) -> S3FileSystem:
    """PyArrow's own way there, past the project's."""
    return S3FileSystem(
        access_key="key-of-the-tests",
        secret_key=SECRET,
        region="us-east-1",
        scheme="http",
        endpoint_override=address.removeprefix("http://"),
        allow_bucket_creation=True,
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
                for one, other, limit in ((near, far, self.up), (far, near, self.down)):
                    threading.Thread(target=self._pass, args=(one, other, limit)).start()

    def close(self) -> None:
        """Refuse connections from now on."""
        self.ended.set()
        # Closing alone does not wake who waits for a connection.
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _pass(self, one: socket.socket, other: socket.socket, limit: int | None) -> None:
        passed = 0
        with suppress(OSError):
            while piece := one.recv(_PIECE):
                self.ended.wait(self.pause)
                if limit is not None and passed + len(piece) > limit:
                    other.sendall(piece[: limit - passed])
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
