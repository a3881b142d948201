"""Domain shift on the Overlap page: published and computed figures."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from pandas import DataFrame

from compute.datasets import published
from compute.evaluate.measures import better
from compute.systems import SYSTEMS
from compute.views.leaderboard import cells, domain_shift
from compute.views.leaderboard import domain_shift_figure as figures
from compute.views.leaderboard import select as leaderboard_select
from compute.views.page import (
    Ask,
    Beside,
    Choice,
    Figure,
    Heading,
    Legends,
    Many,
    Message,
    Note,
    Row,
    Step,
    Steps,
    Table,
    folded,
    offers,
)
from compute.views.shared import catalogue

_PRINTED = ("table", "systems", "baseline", "unit")
_OWN = ("source", "scores", "own_systems", "own_baseline", "unit", "measure")
COMPUTED = "Computed"
MEASURE = "nDCG@10"
PRINTED_WORDS = ("unigrams", "bigrams")


def left_out(ask: Ask) -> Many:
    """Return a picker of datasets to leave out of correlations, by default the paper's three."""
    return Many(
        "left_out",
        "Excluded from the correlation",
        list(ask(catalogue.datasets)["dataset"]),
        list(published.LEFT_OUT),
        noun="dataset",
        titles=offers.dataset_titles(ask),
        width=430,
        empty="none",
    )


def both(
    ask: Ask, pairs: DataFrame, counted: DataFrame, unit: str, left_out: Sequence[str]
) -> Steps:
    """Yield domain shift as published and as computed here."""
    yield Heading("Published: similarity to MS MARCO")
    yield from _printed(ask, unit, left_out)
    computed = partial(_computed, ask, pairs, counted, unit, left_out)
    own = [f"own_{place}" for place in range(counted["dataset"].nunique())]
    asks = ("source", "scores", "own_systems", "own_baseline")
    yield folded(computed, own, "Computed here", asks)


def _printed(ask: Ask, unit: str, left_out: Sequence[str]) -> Steps:
    """Yield Table 4 of BEIR v1 as figures, for any systems of a published table."""
    words = unit if unit in PRINTED_WORDS else PRINTED_WORDS[0]
    near = domain_shift.printed_similarities(words)
    tables = domain_shift.tables(published.results(), list(near["dataset"]))
    table, scores, systems, baseline = yield Row(partial(_printed_controls, ask, tables))
    marks = domain_shift.points(near, scores, systems, baseline, left_out)
    said = ("MS MARCO", words, MEASURE, f"BEIR v1, Table 4, and {table}")
    yield from _panels(ask, marks, systems, baseline, said, "printed", _PRINTED)
    instead = f"The paper has no {unit}, so unigrams are shown." if words != unit else ""
    yield Note(
        [
            instead,
            domain_shift.CHOSEN_AFTER,
            f"Similarities of BEIR v1, Table 4; scores of {table}, {MEASURE}, without in-domain"
            " and suspect scores.",
        ]
    )
    yield Note(domain_shift.HOW_TO_READ)
    every = partial(_correlations, ask, scores, systems, baseline, left_out)
    yield folded(every, ("correlations",), "Correlations as a table")


def _printed_controls(ask: Ask, tables: Sequence[str]) -> Steps:
    table = yield Choice(
        "table", "Source table", tables, noun="printed table", titles=_by_measure(tables), width=240
    )
    scores = _printed_scores(ask, table)
    systems, baseline = yield from _systems(ask, scores, "")
    return table, scores, systems, baseline


def _correlations(
    ask: Ask, scores: DataFrame, systems: Sequence[str], baseline: str, left_out: Sequence[str]
) -> Iterator[Step]:
    """Yield a table of correlations with intervals, by both word units of the paper."""
    titles = _titles(ask, systems)
    groups = {}
    for words in PRINTED_WORDS:
        similarities = domain_shift.printed_similarities(words)
        marks = domain_shift.points(similarities, scores, systems, baseline, left_out)
        for name in systems:
            own = marks[marks["system"] == name]
            if len(own):
                groups[titles[name], words] = own
    if groups:
        yield Table(
            "correlations",
            "Domain shift: rank correlation of gain and similarity",
            figures.table(groups),
            figures.COLUMNS,
            width=630,
            of=("table", "systems", "baseline"),
        )


def _computed(
    ask: Ask, pairs: DataFrame, counted: DataFrame, unit: str, left_out: Sequence[str]
) -> Steps:
    """Yield domain shift from counts made here, for any source, systems and baseline."""
    sources = list(dict.fromkeys(counted["dataset"]))
    if len(sources) < 2:
        yield Message(
            "Nothing to compare yet. To count corpora: python -m compute overlap compute DATASET……"
        )
        return
    titles = dict(zip(counted["dataset"], counted["title"], strict=True))
    controls = partial(_computed_controls, ask, pairs, sources, titles)
    source, (table, measure, scores), near, (systems, baseline) = yield Row(controls)
    marks = domain_shift.points(near, scores, systems, baseline, left_out)
    said = (titles[source], unit, measure, "")
    yield from _panels(ask, marks, systems, baseline, said, "own", _OWN)
    of = "of stored runs" if table == COMPUTED else f"published in {table}"
    yield Note(
        [
            f"Similarities of the {len(sources)} corpora counted here; {measure} {of}.",
            "Open marks: excluded from the correlation.",
        ]
    )


def _computed_controls(
    ask: Ask, pairs: DataFrame, sources: Sequence[str], titles: Mapping[str, str]
) -> Steps:
    run = dict.fromkeys(part.system for part in ask.parts() if part.system in SYSTEMS)
    trained = ["msmarco", *(name for system in run for name in SYSTEMS[system].trained_on)]
    usual = next((name for name in trained if name in sources), sources[0])
    look: dict[str, Any] = {"noun": "counted corpus", "titles": titles, "width": 180}
    source = yield Choice("source", "Similarity to", sources, usual, **look)
    chosen = yield from _scores(ask, sources)
    datasets = ask(catalogue.datasets)
    collections = dict(zip(datasets["dataset"], datasets["collection"], strict=True))
    near = domain_shift.to_source(pairs, source, collections)
    scores = chosen[2]
    drawn = scores.loc[scores["dataset"].isin(near["dataset"]), "system"].value_counts()
    systems = yield from _systems(ask, scores, "own_", drawn.to_dict())
    return source, chosen, near, systems


def _scores(ask: Ask, sources: Sequence[str]) -> Steps:
    """Yield a picker of scores, computed or published; return their source, measure and rows."""
    tables = [COMPUTED, *domain_shift.tables(published.results(), sources)]
    look: dict[str, Any] = {"noun": "table of scores", "titles": _by_measure(tables[1:])}
    table = yield Choice("scores", "Scores", tables, width=240, **look)
    if table != COMPUTED:
        return table, MEASURE, _printed_scores(ask, table)
    measure = yield Choice(
        "measure", "Measure", ask.measures(), noun="measure", advice=offers.to_score, width=140
    )
    return table, measure, ask(leaderboard_select.means, measure=measure)


def _by_measure(tables: Sequence[str]) -> dict[str, str]:
    """Return a title for each of these published tables."""
    return {table: f"{table}: {MEASURE}" for table in tables}


def _printed_scores(ask: Ask, table: str) -> DataFrame:
    """Return a table's scores without suspect and in-domain ones."""
    scores = ask(leaderboard_select.published, source=table, measure=MEASURE)
    return scores[~scores["suspect"] & ~scores["in_domain"]]


def _systems(
    ask: Ask, scores: DataFrame, prefix: str, drawn: Mapping[str, int] | None = None
) -> Steps:
    """Yield pickers of the systems to show, each in a panel, and of the baseline; return both.
    `drawn` has the number of datasets by system; systems with the most are the default."""
    names = list(dict.fromkeys(scores["system"]))
    if not names:
        return [], ""
    noun, titles = "system of these scores", offers.system_titles(ask)
    counts = drawn or {}
    enough = min(sorted(counts.values())[-2:], default=0)
    able = [name for name in names if counts.get(name, 0) >= enough]
    look: dict[str, Any] = {"noun": noun, "titles": titles}
    usual = cells.baseline(able)
    baseline = yield Choice(f"{prefix}baseline", "Baseline", names, usual, width=190, **look)
    others = [name for name in names if name != baseline]
    # Lexical systems come last, since they have no training set.
    lexical = {name for name, system in SYSTEMS.items() if system.family == "lexical"}
    likely = sorted((name for name in others if name in able), key=lambda name: name in lexical)
    first = [name for name in domain_shift.SYSTEMS if name in likely] or likely[:2] or others[:2]
    said = " and ".join(titles.get(name, name) for name in first)
    look |= {"empty": said, "known": names}
    chosen = yield Many(f"{prefix}systems", "Systems", others, first, width=330, **look)
    return chosen or first, baseline


def _titles(ask: Ask, systems: Sequence[str]) -> dict[str, str]:
    known = ask(catalogue.systems)
    named = dict(zip(known["system"], known["title"], strict=True))
    return {name: named.get(name, name) for name in systems}


def _panels(
    ask: Ask,
    marks: DataFrame,
    systems: Sequence[str],
    baseline: str,
    said: tuple[str, str, str, str],
    key: str,
    of: Sequence[str],
) -> Iterator[Step]:
    """Yield a panel for each system; panels are side by side if there is room. `said`: source, unit
    of words, measure, and the published source of the data (or empty)."""
    if marks.empty:
        yield Message("No dataset has both a similarity to this source and scores of both systems.")
        return
    if marks["dataset"].nunique() == 1:
        yield Note(["Only one dataset has a similarity and scores, so there is no correlation."])
        return
    source, words, measure, printed = said
    marks = _named(ask, marks)
    titles = _titles(ask, [*systems, baseline])
    axes = (f"similarity to {source}, {words}", f"{measure} minus {titles[baseline]}")
    legend = partial(figures.legend, marks["domain"])
    yield Legends(legend)
    look: dict[str, Any] = {"axes": axes, "spans": domain_shift.ranges(marks)}
    look |= {"sign": better(measure)}
    panels = [
        Figure(
            f"{key}_{place}",
            f"Gain of {titles[name]} against similarity to {source}",
            partial(figures.panel, marks[marks["system"] == name], title=titles[name], **look),
            legend,
            width="content",
            of=of,
            source=printed,
            finding=figures.finding(marks[marks["system"] == name], source) * (better(measure) > 0),
        )
        for place, name in enumerate(systems)
    ]
    yield Beside([[panel] for panel in panels], widths=(figures.WIDTH,) * len(panels))


def _named(ask: Ask, marks: DataFrame) -> DataFrame:
    """Add the title and domain of its dataset to each mark."""
    named = ask(catalogue.datasets)[["dataset", "title", "domain"]]
    marks = marks.merge(named, on="dataset", how="left")
    marks["title"] = marks["title"].fillna(marks["dataset"])
    marks["domain"] = marks["domain"].fillna("Own")
    return marks
