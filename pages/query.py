"""Query: the ranked lists of up to four systems side by side, with text and judgements."""

import streamlit as st

from compute.views.query import select
from compute.views.query.words import LEGEND, ORDERS, RANKS, titled
from compute.views.shared import catalogue
from compute.views.shared.text import line
from pages._query import augmented, sections
from pages._shared import address, dataset_facts, drawing, pickers, system_pickers, texts
from pages._shared.pickers import pick
from pages._shared.reading import read

st.title("Query", anchor=False)
runs, names = dataset_facts.with_lists()
dataset_facts.known_dataset(names)
measures = address.measures()
above = st.container()
with pickers.pickers():
    name = pick("Dataset", names, "dataset", width=220, titles=dataset_facts.titles())
    known = runs.loc[runs["dataset"] == name, "system"].tolist()
    systems = system_pickers.systems(known, name, above)
    measure = pick("Measure", measures, "measure", width=140)
    order = pick("Order", list(ORDERS), "order", width=180)
    ranks = int(pick("Ranks", RANKS, "ranks", width=80))
    find = pickers.words("Find", "find", width=150)
address.remember("dataset", name)
if not systems:
    st.info("Choose up to four systems.")
    address.stop()
dataset = dataset_facts.record(name)
texts.bring(dataset)
query = sections.choose_query(name, systems, measure, ORDERS[order], find)
words = query["text"] if isinstance(query["text"], str) else ""
st.html(line(words or f"Query {query['query_id']}"))
shown = titled(systems, read(catalogue.systems))
asked = {"dataset": name, "query_id": query["query_id"], "systems": systems}
hits = sections.as_shown(read(select.listed, depth=ranks, **asked), systems)
values = read(select.query_values, **asked)
further = sections.further(hits, dataset, query["query_id"], systems)
hits, further = sections.with_texts(dataset, hits, further)
chosen = sections.lists(hits, further, shown, measure, values, ranks)
n_relevant = f"Judged relevant to this query: {query['n_relevant']:,}."
drawing.caption(drawing.of_matrix(LEGEND), n_relevant)
page = sections.Page(hits, further, query["query_id"], words, dataset, shown)
left, right = st.columns(2, gap="medium")
with left:
    sections.document(page, chosen)
with right:
    sections.beside(page, chosen)
sections.why(name, query["query_id"], shown, measure, values)
augmented.section(name, query["query_id"], systems, shown)
sections.values(values, shown)
sections.to_the_map(name, systems, measure, query["query_id"])
