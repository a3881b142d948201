"""The sign-in page, and the line with the signed-in user below every page."""

from functools import partial

import streamlit as st

from compute.base import roles
from compute.base.errors import BeirscopeError
from pages._shared import escaping, failures, sign_in


def enter() -> bool:
    """Return true if the user may read; otherwise draw the sign-in page. Raises Unavailable if the
    server is misconfigured or open to more people than permitted."""
    sign_in.check_server()
    if sign_in.may(sign_in.VIEWER):
        return True
    providers = sign_in.providers()
    st.title("Beirscope", anchor=False)
    if st.user.to_dict().get("is_logged_in"):
        _turned_away()
    else:
        again = " Then open your link again." * bool(st.query_params)
        st.markdown(f"Sign in to see the dashboard.{again}")
        for provider in providers:
            name = "" if provider == "default" else f" with {provider}"
            # Streamlit expects no argument for a provider without a name.
            go = partial(st.login, *([] if provider == "default" else [provider]))
            st.button(escaping.text(f"Sign in{name}"), type="primary", on_click=go, key=provider)
    return False


def _turned_away() -> None:
    try:
        sign_in.require(sign_in.VIEWER)
    except BeirscopeError as error:
        failures.show_error(error)
    st.button("Sign out", on_click=st.logout)


@failures.guarded
def leave() -> None:
    """Draw the line below every page: the signed-in user, and sign-out."""
    who = sign_in.person()
    if who is None:
        return
    role = sign_in.role()
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        words = f"Signed in as {who.email}, {roles.NAMES[role] if role else 'without a role'}."
        st.caption(escaping.text(words), width="content")
        st.button("Sign out", type="tertiary", on_click=st.logout, key="_sign_out")
