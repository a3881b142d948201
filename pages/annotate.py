"""Annotate: tasks, and the form at which unjudged documents are judged blind."""

import streamlit as st

from pages import _address
from pages import _annotate_making as making
from pages import _annotate_sections as sections

st.title("Annotate", anchor=False)
_address.arrive()
if task := sections.named("task"):
    sections.judging(task)
elif task := sections.named("about"):
    making.details(task)
elif st.query_params.get("view") == "new":
    making.making()
else:
    sections.listed()
