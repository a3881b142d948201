"""Theme and width of the browser (light or dark, wide or narrow); a rerun when either changes."""

import streamlit as st
import streamlit.components.v2 as components

NARROW = 600
"""Width in pixels below which matrices are shown as lists."""

# Streamlit does not rerun when the browser's colours or width change, but figures are drawn for one
# theme, and lists for one width.
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
      const width = window.matchMedia(`(max-width: ${data.below - 1}px)`);
      const measure = () => {
        if (width.matches !== data.narrow) setStateValue("narrow", width.matches);
      };
      tell();
      measure();
      media.addEventListener("change", later);
      width.addEventListener("change", measure);
      return () => {
        media.removeEventListener("change", later);
        width.removeEventListener("change", measure);
      };
    }
    """,
)


def theme() -> str:
    """The browser's theme: "light" or "dark"."""
    told = st.session_state.get("_scheme") or {}
    return told.get("theme") or st.context.theme.type or "light"


def narrow() -> bool:
    """True if the page is narrower than NARROW pixels; until known, by the browser's user agent.

    Until it says so, whether it calls itself a phone's.
    """
    told = st.session_state.get("_scheme") or {}
    found = told.get("narrow")
    return "Mobi" in (st.context.headers.get("User-Agent") or "") if found is None else found


def follow_browser() -> None:
    """Rerun the page when the browser's colours or width change."""
    _SCHEME(
        data={"theme": theme(), "narrow": narrow(), "below": NARROW},
        key="_scheme",
        on_theme_change=lambda: None,
        on_narrow_change=lambda: None,
    )
