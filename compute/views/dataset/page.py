"""The Dataset page: everything about one dataset."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from compute.datasets import Dataset
from compute.datasets.catalogue import counterpart
from compute.views.dataset import (
    languages_page,
    overview_page,
    queries_page,
    select,
    systems_page,
)
from compute.views.dataset.view import View
from compute.views.page import Ask, Choice, Note, Row, Step, Steps, Widget, offers
from compute.views.shared import catalogue

SYSTEMS, OVERVIEW, KINDS, LANGUAGES = "Systems", "Overview", "Kinds of queries", "Two languages"
_TITLES = {KINDS: "Query groups", LANGUAGES: "Translations"}
"""Titles of the views whose name in the address differs."""
_JUDGED = (SYSTEMS, "Queries", KINDS, "Judgements")
"""Views that are empty without judgements."""
WITH_TEXTS = ("Queries", "Judgements", "Documents")
_VIEWS: Mapping[str, Callable[[View], Iterator[Step]]] = {
    SYSTEMS: systems_page.systems,
    OVERVIEW: overview_page.overview,
    "Queries": queries_page.by_query,
    KINDS: queries_page.by_kind,
    "Judgements": queries_page.judgements,
    "Documents": queries_page.documents,
    LANGUAGES: languages_page.languages,
}
_LANGUAGES = {"en": "English", "pl": "Polish"}
_GRADES = {"Binary": "binary grades", "3-level": "graded (0–2)"}
_SENTENCES = re.compile(r"(?<=[^A-Z][^A-Z.][.!?]) (?=[A-Z0-9“])")
"""End of a sentence, but not after an initial or an abbreviation of two letters."""


def page(ask: Ask) -> Steps:
    """Yield the page's controls and parts in screen order."""
    offered = ask(select.catalogue)
    names = list(offered["dataset"])
    view: View = yield Row(partial(_controls, ask, names))
    yield Note(_facts(view.dataset))
    name = view.dataset.name
    absent = {
        KINDS: not offered.set_index("dataset")["computed"][name],
        LANGUAGES: counterpart(name) not in names,
    }
    views = [one for one in _VIEWS if not absent.get(one)]
    usual = OVERVIEW if absent[KINDS] else SYSTEMS
    look: dict[str, Any] = {"noun": "view", "titles": _TITLES, "side_by_side": True}
    shown = yield Choice("show", "View", views, usual, **look)
    if shown in WITH_TEXTS:
        yield Widget("texts", {"dataset": view.dataset})
    if shown in _JUDGED and offers.is_unjudged(ask, name):
        yield from offers.unjudged(name)
    else:
        yield from _VIEWS[shown](view)


def _controls(ask: Ask, names: Sequence[str]) -> Steps:
    name = yield offers.dataset(ask, names, "dataset", 280)
    measure = yield offers.measure(ask)
    dataset = offers.record(ask, name)
    ask = yield from offers.query_group(ask, dataset.parts or (name,), dataset.title)
    return View(ask, dataset, measure, ask(catalogue.systems))


def _facts(dataset: Dataset) -> list[str]:
    """Return the sentences of the note: task, size, judgements, licence and so on, then remarks."""
    zero_shot = "counts towards the zero-shot average" if dataset.zero_shot else ""
    size = f"{len(dataset.parts)} parts" if dataset.parts else f"{dataset.split} split"
    # For a user's own dataset, task, domain and licence carry no other information.
    known = dataset.group != "own"
    facts = [dataset.task, dataset.domain * known, _LANGUAGES.get(dataset.language, ""), size]
    facts += [_GRADES.get(dataset.relevance, dataset.relevance)]
    facts += [f"relevant: grade {dataset.level} or more, as AP(rel={dataset.level})@100"] * (
        dataset.level > 1
    )
    facts += [f"licence: {dataset.licence}" * known, zero_shot, dataset.homepage, dataset.note]
    return _SENTENCES.split(" · ".join(fact for fact in facts if fact))
