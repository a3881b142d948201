"""Stalled HTTP requests, which are closed because they would occupy a connection forever."""

import asyncio
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

PATIENCE = 30
"""Seconds for the header of a request, and for each LEAST bytes of its body."""
LEAST = 1024
HALF = 256
"""Most connections that wait for a request header; one more closes the oldest."""


class Requests(H11Protocol):
    """A connection that is closed if it made no progress in the last PATIENCE seconds."""

    def connection_made(self, transport: Any) -> None:
        """Start the checks; make room if too many connections are waiting."""
        super().connection_made(transport)
        self._came, self._stood = 0, None
        self._made = self.loop.time()
        self._timer: asyncio.TimerHandle = self.loop.call_later(PATIENCE, self.look)
        half = [one for one in self.connections if isinstance(one, Requests) and one.waits_for_head]
        if len(half) > HALF:
            min(half, key=lambda one: one._made).transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the checks."""
        self._timer.cancel()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Count received bytes."""
        self._came += len(data)
        super().data_received(data)

    @property
    def waits_for_head(self) -> bool:
        """True if no request has begun, or if its header is incomplete."""
        begun = self.scope is None or self.conn.trailing_data[0]
        return self.conn.their_state is h11.IDLE and bool(begun)

    def look(self) -> None:
        """Close the connection if nothing has arrived since the last check."""
        body = self.conn.their_state is h11.SEND_BODY and not self.flow.read_paused
        stands = self.cycle, self._came // LEAST if body else self.waits_for_head
        if (body or self.waits_for_head) and stands == self._stood:
            self.transport.abort()
        elif self.transport.get_protocol() is self:  # a WebSocket has another protocol
            self._stood, self._timer = stands, self.loop.call_later(PATIENCE, self.look)
