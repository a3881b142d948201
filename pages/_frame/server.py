"""`python -m pages._frame.server OPTION …`: serves app.py behind the gate, made ready beforehand.

The options are those of `streamlit run`. Streamlit imports what a page needs, and the store is
opened, when somebody asks for the first page: that one would take seconds longer than all others.
"""

import logging
import signal
import socket
import sys
from contextlib import suppress
from importlib import import_module
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
from pages._frame.gate import Gate, Sockets
from pages._frame.left_pages import LeftPages
from pages._frame.requests import Requests
from pages._frame.watching import Watching
from pages._shared import streamlit_internals
from pages._shared.page_files import SHARED

log = logging.getLogger("pages.server")
PATIENCE = 30
"""Seconds between two signs of life of a browser, and for what is under way when it ends."""


def prepare() -> None:
    """Import what pages import, and open what is stored."""
    modules = {name: import_module(name) for name in SHARED}
    try:
        modules["pages._shared.reading"].AHEAD.prepare()
    except BeirscopeError:
        # Every page will say so, until what is wrong is mended.
        pass
    except Exception as error:
        now = settings.load()
        if not disk_refusals.refusal(error, now.home):
            bug_reports.record(now, "dashboard", error)
    modules["pages._shared.reading"].AHEAD.stay()


@click.command()
@streamlit_internals.options
def serve(**told: Any) -> None:
    """Serve until stopped."""
    streamlit_internals.load_options(told)
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
    # The server ends in good order, then raises the signal that ended it once more.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())
    with suppress(KeyboardInterrupt):
        uvicorn.Server(config).run([_listening()])


def _listening() -> socket.socket:
    """Addresses of the options; every address of IPv6 includes IPv4."""
    address = st.get_option("server.address") or Settings.address
    port, wide = int(st.get_option("server.port")), ":" in address
    family = socket.AF_INET6 if wide else socket.AF_INET
    try:
        opened = socket.create_server((address, port), family=family, dualstack_ipv6=wide)
        log.info("listening at port %d", port)
        return opened
    except OSError as error:
        sys.exit(f"port {port} of {address} cannot be had ({error.strerror}): name another")


@permissions.private()
def main() -> None:
    """Get ready, then serve."""
    json_logs.begin()
    if json_logs.are_on():
        streamlit_internals.log_through_root()
    # Streamlit warns that it caches in memory while it does not serve yet; so it does later.
    logging.disable(logging.WARNING)
    prepare()
    logging.disable(logging.NOTSET)
    # Every page computes in a thread of its own; several more for each product of matrices only
    # wait for each other.
    threadpool_limits(1, user_api="blas")
    streamlit_internals.without_folder_of_pages()
    serve(prog_name="pages._frame.server")


if __name__ == "__main__":
    main()
