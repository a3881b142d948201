"""Late requests from pages that were left, which are withheld from Streamlit. A menu that is open
during a page change closes and requests its part of the old page after the new page was requested.
Streamlit would then return to the old page, and the new one would stay empty. Since the browser
makes all page changes (`navigation.to`, never `st.switch_page`), the page requested last is
shown."""

import math
import time

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pages._shared.streamlit_internals import parsed

SOON = 1.0
"""Seconds after a page change within which a menu closes; later requests pass."""


class LeftPages:
    """An ASGI application in front of another one."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on everything except requests from pages that were left."""
        if scope["type"] == "websocket":
            receive = _Visit(receive).receive
        await self._app(scope, receive, send)


class _Visit:
    """A socket, and the page that it requested last."""

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self._page, self._asked = "", -math.inf

    async def receive(self) -> Message:
        """Return the next message that does not come from a page that was left."""
        while True:
            message = await self._receive()
            if message["type"] != "websocket.receive" or not self._late(message):
                return message

    def _late(self, message: Message) -> bool:
        """Return true if a message requests a part of a page that was left; note the last page."""
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
