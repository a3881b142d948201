"""Leaderboard: which system is best, on what?"""

import streamlit as st

from compute import cells, leaderboard, published, queries
from compute.cells import COMPUTED, DIFFERENCE, NUMBERS
from compute.figures.leaderboard import COLOURS, heatmap, note
from pages import _address, _shared
from pages import _leaderboard_sections as sections
from pages._shared import pick, read

st.title("Leaderboard", anchor=False)
tables, stored = read(queries.leaderboard.published_tables), read(queries.leaderboard.measures)
datasets, systems = read(queries.leaderboard.datasets), read(queries.leaderboard.systems)
sources = published.sources(tables)
above = st.container()
with above:
    _address.known("numbers", NUMBERS, "kind of numbers")
    _address.known("table", sources, "printed table")
    _address.known("colour", COLOURS, "colour")
row = _shared.pickers()
with row:
    numbers = pick("Numbers", NUMBERS, "numbers", width=130)
    source = pick("Table", sources, "table", width=250, disabled=numbers == COMPUTED)
    known = cells.measures(numbers, stored, tables, source)
    with above:
        _address.known("measure", known, "measure of these numbers")
    measure = pick("Measure", known, "measure", default="nDCG@10", width=150)
    colour = pick("Colour", COLOURS, "colour", disabled=numbers == DIFFERENCE)
    place_of_baseline = st.container(width=190)
    chosen = sections.choose_filter(datasets, above)
printed = cells.printed(read(queries.leaderboard.published, source=source, measure=measure))
means, holes = read(queries.leaderboard.means, measure=measure), read(queries.leaderboard.holes)
column = "value_returned" if chosen.returned else "value"
ours = cells.computed(means, holes, read(queries.leaderboard.trained_pairs), column)
shown = cells.of_datasets(cells.cells(numbers, printed, ours), datasets, chosen.wanted)
if shown.empty:
    sections.nothing(numbers, printed)
    st.stop()
names = list(dict.fromkeys(shown["system"]))
with above:
    _address.known("baseline", names, "system")
with place_of_baseline:
    usual = cells.baseline(names)
    baseline = pick("Baseline", names, "baseline", default=usual, disabled=numbers == DIFFERENCE)
shown = cells.of_families(shown, systems, chosen.families, baseline)
board = leaderboard.board(shown, datasets, systems, measure)
colour = DIFFERENCE if numbers == DIFFERENCE else colour
look = {"theme": _shared.theme(), "chosen": _shared.chosen_cell()}
figure = heatmap(board, colour_by=colour, baseline=baseline, **look)
_shared.plot_cells(figure, f"{measure} of systems on datasets")
origin = cells.origin(numbers, source, returned=chosen.returned)
said = sections.in_common(len(board.systems), printed) if numbers == DIFFERENCE else ""
_shared.caption(*leaderboard.caption(board, origin), said, note(board, colour, baseline))
if numbers != DIFFERENCE:
    sections.wins(board, baseline)
