"""The dashboard: it runs the page that the address names, with everything that surrounds it."""

import streamlit as st

from compute.base.errors import BeirscopeError
from pages._frame import (
    added_switch,
    garbage,
    menu,
    printing,
    provenance_panel,
    sign_in,
    system_panel,
    turns,
)
from pages._frame.progress import damaged
from pages._shared import (
    address,
    export,
    failures,
    metrics,
    navigation,
    reading,
    uploaded,
)

st.set_page_config(page_title="Beirscope", layout="wide", initial_sidebar_state="collapsed")
name, page = menu.choose()
title = menu.PAGES[name].title
try:
    if sign_in.enter():
        with metrics.drawing(title), turns.turn():
            navigation.restore()
            reading.begin(title)
            navigation.follow()
            damaged(title)
            menu.start(name)
            chip = menu.tabs(name)
            page.run()
            menu.context(chip)
            added_switch.finish()
            provenance_panel.footer(title)
            with st.container(horizontal=True, vertical_alignment="center"):
                system_panel.footer(title)
                export.footer(title, provenance_panel.later())
            printing.printable()
            address.complete()
            reading.verify()
except BeirscopeError as error:
    failures.show_error(error)
except Exception as error:
    failures.show_failure(error)
if title != "Data":
    uploaded.forget()
sign_in.leave()
garbage.settle()
