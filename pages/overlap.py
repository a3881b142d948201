"""Overlap: how alike are the corpora, and does it matter to a system?"""

import streamlit as st

from compute.corpora import similarity_matrix
from compute.corpora.overlap import UNITS
from compute.datasets import published
from compute.views.overlap import select
from compute.views.overlap.heatmap import COMPUTED, NUMBERS, ORDERS, collections_in_print
from compute.views.shared.theme import DOMAINS
from pages._overlap import counting, leakage, sections
from pages._overlap import domain_shift as shifts
from pages._shared import address, escaping, pickers
from pages._shared.pickers import pick, slide
from pages._shared.reading import read

st.title("Overlap", anchor=False)
above = st.container()
view = sections.choose_view()
with above:
    address.known("numbers", NUMBERS, "kind of numbers")
    address.known("unit", UNITS, "kind of words")
    address.known("floor", sections.FLOORS, "bound of frequency")
    address.known("order", ORDERS, "order")
with pickers.pickers():
    numbers = COMPUTED if view == sections.SHIFT else sections.choose_numbers()
    unit, floor = "word pieces", published.OVERLAP_FLOOR
    if numbers == COMPUTED:
        unit = pick("Words", list(UNITS), "unit", width=150)
        floor = sections.FLOORS[pick("Rare words", list(sections.FLOORS), "floor", width=190)]
    order = pick("Order", ORDERS, "order", width=150) if view == sections.HEATMAP else ORDERS[0]
    least = slide("Solid lines from", "lines", default=0.45) if view == sections.GRAPH else 0.0
    chosen = shifts.choose_left_out(above) if view == sections.SHIFT else []
if numbers == COMPUTED:
    pairs, found = read(select.similarities, unit=unit, floor=floor), read(select.vocabularies)
    counted = found.fillna({"domain": "Other"})[found["unit"] == unit]
else:
    pairs, counted = read(select.in_print, source=published.OVERLAP), collections_in_print()
if view == sections.SHIFT:
    shifts.both(pairs, counted, unit, chosen, above)
    leakage.section()
    address.stop()
square = similarity_matrix.matrix(pairs)
if numbers == COMPUTED:
    counting.offer(counted, set(square.index))
if len(square) < 2:
    st.info(escaping.text(sections.too_few(counted, unit)))
    address.stop()
if view == sections.GRAPH:
    sections.graph(square, counted, unit, least)
    sections.about(counted, unit, floor, numbers)
else:
    if order == ORDERS[0]:
        names = similarity_matrix.by_likeness(square)
    else:
        domains = dict(zip(counted["dataset"], counted["domain"], strict=True))
        names = similarity_matrix.by_domain(square, domains, DOMAINS)
    sections.heatmap(square.loc[names, names], pairs, counted, (unit, floor), above, numbers)
