"""A run of a page as a typed record: the version that it reads, and its content. It lasts for the
page's fragments and callbacks until the page reruns. Values that outlive a page, such as a picker's
last choice, have their own keys in Streamlit's session."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import streamlit as st

from compute.exports.page_archive import Shown
from compute.judgements import Choice
from compute.reading.answers import Answers, Picked, Version
from compute.reading.inputs import Inputs
from compute.views.shared.query_slices import Kind

_KEY = "_run"


@dataclass
class PageRun:
    """One run of a page, which reads one version; the next run reads the newest."""

    version: Version | None = None
    """None until app.py has let the page run."""
    answers: Answers | None = None
    """The store and what was read from it."""
    noticed: int | None = None
    """The store's count of damaged parts when the run started."""
    begun: float = 0.0
    """Time of the start, in seconds of the monotonic clock."""
    page: str = ""
    """The title of the page."""
    rests_on: Inputs = field(default_factory=Inputs)
    """The sources of the numbers read so far."""
    kind: Kind | None = None
    """The query group to read; None for all queries."""
    picking: Picked = ()
    """Versions of systems read besides those in the address."""
    choice: Choice | None = None
    """The added judgements that count in scores, set by `_frame.added_switch`; None if only
    official ones do."""
    added: Choice | None = None
    """The added judgements that the switch offers, whether or not they count."""
    switch: Any = None
    """The slot of that switch."""
    named: dict[str, list[str]] = field(default_factory=dict)
    """Names that the address must contain, by key."""
    picked: dict[str, Any] = field(default_factory=dict)
    """The value of each control."""
    titles: dict[str, Mapping[str, str]] = field(default_factory=dict)
    """The titles of the options of each control."""
    drawn: dict[str, Shown] = field(default_factory=dict)
    """Figures and tables by key."""
    legends: list[Any] = field(default_factory=list)
    """Legends above several figures."""
    save: Callable[..., bytes] | None = None
    """Makes the archive of the view."""
    widgets: Mapping[str, Callable[..., Any]] = field(default_factory=dict)
    """Functions that draw the forms of the page, by name."""


def begin(run: PageRun) -> None:
    """Replace the previous run by this one."""
    st.session_state[_KEY] = run


def current() -> PageRun:
    """Return the run of the page that the browser shows."""
    return st.session_state.setdefault(_KEY, PageRun())


@contextmanager
def having(**fields: Any) -> Iterator[None]:
    """Give the current run these fields in the with-block."""
    run = current()
    before = {name: getattr(run, name) for name in fields}
    vars(run).update(fields)
    try:
        yield
    finally:
        vars(run).update(before)
