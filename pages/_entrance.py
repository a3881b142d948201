"""The door of the dashboard: who may come in, and what stands there for who may not."""

from functools import partial

import streamlit as st

from compute.base import roles
from compute.base.errors import BeirscopeError
from pages import _shared, _signing


def enter() -> bool:
    """Whether who is at this browser may look; draws the sign-in where they may not.

    Raises Unavailable where the server is open to more than it may be.
    """
    _signing.check_server()
    if _signing.may(_signing.VIEWER):
        return True
    providers = _signing.providers()
    st.title("Beirscope", anchor=False)
    if st.user.to_dict().get("is_logged_in"):
        _turned_away()
    else:
        again = " Open your link again afterwards." * bool(st.query_params)
        st.markdown(f"Sign in to see the dashboard.{again}")
        for provider in providers:
            name = "" if provider == "default" else f" with {provider}"
            # Streamlit counts a provider without a name as none.
            go = partial(st.login, *([] if provider == "default" else [provider]))
            st.button(_shared.text(f"Sign in{name}"), type="primary", on_click=go, key=provider)
    return False


def _turned_away() -> None:
    try:
        _signing.require(_signing.VIEWER)
    except BeirscopeError as error:
        _shared.show_error(error)
    st.button("Sign out", on_click=st.logout)


@_shared.guarded
def leave() -> None:
    """The line under every page: who is signed in, and the way out."""
    who = _signing.person()
    if who is None:
        return
    role = _signing.role()
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        words = f"Signed in as {who.email}, {roles.NAMES[role] if role else 'without a role'}."
        st.caption(_shared.text(words), width="content")
        st.button("Sign out", type="tertiary", on_click=st.logout, key="_sign_out")
