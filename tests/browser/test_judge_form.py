"""The form's own JavaScript, outside of Streamlit: what it makes of what it is sent."""

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from compute.base.settings import PROJECT

SCRIPT = (PROJECT / "pages" / "_judge" / "judge.js").read_text("utf-8")
START = """
data => {
  window.sent = [];
  window.kept = () => Object.keys(localStorage).map(key => JSON.parse(localStorage.getItem(key)))
    .sort((one, other) => one.number - other.number);
  window.show = data => window.judge({
    data, parentElement: document.body,
    setStateValue: (name, value) => { if (name === "log") window.sent.push([...value.entries]); },
    setTriggerValue: () => {},
  });
  window.gone = window.show(data);
}
"""


def data(turn: int, judged: int, saved: list[str], *, session: str = "one") -> dict[str, Any]:
    """What the server sends of a task of five pairs without guideline, all of them held."""
    sheet = {"query": "q", "title": "", "text": [["paragraph", ["words"]]], "bare": False}
    sheet["narrative"] = "Any <b>ship</b>.\n" * 40
    held = [sheet | {"key": f"pair{place}", "title": [f"d{place}"]} for place in range(judged, 5)]
    return {
        "scope": "s",
        "task": "t",
        "person": "ann",
        "saved": saved,
        "trouble": "",
        "session": session,
        "turn": turn,
        "documents": held,
        "last": None,
        "grades": [
            {"key": str(grade), "relevance": grade, "name": f"g{grade}"} for grade in (0, 1)
        ],
        "guideline": [],
        "version": 1,
        "judged": judged,
        "skipped": 0,
        "left": 5 - judged,
        "seconds": None,
    }


@pytest.fixture
def form(page: Page) -> Page:
    """The form with the first of five pairs before it."""
    # A page with an address of its own: the form keeps unsaved answers in its storage.
    body = "<div class=judge></div>"
    page.route("**/*", lambda route: route.fulfill(body=body, content_type="text/html"))
    page.goto("http://form.invalid/")
    page.add_script_tag(
        type="module", content=SCRIPT.replace("export default function", "window.judge = function")
    )
    page.wait_for_function("Boolean(window.judge)")
    page.evaluate(START, data(1, 0, []))
    return page


def test_a_narrative_is_shown_as_text_with_its_query(form: Page) -> None:
    narrative = form.get_by_label("Narrative")
    expect(narrative).to_contain_text("Any <b>ship</b>.")
    form.add_style_tag(path=PROJECT / "pages" / "_judge" / "judge.css")
    form.evaluate("data => window.show(data)", data(2, 0, []))
    narrative.focus()
    form.keyboard.press(" ")
    form.keyboard.press("1")
    expect(form.locator(".which")).to_have_text("Same query")
    assert narrative.evaluate("box => box.scrollTop") > 0, "read on by key, and still the same"


def test_data_drawn_again_out_of_order_change_nothing(form: Page) -> None:
    page = form
    page.keyboard.press("1")
    page.keyboard.press("0")
    first, second = page.evaluate("window.kept().map(entry => entry.entry)")
    page.evaluate("data => window.show(data)", data(2, 1, [first]))
    page.evaluate("data => window.show(data)", data(3, 2, [first, second]))
    page.evaluate("data => window.show(data)", data(2, 1, [first]))
    expect(page.get_by_text("2 of 5 judged", exact=True)).to_be_visible()
    expect(page.get_by_text("all saved")).to_be_visible()
    page.evaluate("data => window.show(data)", data(1, 3, [], session="a new server's"))
    expect(page.get_by_text("3 of 5 judged", exact=True)).to_be_visible()


@pytest.mark.parametrize("gone_first", [True, False])
def test_a_form_that_is_drawn_anew_goes_on_where_it_was(form: Page, gone_first: bool) -> None:
    page = form
    page.keyboard.press("1")
    page.keyboard.press("0")
    names = page.evaluate("window.kept().map(entry => entry.entry)")
    page.evaluate("data => window.show(data)", data(2, 2, names))
    page.keyboard.press("n")
    page.keyboard.type("half a no")
    page.evaluate(
        """([data, goneFirst]) => {
          if (goneFirst) window.gone();
          document.querySelector(".judge").replaceWith(
            Object.assign(document.createElement("div"), { className: "judge" }));
          window.show(data);
          if (!goneFirst) window.gone();
        }""",
        [data(3, 2, names), gone_first],
    )
    expect(page.get_by_role("textbox", name="Note")).to_have_value("half a no")
    for _ in range(2):
        page.keyboard.press("z")
    expect(page.locator(".title")).to_have_text("d0")
    expect(page.get_by_text("0 of 5 judged", exact=True)).to_be_visible()
    acts = page.evaluate("window.kept().map(entry => [entry.act, entry.pair])")
    assert acts == [["undo", "pair1"], ["undo", "pair0"]]


def test_what_was_answered_last_is_said_and_what_is_taken_back(form: Page) -> None:
    page, last = form, form.locator(".last")
    expect(page.locator(".which")).to_have_text("Query")
    page.keyboard.press("u")
    page.keyboard.press("1")
    expect(last).to_have_text("Last: g1, unsure")
    expect(page.locator(".which")).to_have_text("Same query")
    page.get_by_role("button", name="g0").click()
    expect(last).to_have_text("Last: g0")
    page.keyboard.press("s")
    expect(last).to_have_text(
        "Skipped: other assessors get it, and you can return to it at the end"
    )
    for words in ("Undone: skipped", "Undone: g0", "Undone: g1"):
        page.keyboard.press("z")
        expect(last).to_have_text(words)
    other = data(2, 0, [])
    other["documents"][1]["query"] = "another"
    page.evaluate("data => window.show(data)", other)
    page.keyboard.press("1")
    expect(page.locator(".which")).to_have_text("New query")


def test_what_cannot_be_saved_is_kept_and_the_form_says_why(form: Page) -> None:
    page = form
    page.keyboard.press("1")
    (entry,) = page.evaluate("window.kept().map(entry => entry.entry)")
    page.evaluate("data => window.show(data)", data(2, 0, []) | {"trouble": "no space is left"})
    expect(page.get_by_text("1 not yet saved: no space is left", exact=True)).to_be_visible()
    # It is sent again by itself.
    page.wait_for_function("window.sent.length > 1")
    assert page.evaluate("window.sent.at(-1).map(entry => entry.entry)") == [entry]
    page.evaluate("data => window.show(data)", data(3, 1, [entry]))
    expect(page.get_by_text("all saved")).to_be_visible()


def test_answers_to_texts_that_were_replaced_are_let_go_and_asked_anew(form: Page) -> None:
    page = form
    page.evaluate("data => window.show(data)", data(2, 0, []) | {"texts": "old"})
    page.keyboard.press("1")
    (entry,) = page.evaluate("window.kept().map(({ entry, texts }) => ({ entry, texts }))")
    assert entry["texts"] == "old"
    new = data(3, 0, []) | {"texts": "new", "replaced": [entry["entry"]]}
    new["documents"][0]["text"] = [["paragraph", ["other words"]]]
    page.evaluate("data => window.show(data)", new)
    expect(
        page.get_by_text("1 answer is not saved because the texts were replaced")
    ).to_be_visible()
    expect(page.get_by_text("all saved")).to_be_visible()
    page.keyboard.press("0")
    kept = page.evaluate("window.kept().map(({ pair, texts }) => [pair, texts])")
    assert kept in ([["pair0", "new"]], [["pair1", "new"]])


def test_where_the_dataset_was_removed_no_key_is_counted(form: Page) -> None:
    page = form
    page.keyboard.press("1")
    none = data(2, 0, []) | {"texts": "", "documents": [], "trouble": "tiny was removed"}
    page.evaluate("data => window.show(data)", none)
    expect(page.get_by_text("tiny was removed", exact=True)).to_be_visible()
    expect(page.get_by_text("1 not yet saved: tiny was removed", exact=True)).to_be_visible()
    page.keyboard.press("1")
    assert len(page.evaluate("window.kept()")) == 1


def test_answers_kept_from_a_closed_window_are_not_counted_twice(form: Page) -> None:
    page = form
    page.keyboard.press("1")
    page.keyboard.press("0")
    names = page.evaluate("window.kept().map(entry => entry.entry)")
    # The window was closed before it heard that both are saved; the new one hears of none.
    page.evaluate("data => { window.gone(); window.show(data); }", data(1, 2, [], session="two"))
    expect(page.get_by_text("2 of 5 judged", exact=True)).to_be_visible()
    page.evaluate("data => window.show(data)", data(2, 2, names, session="two"))
    expect(page.get_by_text("all saved")).to_be_visible()
    page.keyboard.press("1")
    expect(page.get_by_text("3 of 5 judged", exact=True)).to_be_visible()


def test_in_a_small_window_the_note_hides_no_button_and_the_guideline_is_open_at_first(
    page: Page, form: Page
) -> None:
    style = (PROJECT / "pages" / "_judge" / "judge.css").read_text("utf-8")
    page.set_viewport_size({"width": 700, "height": 520})
    page.add_style_tag(content=style)
    page.keyboard.press("n")
    expect(page.get_by_role("textbox", name="Note")).to_be_in_viewport(ratio=1)
    expect(page.get_by_role("button", name="g0")).to_be_in_viewport(ratio=1)
    guided = data(1, 0, []) | {"scope": "other", "guideline": [["p", "Judge well."]]}
    page.evaluate("data => { window.gone(); window.show(data); }", guided)
    expect(page.get_by_text("Judge well.")).to_be_visible()
    page.keyboard.press("1")
    expect(page.get_by_text("Judge well.")).to_be_hidden()
    page.keyboard.press("g")
    expect(page.get_by_text("Judge well.")).to_be_in_viewport()


def test_answers_given_while_one_is_on_its_way_are_sent_together(form: Page) -> None:
    page = form
    for key in "101":
        page.keyboard.press(key)
    names = page.evaluate("window.kept().map(entry => entry.entry)")
    assert page.evaluate("window.sent.map(log => log.length)") == [1]
    page.evaluate("data => window.show(data)", data(2, 1, names[:1]))
    sent = page.evaluate("window.sent.map(log => log.map(entry => entry.entry))")
    assert sent == [names[:1], names[1:]]


def test_a_key_judges_no_document_that_was_not_in_sight_when_it_was_pressed(form: Page) -> None:
    page = form
    for _ in range(5):
        page.keyboard.press("1")
    page.keyboard.press("0")
    page.keyboard.press("u")
    loading = page.get_by_text("the next documents are loading. A key pressed meanwhile")
    expect(loading).to_be_visible()
    kept = page.evaluate("window.kept()")
    assert [entry["relevance"] for entry in kept] == [1] * 5
    names = [entry["entry"] for entry in kept]
    more = data(2, 0, names)
    for sheet in more["documents"]:
        sheet["key"] += "x"
    more["judged"] = 5
    page.evaluate("data => window.show(data)", more)
    last = page.locator(".last")
    expect(last).to_have_text("2 keys pressed before this document was visible: not counted")
    expect(page.get_by_role("button", name="Unsure")).to_have_attribute("aria-pressed", "false")
    # Pressed while the browser was busy, it comes when the next document is there already.
    page.evaluate(
        """() => {
          const late = new KeyboardEvent("keydown", { key: "0", bubbles: true });
          Object.defineProperty(late, "timeStamp", { value: performance.now() });
          window.dispatchEvent(new KeyboardEvent("keydown", { key: "1", bubbles: true }));
          window.dispatchEvent(late);
        }"""
    )
    expect(last).to_have_text("1 key pressed before this document was visible: not counted")
    assert len(page.evaluate("window.kept()")) == 1
    page.keyboard.press("0")
    expect(last).to_have_text("Last: g0")
