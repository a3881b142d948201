"""The dashboard: every page in one table."""

import streamlit as st

from compute.base.errors import BeirscopeError
from pages import _collected, _counted, _entrance, _export, _made, _shared, _ways
from pages._progress import progress

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
    if _entrance.enter():
        _ways.restore()
        _shared.begin()
        _counted.begin(page.title)
        _ways.follow()
        progress(page.title)
        page.run()
        _made.footer(page.title)
        _export.footer(page.title, _made.later())
        _shared.verify()
except BeirscopeError as error:
    _shared.show_error(error)
except Exception as error:
    _shared.show_failure(error)
_entrance.leave()
_collected.settle()
