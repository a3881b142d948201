"""What went wrong, as a page shows it: a sentence, or a bug under its id."""

from collections.abc import Callable
from functools import wraps
from typing import Any

import streamlit as st

from compute.base import bug_reports, disk_refusals, settings
from compute.base.errors import BeirscopeError
from compute.store import damage
from pages._shared import metrics, reading
from pages._shared.escaping import text


def show_error(error: BeirscopeError) -> None:
    """An error a person can act on, as plain text."""
    st.error(text(str(error)), icon=":material/error:")


def show_failure(error: Exception) -> None:
    """What a disk refused, in a sentence, or a bug: logged under the id that is shown.

    Where a file of the store proves damaged it is neither: it is named, and left out from now.
    """
    if damaged := reading.damaged_meanwhile():
        st.error(text("; ".join(damage.told(damaged))), icon=":material/error:")
        return
    now = settings.load()
    if refused := disk_refusals.refusal(error, now.home):
        show_error(refused)
        return
    shown = st.session_state.setdefault("_bugs", {})
    # A fragment that draws itself every other second would fill the disk with one bug.
    if repr(error) not in shown:
        metrics.BUGS.inc()
        shown[repr(error)] = bug_reports.said(now, "dashboard", error)
    st.error(text(shown[repr(error)]))


def guarded(draw: Callable[..., None]) -> Callable[..., None]:
    """For a fragment, which draws itself again past app.py: errors as app.py shows them."""

    @wraps(draw)
    def drawn(*args: Any) -> None:
        try:
            draw(*args)
        except BeirscopeError as error:
            show_error(error)
        except Exception as error:
            show_failure(error)

    return drawn
