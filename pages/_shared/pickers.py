"""The pickers under a title, each bound to the address."""

from collections.abc import Sequence
from typing import Any

import streamlit as st

from pages._shared import export


def pickers() -> Any:
    """The row of pickers under the title; it wraps on a narrow screen."""
    return st.container(horizontal=True, vertical_alignment="bottom", gap="small")


def pick(
    label: str,
    options: Sequence[str],
    key: str,
    *,
    default: str | None = None,
    width: int = 190,
    disabled: bool = False,
) -> str:
    """One of `options`, bound to the address under `key`.

    Options are the canonical names: the address holds what the picker shows.
    """
    choices = list(options)
    picked = st.selectbox(
        label,
        choices,
        index=choices.index(default) if default in choices else 0,
        key=key,
        bind="query-params",
        width=width,
        disabled=disabled,
    )
    return export.picked(key, picked)


def switch(label: str, key: str) -> bool:
    """On or off, bound to the address under `key`."""
    return export.picked(key, st.toggle(label, key=key, bind="query-params"))


def pick_many(
    label: str,
    options: Sequence[str],
    key: str,
    *,
    default: Sequence[str] = (),
    width: int = 230,
    empty: str = "all",
) -> list[str]:
    """Some of `options`, bound to the address under `key`; `empty` says what none of them means."""
    chosen = st.multiselect(
        label,
        list(options),
        default=list(default),
        key=key,
        placeholder=empty,
        bind="query-params",
        width=width,
    )
    return export.picked(key, chosen)
