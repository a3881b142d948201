"""Pages that were left: what a part of one still asks for does not reach Streamlit.

A menu that is open when somebody goes to another page closes itself, and asks for its part of the
page that it stood on, after the other page was asked for. Streamlit would take the browser back to
the old page for that, and the new one would stand empty. Every change of the page is the browser's
(`navigation.to`), never `st.switch_page`, so the page that was asked for last is the one it shows.
"""

import math
import time

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pages._shared.streamlit_internals import parsed

SOON = 1.0
"""Seconds after a page was asked for, in which a menu closes; what comes later is let through."""


class LeftPages:
    """An ASGI application before another one."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on all but what pages that were left ask for."""
        if scope["type"] == "websocket":
            receive = _Visit(receive).receive
        await self._app(scope, receive, send)


class _Visit:
    """A socket, and the page that it asked for last."""

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self._page, self._asked = "", -math.inf

    async def receive(self) -> Message:
        """The next message that is not of a page that was left."""
        while True:
            message = await self._receive()
            if message["type"] != "websocket.receive" or not self._late(message):
                return message

    def _late(self, message: Message) -> bool:
        sent = parsed(message.get("bytes") or b"")
        if sent is None or sent.WhichOneof("type") != "rerun_script":
            return False
        run = sent.rerun_script
        page = run.page_script_hash
        if run.fragment_id:
            return page != self._page and time.monotonic() - self._asked < SOON
        if page and page != self._page:
            self._page, self._asked = page, time.monotonic()
        return False
