"""The Compare page: two systems, query by query, on one dataset or on all datasets."""

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from functools import cache, partial
from typing import Any, NamedTuple

import pandas as pd
from pandas import DataFrame, Series

from compute.base.errors import WrongInput
from compute.base.words import counted
from compute.evaluate.measures import parse
from compute.evaluate.sign_flips import EXACT
from compute.reading import query_families
from compute.views.compare import (
    before_labels,
    figures,
    fusion_sweep,
    fusions,
    judging,
    power,
    select,
    slices,
    tables,
)
from compute.views.compare import differences as comparing
from compute.views.compare.fusion_sweep import HOLES
from compute.views.compare.fusions import Swept
from compute.views.page import (
    Above,
    Ask,
    Asked,
    Beside,
    Button,
    Choice,
    Column,
    Figure,
    Heading,
    Into,
    Link,
    Message,
    Note,
    Number,
    Offered,
    Remember,
    Row,
    Section,
    Slot,
    Step,
    Steps,
    Switch,
    Table,
    Text,
    Wait,
    Widget,
    folded,
    offers,
)
from compute.views.shared import binned_queries, catalogue, in_domain, lost, query_slices, standings

ALL = "All datasets"
SHOWN = 50
"""Rows of the table of queries."""
Tested = Mapping[Hashable, Any]
"""Fields of `significance.Comparison`; empty for fewer than two queries."""
_DATASET = Link(carried=("dataset",))
_PAIR, _KINDS = ("dataset", "a", "b", "measure"), ("dataset", "a", "b", "slice", "measure")
_BY_GROUP = ("kinds", "kinds_table")
_FUSE = Switch("fuse", "Fuse A and B: scores by weight and by k of RRF")


class View(NamedTuple):
    """Values of the controls."""

    ask: Ask
    dataset: str
    a: str
    b: str
    titles: tuple[str, str]
    measure: str
    datasets: list[str]
    """The dataset, or its parts; empty for ALL."""

    @property
    def asked(self) -> dict[str, Any]:
        """Parameters of questions about both systems."""
        return {"datasets": self.datasets, "a": self.a, "b": self.b}

    @property
    def versus(self) -> str:
        """The two systems in words: the first minus the second."""
        return f"{self.titles[0]} minus {self.titles[1]}"

    @property
    def query(self) -> Link:
        """Link to a query with both systems selected."""
        names = {"systems": [self.a, self.b], "measure": self.measure}
        return Link("query", names, carried=("dataset", "query"))


def page(ask: Ask) -> Steps:
    """Yield the page's controls and parts in screen order."""
    runs = ask(select.runs)
    several = runs["dataset"].duplicated(keep=False)
    # A dataset with one run is offered only on request, with an explanation.
    asked = yield Asked("dataset")
    if not (several | runs["dataset"].eq(asked)).any():
        yield Message(
            "No dataset has two systems to compare yet: python -m compute admin demo computes two."
        )
        return
    runs = runs[several | runs["dataset"].eq(asked)]
    view: View = yield Row(partial(_controls, ask, runs))
    if not view.b:
        yield from offers.one_run(view.dataset, view.titles)
        return
    if view.a == view.b:
        yield Message("System A and system B are the same: choose two different ones.")
        return
    yield Remember([view.a, view.b])
    yield from (_all_datasets if view.dataset == ALL else _one_dataset)(view)


def _controls(ask: Ask, runs: DataFrame) -> Steps:
    names, titles = [*dict.fromkeys(runs["dataset"])], offers.dataset_titles(ask)
    two = runs.loc[runs["dataset"].duplicated(), "dataset"].unique().tolist()
    how: dict[str, Any] = {"titles": titles, "recalls": two, "default": [*two, ALL][0]}
    dataset = yield offers.dataset(ask, [*names, ALL], "dataset with two systems", 230, **how)
    if dataset in {*names} - {*two}:
        one = runs.loc[runs["dataset"] == dataset, "system"].iloc[0]
        told = titles.get(dataset, dataset), offers.system_titles(ask).get(one, one)
        return View(ask, dataset, one, "", told, "", [])
    a, b, measure = yield from _systems(ask, runs, dataset)
    parts = _members(ask, dataset)
    if dataset == ALL:
        ask = yield from offers.query_group_of_all(ask)
    else:
        ask = yield from offers.query_group(ask, parts, titles.get(dataset, dataset))
    yield Button("Swap A and B", Link(names={"a": b, "b": a}), icon="swap_horiz")
    titles = offers.system_titles(ask)
    return View(ask, dataset, a, b, (titles.get(a, a), titles.get(b, b)), measure, parts)


def _systems(ask: Ask, runs: DataFrame, dataset: str) -> Steps:
    """Yield the controls for A, B and the measure, whose values it returns."""
    own = runs if dataset == ALL else runs[runs["dataset"] == dataset]
    systems = sorted(set(own["system"]))
    noun = f"system on {dataset}"
    yield Above([Offered(key, "", systems, noun) for key in ("a", "b")])
    offered = offers.with_versions(ask, systems, set(own["dataset"]))
    first, second = offers.usual_pair(ask, systems, dataset)
    titles, told = offers.system_titles(ask), offers.told(systems)
    look: dict[str, Any] = {"titles": titles, "told": told, "width": 230}
    a = yield Choice("a", "System A", offered, first, recalls=offered, **look)
    others = [name for name in offered if name != a]
    usual = first if a == second else second
    b = yield Choice("b", "System B", offered, usual, recalls=others, **look)
    measure = yield offers.measure(ask)
    return a, b, measure


def _members(ask: Ask, dataset: str) -> list[str]:
    """Return the dataset, or its parts; empty for ALL."""
    return [] if dataset == ALL else list(offers.record(ask, dataset).parts) or [dataset]


def _one_dataset(view: View) -> Steps:
    """Yield two systems on a dataset's queries; estimates if there are no official judgements."""
    two = before_labels.Two(view.ask, view.dataset, (view.a, view.b), view.titles, view.measure)
    bare = set(view.ask(catalogue.unjudged, added=False)["dataset"])
    lacking = view.dataset in bare and offers.is_unjudged(view.ask, view.dataset)
    task = judging.task_of(two) if view.dataset in bare else None
    if lacking and not task:
        yield from offers.unjudged(view.dataset, compare=False)
    if (lacking or task) and (why := before_labels.no_query(two)):
        yield Message(why)
    elif lacking or task:
        yield from judging.section(two)
        yield from before_labels.section(two)
    else:
        yield from _scored(view)


def _scored(view: View) -> Steps:
    """Yield the two systems' scores on the queries of a dataset."""
    pairs = view.ask(select.pairs, measure=view.measure, **view.asked)
    both = comparing.valued(pairs)
    if both.empty:
        yield Message(
            f"No query has a {view.measure} for both systems: a list has too few ranks, or it"
            " was scored before the measure was added (run python -m compute rescore)."
        )
        return
    same = yield from offers.same_spread(view.ask, view.datasets, (view.a, view.b))
    how = view.asked | {"measure": view.measure, "same_spread": same}
    verdict, tested = comparing.verdict(pairs, view.measure), cache(partial(_tested, view, how))
    place = yield Slot(replaced=True)
    yield Section(answer := partial(_answer, view, verdict, tested, place))
    yield Note([*tables.said(verdict, view.titles, view.measure), *_unanswered(view)])
    weighted = view.ask(select.weighted, **how) if offers.weights(view.ask) else DataFrame()
    yield Note([tables.weighted(weighted, view.titles, view.measure)])
    holes = yield from _unjudged(view)
    yield from _differences(view, both, verdict)
    alike = partial(view.ask, select.overlaps, **view.asked)
    different = partial(_most_different, view, both, alike, holes)
    yield Section(different, ("different",), "Queries that differ most", asks=("by",))
    tests = partial(_tests, view, tested, (yield Section(partial(_corrected, view, answer))))
    yield folded(tests, ("tests",), "Significance tests, effect size and power", ("find",))
    yield folded(partial(_kinds, view, both), _BY_GROUP, "By query group", ("slice",))
    columns = [partial(_against_each_other, view, both), partial(before_labels.likeness, alike)]
    yield folded([Beside(columns)], ("scatter", "likeness"), "Query by query, and ranking overlap")
    yield folded(partial(_lost, view), ("lost",), "Relevant documents lost, by stage")
    yield folded(partial(_fused, view), ("fused",), "Fusion of A and B", ("fuse",))
    if view.datasets == [view.dataset]:
        yield Row([_made(view, 0), _made(view, 1)])


def _unjudged(view: View) -> Steps:
    """Yield in-domain systems and unjudged shares; return hole_a and hole_b of each query."""
    two = dict(zip((view.a, view.b), view.titles, strict=True))
    yield Note([in_domain.said(view.ask, view.dataset, two)])
    holes = view.ask(select.pairs, measure=HOLES, **view.asked)
    if told := tables.unjudged(holes, view.titles):
        names = {"dataset": view.dataset, "systems": [view.a, view.b], "measure": view.measure}
        link = Button("Possible range", Link("holes", names))
        yield Row([Text(told, width="content"), link], aligned="center")
    return holes.rename(columns={"value_a": "hole_a", "value_b": "hole_b"})


def _unanswered(view: View) -> list[str]:
    """Return a sentence for each system with unanswered queries."""
    if parse(view.measure).formula.answered_only:
        return []  # These measures leave out unanswered queries, as the sentence before says.
    rows = view.ask(select.unanswered, measure=view.measure, **view.asked)
    titles = dict(zip((view.a, view.b), view.titles, strict=True))
    counts = zip(rows["system"], rows["n_unanswered"], rows["n_queries"], strict=True)
    return [tables.unanswered(int(n), int(of), titles[system]) for system, n, of in counts]


def _tested(view: View, how: Mapping[str, Any]) -> Tested:
    return next(iter(view.ask(select.tested, **how).to_dict("records")), {})


def _answer(
    view: View,
    verdict: comparing.Verdict,
    tested: Callable[[], Tested],
    place: Any,
    family: tuple[float, int] | None = None,
) -> Iterator[Step]:
    """Put the verdict at the top; `family` is the corrected p and the number of pairs."""
    words = tables.answer(verdict, tested(), view.titles, view.measure, family)
    yield Into(place, Heading(words))


def _corrected(view: View, answer: Callable[..., Iterator[Step]]) -> Steps:
    """Yield the verdict corrected for all pairs, and return the row of `_among_all`. The figures
    precede it because it takes a second for many systems on 10,000 queries."""
    family = _among_all(view)
    if family is not None:
        yield from answer((family["p"], family["n_pairs"]))
    return family


def _power(plan: power.Plan) -> Steps:
    """Yield the minimum detectable difference, and the queries needed for another difference."""
    yield (told := power.found(plan))
    if told != power.TOO_FEW:
        yield Row(partial(_needed, plan))


def _needed(plan: power.Plan) -> Steps:
    label = "Sample size: queries to detect a difference of"
    difference = yield Number("find", label, example=".02", width=320)
    if difference is not None:
        yield power.needed(plan, difference)


def _made(view: View, place: int) -> Button:
    system = (view.a, view.b)[place]
    link = Link("data", {"show": "Runs", "dataset": view.dataset, "system": system})
    return Button(f"Run details: {view.titles[place]}", link)


def _differences(view: View, both: DataFrame, found: comparing.Verdict) -> Iterator[Step]:
    """Yield the sorted differences on every query; a click opens the query."""
    a, b = view.titles
    yield Figure(
        "differences",
        f"{view.measure} of {view.versus} by query",
        partial(figures.bars, both, view.titles, view.measure),
        f"Blue: {a} is better; orange: {b} is. A larger area means a larger total gain.",
        opens=view.query,
        of=_PAIR,
        narrow=True,
        finding=tables.outcomes(found, view.titles),
    )
    many = len(both) > binned_queries.MOST
    mean = f"With {len(both):,} queries, each bar is a mean over neighbouring queries." * many
    yield Note([mean, "Click a bar to open the query with both ranked lists."])


def _against_each_other(view: View, both: DataFrame) -> Iterator[Step]:
    """Yield a figure of A's values against B's."""
    a, b = view.titles
    yield Figure(
        "scatter",
        f"{view.measure} by query, {view.versus}",
        partial(figures.scatter, both, view.titles, view.measure),
        f"Blue: {a} is better; orange: {b} is. Larger marks: more queries.",
        opens=view.query,
        of=_PAIR,
        narrow=True,
    )
    yield Note(["Queries in the corners are answered by one system and missed by the other."])


def _kinds(view: View, both: DataFrame) -> Steps:
    """Yield the difference by query group, each tested against all other groups."""
    asked: dict[str, Any] = {"datasets": view.datasets}
    keyed = query_slices.by_key(both, view.ask(query_slices.labels, **asked))
    # The words of all queries are slow to read, so they are read only for groups by words.
    kinds = set(view.ask(query_slices.kinds, **asked, rare=False, added=False)["key"])
    seen = slices.REASON in keyed
    seen = seen and len(view.ask(query_slices.seen, systems=[view.a, view.b], **asked)) > 0
    offered = slices.offered(keyed, rare=query_slices.RARE in kinds, seen=seen)
    yield Note([slices.UNTESTED[slices.REASON] * seen])
    if not offered:
        yield Message("The queries have no groups: python -m compute import-labels adds labels.")
        return
    look: dict[str, Any] = {"titles": query_slices.TITLES, "width": 230, "noun": "query group"}
    why = slices.UNTESTED
    key = yield Choice("slice", "Group by", offered, advice=lambda name: why.get(name, ""), **look)
    if key == query_slices.RARE:
        words = view.ask(query_slices.rare_words, **asked)
        keyed = query_slices.by_key(both, DataFrame(columns=["key"]), words)
        if key not in keyed:
            yield Message("Rare words put all queries in one group: choose another grouping.")
            return
    yield from _contrasted(view, both, key, keyed[key])


def _contrasted(view: View, both: DataFrame, key: str, of: Series) -> Iterator[Step]:
    """Yield a figure, a table and a summary of query groups."""
    families = view.ask(query_families.of, datasets=view.datasets)
    rows, title = slices.contrasts(both, of, families), query_slices.TITLES.get(key, key)
    alt, n_others = f"{view.measure} of {view.versus} by {title}", int(of.isna().sum())
    drawn = partial(figures.by_slice, title, rows, view.measure)
    table = Table("kinds_table", alt, rows, slices.COLUMNS, of=_KINDS)
    said = slices.verdict(rows, key, view.titles, view.measure)
    look: dict[str, Any] = {"of": _KINDS, "finding": said}
    yield Beside([[Figure("kinds", alt, drawn, figures.INTERVALS, **look)], [table]])
    yield Note(
        [
            "A is {}, B {}.".format(*view.titles),
            f"{counted(n_others, 'query')} without a label are left out." * bool(n_others),
            "Each group is tested against all other labelled queries: Welch's t, adjusted for the"
            f" number of groups ({'maxT' if families.empty else 'by family, Holm'}).",
            "One significant group beside one that is not does not show that the two differ.",
            "Every query counts the same, regardless of its part." * (len(view.datasets) > 1),
        ]
    )


def _most_different(
    view: View, both: DataFrame, alike: Callable[..., DataFrame], holes: DataFrame
) -> Steps:
    """Yield the queries where the systems differ most; a click opens one."""
    # All lists take a while to compare; an order by the measure needs only a few.
    of, titles = partial(comparing.contenders, n=SHOWN), comparing.ORDERS
    listed = len(alike(queries=of(both))) or len(alike())
    orders = [one for one in titles if one != comparing.BY_RANKING or listed]
    order = yield Choice("by", "Sort by", orders, noun="order", titles=titles, width=210)
    both = comparing.where_ahead(both, order, view.measure)
    if both.empty:
        yield Message("No query is in this group: choose another order.")
        return
    some = {} if order == comparing.BY_RANKING else {"queries": of(both)}
    rows = comparing.most_different(both, alike(**some), order, SHOWN).astype({"shared": "Int64"})
    keys, own = ["dataset", "query_id"], holes[holes["query_id"].isin(rows["query_id"])]
    rows = rows.merge(own[[*keys, "hole_a", "hole_b"]], "left", keys)
    yield Table(
        "different",
        "Queries that differ most",
        rows.fillna({"text": ""}),
        tables.difference_columns(rows, view.titles, whole=len(view.datasets) > 1),
        opens=view.query,
        carried=rows[keys].to_numpy().tolist(),
        height=283 if len(rows) > 7 else None,
        of=("dataset", "a", "b", "by", "measure"),
    )
    first = f"The first {len(rows):,} of" if len(rows) < len(both) else "All"
    yield Note(
        [
            f"{first} {len(both):,} queries; click a row to open one.",
            f"Difference: {view.versus}.",
            "RBO: rank-biased overlap of the two lists.",
        ]
    )


def _lost(view: View) -> Iterator[Step]:
    """Yield the stages at which the two systems lose relevant documents."""
    found = view.ask(lost.places, **view.asked)
    if found.empty:
        yield Message("This needs the ranked lists of both systems and a relevant document.")
        return
    title = f"Relevant documents by place, {view.titles[0]} and {view.titles[1]}"
    columns = tables.lost_columns(view.titles)
    yield Table("lost", title, lost.by_place(found), columns, of=("dataset", "a", "b"))
    yield Note(
        [
            lost.said(found, view.titles),
            "A document counts once per query that it is relevant to.",
            "“Another system” is any with a stored list on this dataset.",
            "First stages are known for rerankers run here, and for runs imported with one.",
        ]
    )


def _tests(view: View, tested: Callable[[], Tested], family: Series | None) -> Steps:
    """Yield tests of the difference, and the effect size; `family` is from `_among_all`."""
    if row := tested():
        yield from _tests_of_two(view, row)
        yield from _power(power.of_two(row) if family is None else power.of_pair(family))
    else:
        yield Message("A test needs two queries with a value for both systems.")
    if family is not None:
        yield Note([tables.among_all(family["p"], family["n_pairs"])])
        names = {"dataset": view.dataset, "show": "Systems", "measure": view.measure}
        yield Button("All systems of this dataset", Link("dataset", names | {"against": view.b}))


def _tests_of_two(view: View, row: Tested) -> Iterator[Step]:
    about = dict(zip(("A", "B"), view.titles, strict=True))
    about = {"Dataset": view.dataset, "Measure": view.measure, **about}
    yield Table(
        "tests",
        f"Tests of {view.measure}, {view.versus}",
        tables.test_rows(row, about),
        [*(Column(name, in_files=True) for name in about), *tables.TEST_COLUMNS],
        of=_PAIR,
    )
    wilcoxon = row["p_wilcoxon"] == row["p_wilcoxon"]
    yield Note(
        [
            *tables.effect(row, view.titles),
            "With many queries even tiny differences are significant: look at the effect size.",
        ]
    )
    yield Note(
        [
            "These tests are not corrected for other pairs.",
            "CI of the difference: Student's t; of the effect size: bootstrap (linearised for"
            " 20,000 or more queries).",
            f"Wilcoxon drops tied queries and is exact for up to {EXACT} untied ones." * wilcoxon,
            tables.BY_FAMILY * bool(row["families"]),
            tables.BY_RUN * ("runs_a" in row),
            "All parts have equal weight." * (len(view.datasets) > 1),
        ]
    )


def _among_all(view: View) -> Series | None:
    """Return the pair's row of `standings.among_all`, as on Dataset; None without a test."""
    rows = view.ask(standings.standing, datasets=view.datasets, measure=view.measure)
    ranked = standings.ranked(rows, view.measure)["system"]
    systems = in_domain.compared(view.ask, view.dataset, ranked, (view.a, view.b))
    if len(systems) < 3 or not {view.a, view.b}.issubset(systems):
        return None
    asked: dict[str, Any] = {"datasets": [view.dataset], "systems": systems}
    try:
        found = view.ask(standings.among_all, measure=view.measure, **asked)
    except WrongInput:
        # All systems share too few queries, so the Dataset page shows no test either.
        return None
    return standings.pair(found, view.a, view.b)


def _all_datasets(view: View) -> Steps:
    """Yield two systems on every dataset on which both have scores; a click opens a dataset."""
    found = view.ask(select.across, a=view.a, b=view.b, measure=view.measure)
    rows = comparing.across(found, view.ask(select.parts), view.measure)
    families = view.ask(select.across_families, a=view.a, b=view.b, measure=view.measure)
    rows = comparing.by_family(rows, families)
    if rows.empty:
        yield Message("No dataset has scores of both systems. Choose other systems.")
        return
    wins = comparing.ahead(rows, view.measure).sum()
    yield Figure(
        "datasets",
        f"{view.versus} on every dataset",
        partial(figures.forest, rows, view.titles, view.measure),
        figures.INTERVALS,
        opens=_DATASET,
        of=_PAIR,
        finding=f"{view.titles[0]} has the better mean on {wins} of {len(rows)} datasets.",
    )
    yield Note(
        [("On the right: the queries on which each system is better. Click a dataset to open it.")]
    )
    columns, carried = tables.across_columns(view.titles), rows[["dataset"]].to_numpy().tolist()
    title, look = f"{view.versus} by dataset", {"opens": _DATASET, "carried": carried}
    yield Table("rows", title, rows, columns, of=_PAIR, **look)
    across = partial(_fused_across, view, rows["dataset"].tolist())
    yield folded(across, ("fused_best", "fused_losses"), "Fusion of A and B", ("fuse",))


def _fused(view: View) -> Steps:
    """Yield the two systems, fused at every weight, on one dataset or its parts."""
    if not (yield _FUSE):
        return
    found = yield Wait("Fusing…", partial(_swept, view, view.datasets))
    if found is None:
        yield Message(f"These runs are not stored deep enough for {view.measure}.")
        return
    yield Figure(
        "fused",
        f"{view.measure} of {view.titles[0]} and {view.titles[1]} fused",
        partial(fusions.figure, found, view.titles, view.measure),
        fusions.MARKS,
        of=_PAIR,
        finding=fusions.verdict(found, view.titles, view.measure),
    )
    n, cut = f"Over {found.n:,} queries.", _cut(view, view.datasets)
    yield Note([n, cut, fusions.FUSING, fusions.ELSEWHERE])
    yield from _stored(view, found)


def _stored(view: View, found: Swept) -> Steps:
    """Yield links to the stored best fusion and stored RRF, or forms that store them."""
    named = fusions.offered(found, view.measure, view.a, view.b, view.dataset)
    yield Note(["A fusion of systems with these names cannot be stored."] * (not named))
    runs = view.ask(select.runs)
    for fusion in named:
        if fusion in set(runs.loc[runs["dataset"] == view.dataset, "system"]):
            names = {"dataset": view.dataset, "a": fusion, "b": view.a, "measure": view.measure}
            yield Button(f"Compare {fusion} (stored)", Link("compare", names))
        else:
            yield Widget("store", {"fusion": fusion, "dataset": view.dataset})


def _swept(view: View, datasets: Sequence[str]) -> Swept | None:
    """Return the fusions on these datasets; None if a list is not stored deep enough."""
    asked = {"a": view.a, "b": view.b, "measure": view.measure}
    rows = [view.ask(fusion_sweep.swept, dataset=one, **asked) for one in datasets]
    there = [one for one in rows if len(one)]
    # The chosen group may have no query in a part.
    if not there or (len(there) < len(rows) and not view.ask.kind):
        return None
    return fusions.swept(pd.concat(there, ignore_index=True), view.measure)


def _cut(view: View, datasets: Sequence[str]) -> str:
    """Say that shipped lists are truncated; empty if none is."""
    found = [view.ask(fusion_sweep.cut, dataset=one, a=view.a, b=view.b) for one in datasets]
    ranks = pd.concat(found)["cut"].min()
    return "" if pd.isna(ranks) else f"Lists are cut to {ranks:.0f} ranks; longer lists may differ."


def _fused_across(view: View, names: Sequence[str]) -> Steps:
    """Yield the best weight on each dataset, over its parts, and its loss on the other datasets."""
    if not (yield _FUSE):
        return
    parts = {name: _members(view.ask, name) for name in names}
    swept = yield Wait("Fusing…", lambda: {name: _swept(view, parts[name]) for name in names})
    found = {name: one for name, one in swept.items() if one}
    if not found:
        yield Message(f"No dataset has both lists stored deep enough for {view.measure}.")
        return
    titles = offers.dataset_titles(view.ask)
    best = fusions.across(found, view.measure, titles)
    title = f"Best weights of {view.titles[0]} and {view.titles[1]}"
    yield Table("fused_best", title, best, fusions.columns(best), of=_PAIR)
    weight = f"Weight: the share of {view.titles[0]} in an interpolation."
    others = "From other datasets: the weight with the best mean over all other datasets."
    cut = _cut(view, [part for name in found for part in parts[name]])
    yield Note([weight, others, cut, fusions.FUSING])
    if len(found) > 1:
        lost = fusions.losses(found, view.measure, titles)
        title = f"{view.measure} lost with weights of other datasets"
        yield Table("fused_losses", title, lost, fusions.columns(lost), of=_PAIR)
        yield Note(
            [
                f"Loss of {view.measure} on one dataset (column) with the best weight of"
                " another (row)."
            ]
        )
