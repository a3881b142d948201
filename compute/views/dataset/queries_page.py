"""The queries of a dataset, for the Dataset page: outcomes, groups, judgements and documents."""

from collections.abc import Iterator
from functools import cache, partial

from pandas import DataFrame, Series

from compute.base.words import counted
from compute.evaluate.measures import better
from compute.views.dataset import (
    difficulty,
    query_outcomes,
    select,
    select_slices,
    select_systems,
    slices,
)
from compute.views.dataset import systems as figures
from compute.views.dataset.overview_page import example
from compute.views.dataset.view import MOST_SYSTEMS, View
from compute.views.page import (
    Choice,
    Figure,
    Link,
    Message,
    Note,
    Section,
    Step,
    Steps,
    Table,
    Words,
    folded,
    offers,
)
from compute.views.shared import binned_queries, query_slices
from compute.views.shared import theme as looks

MOST_ALONE, MOST_QUERIES, MOST_PLACES = 15, 50, 200
"""Most systems that are single best, queries, and ranks of a document that are shown."""
_KINDS = dict(
    zip(
        query_outcomes.KINDS,
        ("largest spread", "all fail", "all succeed", "single winner"),
        strict=True,
    )
)
"""Titles of the groups of queries by outcome."""
_DESCRIBES = "These groups are {}, so they are only descriptive."


def by_query(view: View) -> Iterator[Step]:
    """Yield hard and easy queries, and queries with a single best system."""
    if better(view.measure) < 0:
        yield Message(
            "Choose a measure for which higher is better: this one measures judging, not how"
            " hard a query is."
        )
        return
    found = view.ask(select_systems.queries, measure=view.measure, **view.choice)
    rows = query_outcomes.kind(found)
    if rows.empty:
        yield Message(f"No query has {view.measure} yet.")
        return
    yield Figure(
        "difficulty",
        "Best, median and worst system on each query",
        partial(difficulty.difficulty, rows, view.measure),
        opens=partial(_outcome, view, rows),
        narrow=True,
        finding=difficulty.kinds_note(rows),
    )
    yield Note(
        [
            "A tall band above a low median means that only a few systems do well on the"
            " query. Click a query to open it with its best and its worst system."
        ]
    )
    yield Section(partial(_listed, view, rows), ("kinds",), "Queries", asks=("kind",))
    yield folded(partial(_alone, view, rows), ("alone",), "Queries with a single best system")


def _outcome(view: View, rows: DataFrame, dataset: str, query_id: str) -> Link:
    """Return a link to a query with its best and its worst system."""
    row = rows[(rows["dataset"] == dataset) & (rows["query_id"] == query_id)].iloc[0]
    return view.to_query(dataset, query_id, row["winner"], row["loser"])


def _alone(view: View, rows: DataFrame) -> Iterator[Step]:
    counts = query_outcomes.alone(rows)
    if counts.empty:
        yield Message("No query has a single best system.")
        return
    shown: Series = counts.head(MOST_ALONE)
    title = "Queries on which a single system is the best"
    yield Figure("alone", title, partial(figures.alone, shown, view.titles), narrow=True)
    yield Note(
        [
            f"{len(shown)} of {len(counts)} systems." * (len(shown) < len(counts)),
            "These are the queries on which a system could contribute to a fusion.",
        ]
    )


def _listed(view: View, rows: DataFrame) -> Steps:
    kinds = query_outcomes.KINDS
    kind = yield Choice("kind", "Show", kinds, noun="query group", titles=_KINDS, width=240)
    found = query_outcomes.of_kind(rows, kind)
    if found.empty:
        yield Message("No query is in this group.")
        return
    shown = found.head(MOST_QUERIES).fillna({"text": ""})
    best = [figures.best_system(row, view.titles) for row in shown.to_dict("records")]
    whole, texts = bool(view.dataset.parts), bool((shown["text"] != "").any())
    yield Table(
        "kinds",
        "Queries of this group",
        shown.assign(best_system=best),
        figures.query_columns(whole=whole, texts=texts),
        opens=partial(_outcome, view, rows),
        carried=shown[["dataset", "query_id"]].to_numpy().tolist(),
        height="auto",
        of=("dataset", "kind", "measure"),
    )
    yield Note(
        [
            f"Showing {len(shown):,} of {counted(len(found), 'query')}.",
            "Click a row to open the query with its best and its worst system.",
        ]
    )


def by_kind(view: View) -> Steps:
    """Yield the mean of every system on each query group, with intervals."""
    keys, ranked = view.ask(select_slices.keys, **view.choice)["key"].tolist(), view.ranked()
    if not keys or ranked.empty:
        lacking = f"no {view.measure}" if ranked.empty else "no query groups"
        yield Message(f"There are {lacking} yet. Add labels with python -m compute import-labels.")
        return
    titles = query_slices.TITLES
    key = yield Choice("slice", "Group by", keys, noun="query group", width=230, titles=titles)
    why = query_slices.BY_RESULTS.get(key)
    rows = view.ask(select_slices.by_slice, measure=view.measure, key=key, **view.choice)
    shown, title = ranked[["system", "title", "family"]].head(MOST_SYSTEMS), titles.get(key, key)
    yield Figure(
        "by_kind",
        f"{view.title} by {title}",
        partial(slices.panels, shown.merge(rows, on="system"), view.measure),
        partial(looks.families, shown["family"]),
        of=("dataset", "slice", "measure"),
    )
    yield Note(
        [
            _DESCRIBES.format(why) * bool(why),
            "Mean and 95% CI (Student's t) per query group; systems sorted by overall mean.",
            f"The best {MOST_SYSTEMS} of {len(ranked):,}." * (len(ranked) > MOST_SYSTEMS),
            "Overlapping intervals are not a test; Compare tests two systems by group.",
            "Every query counts the same, whatever its part." * (len(view.dataset.parts) > 1),
            "Add your own labels with python -m compute import-labels.",
        ]
    )


def judgements(view: View) -> Iterator[Step]:
    """Yield the number of judged documents of each query by grade."""
    grades = view.ask(select_systems.grades, **view.choice)
    if grades.empty:
        yield Message("No judgements are stored here.")
        return

    # The pair is found on the first click, for all marks.
    pair = cache(lambda: offers.first_pair(sorted(view.ranked()["system"]) or [""]))

    def opens(dataset: str, query_id: str) -> Link:
        return view.to_query(dataset, query_id, *pair())

    n_queries = len(grades.drop_duplicates(["dataset", "query_id"]))
    yield Figure(
        "judged",
        f"Judged documents by query on {view.dataset.title}",
        partial(difficulty.judged, grades),
        opens=opens,
        of=("dataset",),
        narrow=True,
        finding=" ".join(difficulty.judged_note(grades)),
    )
    yield Note(
        [
            "Each column is a mean over neighbouring queries."
            if n_queries > binned_queries.MOST
            else "Each column is a query.",
            "Darker: more relevant. Click a column to open the query.",
        ]
    )


def documents(view: View) -> Steps:
    """Yield a search for a document: which systems rank it, at which rank, for which queries."""
    name = (yield Words("doc", "Document id", width=340)).strip()
    if not name:
        found = example(view.ask, view.dataset)
        such = f", such as {found['doc_id'].iloc[0]}" if len(found) else ""
        yield Message(
            f"Type all or part of a document id{such} to see its judgements and its rank in"
            " each system."
        )
        return
    rows = query_outcomes.found(view.ask(select_systems.ranked_at, doc_id=name, **view.choice))
    if len(rows):
        yield from _places(view, name, rows)
        return
    near = list(view.ask(select_systems.like, part=name, **view.choice)["doc_id"])
    others = f" Ids that contain this text: {', '.join(near)}" if near else ""
    yield Message(f"No system retrieves {name}, and it has no judgements.{others}")


def _places(view: View, name: str, rows: DataFrame) -> Iterator[Step]:
    systems = sorted(set(view.ask(select.means_of, **view.choice)["system"]))

    def opens(dataset: str, query_id: str, first: str) -> Link:
        a, b = offers.first_pair(systems or [""])
        return view.to_query(dataset, query_id, first or a, b if b != first else a)

    shown = rows.head(MOST_PLACES)
    yield Table(
        "places",
        "Ranks of a document",
        shown.fillna({"text": "", "first": ""}).astype({"best": "Int64", "relevance": float}),
        figures.place_columns(view.titles, len(systems), texts=bool(shown["text"].notna().any())),
        opens=opens,
        carried=shown[["dataset", "query_id", "first"]].fillna("").to_numpy().tolist(),
        of=("dataset", "doc"),
    )
    yield Note(
        [
            f"{name} is ranked or judged for {counted(len(rows), 'query')}.",
            "Click a row to open the query.",
            "Ranks are known down to the stored depth of a run.",
            f"The first {len(shown):,} are shown." * (len(shown) < len(rows)),
        ]
    )
