"""The switch beside the tabs of pages with scores: official judgements, or official + added."""

from collections.abc import Sequence
from typing import Any

import streamlit as st

from compute.base.words import counted
from compute.datasets import DATASETS
from compute.exports.file_names import slug
from compute.judgements import HUMAN, IMPORT, RULES, SOURCES, Choice, exchange
from compute.views.annotate import select as annotate_select
from compute.views.annotate import select_added
from compute.views.leaderboard import select as leaderboard_select
from compute.views.leaderboard.cells import PUBLISHED
from compute.views.shared import catalogue
from pages._shared import drawing, export, page_run, pickers, reading, sign_in

BOTH = ("Holes",)
"""Pages that show results by official and by official + added judgements side by side."""
UNSWITCHED = ("Judge", "Jobs", "How numbers are computed")
"""Pages without scores; assessors must not see the effect of their judgements."""
USUAL = ("Data", "Efficiency", "Overlap")
"""Pages without a switch; added judgements count there if there are no official ones."""
OFFICIAL, ADDED = "official", "added"
_LABELS = {OFFICIAL: "Official qrels", ADDED: "Official + added"}


def begin(title: str) -> None:
    """Set the judgements that count in this run of a page; draw the switch if some are added."""
    pickers.begin()
    asked = st.query_params.get("dataset", "")
    without = title in UNSWITCHED or (title == "Leaderboard" and _is_published())
    if without or (asked and not _has_added(asked)):
        return
    found = reading.read(select_added.counted, sources=list(SOURCES), added=False)
    there = [source for source in SOURCES if source in set(found["source"].dropna())]
    if not there:
        return
    run = page_run.current()
    usual = reading.read(select_added.usual, dataset=asked, added=False)["counts"].iloc[0]
    if title not in USUAL:
        run.switch = st.empty()
        with run.switch, st.container(horizontal=True, vertical_alignment="center", gap="small"):
            _switch(there, asked, usual=ADDED if usual else OFFICIAL, both=title in BOTH)
    elif usual:
        run.choice = run.added = Choice()
        drawing.caption(_alone(asked) * (title == "Efficiency"))


def _is_published() -> bool:
    """Return true if the Leaderboard shows published scores, as it does by default."""
    own = {"numbers", "queries"} & {*st.query_params}
    return not own or st.query_params.get("numbers") == PUBLISHED


def _switch(there: Sequence[str], asked: str, *, usual: str, both: bool) -> None:
    """Draw the switch, unless the dataset has no official judgements, and the pickers of added
    judgements with a sentence on these. `usual` is the default; `both`: the page always uses added
    judgements."""
    shown = ADDED
    if asked not in set(reading.read(catalogue.unjudged, added=False)["dataset"]):
        (shown,) = _pick("judgements", [usual], list(_LABELS))
        st.segmented_control(
            "Judgements",
            list(_LABELS),
            format_func=_LABELS.__getitem__,
            key="_judgements",
            on_change=_keep,
            args=["judgements"],
            required=True,
            label_visibility="collapsed",
        )
    if shown == ADDED or both:
        with st.popover("How to combine judgements", type="tertiary"):
            chosen = _choose(there, beside=shown == OFFICIAL)
        run = page_run.current()
        run.choice = chosen if shown == ADDED else None
        run.added = chosen
        drawing.caption(_said(chosen, asked) + _alone(asked) * (shown == ADDED))


def finish() -> None:
    """Remove the switch if the dataset of the drawn page has no added judgements."""
    run = page_run.current()
    name = run.picked.get("dataset")
    if run.switch and isinstance(name, str) and name and not _has_added(name):
        run.switch.empty()


def _has_added(dataset: str) -> bool:
    """Return true if a dataset, or a part of it, has added judgements."""
    return any(
        reading.read(select_added.number, dataset=one, added=False)["n_rows"].iloc[0]
        for one in _parts(dataset)
    )


def _parts(dataset: str) -> tuple[str, ...]:
    """Return a dataset and its parts."""
    return dataset, *(DATASETS[dataset].parts if dataset in DATASETS else ())


def download(dataset: str) -> None:
    """Draw buttons that save a dataset's added judgements, with all fields or as qrels."""
    rows = reading.read(select_added.rows, dataset=dataset, added=False)
    if rows.empty:
        return
    none = rows.head(0)[["query_id", "doc_id", "relevance"]]
    save: dict[str, Any] = {"icon": ":material/download:"}
    named = f"{slug(dataset)}-added-judgements"
    with st.container(horizontal=True):
        sign_in.download_button(
            "Added judgements (CSV)",
            lambda: exchange.exported(rows, none, "csv", Choice(sources=tuple(SOURCES))),
            file_name=f"{named}.csv",
            mime="text/csv",
            help="Every judgement with assessor, time and note",
            **save,
        )
        if rows["source"].isin(HUMAN).any():
            choice = page_run.current().added or Choice()
            asked = rows["query_id"].unique().tolist()
            official = reading.read(
                annotate_select.judged_of, dataset=dataset, query_ids=asked, added=False
            )
            sign_in.download_button(
                "Added judgements (TREC qrels)",
                lambda: exchange.exported(rows, official, "qrels", Choice(choice.rule)),
                file_name=f"{named}.qrels",
                mime="text/plain",
                help=f"Human judgements, one grade per pair ({RULES[choice.rule].text})",
                **save,
            )


def _choose(there: Sequence[str], *, beside: bool) -> Choice:
    """Draw pickers of the rule and the available sources, and return their choice. `beside`: the
    page shows official scores, and the added ones beside them."""
    (rule,) = _pick("rule", ["majority"], list(RULES))
    st.radio(
        "Combine multiple grades of a pair by",
        list(RULES),
        format_func=lambda name: RULES[name].text,
        key="_rule",
        on_change=_keep,
        args=["rule"],
    )
    usual = [s for s in there if s in HUMAN]
    if beside and not usual:  # Without a source, before and after would be equal.
        usual = [s for s in there if s == IMPORT]
    sources = _pick("sources", usual, list(there), many=True)
    st.pills(
        "Judgements of",
        list(there),
        format_func=SOURCES.__getitem__,
        selection_mode="multi",
        key="_sources",
        on_change=_keep,
        args=["sources"],
    )
    return Choice(rule, tuple(sources))


def _said(choice: Choice, asked: str) -> str:
    """Count the added judgements that count, on the dataset `asked` or, if none is, on all."""
    of, sources = _parts(asked) if asked else (), list(choice.sources)
    found = reading.read(select_added.counted, sources=sources, of=of, added=False)
    total = found.iloc[0]
    if not total.n_judgements:
        return "No added judgements count. Choose some under How to combine judgements."
    people = counted(total.n_people, "assessor")
    of = ", ".join(SOURCES[source] for source in choice.sources if source not in HUMAN)
    told = f"{counted(total.n_judgements, 'added judgement')} ({people})"
    told += f", {of} included" if of else ""
    many = total.n_judgements > total.n_pairs
    return f"{told}; several grades of a pair: {RULES[choice.rule].text}." if many else f"{told}."


def _alone(asked: str) -> str:
    """State the unjudged share of top lists on datasets without official judgements (only on
    `asked`, if given); empty if there are none."""
    bare = set(reading.read(catalogue.unjudged, added=False)["dataset"])
    holes = reading.read(leaderboard_select.holes)
    holes = holes[holes["dataset"].isin(bare & ({asked} if asked else bare))]
    most = holes.groupby("dataset", sort=False)["hole"].max()
    if most.empty or not most.max():
        return ""
    of = most.index[0] if len(most) == 1 else counted(len(most), "dataset")
    return (
        f" {of} has no other judgements: up to {most.max():.0%} of a system's top 10 is"
        " unjudged (Hole@10) and counts as not relevant in scores."
    )


def _pick(key: str, usual: list[str], known: list[str], *, many: bool = False) -> list[str]:
    """Return the known names in the address, else the last choice on any page, else the default. A
    default of several names is not stored, since settling a disagreement adds to it."""
    state, given = st.session_state, st.query_params.get_all(key)
    named = [name for name in given if name in known]
    if not named and not (many and given == [""]):
        named = [name for name in state.get(f"_last_{key}", usual) if name in known]
    state[f"_{key}"] = named if many else named[0]
    export.picked(key, named if named != usual else [])
    if named != usual:
        state[f"_last_{key}"] = named
    else:
        state.pop(f"_last_{key}", None)
    pickers.note(key, [] if many and named == usual else named or [""])
    return named


def _keep(key: str) -> None:
    """Write a choice into the address without rerunning pickers, as `pickers.put` would."""
    if pickers.was_chosen(f"_{key}"):
        chosen = st.session_state[f"_{key}"]
        st.query_params[key] = [chosen] if isinstance(chosen, str) else list(chosen) or [""]
