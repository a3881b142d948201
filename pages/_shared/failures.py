"""Errors as shown on a page: a sentence, or a bug with its id."""

import traceback
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

import streamlit as st

from compute.base import bug_reports, disk_refusals, settings
from compute.base.errors import BeirscopeError, WrongInput
from compute.store import damage
from pages._shared import metrics, reading
from pages._shared.escaping import text

Drawn = TypeVar("Drawn")
STRANGE = "the browser sent a value that this page does not offer: reload the page"


def show_error(error: BeirscopeError) -> None:
    """Show an error that the user can act on, as plain text."""
    st.error(text(str(error)), icon=":material/error:")


def show_failure(error: Exception) -> None:
    """Show a failed disk operation as a sentence, or log a bug and show its id. A damaged file of
    the store is named and left out from now on."""
    if damaged := reading.damaged_meanwhile():
        st.error(text("; ".join(damage.told(damaged))), icon=":material/error:")
        return
    now = settings.load()
    if refused := disk_refusals.refusal(error, now.home):
        show_error(refused)
        return
    if any(frame.name == "deserialize" for frame in traceback.extract_tb(error.__traceback__)):
        show_error(WrongInput(STRANGE))
        return
    said, told = bug_reports.said(now, "dashboard", error), st.session_state.setdefault("_bugs", [])
    # A fragment that reruns every two seconds would count the same bug repeatedly.
    if said not in told:
        metrics.BUGS.inc()
        told.append(said)
    st.error(text(said))


def guarded(draw: Callable[..., Drawn]) -> Callable[..., Drawn | None]:
    """Decorate a fragment, which reruns without app.py, so that it shows errors as app.py does."""

    @wraps(draw)
    def drawn(*args: Any) -> Drawn | None:
        try:
            return draw(*args)
        except BeirscopeError as error:
            show_error(error)
        except Exception as error:
            show_failure(error)
        return None

    return drawn
