"""Objects that the garbage collector skips: modules and other permanent objects. A full collection
would traverse everything ever imported, while no page is drawn."""

import atexit
import gc
import sys

import streamlit as st


def settle() -> None:
    """Let the collector skip existing objects, if modules were loaded since the last time."""
    _settled(len(sys.modules))


@st.cache_resource(max_entries=1, show_spinner=False)
def _settled(n_modules: int) -> int:
    gc.collect()
    gc.freeze()
    # Otherwise the last collection finds nothing, and libraries warn about leftovers.
    atexit.unregister(gc.unfreeze)
    atexit.register(gc.unfreeze)
    return n_modules
