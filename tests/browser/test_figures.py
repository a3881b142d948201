"""Every figure in a real browser: as its theme says, and drawn once."""

import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import plotly.graph_objects as go
import pytest
from playwright.sync_api import Page
from plotly.offline import get_plotlyjs

from compute.base.errors import Missing
from compute.base.settings import Settings
from compute.exports import all_figures, pages
from compute.store.store import Store
from compute.views.page import Figure
from compute.views.shared.drawing import redrawn, written

DRAW = """async ([given, sent]) => {
    const draw = async (content, again) => {
        const {data, layout} = JSON.parse(content), place = document.createElement("div");
        document.body.append(place);
        layout.width ??= 1000;
        await Plotly.newPlot(place, data, layout, {displayModeBar: false});
        const marks = [...place.querySelectorAll(".xtick, .ytick, .trace *")];
        // Streamlit gives Plotly such a copy as soon as it has drawn the figure.
        const copy = JSON.parse(JSON.stringify({data, layout}));
        if (again) await Plotly.react(place, copy.data, copy.layout, {displayModeBar: false});
        const found = [place.innerHTML, marks.filter(mark => !mark.isConnected).length];
        Plotly.purge(place);
        place.remove();
        return found;
    };
    return [...await draw(given, false), ...await draw(sent, true)];
}"""
NAMED = re.compile(r'(trace|clip|legend|topdefs-|defs-|g|cb)?[0-9a-f]{6}(?=[a-z0-9"_)-])')
"""Names with the random number of a drawing."""


def figures(home: Path) -> Iterator[go.Figure]:
    """Every figure of a dataset's pages."""
    store = Store(Settings(home=home))
    for name, given in all_figures.views(["scifact"], ""):
        with suppress(Missing), pages.asked(store, name, given) as view:
            parts = [found.part for found in view.every()]
            yield from (one.drawn(theme="light") for one in parts if isinstance(one, Figure))


def told(drawn: str) -> list[str]:
    """The tags of a drawing, with their attributes in one order."""
    tags = NAMED.sub("#", drawn).split("<")
    return [" ".join(sorted(re.split(r'(?<=") ', tag.rstrip("/>")))) for tag in tags]


@pytest.mark.long
def test_a_figure_looks_as_with_its_template_and_a_copy_of_it_is_not_drawn_again(
    page: Page, tmp_path: Path
) -> None:
    page.set_content("<body></body>")
    page.add_script_tag(content=get_plotlyjs())
    every = list(figures(tmp_path))
    assert len(every) > 30
    for figure in every:
        for theme in ("light", "dark"):
            one = redrawn(figure, theme)
            sides = [one.to_json(), written(one, clicked=False)]
            given, _, sent, gone = page.evaluate(DRAW, sides)
            assert told(sent) == told(given), one.layout
            assert not gone, one.layout
