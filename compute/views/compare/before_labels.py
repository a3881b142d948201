"""Comparison of two runs by their ranked lists only, without judgements."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

import pandas as pd
import pyarrow as pa
from pandas import DataFrame, Series

from compute.base.words import counted
from compute.intake.doctor.ids import nearest
from compute.reading.top_ranks import DEPTH
from compute.views.compare import figures, select
from compute.views.page import (
    Ask,
    Beside,
    Column,
    Figure,
    Heading,
    Link,
    Message,
    Note,
    Section,
    Step,
    Steps,
    Table,
    Text,
    offers,
)
from compute.views.query import select as query_select
from compute.views.shared import catalogue
from compute.views.shared import theme as looks

MOST = 20
"""Rows of the table of queries that changed most."""
HUBS, LEAST, SHARE = 5, 3, 0.2
"""Most hubs shown, and the least number and share of a run's top lists that a hub is in."""
_LETTERS = 200
_PAIR = ("dataset", "a", "b")


class Two(NamedTuple):
    """Two runs on a dataset."""

    ask: Ask
    dataset: str
    systems: tuple[str, str]
    titles: tuple[str, str]
    measure: str = ""
    """The measure of the picker; ranked lists need none."""

    def lists(self) -> DataFrame:
        """Return `select.tops` for both systems."""
        a, b = self.systems
        return self.ask(select.tops, datasets=[self.dataset], a=a, b=b)

    def overlaps(self) -> DataFrame:
        """Return `select.overlaps` for both systems."""
        a, b = self.systems
        return self.ask(select.overlaps, datasets=[self.dataset], a=a, b=b)

    def texts(self, ids: Sequence[str]) -> Series:
        """Return titles and texts of documents by id, where texts are stored."""
        collection = offers.record(self.ask, self.dataset).collection
        rows = self.ask(query_select.documents, collection=collection, doc_ids=sorted({*ids}))
        both = rows["title"].fillna("") + " " + rows["text"].fillna("")
        return both.str.split().str.join(" ").str.slice(0, _LETTERS).set_axis(rows["doc_id"])


def section(two: Two) -> Steps:
    """Yield the distance between the rankings, the queries behind it, and hub documents."""
    rows, tops = two.overlaps(), two.lists()
    if rows.empty or tops.empty:
        yield Message("The ranked lists of these runs are not stored.")
        return
    yield Heading(said(rows, tops, two.titles))
    title = "Overlap of the two runs by depth"
    by_depth = [Table("depths", title, depths(rows), of=_PAIR), moved(tops)]
    yield Section([Beside([by_depth, partial(likeness, lambda: rows)])], ("depths", "likeness"))
    yield Section(partial(_hubs, two, tops), ("hubs",))
    yield Section(partial(_changed, two, rows, tops), ("changed",), "Queries that changed most")


def no_query(two: Two) -> str:
    """Say why two runs that share no query cannot be compared; empty if they share one."""
    tops, (a, b) = two.lists(), two.titles
    of_a, of_b = (tops.loc[tops[f"rank_{one}"].notna(), "query_id"].unique() for one in "ab")
    if not len(of_a) or not len(of_b) or {*of_a} & {*of_b}:
        return ""
    near = nearest("query", pa.array(of_a), pa.array(of_b), b)
    return (
        f"{a} and {b} cannot be compared because they share no query: {a} answers"
        f" {len(of_a):,} queries, {b} answers {len(of_b):,} others. For {a}, {near}."
    )


def likeness(alike: Callable[[], DataFrame]) -> Iterator[Step]:
    """Yield the similarity of the two rankings by query."""
    rows = alike()
    if rows.empty:
        yield Message("The ranked lists of these runs are not stored.")
        return
    title = "Queries by rank-biased overlap (RBO) of their two lists"
    found = f"Mean overlap of the top 10: {rows['shared'].mean():.1f} documents."
    drawn = partial(figures.likeness, rows)
    yield Figure("likeness", title, drawn, of=_PAIR, narrow=True, finding=found)
    yield Note(
        [
            "1: the same documents in the same order; 0: no document in common.",
            "RBO is extrapolated with p = 0.9 to rank 100; the top 10 make up 86% of it.",
        ]
    )


def said(rows: DataFrame, tops: DataFrame, titles: tuple[str, str]) -> str:
    """State the number of queries whose top 10 differ, and by how much."""
    n, changed = len(rows), int(changed_queries(tops).sum())
    a, b = titles
    if not changed:
        return f"{a} and {b} have the same top {DEPTH} on all {counted(n, 'query')}."
    rbo = looks.plain(rows["rbo"].mean())
    return (
        f"{a} and {b} differ in the top {DEPTH}, in documents or order, on {changed:,} of"
        f" {counted(n, 'query')} ({changed / n:.0%}): they share {rows['shared'].mean():.1f} of"
        f" {DEPTH} documents on average (RBO {rbo})."
    )


def changed_queries(tops: DataFrame) -> Series:
    """Return true for each query whose two top lists differ, in documents or in their order."""
    differs = tops["rank_a"].fillna(0).ne(tops["rank_b"].fillna(0))
    return differs.groupby([tops["dataset"], tops["query_id"]]).any()


def depths(rows: DataFrame) -> DataFrame:
    """Return text by depth: mean share of common documents, and queries that share all or none."""
    every = {k: rows[f"at_{k}"] for k in select.DEPTHS}
    above = dict(zip(select.DEPTHS[1:], every.values(), strict=False))
    # Depths below the end of all lists are left out, since the overlap stays the same there.
    found = {k: of for k, of in every.items() if k not in above or not of.equals(above[k])}
    return DataFrame(
        {
            "Depth": [str(k) for k in found],
            "Shared documents": [f"{share.mean():.0%}" for share in found.values()],
            "Queries sharing all": [f"{share.eq(1).sum():,}" for share in found.values()],
            "Queries sharing none": [f"{share.eq(0).sum():,}" for share in found.values()],
        }
    )


def moved(tops: DataFrame) -> Note:
    """State rank changes of documents in both top lists, and how often first documents differ."""
    both = tops.dropna(subset=["rank_a", "rank_b"])
    steps = (both["rank_a"] - both["rank_b"]).abs()
    first = tops[tops["rank_a"].eq(1)].groupby(["dataset", "query_id"])["rank_b"].max()
    other = int(first.fillna(0).ne(1).sum())
    facts = [f"The top document differs on {other:,} of {counted(len(first), 'query')}."]
    if len(steps):
        share = f"{steps.gt(0).mean():.0%} change rank, by at most {steps.max():.0f}"
        found = share if steps.any() else "none changes rank"
        facts.append(f"Of the documents in both top-{DEPTH} lists, {found}.")
    return Note(facts)


def hubs(tops: DataFrame) -> DataFrame:
    """Return documents that are in many top lists: doc_id, n_a, n_b (lists), share_a, share_b."""
    sides = tops[["rank_a", "rank_b"]].notna().set_axis(["n_a", "n_b"], axis=1)
    keyed = tops[["dataset", "query_id", "doc_id"]].join(sides)
    lists = keyed.groupby(["dataset", "query_id"])[["n_a", "n_b"]].any().sum()
    found = keyed.groupby("doc_id")[["n_a", "n_b"]].sum()
    shares = found / lists.clip(lower=1)
    chosen = ((found >= LEAST) & (shares >= SHARE)).any(axis=1)
    shares = shares.set_axis(["share_a", "share_b"], axis=1)
    most = found.max(axis=1).sort_values(ascending=False, kind="stable").index
    return found.join(shares)[chosen].reindex(most[chosen[most]]).head(HUBS).reset_index()


def _hubs(two: Two, tops: DataFrame) -> Steps:
    """Yield the table of `hubs`, with their texts if stored."""
    rows = hubs(tops)
    if rows.empty:
        return
    yield Heading("Documents in many top lists")
    first, titles = rows.iloc[0], two.titles
    yield Text(
        f"{first['doc_id']} is in {first['share_a']:.0%} of the top-{DEPTH} lists of"
        f" {titles[0]} and {first['share_b']:.0%} of those of {titles[1]}: a hub that crowds"
        " out others."
    )
    texts = rows["doc_id"].map(two.texts(rows["doc_id"].tolist()))
    columns = [Column("Document", "doc_id")]
    if texts.notna().any():
        rows, columns = rows.assign(text=texts.fillna("")), [*columns, Column("Text", "text")]
    for title, side in zip(titles, "ab", strict=True):
        fields = f"n_{side}", f"share_{side}"
        columns.append(Column(f"Lists of {title}", fields, "{:,} ({:.0%})".format))
    yield Table("hubs", f"Documents in many top-{DEPTH} lists", rows, columns, of=_PAIR)


def most_changed(rows: DataFrame, tops: DataFrame) -> DataFrame:
    """Return the queries whose lists differ most: dataset, query_id, text, rbo, shared, and per
    side the highest document only in its top list, with its rank: only_a, at_a, only_b, at_b."""
    changed = changed_queries(tops).rename("changed").reset_index()
    few = rows.merge(changed[changed["changed"]], on=["dataset", "query_id"])
    few = few.sort_values(["rbo", "dataset", "query_id"], kind="stable").head(MOST)
    for side, other in ("ab", "ba"):
        own = tops[tops[f"rank_{other}"].isna()].sort_values(f"rank_{side}", kind="stable")
        own = own.drop_duplicates(["dataset", "query_id"])
        named = {"doc_id": f"only_{side}", f"rank_{side}": f"at_{side}"}
        columns = ["dataset", "query_id", *named]
        few = few.merge(own[columns].rename(columns=named), how="left")
    return few.reset_index(drop=True)


def _changed(two: Two, rows: DataFrame, tops: DataFrame) -> Steps:
    """Yield the table of `most_changed`."""
    found = most_changed(rows, tops)
    if found.empty:
        yield Message("The top lists are the same for every query.")
        return
    asked = two.ask(catalogue.asked, dataset=two.dataset, query_ids=found["query_id"].tolist())
    words = asked.set_index("query_id")["text"].reindex(found["query_id"])
    found = found.assign(text=words.fillna("").to_numpy()).astype({"shared": "Int64"})
    # Some queries are named by their texts, which are then not repeated.
    has_text = words.notna() & words.ne(words.index.to_series())
    columns = [Column("Query", "query_id"), *[Column("Text", "text")] * bool(has_text.any())]
    texts = two.texts(pd.concat([found["only_a"], found["only_b"]]).dropna().tolist())
    for title, side in zip(two.titles, "ab", strict=True):
        fields = f"at_{side}", f"only_{side}"
        columns.append(Column(f"Only {title}", fields, partial(_first, texts)))
    columns += [Column("Overlap@10", "shared"), Column("RBO", "rbo", looks.plain)]
    yield Table(
        "changed",
        "Queries whose rankings changed most",
        found,
        columns,
        opens=Link("query", {"systems": list(two.systems)}, carried=("dataset", "query")),
        carried=found[["dataset", "query_id"]].to_numpy().tolist(),
        of=_PAIR,
    )
    yield Note(
        [
            f"“Only …”: the best document missing from the other top {DEPTH}, with its rank.",
            "Click a row to open the query with both lists.",
        ]
    )


def _first(texts: Series, rank: float, name: str) -> str:
    """Return a document's rank, with its text if stored, else its id."""
    if pd.isna(rank):
        return "–"
    return f"{rank:.0f}: {texts.get(name, '') or name}"
