"""Leaderboard: which system is best, on what?"""

import streamlit as st

from compute.datasets import published
from compute.views.leaderboard import board as leaderboard
from compute.views.leaderboard import cells, select
from compute.views.shared import catalogue
from pages._leaderboard import aggregates, boards, order, sections
from pages._shared import address, pickers, system_pickers
from pages._shared.pickers import pick
from pages._shared.reading import read

st.title("Leaderboard", anchor=False)
asked = select.published_tables, catalogue.datasets, catalogue.systems
tables, datasets, systems = map(read, asked)
sources, above = published.sources(tables), st.container()
with above:
    sections.known(sources)
with pickers.pickers():
    place_of_view = st.container(width=120)
    numbers = pick("Numbers", cells.NUMBERS, "numbers", default=sections.first(), width=130)
    source = sections.choose_table(tables, sources, numbers, above)
    known = cells.measures(numbers, read(select.measures), tables, source)
    with above:
        address.known("measure", known, "measure of these numbers")
    measure = pick("Measure", known, "measure", default="nDCG@10", width=150)
    gaps = numbers == cells.DIFFERENCE
    place_of_colour, place_of_baseline = st.container(width=190), st.container(width=190)
    chosen = sections.choose_filter(datasets, numbers, above)
printed = cells.printed(read(select.published, source=source, measure=measure))
ours = sections.ours(measure, returned=chosen.returned)
shown = cells.of_datasets(cells.cells(numbers, printed, ours), datasets, chosen.wanted)
if shown.empty:
    sections.nothing(numbers, printed)
    address.stop()
names = [*dict.fromkeys(shown["system"])]
with above:
    address.known("baseline", names, "system")
with place_of_baseline:
    look = {"default": cells.baseline(names), "disabled": gaps, "titles": system_pickers.titles()}
    baseline = pick("Baseline", names, "baseline", **look)
shown = sections.filtered(shown, systems, chosen, baseline)
board = leaderboard.board(shown, datasets, systems, measure)
with chosen.place:
    picked = sections.choose_systems(board, numbers, above)
view = order.choose_view(place_of_view, len(picked))
colour = sections.choose_colour(place_of_colour, disabled=gaps or view != order.HEATMAP)
of = order.Numbers(numbers, source, measure, chosen.returned)
if view == order.TABLE and not gaps:
    order.table(of, board, baseline, picked)
else:
    sections.heat(board, of, printed, colour, baseline, picked)
if not gaps:
    ground = order.section(of, board, picked)
    aggregates.section(board, picked)
    sections.wins(board, baseline, picked)
    boards.section(of, board, ground, picked)
boards.against_print(cells.of_datasets(ours, datasets, chosen.wanted), of, (datasets, systems))
