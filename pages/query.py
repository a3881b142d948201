"""Query: the ranked lists of two systems side by side, with text and judgements."""

from typing import Any

import streamlit as st

from compute import advice, queries
from compute.figures.query import BY_DIFFERENCE, LEGEND, ORDERS, first_pair, found, pair
from compute.figures.text import line
from compute.measures import MEASURES
from pages import _address, _shared
from pages import _query_sections as sections
from pages._shared import pick, read

st.title("Query", anchor=False)
_address.arrive()
runs = read(queries.query.runs)
if runs.empty:
    st.info("No ranked lists are stored yet: python -m compute demo computes some.")
    st.stop()
names = list(dict.fromkeys(runs["dataset"]))
_address.recall("dataset", names)
sections.known_dataset(names)
_address.known("measure", MEASURES, "measure")
above = st.container()
with _shared.pickers():
    name = pick("Dataset", names, "dataset", width=220)
    systems = list(runs.loc[runs["dataset"] == name, "system"])
    with above:
        _address.known("a", systems, f"run on {name}")
        _address.known("b", systems, f"run on {name}")
    first, second = first_pair(systems)
    a = pick("A", systems, "a", default=first, width=170)
    b = pick("B", systems, "b", default=second, width=170)
    measure = pick("Measure", MEASURES, "measure", width=140)
    order = pick("Order", ORDERS, "order", width=150)
    find = st.text_input("Find", key="find", bind="query-params", width=150)
_address.remember("dataset", name)
dataset = advice.record(read(queries.dataset.facts, dataset=name))
keep = st.query_params.get("query", "")
choice: Any = {"dataset": name, "measure": measure, "a": a, "b": b, "find": find, "keep": keep}
rows = read(queries.query.queries, by_difference=order == BY_DIFFERENCE, **choice)
if rows.empty:
    st.info(_shared.text(f"No query contains {find!r}."))
    st.stop()
if not find:
    _address.known("query", rows["query_id"], f"query of {name}")
query = sections.choose_query(rows)
_shared.caption(found(query, find, len(rows)))
words = query["text"] if isinstance(query["text"], str) else ""
st.html(line(words or f"Query {query['query_id']}"))
shown = pair(a, b, read(queries.leaderboard.systems))
asked = {"dataset": name, "query_id": query["query_id"], "systems": [a, b]}
hits = read(queries.query.ranked, collection=dataset.collection, **asked)
values = read(queries.query.query_values, **asked)
chosen = sections.lists(hits, shown, measure, values)
_shared.caption(LEGEND, f"Judged relevant to this query: {query['n_relevant']:,}.")
sections.values(values, shown)
sections.document(hits, chosen, query["query_id"], words, dataset)
