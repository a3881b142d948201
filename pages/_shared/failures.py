"""Errors as a page shows them: a sentence, or a bug under its id."""

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
STRANGE = "the browser sent a value that this page does not offer: load the page again"


def show_error(error: BeirscopeError) -> None:
    """An error a person can act on, as plain text."""
    st.error(text(str(error)), icon=":material/error:")


def show_failure(error: Exception) -> None:
    """Refusal of a disk, in a sentence, or a bug: logged under the id that is shown.

    Where a file of the store proves damaged it is neither: it is named, and left out from now.
    """
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
    # A fragment that draws itself every other second would count one bug again and again.
    if said not in told:
        metrics.BUGS.inc()
        told.append(said)
    st.error(text(said))


def guarded(draw: Callable[..., Drawn]) -> Callable[..., Drawn | None]:
    """For a fragment, which draws itself again past app.py: errors as app.py shows them."""

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
