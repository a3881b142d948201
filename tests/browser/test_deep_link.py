"""An address opens its view, on a fresh server too."""

from playwright.sync_api import Page, expect


def test_the_first_address_asked_of_a_server_opens_by_the_table_of_pages(
    page: Page, dashboard: str
) -> None:
    """pytest takes files by name: nobody has asked the session's server before."""
    page.goto(f"{dashboard}/query?dataset=tiny&query=q2&document=d3")
    expect(page.get_by_role("heading", name="Query")).to_be_visible()
    expect(page.get_by_text("A ferry crosses the river").last).to_be_visible()
    expect(page.get_by_role("link", name="About the numbers")).to_be_visible()
    expect(page.get_by_role("link", name="query sections")).to_have_count(0)


def test_a_click_on_a_box_shows_its_document_and_stays_in_the_address(
    page: Page, dashboard: str
) -> None:
    page.goto(f"{dashboard}/query?dataset=tiny&query=q3&document=d6")
    label = page.locator("[data-testid=stPlotlyChart] text", has_text="<script>").first
    label.wait_for()
    box = label.bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + 40, box["y"] + box["height"] / 2)
    expect(page.get_by_text("The harbour master writes")).to_be_visible()
    page.wait_for_url("**document=d4*")


def test_a_link_to_the_queries_keeps_dataset_and_measure(page: Page, dashboard: str) -> None:
    page.goto(f"{dashboard}/dataset?dataset=tiny&measure=RR@10")
    page.get_by_role("button", name="Its queries, list by list").click()
    page.wait_for_url("**/query?**")
    expect(page.get_by_role("heading", name="Query")).to_be_visible()
    expect(page.get_by_text("RR@10").first).to_be_visible()
