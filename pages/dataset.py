"""Dataset: everything about one dataset."""

from functools import partial

import streamlit as st

from compute.datasets.catalogue import counterpart
from compute.views.dataset import select
from compute.views.efficiency import augmented_table
from compute.views.shared import catalogue, next_steps
from pages._dataset import languages, sections, slices, versions, views
from pages._shared import address, dataset_facts, pickers, query_kind, renderer, texts
from pages._shared.pickers import pick
from pages._shared.reading import read
from pages._shared.served import Served

st.title("Dataset", anchor=False)
offered = read(select.catalogue)
names = list(offered["dataset"])
address.recall("dataset", names)
address.known("dataset", names, "dataset")
measures = address.measures()
above = st.container()
with pickers.pickers():
    name = pick("Dataset", names, "dataset", width=280, titles=dataset_facts.titles())
    measure = pick("Measure", measures, "measure", width=160)
    dataset = next_steps.record(read(catalogue.facts, dataset=name))
    query_kind.of_dataset(dataset.parts or (name,), above, dataset.title)
address.remember("dataset", name)
sections.facts(dataset)
is_computed = bool(offered.set_index("dataset")["computed"][name])
chosen = views.choose(is_computed, counterpart(name) in names)
named = read(catalogue.systems)
view = views.View(dataset, measure, named)
if chosen in views.WITH_TEXTS:
    texts.bring(dataset)
match chosen:
    case views.SYSTEMS:
        views.systems(view)
        versions.section(view)
        sections.further(dataset, measure)
        renderer.section(partial(augmented_table.section, Served(), name))
    case views.QUERIES:
        views.by_query(view)
    case views.KINDS:
        slices.section(view)
    case views.JUDGEMENTS:
        views.judgements(view)
    case views.DOCUMENTS:
        views.documents(view)
    case views.LANGUAGES:
        languages.languages(view)
    case _:
        sections.overview(name, measure, named)
