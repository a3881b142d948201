"""Objects that the garbage collector skips: modules and all else that stays for good.

A full collection would walk through all that was ever imported again, while no page is drawn.
"""

import atexit
import gc
import sys

import streamlit as st


def settle() -> None:
    """Have the collector pass over what is there, where modules came since it last did."""
    _settled(len(sys.modules))


@st.cache_resource(max_entries=1, show_spinner=False)
def _settled(n_modules: int) -> int:
    gc.collect()
    gc.freeze()
    # Or the last collection finds nothing, and libraries complain of what was left.
    atexit.unregister(gc.unfreeze)
    atexit.register(gc.unfreeze)
    return n_modules
