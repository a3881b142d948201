"""Theme (light or dark) and width of the browser, with a rerun if either changes."""

import streamlit as st
import streamlit.components.v2 as components

NARROW = 600
"""Width in pixels below which lists replace matrices."""

# Figures are drawn for one theme and one width, but Streamlit does not rerun when they change.
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
    """Return the browser's theme: "light" or "dark"."""
    told = st.session_state.get("_scheme") or {}
    return told.get("theme") or st.context.theme.type or "light"


def narrow() -> bool:
    """Return true if the page is narrower than NARROW pixels; until that is known, on phones."""
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
