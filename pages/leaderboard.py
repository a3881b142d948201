"""Leaderboard: which system is best, on what?"""

import streamlit as st

from compute import cells, leaderboard, published, queries
from compute.cells import COMPUTED, DIFFERENCE, NUMBERS
from compute.figures.leaderboard import COLOURS, heatmap, note
from compute.figures.theme import FAMILIES
from compute.figures.wins import nothing_to_compare, strip
from pages import _address, _shared
from pages._shared import pick, pick_many, read

st.title("Leaderboard", anchor=False)
tables, stored = read(queries.published_tables), read(queries.measures)
datasets, systems = read(queries.datasets), read(queries.systems)
sources = published.sources(tables)
_address.known("table", sources, "printed table")
row = _shared.pickers()
with row:
    numbers = pick("Numbers", NUMBERS, "numbers", width=130)
    source = pick("Table", sources, "table", width=250, disabled=numbers == COMPUTED)
    known = cells.measures(numbers, stored, tables, source)
    measure = pick("Measure", known, "measure", default="nDCG@10", width=150)
    colour = pick("Colour", COLOURS, "colour", disabled=numbers == DIFFERENCE)
    place_of_baseline = st.container(width=190)
    with st.popover("Filter"):
        wanted = {
            column: pick_many(column.capitalize(), sorted(set(datasets[column])), column)
            for column in ("task", "domain", "group")
        }
        families = pick_many("Family", FAMILIES, "family")
        returned = _shared.switch("Returned queries only, as BEIR's code", "returned")
printed = cells.printed(read(queries.published, source=source, measure=measure))
means, holes = read(queries.means, measure=measure), read(queries.holes)
column = "value_returned" if returned else "value"
ours = cells.computed(means, holes, read(queries.trained_pairs), column)
shown = cells.of_datasets(cells.cells(numbers, printed, ours), datasets, wanted)
if shown.empty:
    st.info("Nothing to show for these choices. python -m compute demo computes runs.")
    st.stop()
names = list(dict.fromkeys(shown["system"]))
with place_of_baseline:
    usual = cells.baseline(names)
    baseline = pick("Baseline", names, "baseline", default=usual, disabled=numbers == DIFFERENCE)
shown = cells.of_families(shown, systems, families, baseline)
board = leaderboard.board(shown, datasets, systems, measure)
theme, chosen = _shared.theme(), _shared.chosen_cell()
colour = DIFFERENCE if numbers == DIFFERENCE else colour
figure = heatmap(board, colour_by=colour, baseline=baseline, theme=theme, chosen=chosen)
_shared.plot_cells(figure, f"{measure} of systems on datasets")
origin = cells.origin(numbers, source, returned=returned)
_shared.caption(*leaderboard.caption(board, origin), note(board, colour, baseline))
if numbers == DIFFERENCE:
    st.stop()
if missing := nothing_to_compare(board, baseline):
    _shared.caption(missing)
else:
    st.subheader("Wins and losses", anchor=False)
    _shared.plot(strip(board, baseline, theme), "wins", f"Wins and losses against {baseline}")
