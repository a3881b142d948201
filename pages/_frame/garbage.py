"""Objects that live as long as the server, such as modules, and that the garbage collector skips. A
full collection would otherwise traverse everything ever imported and stop all pages meanwhile."""

import atexit
import gc
import sys

import streamlit as st


def settle() -> None:
    """Let the collector skip existing objects if modules were loaded since the last call."""
    _settled(len(sys.modules))


@st.cache_resource(max_entries=1, show_spinner=False)
def _settled(n_modules: int) -> int:
    """Freeze existing objects; cached by the number of loaded modules."""
    gc.collect()
    gc.freeze()
    # Unless they are unfrozen at exit, libraries warn about objects that were not collected.
    atexit.unregister(gc.unfreeze)
    atexit.register(gc.unfreeze)
    return n_modules
