"""The Overlap page in a real browser: a click on a cell, and names that keep apart."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from compute.base.settings import Settings
from compute.corpora import overlap
from compute.intake import imports
from compute.recompute.run import Bench
from compute.store.store import Store
from tests.support.acting import FIGURE, click_at, click_mark, settled
from tests.support.processes.dashboards import port, serving
from tests.support.tiny import DOCUMENTS, write_tiny

COLLIDING = """() => {
    const boxes = (plot, names) => [...plot.querySelectorAll(names)]
        .map(one => [one.textContent, one.getBoundingClientRect()])
        .filter(([text, box]) => text && box.width);
    const found = [];
    for (const plot of document.querySelectorAll('.js-plotly-plot')) {
        const names = boxes(plot, '.annotation-text, .xtick text, .ytick text, .legendtext');
        const edge = plot.getBoundingClientRect();
        names.forEach(([text, box], place) => {
            if (box.left < edge.left - 1 || box.right > edge.right + 1) found.push([text, 'cut']);
            for (const [other, its] of names.slice(place + 1)) {
                const across = Math.min(box.right, its.right) - Math.max(box.left, its.left);
                const down = Math.min(box.bottom, its.bottom) - Math.max(box.top, its.top);
                if (across > 1 && down > 4) found.push([text, other]);
            }
        });
    }
    return found;
}"""

CELL = """datasets => {
    const plot = document.querySelector('.js-plotly-plot');
    const box = (names, text) => [...(plot?.querySelectorAll(names) ?? [])]
        .find(name => name.textContent === text)?.getBoundingClientRect();
    const rows = datasets.map(name => box('.ytick text', name));
    const columns = datasets.map(name => box('.annotation-text', name));
    if (![...rows, ...columns].every(Boolean)) return null;
    // The cell is in the lower one's row and the upper one's column.
    const lower = rows[0].top < rows[1].top ? 1 : 0;
    return [columns[1 - lower].left + 20, rows[lower].top + rows[lower].height / 2];
}"""


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A dashboard on a home with three counted collections."""
    folder = tmp_path_factory.mktemp("overlap")
    settings = Settings(home=folder / "home", threads=1)
    bench = Bench(Store(settings), settings)
    names = ("one", "two", "three")
    for place, name in enumerate(names):
        source = write_tiny(folder / name)
        kept = [json.dumps(record) for record in DOCUMENTS[: 6 - place]] + [""]
        (source / "corpus.jsonl").write_text("\n".join(kept), encoding="utf-8")
        overlap.count(bench, imports.import_dataset(bench, name, path=source))
    overlap.compare(bench, names)
    with serving(Path(settings.home), port(8760)) as found:
        yield found


def test_a_click_on_a_cell_opens_its_pair_and_stays_in_the_address(
    page: Page, address: str
) -> None:
    page.goto(f"{address}/overlap?view=Heatmap&pair=one,two")
    head = page.get_by_text("More frequent in one")
    head.wait_for()
    click_at(page, CELL, ["two", "three"])
    page.wait_for_url("**pair=three*two*")
    expect(page.get_by_text("More frequent in three")).to_be_visible()
    expect(head).to_be_hidden()


@pytest.mark.long
@pytest.mark.parametrize(
    "view",
    ["Heatmap", *(pytest.param(one, marks=pytest.mark.long) for one in ("Graph", "Domain shift"))],
)
def test_no_name_covers_another_or_is_cut(page: Page, address: str, view: str) -> None:
    page.goto(f"{address}/overlap?view={view}")
    for width in (1440, 800):
        page.set_viewport_size({"width": width, "height": 1000})
        page.locator(FIGURE).first.wait_for()
        least = 34 if view == "Domain shift" else 3
        page.wait_for_function(
            "least => document.querySelectorAll('.annotation-text').length >= least", arg=least
        )
        settled(page)
        assert page.evaluate(COLLIDING) == [], width


@pytest.mark.long
def test_a_click_on_a_mark_of_the_graph_lists_its_neighbours_and_it_can_be_dragged(
    page: Page, address: str
) -> None:
    page.goto(f"{address}/overlap?view=Graph&numbers=Computed")
    click_mark(page, "two")
    page.wait_for_url("**node=two*")
    expect(page.get_by_role("combobox", name="Neighbours of")).to_have_value("two")
    settled(page)
    box = page.locator(FIGURE).first.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 20, box["y"] + box["height"] / 2)
    page.mouse.down()
    page.mouse.move(box["x"] + 90, box["y"] + box["height"] / 2, steps=5)
    page.mouse.up()
    moved = "document.querySelector('.js-plotly-plot')._fullLayout.xaxis.range[0] < -10"
    page.wait_for_function(f"() => {moved}")
