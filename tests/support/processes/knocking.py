"""Whoever knocks at a dashboard over real sockets, with what a browser would send or less."""

import json
import time
import urllib.request
from collections.abc import Iterator
from contextlib import closing, contextmanager
from http.client import HTTPConnection
from typing import NamedTuple
from urllib.parse import urlsplit

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.web.server.starlette.starlette_app_utils import create_signed_value
from streamlit.web.server.starlette.starlette_server_config import USER_COOKIE_NAME
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Origin, Subprotocol

SECRET = "0123456789abcdef" * 2
WAIT = 60


class Answer(NamedTuple):
    """What came back for a request."""

    status: int
    content: bytes


def asked(address: str, method: str = "GET", body: bytes = b"", **headers: str) -> Answer:
    """The answer to one request; headers are named with `_` in the place of `-`."""
    told = {name.replace("_", "-"): value for name, value in headers.items()}
    parts = urlsplit(address)
    # It stays open for another request, as a browser's does: a refused body is read to its end.
    with closing(HTTPConnection(parts.netloc, timeout=WAIT)) as connection:
        path = f"{parts.path or '/'}?{parts.query}".rstrip("?")
        connection.request(method, path, body or None, told)
        answer = connection.getresponse()
        return Answer(answer.status, answer.read())


def xsrf(address: str) -> str:
    """A token as the server gives it to anybody."""
    with urllib.request.urlopen(f"{address}/_stcore/health", timeout=WAIT) as answer:
        return answer.headers["Set-Cookie"].partition("=")[2].partition(";")[0]


def cookie(address: str, email: str, **claims: object) -> str:
    """The signed cookie that a sign-in at the provider leaves."""
    known = {"email": email, "email_verified": True, "iat": int(time.time())} | claims
    known |= {"origin": address, "is_logged_in": True, "provider": "default"}
    signed = create_signed_value(SECRET, USER_COOKIE_NAME, json.dumps(known))
    return f"{USER_COOKIE_NAME}={signed.decode()}"


@contextmanager
def socket(address: str, cookies: str = "", origin: str | None = "") -> Iterator[ClientConnection]:
    """A WebSocket to the dashboard, as a page of its own opens it where nothing else is said."""
    token = xsrf(address)
    own = f"_streamlit_xsrf={token}"
    with connect(
        f"ws://{urlsplit(address).netloc}/_stcore/stream",
        subprotocols=[Subprotocol("streamlit"), Subprotocol(token)],
        origin=None if origin is None else Origin(origin or address),
        additional_headers={"Cookie": f"{own}; {cookies}" if cookies else own},
        max_size=None,
    ) as opened:
        yield opened


def rerun(query: str = "") -> bytes:
    """The message that has the page run."""
    message = BackMsg()
    message.rerun_script.query_string = query
    return message.SerializeToString()


def until(opened: ClientConnection, kind: str) -> ForwardMsg:
    """The next message of a kind. Raises ConnectionClosed where the server hangs up before."""
    end = time.monotonic() + WAIT
    while time.monotonic() < end:
        message = ForwardMsg.FromString(opened.recv(timeout=WAIT, decode=False))
        if message.WhichOneof("type") == kind:
            return message
    raise TimeoutError(f"no {kind} came")


def closed_with(opened: ClientConnection) -> int:
    """The code with which the server hangs up."""
    try:
        while True:
            opened.recv(timeout=WAIT)
    except ConnectionClosed as error:
        return error.rcvd.code if error.rcvd else 0


def places(opened: ClientConnection, number: int) -> list[str]:
    """Where the server says that so many files may be put."""
    message = BackMsg()
    message.file_urls_request.request_id = "1"
    message.file_urls_request.file_names.extend(f"{n}.run" for n in range(number))
    opened.send(message.SerializeToString())
    told = until(opened, "file_urls_response").file_urls_response
    return [one.upload_url for one in told.file_urls]


def made_later(opened: ClientConnection, query: str) -> tuple[str, str]:
    """The session that draws a page, and the file that its last button would make."""
    session = file = ""
    opened.send(rerun(query))
    while True:
        message = ForwardMsg.FromString(opened.recv(timeout=WAIT, decode=False))
        kind = message.WhichOneof("type")
        if kind == "new_session":
            session = message.new_session.initialize.session_id
        elif kind == "delta":
            drawn = message.delta.new_element.download_button
            file = drawn.deferred_file_id or file
        elif kind == "script_finished" and file:
            return session, file


def download(opened: ClientConnection, session: str, file: str) -> str:
    """Where the server says that the file lies once it is made; empty where it is not made."""
    message = BackMsg()
    wanted = message.backend_operation_request
    wanted.request_id, wanted.session_id, wanted.deferred_file.file_id = "1", session, file
    opened.send(message.SerializeToString())
    return until(opened, "backend_operation_response").backend_operation_response.deferred_file.url


def put(address: str, place: str, content: bytes, cookies: str = "") -> Answer:
    """The answer to a file that is put at a place."""
    token = xsrf(address)
    parts = (
        b"--edge",
        b'Content-Disposition: form-data; name="f"; filename="f.run"\r\n',
        content,
        b"--edge--",
    )
    return asked(
        f"{address}/{place.lstrip('/')}",
        "PUT",
        b"\r\n".join(parts),
        Content_Type="multipart/form-data; boundary=edge",
        X_Xsrftoken=token,
        Cookie=f"_streamlit_xsrf={token}; {cookies}".rstrip("; "),
        Origin=address,
    )
