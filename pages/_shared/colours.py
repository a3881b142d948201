"""Whether the browser shows the page light or dark, and a new run when that changes."""

import streamlit as st
import streamlit.components.v2 as components

# A change of the browser's colours reruns nothing by itself, and figures are drawn for one theme.
_SCHEME = components.component(
    "colour_scheme",
    js="""
    export default function ({ data, parentElement, setStateValue }) {
      const media = window.matchMedia("(prefers-color-scheme: dark)");
      const tell = () => {
        const style = getComputedStyle(parentElement.host ?? parentElement);
        const colour = style.getPropertyValue("--st-background-color").trim();
        const shade = parseInt(colour.slice(1, 3), 16);
        const shown = shade < 128 ? "dark" : "light";
        if (!Number.isNaN(shade) && shown !== data.theme) setStateValue("theme", shown);
      };
      const later = () => setTimeout(tell, 300);
      tell();
      media.addEventListener("change", later);
      return () => media.removeEventListener("change", later);
    }
    """,
)


def theme() -> str:
    """The colours that the browser shows the page in: "light" or "dark"."""
    told = st.session_state.get("_scheme") or {}
    return told.get("theme") or st.context.theme.type or "light"


def follow_browser() -> None:
    """Run the page again when the browser's colours change."""
    _SCHEME(data={"theme": theme()}, key="_scheme", on_theme_change=lambda: None)
