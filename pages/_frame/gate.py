"""The gate of the server: checks on requests and sockets before Streamlit sees them. For everybody,
Host and Origin (if present) must be the dashboard's own, port included, so that no page of another
server and no rebound name can control it. With sign-in, people without a role reach only what the
sign-in page needs: front-end files, and a socket for few and small messages. Their role is checked
at each request and message."""

from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cached_property
from typing import Any

import streamlit as st
from starlette.requests import HTTPConnection
from starlette.responses import PlainTextResponse, RedirectResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.http11 import Request

from compute.base import listen_address, roles, settings
from compute.base.errors import BeirscopeError
from compute.base.settings import Settings
from compute.reading.ahead import OUTGROWN
from pages._shared import page_files, reading, sign_in, streamlit_internals, uploaded
from pages._shared.navigation import FIRST
from pages._shared.streamlit_internals import STATIC

MESSAGE = 32 * 1024
"""Most bytes of a message without sign-in; an address or a click takes one or two thousand."""
SENT = 256 * 1024
"""Bytes that such a person may send through a socket before it must be reopened."""
LEAST = 1024
"""Bytes that the smallest message or file counts as, since each takes memory and a rerun."""
VISITS = 100
"""Most sockets without sign-in at once; one more closes the oldest."""
SENDS = {"rerun_script", "stop_script", "app_heartbeat", "load_git_info"}
"""Messages that the sign-in page sends; others request uploads, files or cleared caches."""

_PAGES = [f"/{file.stem}" for file in page_files.PAGES]
_FILES = [f"/{file.name}" for file in STATIC.iterdir() if file.is_file()]
_FRONT_END = {f"/{file.relative_to(STATIC).as_posix()}" for file in (STATIC / "static").rglob("*")}
_PROBES = ["/_stcore/health", "/_stcore/host-config"]
_DOOR = ["/auth/login", "/auth/logout", "/oauth2callback"]
_STATIC = "/static/"
_UPLOADS = "/_stcore/upload_file/"
OPEN = {
    *("/", *_PAGES, *_FILES, *_PROBES, *_DOOR),
    *(f"{page}/" for page in _PAGES),
    # The front end first looks for the server below the page's address.
    *(f"{page}{probe}" for page in _PAGES for probe in _PROBES),
}
"""Paths that the sign-in page needs, besides the front end's scripts, styles and fonts."""

WRONG_HOST = (
    "this dashboard does not accept that name and port: open it at the address that it was"
    " started with, or add the name to the setting hosts"
)
WRONG_ORIGIN = "this request comes from a page on another server: open the dashboard itself"
NO_FILE = "this version has no such file"


class Gate:
    """An ASGI application in front of another one."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._visits: dict[_Socket, None] = {}
        self._coming = Counter[str]()

    @cached_property
    def _own(self) -> frozenset[listen_address.Origin]:
        """The origins of this dashboard, which never change while it runs."""
        now, signed = Settings(), None
        # If the settings are wrong, the page says so.
        with suppress(BeirscopeError):
            now = settings.load()
            signed = sign_in.sign_in()
        port = int(st.get_option("server.port"))
        return listen_address.origins(now, st.get_option("server.address"), port, signed)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on permitted requests; refuse others with a sentence, or close the socket."""
        if scope["type"] != "lifespan" and reading.AHEAD.outgrown:
            # A proxy in front of several servers then tries an updated server.
            await PlainTextResponse(f"{OUTGROWN}\n", 503)(scope, receive, send)
        elif scope["type"] == "http":
            await self._request(scope, receive, send)
        elif scope["type"] == "websocket":
            await self._socket(scope, receive, send)
        else:
            await self._app(scope, receive, send)

    def _foreign(self, asked: HTTPConnection) -> tuple[int, str] | None:
        """Return status and reason for refusing a request that is not for this dashboard or does
        not come from it; else None."""
        hosts = asked.headers.getlist("host")
        meant = listen_address.named(hosts[0], self._own) if len(hosts) == 1 else set()
        if not meant:
            return 421, WRONG_HOST
        origins = asked.headers.getlist("origin")
        if any(listen_address.origin(one.lower()) not in meant for one in origins):
            return 403, WRONG_ORIGIN
        if asked.url.path.startswith(_STATIC) and asked.url.path not in _FRONT_END:
            # Streamlit would send the page instead, so a proxy would not try another server.
            return 404, NO_FILE
        return None

    async def _request(self, scope: Scope, receive: Receive, send: Send) -> None:
        asked = HTTPConnection(scope)
        session, size = _upload(asked)
        refused = self._foreign(asked) or _closed(asked) or self._too_much(session, size)
        if refused:
            status, words = refused
            await PlainTextResponse(f"{words}\n", status)(scope, receive, send)
            return
        if asked.url.path in (f"/{FIRST}", f"/{FIRST}/"):
            # Streamlit has no such name for the first page, and would report it as missing.
            query = f"?{asked.url.query}" if asked.url.query else ""
            up = "../" if asked.url.path.endswith("/") else "./"
            await RedirectResponse(f"{up}{query}")(scope, receive, send)
            return
        self._coming[session] += size
        try:
            await self._app(scope, receive, send)
        finally:
            self._coming[session] -= size
            self._coming += Counter()  # Sessions without files are left out.

    def _too_much(self, session: str, size: int) -> tuple[int, str] | None:
        """Return status and reason if a session may not upload this many more bytes; else None.
        Without sign-in, uploads come from this machine and have no limit."""
        now = settings.load()
        if not session or not now.sign_in:
            return None
        if size < 0:
            return 411, "state the size of the file (Content-Length)"
        most = 2 * 1024**2 * now.upload_megabytes
        if _held(session) + self._coming[session] + size > most:
            return 413, (
                f"this session has reached its upload limit of {most // 1024**2} MB (twice"
                " the setting upload_megabytes): remove some files, or reload the page"
            )
        return None

    async def _socket(self, scope: Scope, receive: Receive, send: Send) -> None:
        asked = HTTPConnection(scope)
        if self._foreign(asked):
            await send({"type": "websocket.close", "code": 1008})
            return
        who = streamlit_internals.claims(asked.cookies)
        opened = _Socket(who, receive, send)
        if _may(who, roles.VIEWER):
            scope["state"]["take large messages"]()
        else:
            await self._visited(opened)
        try:
            await self._app(scope, opened.receive, opened.send)
        finally:
            self._visits.pop(opened, None)
            uploaded.end_left()

    async def _visited(self, new: "_Socket") -> None:
        """Count one more socket without sign-in; if there are too many, close the oldest."""
        if len(self._visits) >= VISITS:
            longest = next(iter(self._visits))
            del self._visits[longest]
            await longest.close(1013)
        self._visits[new] = None


class _Socket:
    """A socket, and the bytes that it has sent while nobody with a role was signed in."""

    def __init__(self, claims: Mapping[str, Any], receive: Receive, send: Send) -> None:
        self._claims, self._receive, self._send = claims, receive, send
        self._sent = 0
        self._closed = False

    async def receive(self) -> Message:
        """Return the next permitted message; after a refused one, the end of the connection."""
        message = await self._receive()
        if reading.AHEAD.outgrown:
            await self.close(1012)
            return {"type": "websocket.disconnect", "code": 1012}
        if message["type"] != "websocket.receive" or _may(self._claims, roles.VIEWER):
            return message
        content = message.get("bytes") or b""
        self._sent += max(len(content), LEAST)
        code = 1009 if len(content) > MESSAGE else 1008
        if code == 1008 and self._sent <= SENT and _kind(content) in SENDS:
            return message
        await self.close(code)
        return {"type": "websocket.disconnect", "code": code}

    async def send(self, message: Message) -> None:
        """Pass on Streamlit's messages until the connection ends."""
        if not self._closed:
            await self._send(message)

    async def close(self, code: int) -> None:
        self._closed = True
        with suppress(OSError, RuntimeError):  # The client has already gone.
            await self._send({"type": "websocket.close", "code": code})


class Sockets(WebSocketsSansIOProtocol):
    """Sockets that accept only small messages until the gate has checked who opened them. The gate
    sees only complete messages; this class stops large ones before they are received."""

    def handle_connect(self, event: Request) -> None:
        """Accept the request that opens the socket."""
        self.conn.max_message_size = MESSAGE
        large: Mapping[str, Callable[[], None]] = {"take large messages": self._take_large}
        self.app_state = {**self.app_state, **large}
        super().handle_connect(event)

    def _take_large(self) -> None:
        self.conn.max_message_size = self.config.ws_max_size


def _kind(content: bytes) -> str | None:
    """Return the kind of a browser's message."""
    sent = streamlit_internals.parsed(content)
    return sent.WhichOneof("type") if sent else None


def _may(claims: Mapping[str, Any], needed: roles.Role) -> bool:
    """Return true if these claims currently give at least the role `needed`. Without sign-in
    everyone has every role; while the settings cannot be read nobody has one."""
    try:
        now = settings.load()
        has = roles.role(now, roles.person(now, claims)) if now.sign_in else roles.OPERATOR
    except BeirscopeError:
        return False
    return has is not None and has >= needed


def _closed(asked: HTTPConnection) -> tuple[int, str] | None:
    """Return status and reason if a request needs a role that its sender lacks; else None."""
    path, method = asked.scope["path"], asked.scope["method"]
    if method in ("GET", "HEAD", "OPTIONS") and (path in OPEN or path.startswith(_STATIC)):
        return None
    needed = roles.OPERATOR if path.startswith(_UPLOADS) else roles.VIEWER
    claims = streamlit_internals.claims(asked.cookies)
    return None if _may(claims, needed) else (403, "sign in first")


def _upload(asked: HTTPConnection) -> tuple[str, int]:
    """Return the session that receives a file, and its size (-1: unknown); ("", 0) for others."""
    path = asked.scope["path"]
    if not path.startswith(_UPLOADS) or asked.scope["method"] != "PUT":
        return "", 0
    said = asked.headers.get("content-length", "")
    return path.split("/")[3], int(said) if said.isdecimal() else -1


def _held(session: str) -> int:
    """Return the bytes of a session's uploaded files, without removed ones."""
    return sum(max(size, LEAST) for size in uploaded.sizes(session))
