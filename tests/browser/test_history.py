"""Every choice is a step of the browser's history, and the address names it."""

import time
from collections.abc import Sequence
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Page, expect
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState

from tests.support.acting import go, settled


def _choose(page: Page, label: str, title: str) -> None:
    page.get_by_role("combobox", name=label).click()
    page.get_by_role("option", name=title, exact=True).click()


def test_back_takes_back_one_choice_at_a_time_with_its_picker(page: Page, dashboard: str) -> None:
    go(page, f"{dashboard}/dataset?dataset=tiny")
    measure = page.get_by_role("combobox", name="Measure")
    for name in ("RR@10", "AP@100"):
        _choose(page, "Measure", name)
        page.wait_for_url(f"**measure={name.replace('@', '*')}*")
        settled(page)
    page.get_by_role("radio", name="Queries", exact=True).click()
    page.wait_for_url("**show=Queries*")
    settled(page)
    expect(page.get_by_role("heading", name="Queries", exact=True)).to_be_visible()
    page.go_back()
    expect(page.get_by_role("heading", name="Queries", exact=True)).to_have_count(0)
    expect(measure).to_have_value("AP@100")
    page.go_back()
    expect(measure).to_have_value("RR@10")
    page.go_back()
    expect(measure).to_have_value("nDCG@10")
    page.go_forward()
    expect(measure).to_have_value("RR@10")


@pytest.mark.long
def test_the_address_says_which_numbers_are_shown_without_a_step_of_its_own(
    page: Page, dashboard: str
) -> None:
    go(page, f"{dashboard}/about")
    go(page, f"{dashboard}/?numbers=Computed")
    page.wait_for_url("**/?numbers=Computed&*")
    steps = page.evaluate("history.length")
    measure = page.get_by_role("combobox", name="Measure")
    for name in ("RR@10", "AP@100", "P@10"):
        _choose(page, "Measure", name)
        page.wait_for_url(f"**numbers=Computed&*measure={name.replace('@', '*')}*")
        settled(page)
    assert page.evaluate("history.length") == steps + 3
    for name in ("AP@100", "RR@10", "nDCG@10"):
        page.go_back()
        expect(measure).to_have_value(name)
        settled(page)
    page.wait_for_url("**/?numbers=Computed&*measure=nDCG*")
    page.go_back()
    page.wait_for_url("**/about")


@pytest.mark.long
def test_a_choice_on_query_that_moves_other_pickers_is_one_step(page: Page, dashboard: str) -> None:
    go(page, f"{dashboard}/query?dataset=tiny&systems=bm25")
    page.wait_for_url("**systems=bm25*")
    settled(page)
    steps = page.evaluate("history.length")
    # Another measure puts another query and its documents first.
    for name in ("AP@100", "P@10"):
        _choose(page, "Measure", name)
        page.wait_for_url(f"**measure={name.replace('@', '*')}*")
        settled(page)
    assert page.evaluate("history.length") == steps + 2


@pytest.mark.long
def test_what_the_browser_tells_again_is_no_choice(page: Page, dashboard: str) -> None:
    told: list[BackMsg] = []
    page.on("websocket", lambda socket: socket.on("framesent", lambda raw: _hear(told, raw)))
    page.add_init_script(
        "window.WebSocket = class extends WebSocket {"
        " constructor(...given) { super(...given); window.socket = this; } }"
    )
    go(page, f"{dashboard}/compare?dataset=tiny")
    # A part of the page looks for news every two seconds.
    waited = time.monotonic() + 60
    while not (sent := [w for one in told for w in _of_parts(one) if w.id.endswith("-a")]):
        assert time.monotonic() < waited
        page.wait_for_timeout(100)
    stale = next(one for one in told if sent[-1] in _of_parts(one))
    other = page.get_by_role("combobox", name="System B", exact=True).input_value()
    assert sent[-1].string_value != other
    next(w for w in _of_parts(stale) if w.id == sent[-1].id).string_value = other
    stale.rerun_script.query_string = "dataset=tiny&measure=AP@100"
    shown = parse_qs(urlsplit(page.url).query) | {"measure": ["RR@10"]}
    page.evaluate("bytes => socket.send(new Uint8Array(bytes))", [*stale.SerializeToString()])
    _choose(page, "Measure", "RR@10")
    page.wait_for_url(lambda url: parse_qs(urlsplit(url).query) == shown)
    settled(page)
    assert page.get_by_role("combobox", name="System A", exact=True).input_value() != other


def _of_parts(message: BackMsg) -> Sequence[WidgetState]:
    """What pickers show, by a message that asks for a part of the page alone."""
    return message.rerun_script.widget_states.widgets if message.rerun_script.is_auto_rerun else ()


def _hear(told: list[BackMsg], raw: bytes | str) -> None:
    if isinstance(raw, bytes):
        told.append(BackMsg.FromString(raw))
