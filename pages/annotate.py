"""Judge: judging tasks, and the form in which assessors judge documents blind."""

import streamlit as st

from pages._annotate import making, sections
from pages._shared import navigation

st.title("Judge", anchor=False)
navigation.from_top()
if task := sections.named("task"):
    sections.judging(task)
elif task := sections.named("about"):
    making.details(task)
elif st.query_params.get("view") == "new":
    making.making()
else:
    sections.listed()
