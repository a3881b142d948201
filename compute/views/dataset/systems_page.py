"""The systems of a dataset, for the Dataset page: means, baselines, versions, links."""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from pandas import DataFrame, Series

from compute.base.errors import WrongInput
from compute.base.words import counted
from compute.evaluate.measures import better
from compute.views.compare import power
from compute.views.compare import select as compare_select
from compute.views.compare import tables as compare_tables
from compute.views.dataset import query_outcomes, select_systems, versions
from compute.views.dataset import systems as figures
from compute.views.dataset.select_systems import MEDIAN
from compute.views.dataset.view import MOST_SYSTEMS, View
from compute.views.efficiency import augmented_table
from compute.views.leaderboard import order_confidence, select_order
from compute.views.page import (
    Asked,
    Button,
    Choice,
    Figure,
    Into,
    Link,
    Message,
    Note,
    Remember,
    Row,
    Section,
    Slot,
    Step,
    Steps,
    Switch,
    Table,
    Text,
    folded,
    offers,
)
from compute.views.shared import catalogue, in_domain, standings
from compute.views.shared import theme as looks

_HISTORY = ("dataset", "versions", "versions_all", "measure")


def systems(view: View) -> Iterator[Step]:
    """Yield means with intervals, links to other pages, versions, and augmented systems."""
    yield Section(partial(_standing, view), ("standing", "weighted"), asks=("against", "all"))
    kept = ("versions_line", "versions_table")
    yield Section(partial(further, view))
    if view.ask.versions(view.choice["datasets"]):
        asks = ("versions", "versions_all")
        yield folded(partial(_versions, view), kept, "Versions", asks)
    augmented = partial(augmented_table.section, view.ask, view.dataset.name)
    yield Section(augmented, ("augmentation",))


def _standing(view: View) -> Steps:
    """Yield means with intervals and Hole@10, and wins and losses against a baseline."""
    rows = view.ranked()
    if rows.empty:
        yield Message(f"No system has {view.measure} yet.")
        return
    above = yield Slot()
    baseline, whole = yield Row(partial(_baseline, view, rows))
    choice: dict[str, Any] = {"measure": view.measure, **view.choice}
    moves = view.ask(select_systems.moved, baseline=baseline, **choice)
    shown = rows.merge(moves, on="system")
    if not whole:
        shown = shown[(shown.index < MOST_SYSTEMS) | (shown["system"] == baseline)]
    shown, against = shown.reset_index(drop=True), view.titles.get(baseline, baseline)
    yield Figure(
        "standing",
        view.title,
        partial(figures.systems, shown, view.measure, against),
        partial(looks.families, shown["family"]),
        opens=partial(_compared, view, baseline if baseline != MEDIAN else shown["system"].iloc[0]),
        narrow=True,
    )
    # It takes a second on 10,000 queries, so it is drawn after the figure.
    yield Into(above, partial(_certainty, view, rows["system"].tolist()))
    yield _how_to_read(view, baseline, shown, len(rows))
    if key := offers.weights(view.ask).get(view.dataset.name):
        yield from _weighted(view, rows, key)


def _weighted(view: View, rows: DataFrame, key: str) -> Iterator[Step]:
    """Yield weighted means with intervals and tests, beside the unweighted means."""
    found = view.ask(standings.by_weight, measure=view.measure, **view.choice)
    by = standings.ranked(found, view.measure).merge(rows, on="system", suffixes=("_by", ""))
    asked: dict[str, Any] = {"measure": view.measure, "datasets": [view.dataset.name]}
    asked |= {"systems": by["system"].tolist(), "sign": better(view.measure), "weighted": True}
    try:
        order = view.ask(select_order.of_runs, **asked)
        told = order_confidence.verdict(order, view.titles)
    except WrongInput as error:
        order, told = DataFrame({"system": by["system"], "group": ""}), f"{error}."
    inverse = (1 / found["effective"]).groupby(found["system"]).sum().max()
    n, units = int(by["n_by"].max()), found["dataset"].nunique() ** 2 / inverse
    head = f"Weighted by {key} ({counted(n, 'query')} count as {units:,.0f})"
    yield Text(f"{head}: {told}")
    title = f"{view.measure} weighted by {key} on {view.dataset.title}"
    by = by.merge(order[["system", "group"]], on="system")
    look: dict[str, Any] = {"opens": view.to_run, "carried": [[name] for name in by["system"]]}
    yield Table("weighted", title, by, figures.weighted_columns(), **look)
    about = "Weighted intervals and tests respect families and repeats, if there are any."
    yield Note([about, "With weights, systems that share a letter do not differ significantly."])


def _how_to_read(view: View, baseline: str, shown: DataFrame, n_all: int) -> Note:
    titles, ask = dict(zip(shown["system"], shown["title"], strict=True)), view.ask
    return Note(
        [
            "Median system: the median of all systems on each query." * (baseline == MEDIAN),
            f"The best {MOST_SYSTEMS} of {n_all:,}." * (len(shown) < n_all),
            in_domain.said(ask, view.dataset.name, titles),
            *query_outcomes.parts_note(view.standing(), len(view.dataset.parts)),
            standings.by_family(view.standing()),
            standings.by_runs(view.ranked(), view.titles),
            "Systems with overlapping intervals can still differ significantly, since"
            " they share queries.",
        ],
        of_matrix="Click a system to compare it with the baseline, query by query.",
    )


def _baseline(view: View, rows: DataFrame) -> Steps:
    names = [*sorted(rows["system"]), MEDIAN]
    look: dict[str, Any] = {"noun": "system", "titles": view.titles, "width": 240}
    baseline = yield Choice("against", "Baseline", names, _usual(view, names), **look)
    if len(rows) <= MOST_SYSTEMS:
        return baseline, False
    return baseline, (yield Switch("all", f"All {len(rows):,} systems"))


def _usual(view: View, names: Sequence[str]) -> str:
    """Return the default baseline: the dataset's own, else BM25, else the median system."""
    wanted = (offers.baseline(view.ask, view.dataset.name), "bm25")
    return next((name for name in wanted if name in names), MEDIAN)


def _compared(view: View, baseline: str, system: str) -> Link:
    """Return a link to Compare: the system with the baseline, or the baseline with the best."""
    if system == baseline:
        others = [name for name in view.ranked()["system"] if name != baseline]
        baseline = others[0] if others else baseline
    two = {"a": system, "b": baseline, "measure": view.measure}
    return Link("compare", {"dataset": view.dataset.name, **two})


def _certainty(view: View, names: list[str]) -> Steps:
    """Say whether the leader is significantly better (in-domain systems left out), with a link."""
    asked: dict[str, Any] = {"measure": view.measure, "datasets": [view.dataset.name]}
    titles = {name: view.titles.get(name, name) for name in names}
    names = in_domain.compared(view.ask, view.dataset.name, names)
    try:
        order = view.ask(select_order.of_runs, systems=names, sign=better(view.measure), **asked)
    except WrongInput:
        # There is only one system, or there are too few queries to test.
        return
    if verdict := order_confidence.verdict(order, view.titles):
        left_out = in_domain.said(view.ask, view.dataset.name, titles)
        yield Text(f"{verdict} {left_out.rstrip('.')}; not compared." if left_out else verdict)
        beside = yield Slot()
        shown = {"numbers": "Computed", "over": view.dataset.name, "measure": view.measure}
        yield Button("Reliability of the full ranking", Link("leaderboard", shown))
        if alike := order_confidence.like_first(order):
            pairs = view.ask(standings.among_all, systems=names, **asked)
            yield from _detectable(view, beside, order["system"], alike, pairs)


def _detectable(
    view: View, beside: Any, order: Series, alike: Sequence[str], pairs: DataFrame
) -> Iterator[Step]:
    """Say the leader's detectable lead, and whether the top two differ if tested as one pair."""
    a, b = order.iloc[:2]
    if leads := power.leads(a, alike, pairs, view.titles):
        yield Into(beside, Text(leads))
    if len(order) < 3 or b not in alike:
        return
    two: dict[str, Any] = {"measure": view.measure, "a": a, "b": b}
    alone = view.ask(compare_select.tested, **view.choice, **two)
    among = standings.pair(pairs, a, b)
    titles = str(view.titles.get(a, a)), str(view.titles.get(b, b))
    ps = alone["p_randomisation"].iloc[0], among["p"], among["n_pairs"]
    if differ := compare_tables.alone(titles, *ps):
        yield Text(differ)
        link = Link("compare", {"dataset": view.dataset.name, **two})
        yield Button("Compare the top two", link)


def _versions(view: View) -> Steps:
    """Yield a picker of systems with versions, and the chosen system's versions in order."""
    names, every = view.choice["datasets"], [*view.ask.versions(), *view.ask.parts()]
    options = list(dict.fromkeys(part.version_of for part in view.ask.versions(names)))
    look: dict[str, Any] = {"noun": "system with versions", "titles": view.titles, "width": 240}
    system = yield Choice("versions", "Versions of", options, **look)
    runs = [part for part in every if part.kind == "hits" and system == part.version_of]
    live = [part for part in every if part.kind == "hits" and system == part.system]
    kept = [part for part in runs if part.dataset in names]
    history = versions.history(kept, next((of for of in live if of.dataset in names), None))
    shown = history["system"].tolist()
    shared = versions.shared([*runs, *live], shown)
    if len(shared) > 1 and not view.dataset.parts:
        told = f"Mean over the {len(shared)} datasets that have these versions"
        if (yield Switch("versions_all", told)):
            names, history = shared, history.assign(made="")
    ask = view.ask.with_versions([part.system for part in kept])
    rows = ask(versions.scored, measure=view.measure, systems=shown, datasets=names)
    base = yield from _baseline_of(view, names)
    yield from _history(view, system, history.merge(rows, on="system"), names, base)


def _baseline_of(view: View, names: list[str]) -> Steps:
    """Return the baseline's mean on these datasets, or None if it lacks one, and its legend."""
    name = (yield Asked("against")) or _usual(view, view.ranked()["system"].tolist())
    rows = view.ask(standings.standing, measure=view.measure, datasets=names)
    mean = standings.ranked(rows, view.measure).set_index("system")["value"].get(name)
    if mean is None:
        return None, ""
    return mean, f"Dashed: the baseline, {view.titles.get(name, name)} ({looks.plain(mean)})."


def _history(
    view: View, system: str, rows: DataFrame, on: list[str], base: tuple[float | None, str]
) -> Iterator[Step]:
    """Yield a line of a system's versions, and a table of each version's change from the previous
    one. `base`: as from `_baseline_of`."""
    called, whole = view.titles.get(system, system), bool(view.dataset.parts)
    titles = offers.dataset_titles(view.ask)
    over = [] if whole or len(on) < 2 else [titles.get(name, name) for name in on]
    where, of = (f"{len(over)} datasets", _HISTORY[1:]) if over else (view.dataset.title, _HISTORY)
    title = f"{view.measure} of the versions of {called} on {where}"
    drawn = partial(versions.line, rows, view.measure, base[0])
    yield Figure("versions_line", title, drawn, base[1], of=of)
    yield Table(
        "versions_table",
        title,
        rows[::-1],
        versions.columns(rows, view.measure),
        opens=None if whole or over else view.to_run,
        carried=[[name] for name in rows["system"][::-1]],
        of=of,
    )
    yield Note(
        [
            "Above: mean with 95% CI; below: Hole@10.",
            f"Mean over the datasets that have these versions: {', '.join(over)}." * bool(over),
            "Click a row for the run's details." * (not whole and not over),
            "Each version is tested against the previous one, uncorrected.",
            "A version with more unjudged documents may be underestimated.",
            "Earlier versions are used only where you choose them.",
        ]
    )
    if len(rows) > 1:
        b, a = rows["system"].iloc[-2:]
        names = {"dataset": view.dataset.name, "measure": view.measure, "a": a, "b": b}
        yield Button("Compare the last two, query by query", Link("compare", names))


def further(view: View) -> Steps:
    """Yield links to the queries, and to a comparison of the clicked system or the top two."""
    names = view.ask(catalogue.leading, added=False, dataset=view.dataset.name)["system"].tolist()
    cell = yield Asked("system")
    two = sorted(names, key=lambda name: name != cell)[:2]
    clicked = two if cell in names else []
    if clicked:
        yield Remember(clicked)
    target = {"dataset": view.dataset.name, "measure": view.measure}
    compared = Link("compare", target | dict(zip("ab", two, strict=False)))
    links = [
        Button("Compare the clicked system" if clicked else "Compare the top two systems", compared)
    ] * (len(two) > 1)
    lists = Link("query", {**target, "systems": clicked})
    links += [Button("Ranked lists per query", lists)] * (not view.dataset.parts)
    yield Row(links)
