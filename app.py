"""The dashboard: every page in one table."""

import streamlit as st

from compute.base.errors import BeirscopeError
from pages._frame import added_switch, garbage, printing, provenance_panel, sign_in, turns
from pages._frame.progress import progress
from pages._shared import (
    address,
    export,
    failures,
    metrics,
    navigation,
    reading,
    uploaded,
)

PAGES = (
    ("pages/leaderboard.py", "Leaderboard"),
    ("pages/dataset.py", "Dataset"),
    ("pages/compare.py", "Compare"),
    ("pages/query.py", "Query"),
    ("pages/map.py", "Map"),
    ("pages/overlap.py", "Overlap"),
    ("pages/lengths.py", "Lengths"),
    ("pages/holes.py", "Holes"),
    ("pages/efficiency.py", "Efficiency"),
    ("pages/annotate.py", "Annotate"),
    ("pages/jobs.py", "Jobs"),
    ("pages/data.py", "Data"),
    ("pages/about.py", "About the numbers"),
)

st.set_page_config(page_title="Beirscope", layout="wide", initial_sidebar_state="collapsed")
page = st.navigation(
    [st.Page(file, title=title, default=place == 0) for place, (file, title) in enumerate(PAGES)],
    position="top",
)
try:
    if sign_in.enter():
        with metrics.drawing(page.title), turns.turn():
            navigation.restore()
            reading.begin(page.title)
            added_switch.begin(page.title)
            navigation.follow()
            progress(page.title)
            page.run()
            added_switch.finish()
            provenance_panel.footer(page.title)
            export.footer(page.title, provenance_panel.later())
            printing.printable()
            address.complete()
            reading.verify()
except BeirscopeError as error:
    failures.show_error(error)
except Exception as error:
    failures.show_failure(error)
if page.title != "Data":
    uploaded.forget()
sign_in.leave()
garbage.settle()
