"""All uses of Streamlit beyond its public interface, based on the sources of VERSION. No public
call does the following: request a part of a page once from the server (`rerun`; with `run_every`
every browser polls and sends the values of all pickers); open the cookie of a sign-in in an ASGI
middleware (`claims`); read what Streamlit drops from an address when the page changes (`query`);
release uploaded files before their session ends (`uploads`); read the options of `streamlit run` in
a served `st.App` (`options`, `load_options`); send a figure as it was written, instead of copying,
checking and writing it each time that it is shown (`Written`); wake the server less (`_wake`)."""

import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import plotly.io
import streamlit as st
from google.protobuf.message import DecodeError
from pandas import DataFrame
from pandas.io.formats.style import Styler
from plotly.basedatatypes import BaseFigure
from streamlit import auth_util, dataframe_util, file_util, runtime
from streamlit import logger as streamlit_logger
from streamlit.elements import arrow
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.pages_manager import PagesManager
from streamlit.runtime.runtime_util import get_max_widget_state_size_bytes
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.scriptrunner_utils.script_run_context import ThreadState
from streamlit.runtime.stats import GaugeStat
from streamlit.runtime.uploaded_file_manager import UploadedFile
from streamlit.web import bootstrap, cli
from streamlit.web.server.starlette import starlette_websocket as signing
from streamlit.web.server.starlette.starlette_server_config import USER_COOKIE_NAME

__all__ = ["BackMsg", "UploadedFile"]

VERSION = "1.67.0"
LARGEST_MESSAGE = get_max_widget_state_size_bytes
"""Returns the most bytes of one message of a browser."""
STATIC = Path(file_util.get_static_dir())
"""The folder with the front end's files."""
options: Callable[..., Any] = cli.configurator_options
"""Decorator of a command with the options of `streamlit run`."""
load_options = bootstrap.load_config_options


_to_json = plotly.io.to_json


class Written(BaseFigure):
    """A figure that `st.plotly_chart` sends as it was written (JSON)."""

    def __init__(self, content: str, layout: Mapping[str, Any]) -> None:
        """Hold the JSON `content`; `layout` has width and height, if the figure sets them."""
        vars(self).update(sent=_Sent(layout=layout))
        vars(self)["sent"].content = content

    def to_dict(self) -> dict[str, Any]:
        return vars(self)["sent"]


class _Sent(dict[str, Any]):
    content: str


def _written(figure: Any, **options: Any) -> str:
    """Return the JSON that a `Written` figure holds; write other figures as Plotly does."""
    return figure.content if isinstance(figure, _Sent) else _to_json(figure, **options)


vars(plotly.io)["to_json"] = _written
_marshall_styler = arrow.marshall_styler


def styled(rows: DataFrame, told: DataFrame, css: Sequence[Sequence[str]]) -> Styler:
    """Return a table for `st.dataframe` with the text and, by column, the CSS of each cell."""
    found = rows.style
    vars(found)["told"] = told, css
    return found


def _styled(proto: Any, styler: Styler, default_uuid: str) -> None:
    """Send a table from `styled` with its own texts and CSS; send others as Streamlit does."""
    if "told" not in vars(styler):
        _marshall_styler(proto, styler, default_uuid)
        return
    told, css = vars(styler)["told"]
    cells = (
        (f"row{row}_col{column}", look)
        for column, of in enumerate(css)
        for row, look in enumerate(of)
    )
    proto.styler.uuid = default_uuid
    proto.styler.styles = "\n".join(
        f"#T_{default_uuid}_{cell} {{ {look} }}" for cell, look in cells if look
    )
    proto.styler.display_values = dataframe_util.convert_pandas_df_to_arrow_bytes(told)


arrow.marshall_styler = _styled


def _wake(self: runtime.Runtime) -> None:
    """Ask the server's thread to send messages, unless it was asked and has not begun yet. Each
    request interrupts the thread that draws the page, which has one for every element."""
    held = self._get_async_objs()
    if not held.need_send_data.is_set():
        held.eventloop.call_soon_threadsafe(held.need_send_data.set)


runtime.Runtime._enqueued_some_message = _wake


def session() -> str | None:
    """Return the id of the session whose page runs; None outside a server."""
    context = get_script_run_ctx()
    return context.session_id if context else None


def page() -> str:
    """Return the hash of the running page."""
    context = get_script_run_ctx()
    return context.page_script_hash if context else ""


def is_fragment_without_callback() -> bool:
    """Return true if a fragment runs by itself and none of its controls has changed."""
    context = get_script_run_ctx()
    runs = bool(context and context.fragment_ids_this_run)
    return runs and not ThreadState.get().in_fragment_callback


def is_in_app() -> bool:
    """Return true while app.py runs, but not while a callback or a fragment runs by itself."""
    context = get_script_run_ctx()
    return bool(context and context.has_script_started and not context.fragment_ids_this_run)


def query() -> str:
    """Return the complete query of the address that the browser requested."""
    context = get_script_run_ctx()
    return context.query_string if context else ""


def restore(whole: str) -> None:
    """Set the address of this run to `whole`, and let widgets start with its values."""
    context = get_script_run_ctx()
    assert context is not None
    with context.session_state.query_params() as params:
        params.from_dict(parse_qs(whole, keep_blank_values=True))
        params.set_initial_query_params(whole)


def parsed(content: bytes) -> BackMsg | None:
    """Return a browser's message; None for other bytes."""
    with suppress(DecodeError):
        return BackMsg.FromString(content)
    return None


def fragment_message() -> BackMsg | None:
    """Return the message that requests the running fragment; None outside a fragment."""
    context, part = get_script_run_ctx(), ThreadState.get().fragment_id
    if context is None or part is None or not runtime.exists():
        return None
    asked = BackMsg()
    asked.rerun_script.query_string = context.query_string
    asked.rerun_script.page_script_hash = context.page_script_hash
    asked.rerun_script.fragment_id = part
    asked.rerun_script.is_auto_rerun = True
    if context.context_info:
        asked.rerun_script.context_info.CopyFrom(context.context_info)
    return asked


def rerun(number: str, asked: BackMsg, is_wanted: Callable[[], bool]) -> bool:
    """Send a message to a session as if from its browser; return false if the session has ended.
    The message is dropped if `is_wanted` is false when the server handles it."""
    if not runtime.exists() or not runtime.get_instance().is_active_session(number):
        return False
    serving = runtime.get_instance()

    def put() -> None:
        found = serving._session_mgr.get_active_session_info(number)
        if found is None or not is_wanted():
            return
        if found.session._scriptrunner is None:
            # The page may have extended its address while it was drawn.
            asked.rerun_script.query_string = found.session._client_state.query_string
        serving.handle_backmsg(number, asked)

    # A server that is shutting down accepts no messages.
    with suppress(RuntimeError):
        serving._get_async_objs().eventloop.call_soon_threadsafe(put)
    return True


def uploads() -> MemoryUploadedFileManager | None:
    """Return the manager of uploaded files; None outside a server."""
    held = runtime.get_instance().uploaded_file_mgr if runtime.exists() else None
    return held if isinstance(held, MemoryUploadedFileManager) else None


def end(number: str) -> bool:
    """End a session whose browser is gone; return false if its browser is still there."""
    gone = not runtime.get_instance().is_active_session(number)
    if gone:
        runtime.get_instance().close_session(number)
    return gone


def sessions() -> int:
    """Return the number of open browser windows."""
    stats = runtime.get_instance().stats_mgr.get_stats(["active_sessions"])
    found = stats.get("active_sessions", ())
    return sum(int(one.value) for one in found if isinstance(one, GaugeStat))


def claims(cookies: Mapping[str, str]) -> Mapping[str, Any]:
    """Return the claims of the signed cookie; empty if this dashboard did not set it."""
    if not (origin := auth_util.get_origin_from_redirect_uri()):
        return {}
    found = signing._get_signed_cookie_with_chunks(dict(cookies), USER_COOKIE_NAME)
    said = signing._parse_decoded_user_cookie(found, origin) if found else {}
    return said if said.get("is_logged_in") else {}


def without_folder_of_pages() -> None:
    """Keep Streamlit from showing files of pages/ by itself before app.py has named its pages."""
    PagesManager.uses_pages_directory = False


def log_through_root() -> None:
    """Let Streamlit log through this process's handler instead of a handler per logger."""

    def through(logger: logging.Logger) -> None:
        logger.handlers.clear()
        logger.propagate = True

    streamlit_logger.setup_formatter = through
    streamlit_logger.update_formatter()


def is_read_from() -> bool:
    """Return true if the installed Streamlit is the version whose sources were read."""
    return st.__version__ == VERSION
