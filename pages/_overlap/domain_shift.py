"""The sections of the page Overlap on domain shift: the papers' figures, and computed ones."""

from collections.abc import Collection, Sequence
from functools import partial
from typing import Any

import streamlit as st
from pandas import DataFrame

from compute.datasets import published
from compute.evaluate.measures import better
from compute.views.leaderboard import cells
from compute.views.leaderboard import select as leaderboard_select
from compute.views.overlap import domain_shift
from compute.views.overlap import domain_shift_figure as figures
from pages._shared import address, colours, dataset_facts, drawing, pickers, system_pickers
from pages._shared.pickers import pick, pick_many
from pages._shared.reading import read

COMPUTED = "Computed"
MEASURE = "nDCG@10"
PRINTED_WORDS = ("unigrams", "bigrams")


def choose_left_out(above: Any) -> list[str]:
    """The datasets that the correlations leave out; unless told otherwise the paper's three."""
    names = list(read(leaderboard_select.datasets)["dataset"])
    with above:
        address.known("left_out", names, "dataset")
    three = list(published.LEFT_OUT)
    look: dict[str, Any] = {"width": 430, "empty": "none", "titles": dataset_facts.titles()}
    return pick_many("Left out of ρ", names, "left_out", default=three, **look)


def both(
    pairs: DataFrame, counted: DataFrame, unit: str, left_out: Sequence[str], above: Any
) -> None:
    """As printed, and as computed here."""
    printed(unit, left_out, above)
    computed(pairs, counted, unit, left_out, above)


def printed(unit: str, left_out: Sequence[str], above: Any) -> None:
    """Table 4 of BEIR v1, for any systems of a printed table."""
    st.header("As printed: similarity to MS MARCO", anchor=False)
    words = unit if unit in PRINTED_WORDS else PRINTED_WORDS[0]
    near = domain_shift.printed_similarities(words)
    tables = domain_shift.tables(published.results(), list(near["dataset"]))
    with above:
        address.known("table", tables, "printed table")
    with pickers.pickers():
        table = pick("Table", tables, "table", width=240, titles=_by_measure(tables))
        scores = _printed_scores(table)
        systems, baseline = _choose_systems(scores, "", above)
    marks = domain_shift.points(near, scores, systems, baseline, left_out)
    _panels(marks, systems, baseline, ("MS MARCO", words, MEASURE), "printed")
    instead = f"The paper has no {unit}: unigrams are shown." if words != unit else ""
    drawing.caption(
        instead,
        f"Similarities of BEIR v1, Table 4; scores of {table}, {MEASURE}.",
        "Scores of systems on their own training set, and suspect ones, are left out.",
        domain_shift.CHOSEN_AFTER,
    )
    _correlations(scores, systems, baseline, left_out)
    drawing.caption(domain_shift.HOW_TO_READ)


def _correlations(scores: DataFrame, systems: Sequence[str], baseline: str, left_out: Any) -> None:
    """Every correlation with its interval, for both kinds of words of the paper."""
    titles = _titles(systems)
    groups = {}
    for words in PRINTED_WORDS:
        similarities = domain_shift.printed_similarities(words)
        marks = domain_shift.points(similarities, scores, systems, baseline, left_out)
        for name in systems:
            own = marks[marks["system"] == name]
            if len(own):
                groups[titles[name], words] = own
    if groups:
        drawing.table(figures.table(groups), "correlations", "Domain shift", width=630)


def computed(
    pairs: DataFrame, counted: DataFrame, unit: str, left_out: Sequence[str], above: Any
) -> None:
    """The same of what is counted here: any source, any systems, any baseline."""
    st.header("Computed here", anchor=False)
    sources = list(dict.fromkeys(counted["dataset"]))
    if len(sources) < 2:
        st.info("Nothing to compare yet: python -m compute overlap DATASET… counts collections.")
        return
    with above:
        address.known("source", sources, "counted collection")
    usual = "msmarco" if "msmarco" in sources else sources[0]
    titled = dict(zip(counted["dataset"], counted["title"], strict=True))
    datasets = read(leaderboard_select.datasets)
    collections = dict(zip(datasets["dataset"], datasets["collection"], strict=True))
    with pickers.pickers():
        source = pick("Similarity to", sources, "source", default=usual, width=180, titles=titled)
        table, measure, scores = _choose_scores(sources, above)
        near = domain_shift.to_source(pairs, source, collections)
        drawn = scores.loc[scores["dataset"].isin(near["dataset"]), "system"]
        systems, baseline = _choose_systems(scores, "own_", above, set(drawn))
    marks = domain_shift.points(near, scores, systems, baseline, left_out)
    _panels(marks, systems, baseline, (titled[source], unit, measure), "own")
    of = "of stored runs" if table == COMPUTED else f"as printed in {table}"
    drawing.caption(
        f"Similarities of the {len(sources)} collections counted here; {measure} {of}."
        " Open marks: left out of ρ."
    )


def _choose_scores(sources: Sequence[str], above: Any) -> tuple[str, str, DataFrame]:
    """Scores of stored runs by any measure, or a printed table: its name, measure and rows."""
    tables = [COMPUTED, *domain_shift.tables(published.results(), sources)]
    with above:
        address.known("scores", tables, "table of scores")
        measures = address.measures()
    table = pick("Scores", tables, "scores", width=240, titles=_by_measure(tables[1:]))
    if table == COMPUTED:
        measure = pick("Measure", measures, "measure", width=140)
        return table, measure, read(leaderboard_select.means, measure=measure)
    return table, MEASURE, _printed_scores(table)


def _by_measure(tables: Sequence[str]) -> dict[str, str]:
    """What printed tables are called where one measure of theirs counts."""
    return {table: f"{table}: {MEASURE}" for table in tables}


def _printed_scores(table: str) -> DataFrame:
    scores = read(leaderboard_select.published, source=table, measure=MEASURE)
    return scores[~scores["suspect"] & ~scores["in_domain"]]


def _choose_systems(
    scores: DataFrame, prefix: str, above: Any, drawn: Collection[str] = ()
) -> tuple[list[str], str]:
    """The systems to show, each in a panel, and the one to compare with; unless told otherwise
    among those that can be `drawn`, where there are two."""
    names = list(dict.fromkeys(scores["system"]))
    if not names:
        return [], ""
    with above:
        for key in ("baseline", "systems"):
            address.known(f"{prefix}{key}", names, "system of these scores")
    able = [name for name in names if name in drawn]
    able = able if len(able) > 1 else names
    usual = cells.baseline(able)
    titles = system_pickers.titles()
    baseline = pick("Baseline", names, f"{prefix}baseline", default=usual, width=190, titles=titles)
    others = [name for name in names if name != baseline]
    likely = [name for name in others if name in able]
    first = [name for name in domain_shift.SYSTEMS if name in likely] or likely[:2] or others[:2]
    said = " and ".join(titles.get(name, name) for name in first)
    look: dict[str, Any] = {"default": first, "width": 330, "empty": said, "titles": titles}
    return pick_many("Systems", others, f"{prefix}systems", **look) or first, baseline


def _titles(systems: Sequence[str]) -> dict[str, str]:
    known = read(leaderboard_select.systems)
    named = dict(zip(known["system"], known["title"], strict=True))
    return {name: named.get(name, name) for name in systems}


def _panels(
    marks: DataFrame,
    systems: Sequence[str],
    baseline: str,
    said: tuple[str, str, str],
    key: str,
) -> None:
    """A panel for each system, side by side where there is room."""
    if marks.empty:
        st.info("No dataset has a similarity to this source, and scores of both systems.")
        return
    if marks["dataset"].nunique() == 1:
        drawing.caption("One dataset alone has a similarity and scores: there is no correlation.")
        return
    source, words, measure = said
    named = read(leaderboard_select.datasets)[["dataset", "title", "domain"]]
    marks = marks.merge(named, on="dataset", how="left")
    marks["title"] = marks["title"].fillna(marks["dataset"])
    marks["domain"] = marks["domain"].fillna("Own")
    titles = _titles([*systems, baseline])
    axes = (f"similarity to {source}, {words}", f"{measure} minus {titles[baseline]}")
    legend = partial(figures.legend, marks["domain"])
    drawing.legend(legend)
    look: dict[str, Any] = {"axes": axes, "spans": domain_shift.ranges(marks)}
    look |= {"theme": colours.theme(), "sign": better(measure)}
    with st.container(horizontal=True):
        for place, name in enumerate(systems):
            own = marks[marks["system"] == name]
            with st.container(width=figures.WIDTH):
                figure = figures.panel(own, title=titles[name], **look)
                alt = f"Gain of {titles[name]} against similarity to {source}"
                drawing.plot(figure, f"{key}_{place}", alt, legend, width="content")
