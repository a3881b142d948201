"""Finds the Chromium that draws pictures of figures, and keeps it running."""

import asyncio
import atexit
import base64
import contextlib
import os
import shutil
import threading
from collections.abc import Callable, Coroutine, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import plotly.graph_objects as go

from compute.base.errors import Unavailable

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
OF_MACOS = (
    "Google Chrome.app/Contents/MacOS/Google Chrome",
    "Chromium.app/Contents/MacOS/Chromium",
)
NOWHERE = "http://127.0.0.1:9"
"""Proxy of the browser: port 9 discards everything, so that no request leaves the machine. Its page
and plotly.js are local files."""
SECONDS = 90
MISSING = (
    "SVG, PNG and PDF need Chromium, which is not installed: install it (on Debian apt-get"
    " install chromium) or set BEIRSCOPE_CHROMIUM to its path"
)


@cache
def find() -> str | None:
    """Return the path of Chromium: `$BEIRSCOPE_CHROMIUM`, or one on the PATH, or macOS's default;
    None if there is none."""
    if named := os.environ.get("BEIRSCOPE_CHROMIUM"):
        return shutil.which(named)
    places = (str(Path("/Applications") / place) for place in OF_MACOS)
    return next(filter(None, map(shutil.which, (*NAMES, *places))), None)


class Painter:
    """A Chromium, with its own thread, that draws one figure after another. It starts with the
    first figure, restarts after a failure, and ends with the process."""

    def __init__(self) -> None:
        self._turn = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._kaleido: Any = None

    def svg(self, figure: go.Figure) -> str:
        """Draw the figure as SVG. Raises Unavailable without a Chromium, or if it fails."""
        return self._made(lambda opened: opened.calc_fig(figure, opts={"format": "svg"})).decode()

    def pdf(self, page: str) -> bytes:
        """Print an HTML page as PDF, on paper of the size that it states. Raises errors like
        `svg`."""
        options = {"preferCSSPageSize": True, "printBackground": True, "pageRanges": "1"}
        return self._made(lambda opened: _seen(opened, page, "Page.printToPDF", options))

    def png(self, page: str, size: tuple[float, float], scale: float) -> bytes:
        """Draw the upper left part of an HTML page as PNG: `size` in pixels, enlarged by `scale`.
        Raises errors as `svg` does."""
        clip = {"x": 0, "y": 0, "width": size[0], "height": size[1], "scale": scale}
        options = {"format": "png", "clip": clip, "captureBeyondViewport": True}
        return self._made(lambda opened: _seen(opened, page, "Page.captureScreenshot", options))

    def _made(self, work: Callable[[Any], Coroutine[Any, Any, bytes]]) -> bytes:
        """Run `work` with the browser, one call at a time. Raises Unavailable if it fails."""
        with self._turn:
            kaleido = self._kaleido or self._start()
            try:
                return self._wait(work(kaleido))
            except Exception as error:
                self._stop()
                raise Unavailable(
                    f"the Chromium at {find()} could not draw this figure"
                    f" ({type(error).__name__}): try again, or name another in BEIRSCOPE_CHROMIUM"
                ) from error

    def _start(self) -> Any:
        """Start the browser. Raises Unavailable if that fails."""
        program = find()
        if program is None:
            raise Unavailable(MISSING)
        import kaleido

        self._loop = asyncio.new_event_loop()
        threading.Thread(target=self._loop.run_forever, name="painter", daemon=True).start()
        opened: Any = kaleido.Kaleido(
            n=1,
            timeout=SECONDS,
            page_generator=kaleido.PageGenerator(mathjax=False),
            path=program,
            proxy_server=NOWHERE,
        )
        self._kaleido = opened
        try:
            self._wait(opened.open())
        except Exception as error:
            self._stop()
            raise Unavailable(
                f"the Chromium at {program} does not start ({type(error).__name__}): "
                "name another in BEIRSCOPE_CHROMIUM"
            ) from error
        atexit.register(self._stop)
        return opened

    def _wait(self, work: Coroutine[Any, Any, Any]) -> Any:
        """Run a coroutine in the browser's thread and return its result."""
        assert self._loop is not None
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(SECONDS + 10)

    def _stop(self) -> None:
        """Close the browser and its thread."""
        atexit.unregister(self._stop)
        if self._loop is None:
            return
        # A broken browser may also fail to close.
        with contextlib.suppress(Exception):
            self._wait(self._kaleido.close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._loop = self._kaleido = None


async def _seen(opened: Any, page: str, command: str, options: Mapping[str, Any]) -> bytes:
    """Open an HTML page in a new tab and return the result of a browser command."""
    tab = await opened.create_tab("about:blank", window=True)
    try:
        tree = await tab.send_command("Page.getFrameTree")
        frame = tree["result"]["frameTree"]["frame"]["id"]
        await tab.send_command("Page.setDocumentContent", {"frameId": frame, "html": page})
        answer = await tab.send_command(command, dict(options))
        return base64.b64decode(answer["result"]["data"])
    finally:
        await opened.close_tab(tab)


PAINTER = Painter()
