"""A part of a page that the server has drawn anew as soon as somebody judges, in any browser, and
the part of every page that then looks whether all of it is out of date.

Streamlit's own `run_every` has every browser ask again and again, and tell with each question what
its pickers show. Here the server asks itself for the part, once for each judgement, and says
nothing of pickers.
"""

from contextlib import suppress

import streamlit as st
from streamlit import runtime
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.scriptrunner_utils.script_run_context import ThreadState

PART, PAGE = "part", "page"


@st.cache_resource(show_spinner=False)
def _asking() -> dict[str, dict[str, BackMsg]]:
    """What asks for the part of each session that follows, and for the one that looks."""
    return {PART: {}, PAGE: {}}


def begin() -> None:
    """Forget what the last run of a page had follow: this run may be another page's."""
    if context := get_script_run_ctx():
        for asking in _asking().values():
            asking.pop(context.session_id, None)


def follow(kind: str = PART) -> None:
    """From now on have the fragment that calls this drawn anew by `wake` of the same kind."""
    context, part = get_script_run_ctx(), ThreadState.get().fragment_id
    if context is None or part is None or not runtime.exists():
        return
    asked = BackMsg()
    asked.rerun_script.query_string = context.query_string
    asked.rerun_script.page_script_hash = context.page_script_hash
    asked.rerun_script.fragment_id = part
    asked.rerun_script.is_auto_rerun = True
    if context.context_info:
        asked.rerun_script.context_info.CopyFrom(context.context_info)
    _asking()[kind][context.session_id] = asked


def follows() -> bool:
    """Whether a part of this run's page does."""
    context = get_script_run_ctx()
    return context is not None and context.session_id in _asking()[PART]


def number(kind: str) -> int:
    """How many pages have such a part."""
    return len(_asking()[kind])


def wake(kind: str = PART) -> None:
    """Have every part that follows drawn anew, since something is new."""
    if not runtime.exists():
        return
    serving, asking = runtime.get_instance(), _asking()[kind]
    for session, asked in list(asking.items()):
        if not serving.is_active_session(session):
            asking.pop(session, None)
            continue
        # A server that ends takes no more questions.
        with suppress(RuntimeError):
            loop = serving._get_async_objs().eventloop
            loop.call_soon_threadsafe(_ask, serving, asking, session, asked)


def _ask(
    serving: runtime.Runtime, asking: dict[str, BackMsg], session: str, asked: BackMsg
) -> None:
    found = serving._session_mgr.get_active_session_info(session)
    # Who has gone to another page meanwhile would be taken back.
    if found is None or asking.get(session) is not asked:
        return
    if found.session._scriptrunner is None:
        # The page may have put more into its address while it was drawn.
        asked.rerun_script.query_string = found.session._client_state.query_string
    serving.handle_backmsg(session, asked)
