"""The judging form, a custom component, since Streamlit's buttons lose keys pressed quickly. It
gets documents in advance, so that the next one appears at once, and keeps a log of answers as
*state*, since key presses sent as events would be merged. Each entry has an id and stays in the
browser's storage until the server confirms that it is saved."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import streamlit.components.v2 as components

_FOLDER = Path(__file__).parent

_FORM = components.component(
    "judge",
    html='<div class="judge" lang=""></div>',
    css=(_FOLDER / "judge.css").read_text("utf-8"),
    js=(_FOLDER / "judge.js").read_text("utf-8"),
)
_NAME = components.component(
    "annotator_name",
    js="""
    const PLACE = "beirscope.annotator";
    let told = "";
    export default function ({ data, setStateValue }) {
      // The state outlives the server, so a new server knows at once who judges.
      const tell = (name) => setStateValue("name", (told = name));
      try {
        if (data.keep) localStorage.setItem(PLACE, data.keep);
        else if (data.forget) localStorage.removeItem(PLACE);
        if (data.keep && data.keep !== told) tell(data.keep);
        else if (!data.known && localStorage.getItem(PLACE)) tell(localStorage.getItem(PLACE));
      } catch { /* this browser stores nothing, so the name is asked again */ }
    }
    """,
)
_KEPT = components.component(
    "kept_answers",
    js="""
    const PREFIX = "beirscope.answers.";
    export default function ({ data, setStateValue }) {
      try {
        const saved = new Set(data.saved), tried = new Set(data.tried);
        const entries = Object.keys(localStorage)
          .filter((key) => key.startsWith(PREFIX) && key.split(".")[2] !== data.scope)
          .map((key) => [key, JSON.parse(localStorage.getItem(key))]);
        for (const [key, { entry }] of entries) if (saved.has(entry)) localStorage.removeItem(key);
        const found = entries.map((one) => one[1]).filter(({ entry }) => !saved.has(entry));
        found.sort((one, other) => one.at - other.at || one.number - other.number);
        if (found.some(({ entry }) => !tried.has(entry))) setStateValue("found", found);
      } catch { /* this browser stores nothing, so there is nothing to send */ }
    }
    """,
)


def form(data: dict[str, Any], key: str, again: Callable[[], None]) -> None:
    """Draw the form; its log is then in the session's state under `key`. `pages._annotate.sections`
    reads it: Streamlit reruns that fragment at each change. `again` is called when the assessor
    wants to see skipped documents."""
    _FORM(
        data=data,
        key=key,
        on_log_change=lambda: None,
        on_seen_change=lambda: None,
        on_again_change=again,
    )


def name(data: dict[str, Any], key: str) -> str:
    """Store or forget the assessor's name in this browser; return the stored name, if any."""
    return str(_NAME(data=data, key=key, on_name_change=lambda: None).get("name") or "")


def kept(data: dict[str, Any], key: str) -> None:
    """Find unsaved answers of forms other than `scope`'s in this browser, and put them into the
    session's state under `key`. `data`: scope, saved and tried (entries)."""
    _KEPT(data=data, key=key, on_found_change=lambda: None)
