"""Augmented queries: the weights of original and added words."""

from collections.abc import Mapping, Sequence
from functools import partial

import plotly.graph_objects as go
from pandas import DataFrame, concat, isna

from compute.base.words import counted
from compute.views.page import Column
from compute.views.shared import axes
from compute.views.shared.drawing import drawing
from compute.views.shared.theme import palette, plain

PAPER = "BM25 Query Augmentation"
PRINTED = {
    "Success@5": ("Success@5", 3),
    "Success@20": ("Success@20", 3),
    "nDCG@10": ("nDCG@10", 3),
    "R@100": ("R@100", 3),
    "latency_s": ("Latency (s)", 3),
    "augmentation_length": ("Words added", 1),
}
"""Columns of the paper's tables by our names: title and number of decimals."""
COMPARED = ("bm25-wordpiece", "bm25", "minilm")
"""Systems shown beside augmented ones."""
MOST_ADDED = 15
"""Most added words that are drawn."""
_ROW = 24
OWN, ADDED, DROPPED = "of the query", "added", "of the query, weight 0"


def relative(query: DataFrame) -> DataFrame:
    """Add share, the weight relative to the largest, since only ratios affect a ranking."""
    heaviest = max(float(query["weight"].max()), 1e-12)
    return query.assign(share=query["weight"] / heaviest)


@drawing
def bars(query: DataFrame, theme: str) -> go.Figure:
    """Draw word pieces (piece, in_query, weight, share) as bars: the query's, then added ones."""
    look = palette(theme)
    shown = _drawn(query)
    figure = go.Figure()
    for mine, label, colour in ((True, OWN, look.win), (False, ADDED, look.loss)):
        part = shown[shown["own"] == mine]
        figure.add_bar(
            x=part["share"],
            y=part.index,
            orientation="h",
            name=label,
            marker_color=colour,
            text=[plain(share, 2) if share else "0: not searched" for share in part["share"]],
            textposition="outside",
            cliponaxis=False,
            hoverinfo="skip",
        )
    names = axes.names_down(shown["piece"].tolist(), longest=24)
    figure.update_yaxes(names | {"range": None, "autorange": "reversed"})
    figure.update_xaxes(
        range=[0, 1.15], title="weight relative to the heaviest word", tickvals=[0, 0.5, 1]
    )
    height = 80 + _ROW * max(len(shown), 2)
    figure.update_layout(height=height, bargap=0.25, showlegend=True)
    return figure


def _drawn(query: DataFrame) -> DataFrame:
    """Return piece, share and own (true for pieces of the query), one row per bar."""
    own = query[query["in_query"]]
    added = query[~query["in_query"]].head(MOST_ADDED)
    shown = concat([own, added], ignore_index=True)
    return shown[["piece", "share"]].assign(own=shown["in_query"])


def told(query: DataFrame) -> str:
    """Count the words that were added, down-weighted and left out."""
    own = query[query["in_query"]]
    added = int((~query["in_query"]).sum())
    gone = int((own["weight"] == 0).sum())
    down = own.loc[(own["share"] < 0.5) & (own["weight"] > 0), "piece"]
    parts = [f"Added: {counted(added, 'word piece')}"]
    if added > MOST_ADDED:
        parts[0] += f", of which the {MOST_ADDED} heaviest are drawn"
    if len(down):
        parts.append(f"down-weighted to less than half of the heaviest: {', '.join(down)}")
    if gone:
        parts.append(f"not searched at all: {', '.join(own.loc[own['weight'] == 0, 'piece'])}")
    return "; ".join(parts) + "."


def moved(hits: DataFrame, system: str, plain_system: str) -> DataFrame:
    """Compare the top ten with and without augmentation: doc_id, rank, rank_before, judged (the
    grade). `hits`: system, rank, doc_id, relevance at the top of both lists."""
    columns = ["doc_id", "rank", "relevance"]
    now = hits.loc[hits["system"] == system, columns]
    before = hits.loc[hits["system"] == plain_system, columns]
    both = now.merge(before, on="doc_id", how="outer", suffixes=("", "_before"))
    both = both.sort_values(["rank", "rank_before"], na_position="last")
    judged = both["relevance"].fillna(both["relevance_before"])
    return both.assign(judged=judged)


MOVED = (
    Column("Document", "doc_id"),
    Column("Rank", "rank", lambda rank: _rank(rank)),
    Column("Rank without augmentation", "rank_before", lambda rank: _rank(rank)),
    Column("Judged", "judged", lambda grade: _judged(grade)),
)
"""Columns of the table of `moved`."""


def printed(figures: DataFrame, datasets: Sequence[str]) -> DataFrame:
    """Return the paper's rows for these datasets, or all its rows if `datasets` is empty: source,
    dataset, system, and a column per measure."""
    rows = figures[figures["source"].str.startswith(PAPER)]
    rows = rows[rows["dataset"].isin(datasets)] if len(datasets) else rows
    keys = ["source", "dataset", "printed"]
    wide = rows.pivot_table(index=keys, columns="measure", values="value", sort=False)
    wide = wide.reindex(columns=list(PRINTED)).reset_index()
    source = wide["source"].str.removeprefix(PAPER + ", ")
    return wide.assign(source=source, system=wide["printed"])


def measured(means: Mapping[str, DataFrame], costs: DataFrame, added: DataFrame) -> DataFrame:
    """Return rows like those of `printed` for runs computed here: augmented systems, and COMPARED
    on their datasets. `means` by measure: dataset, system, value. `costs`: dataset, system,
    latency_p50_ms. `added`: dataset, system, added (word pieces)."""
    shown = [(row.dataset, row.system) for row in added.itertuples()]
    shown += [(name, plain) for name in dict.fromkeys(added["dataset"]) for plain in COMPARED]
    wide = DataFrame(shown, columns=["dataset", "system"])
    for measure, frame in means.items():
        values = frame[["dataset", "system", "value"]].rename(columns={"value": measure})
        wide = wide.merge(values, on=["dataset", "system"], how="left")
    wide = wide.dropna(subset=["nDCG@10"])
    latency = costs[["dataset", "system", "latency_p50_ms"]]
    wide = wide.merge(latency, on=["dataset", "system"], how="left")
    wide = wide.merge(added, on=["dataset", "system"], how="left")
    wide["latency_s"] = wide["latency_p50_ms"] / 1000
    wide["augmentation_length"] = wide["added"]
    wide = wide.reindex(columns=["dataset", "system", *PRINTED])
    wide = wide.sort_values("dataset", kind="stable")
    return wide.assign(source="here")


COLUMNS = (
    Column("Source", "source"),
    Column("Dataset", "dataset"),
    Column("System", "system"),
    *(
        Column(head, name, partial(plain, digits=digits))
        for name, (head, digits) in PRINTED.items()
    ),
)
"""Columns of the rows of `printed` and `measured`."""


def _rank(value: float) -> str:
    return "below 10" if isna(value) else str(int(value))


def _judged(value: float) -> str:
    if isna(value):
        return "not judged"
    return "relevant" if value > 0 else "not relevant"
