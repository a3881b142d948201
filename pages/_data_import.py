"""The section Import of the page Data."""

import streamlit as st

from pages import _shared


def section() -> None:
    """How files are looked at and taken in."""
    st.info(
        _shared.text(
            "python -m compute check PATH says what is in a file or folder;"
            " python -m compute import-run FILE --dataset DATASET and"
            " python -m compute import-dataset PATH --name NAME take it in."
        )
    )
