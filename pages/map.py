"""Map: every query of a system's run at once, ranks across, coloured by relevance."""

import streamlit as st

from compute.views.query.rank_map import ORDERS
from compute.views.query.words import RANKS
from pages._map import sections
from pages._shared import address, dataset_facts, pickers, system_pickers, texts
from pages._shared.pickers import pick

st.title("Map", anchor=False)
runs, names = dataset_facts.with_lists()
address.known("dataset", names, "dataset with ranked lists")
measures = address.measures()
above = st.container()
with pickers.pickers():
    name = pick("Dataset", names, "dataset", width=220, titles=dataset_facts.titles())
    known = runs.loc[runs["dataset"] == name, "system"].tolist()
    with above:
        address.known("system", known, f"run on {name}")
        address.known("other", [*known, sections.NOTHING], f"run on {name}")
    for key in ("system", "other"):
        address.recall(key, known)
    first, second = system_pickers.usual_pair(known, name)
    titles = system_pickers.titles()
    system = pick("System", known, "system", default=first, width=190, titles=titles)
    others = [*known, sections.NOTHING]
    other = pick("Beside it", others, "other", default=second, width=190, titles=titles)
    measure = pick("Measure", measures, "measure", width=140)
    order = pick("Order", list(ORDERS), "order", width=180)
    ranks = int(pick("Ranks", RANKS, "ranks", default="50", width=80))
address.remember("dataset", name)
system_pickers.remember([system, other] if other in known else [system])
dataset = dataset_facts.record(name)
texts.bring(dataset)
shown = sections.shown(dataset, system, other, measure, ORDERS[order], ranks)
sections.all_queries(shown)
sections.some_queries(shown)
sections.links(shown)
sections.document(shown)
