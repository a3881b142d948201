"""`python -m pages._frame.server OPTION …`: prepare app.py and serve it behind the gate.

The options are those of `streamlit run`. By default, modules are imported and the store is opened
at the first request for a page, which then takes seconds longer than others.
"""

import atexit
import logging
import os
import signal
import socket
import sys
from contextlib import suppress
from importlib import import_module
from threading import Thread
from typing import Any

import click
import streamlit as st
import uvicorn
import uvicorn.config
from starlette.middleware import Middleware
from threadpoolctl import threadpool_limits

from compute.base import bug_reports, disk_refusals, json_logs, permissions, settings
from compute.base.errors import BeirscopeError
from compute.base.settings import PROJECT, Settings
from compute.exports import ahead
from pages._frame.gate import Gate, Sockets
from pages._frame.left_pages import LeftPages
from pages._frame.requests import Requests
from pages._frame.watching import Watching
from pages._shared import streamlit_internals
from pages._shared.page_files import SHARED

log = logging.getLogger("pages.server")
PATIENCE = 30
"""Seconds between heartbeats of a browser, and for work in progress at shutdown."""


def prepare() -> None:
    """Import the pages' modules and open the store."""
    # Figures load the libraries on first use, which is too late for the first reader.
    modules = {name: import_module(name) for name in (*SHARED, "networkx", "scipy.stats")}
    try:
        modules["pages._shared.reading"].AHEAD.prepare()
    except BeirscopeError:
        # Every page reports the error until it is fixed.
        pass
    except Exception as error:
        now = settings.load()
        if not disk_refusals.refusal(error, now.home):
            bug_reports.record(now, "dashboard", error)
    modules["pages._shared.reading"].AHEAD.stay()


@click.command()
@streamlit_internals.options
def serve(**told: Any) -> None:
    """Serve until stopped; `told` are the options of `streamlit run`."""
    streamlit_internals.load_options(told)
    # The thread that sends would wait 5 ms, by default, for each turn beside threads that compute.
    sys.setswitchinterval(0.001)
    config = uvicorn.Config(
        st.App(PROJECT / "app.py", middleware=[*map(Middleware, (Watching, Gate, LeftPages))]),
        lifespan="on",
        http=Requests,
        ws=Sockets,
        ws_max_size=streamlit_internals.LARGEST_MESSAGE(),
        ws_ping_interval=PATIENCE,
        ws_ping_timeout=PATIENCE,
        ws_per_message_deflate=False,
        log_level="warning",
        log_config=None if json_logs.are_on() else uvicorn.config.LOGGING_CONFIG,
        access_log=False,
        timeout_graceful_shutdown=PATIENCE,
    )
    # The server shuts down cleanly, then raises the ending signal again.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())
    with suppress(KeyboardInterrupt):
        uvicorn.Server(config).run([_listening()])


def _listening() -> socket.socket:
    """Return a socket on the configured address; "every IPv6 address" includes IPv4."""
    address = st.get_option("server.address") or Settings.address
    port, wide = int(st.get_option("server.port")), ":" in address
    family = socket.AF_INET6 if wide else socket.AF_INET
    try:
        opened = socket.create_server((address, port), family=family, dualstack_ipv6=wide)
        log.info("listening at port %d", port)
        return opened
    except OSError as error:
        sys.exit(f"port {port} of {address} is not available ({error.strerror}): choose another")


@permissions.private()
def main() -> None:
    """Prepare the server, then serve."""
    # The first function registered runs last: then DuckDB's binding lists what it leaks.
    atexit.register(lambda: os.dup2(os.open(os.devnull, os.O_WRONLY), 2))
    json_logs.begin()
    if json_logs.are_on():
        streamlit_internals.log_through_root()
    # Streamlit warns that until it serves it caches only in memory, which is intended.
    logging.disable(logging.WARNING)
    prepare()
    logging.disable(logging.NOTSET)
    if (now := settings.load()).ahead:
        opened = import_module("pages._shared.reading").AHEAD
        Thread(target=ahead.beside, args=[now, lambda: opened.version], daemon=True).start()
    # Each page computes in its own thread, so extra threads for matrix products would only wait.
    threadpool_limits(1, user_api="blas")
    streamlit_internals.without_folder_of_pages()
    serve(prog_name="pages._frame.server")


if __name__ == "__main__":
    main()
