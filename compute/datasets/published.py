"""The papers' tables with our names: published numbers to compare with computed ones."""

from functools import cache
from itertools import combinations
from typing import cast

import pandas as pd
from pandas import DataFrame

from compute.base.settings import PROJECT

FOLDER = PROJECT / "data" / "published"

# The papers' name of a measure, and ours.
_MEASURES = {"MRR@": "RR@", "Accuracy@": "Success@"}
# Further published names of systems that are printed under several. v1's SBERT is
# the cosine variant: its Table 2 equals that column of Table 10 wherever Table 10 is sound.
_ALSO_PRINTED = {"SBERT": "sbert-cosine", "BM25+CE": "bm25+ce-electra"}
# In its Table 3, on efficiency, each paper calls its own BM25 by that name.
_BM25_OF = {"BEIR v1": "bm25-elasticsearch", "BEIR v4": "bm25-multifield"}
# v4 Table 4 has two values per system and measure; each is a separate source.
_VARIANTS = ("original judgements", "after 980 added judgements")
# Datasets left out of v1's correlation; the authors chose them after seeing the results.
LEFT_OUT = ("bioasq", "signal1m", "webis-touche2020")
IMPORTED = "Printed: "
"""Beginning of the source of an imported table."""


def _table(name: str) -> DataFrame:
    return pd.read_csv(FOLDER / f"{name}.csv", dtype=str, keep_default_na=False)


def _short(paper: str) -> str:
    """Return a paper's short name, such as BEIR v1."""
    return paper.partition(" (")[0].replace(" Learned End-to-End", "")


def _measure(metric: str) -> str:
    """Return our name of a published measure."""
    for printed, ours in _MEASURES.items():
        if metric.startswith(printed):
            return ours + metric.removeprefix(printed)
    return metric


@cache
def names() -> dict[str, str]:
    """Return our system name for each published name, from `systems.csv`."""
    table = _table("systems")
    return dict(zip(table["name_in_results"], table["system"], strict=True)) | _ALSO_PRINTED


def results() -> DataFrame:
    """Return one row per published score. Columns: `paper` as cited, `source` (its short name and
    the table, such as "BEIR v4, Table 2"), `dataset`, `system` (a published name without a system
    here, such as a row of an ablation, stays unchanged), `printed` (the published name), `measure`
    in our spelling, `value`, `in_domain` (the system was trained on this dataset), `suspect` (it
    contradicts its neighbours, so it is shown but never used), `note`."""
    return _results().copy(deep=False)


@cache
def _results() -> DataFrame:
    table = _table("results")
    variant = table["note"].where(table["note"].isin(_VARIANTS), "")
    source = table["paper"].map(_short) + ", " + table["table"]
    return DataFrame(
        {
            "paper": table["paper"],
            "source": source + (", " + variant).where(variant != "", ""),
            "dataset": table["dataset"],
            "system": table["system"].replace(names()),
            "printed": table["system"],
            "measure": table["metric"].map(_measure),
            "value": table["value"].astype(float),
            "in_domain": table["note"] == "in-domain",
            "suspect": table["note"].str.startswith("suspect"),
            "note": table["note"],
        }
    )


def sources(figures: DataFrame) -> list[str]:
    """Return the sources of scores: the newest main table first, imported tables last."""
    kept = figures["measure"].str.contains("@") | figures["source"].str.startswith(IMPORTED)
    known = list(dict.fromkeys(figures.loc[kept, "source"]))
    first = [source for source in ("BEIR v4, Table 2", "BEIR v1, Table 2") if source in known]
    return first + sorted(set(known) - set(first), key=_order)


def _order(source: str) -> tuple[bool, str, int, str]:
    """Return the key that sorts sources: imported or not, paper, number of the table, rest."""
    paper, _, table = source.partition(", Table ")
    number, _, rest = table.partition(",")
    place = int(number) if number.isdecimal() else 0
    return not source.startswith(IMPORTED), paper.replace("BEIR v4", "BEIR v0"), place, rest


def domain_shift() -> DataFrame:
    """Return BEIR v1 Table 4: the similarity of each corpus to MS MARCO, and the difference from
    BM25. One row per `dataset` and `system` ("ance", "sbert-cosine"), with `unigrams` and `bigrams`
    (weighted Jaccard similarity, 0 to 1), `difference` (nDCG@10 minus that of BM25) and `left_out`
    (whether it is one of the three collections that the paper's correlation leaves out)."""
    table = _table("domain_shift")
    bm25 = table["bm25_ndcg10"].astype(float)
    frames = [
        DataFrame(
            {
                "dataset": table["target"],
                "system": system,
                "unigrams": table["jaccard_unigram_pct"].astype(float) / 100,
                "bigrams": table["jaccard_bigram_pct"].astype(float) / 100,
                "difference": (table[column].astype(float) - bm25).round(3),
                "left_out": table["target"].isin(LEFT_OUT),
            }
        )
        for system, column in (("sbert-cosine", "sbert_ndcg10"), ("ance", "ance_ndcg10"))
    ]
    return pd.concat(frames, ignore_index=True)


OVERLAP = "Pyserini's documentation"
"""The source of `overlap`."""
OVERLAP_FLOOR = 1e-4
"""Word pieces count in `overlap` if their relative frequency is above this."""


def overlap() -> DataFrame:
    """Return the weighted Jaccard similarity of BEIR's corpora over word pieces, from Pyserini's
    documentation: dataset, other, similarity (0 to 1), each pair once, dataset < other. It was most
    likely computed with the cased tokeniser: it gives .582 for SciFact and NFCorpus, whereas the
    uncased tokeniser gives .607."""
    square = pd.read_csv(FOLDER / "weighted_jaccard_pyserini.tsv", sep="\t", index_col=0)
    values = square.to_numpy()
    pairs = [
        (*sorted((square.index[one], square.index[other])), values[one, other])
        for one, other in combinations(range(len(square)), 2)
    ]
    frame = DataFrame(pairs, columns=["dataset", "other", "similarity"])
    return frame.sort_values(["dataset", "other"], ignore_index=True)


def annotation_effect(figures: DataFrame) -> DataFrame:
    """Return BEIR v4 Table 4 by system: nDCG@10 on TREC-COVID `before` and `after` 980 judgements
    were added, and `hole`, the printed Hole@10 (a share, 0 to 1) before that."""
    table = figures[figures["source"].str.startswith("BEIR v4, Table 4")]
    scores = table[table["measure"] == "nDCG@10"]
    by_note = scores.pivot(index="system", columns="note", values="value")
    by_note = by_note[list(_VARIANTS)].set_axis(["before", "after"], axis=1)
    holes = table[table["measure"] == "Hole@10"].set_index("system")["value"]
    return by_note.assign(hole=holes)


MEDIAN_LENGTH, TITLE_ONLY = "median words of the top 10", "documents with a title only"


def lengths() -> DataFrame:
    """Return document lengths in BEIR v4: source, dataset, system, measure, value. The measure
    MEDIAN_LENGTH belongs to a system; TITLE_ONLY, a rounded number, to a collection."""
    table = _table("lengths")
    return DataFrame(
        {
            "source": table["paper"].map(_short),
            "dataset": table["dataset"],
            "system": table["system"].replace(names()),
            "measure": table["measure"],
            "value": table["value"].astype(float),
        }
    )


def efficiency() -> DataFrame:
    """Return the published latency and index size of each `system`, with its `source`. The numbers
    (NaN if not reported) are `gpu_ms_per_query`, `cpu_ms_per_query` and `index_gb`, measured on
    `documents` documents; `dimensions` of a vector; and `rank` by zero-shot performance."""
    table = _table("efficiency")
    numbers = [
        "rank",
        "dimensions",
        "gpu_ms_per_query",
        "cpu_ms_per_query",
        "index_gb",
        "documents",
    ]
    own = [
        _BM25_OF[source[:7]] if system == "BM25" else names().get(system, system)
        for system, source in zip(map(str, table["system"]), table["source"], strict=True)
    ]
    values = cast(DataFrame, table[numbers].apply(pd.to_numeric))
    return values.assign(system=own, source=table["source"])


def translation() -> DataFrame:
    """Return BEIR-PL Table 2: `part` of a collection; quality by `labse`, `semantic`, `strict`."""
    return _table("translation_pl").astype(dict.fromkeys(("labse", "semantic", "strict"), float))


def reasons() -> DataFrame:
    """Return the known reasons for differences from published scores: source (only its beginning),
    dataset and system (`*`: any), reason. The first row that matches counts."""
    return _table("reasons")


SAID = ("built", "task", "bias", "query", "document", "corpus")
"""The facts that `descriptions` gives about a dataset."""


@cache
def descriptions() -> dict[str, dict[str, str]]:
    """Return, by dataset or group, how datasets were built, their task and annotation bias and, if
    the licence allows it, the papers' example of a query and of a relevant document's title."""
    rows = _table("descriptions").to_dict("records")
    return {row["dataset"]: {name: row[name] for name in SAID} for row in rows}


def query_counts() -> DataFrame:
    """Return Query Augmentation's Table 4: dataset, train_queries, dev_queries, test_queries."""
    table = _table("query_counts").set_index("dataset")
    return table.apply(pd.to_numeric).reset_index()


@cache
def averages() -> DataFrame:
    """Return the rows of averages in published tables: source, system, printed, measure, value."""
    table = _table("averages")
    ours = table["system"].replace(names())
    return table.assign(printed=table["system"], system=ours, value=table["value"].astype(float))
