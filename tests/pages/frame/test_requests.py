"""A connection that stands still is hung up; one on which something comes stays."""

import asyncio
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import uvicorn

from pages._frame import requests
from pages._frame.requests import Requests

HEAD = b"PUT /x HTTP/1.1\r\nHost: here\r\nContent-Length: 5000\r\n\r\n"


async def _served(app: Any, at: Callable[[int, uvicorn.Server], Coroutine[Any, Any, None]]) -> None:
    """Run with the port of a server of the application."""
    config = uvicorn.Config(app, port=0, http=Requests, log_level="error", lifespan="off")
    server = uvicorn.Server(config)
    config.load()
    running = asyncio.create_task(server.serve())
    while not server.started:
        await asyncio.sleep(0)
    try:
        await at(server.servers[0].sockets[0].getsockname()[1], server)
    finally:
        server.should_exit = True
        await running


def _run(work: Coroutine[Any, Any, None]) -> None:
    """Run in a thread of its own: Playwright leaves a loop running in this one."""
    with ThreadPoolExecutor(1) as thread:
        thread.submit(asyncio.run, work).result()


async def _read(scope: Any, receive: Any, send: Any) -> None:
    size, more = 0, True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            return
        size, more = size + len(message["body"]), message["more_body"]
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": str(size).encode()})


def _connections(server: uvicorn.Server) -> list[Requests]:
    return [one for one in server.server_state.connections if isinstance(one, Requests)]


async def _look(server: uvicorn.Server, n: int) -> None:
    """Look at the connections, once all of these have said what they say."""
    while len(_connections(server)) < n:
        await asyncio.sleep(0)
    for _ in range(50):
        await asyncio.sleep(0)
    for one in _connections(server):
        one._timer.cancel()
        one.look()


@pytest.mark.parametrize("said", [b"", b"GET / HTTP/1.1\r\nHost: h", HEAD, HEAD + b"12345"])
def test_what_does_not_come_on_is_hung_up(said: bytes) -> None:
    async def half(port: int, server: uvicorn.Server) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(said)
        await writer.drain()
        await _look(server, 1)
        await _look(server, 1)
        with pytest.raises(ConnectionResetError):
            if await reader.read() == b"":
                raise ConnectionResetError
        writer.close()

    _run(_served(_read, half))


def test_a_slow_upload_goes_through_and_its_connection_is_used_again() -> None:
    async def slow(port: int, server: uvicorn.Server) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        for _ in range(2):
            writer.write(HEAD)
            for _ in range(4):
                writer.write(b"x" * 1250)
                await writer.drain()
                await _look(server, 1)
            head = await reader.readuntil(b"\r\n\r\n")
            assert head.startswith(b"HTTP/1.1 200")
            assert b"5000" in await reader.readuntil(b"0\r\n\r\n")
            await _look(server, 1)
        writer.close()

    _run(_served(_read, slow))


def test_of_too_many_that_wait_the_oldest_goes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(requests, "HALF", 3)

    async def many(port: int, server: uvicorn.Server) -> None:
        pairs = []
        for n in range(5):
            pairs.append(await asyncio.open_connection("127.0.0.1", port))
            while len(_connections(server)) < min(n + 1, 3):
                await asyncio.sleep(0)
            for _ in range(50):
                await asyncio.sleep(0)
        assert len(_connections(server)) == 3
        for _, writer in pairs:
            writer.close()

    _run(_served(_read, many))
