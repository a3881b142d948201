"""The record of the papers' items: every printed number that is stored, and the page made of it.

BEIRSCOPE_WRITE_PAPERS=1 writes `docs/papers.md` anew from `data/papers.csv`.
"""

import csv
import os
from collections import Counter

import pandas as pd
import pytest
from pandas import DataFrame

from compute.base.settings import PROJECT
from compute.datasets import published

PAGE = PROJECT / "docs" / "papers.md"
STATUSES = ("works", "published only", "random weights only", "partial", "missing")
TABLES = {
    3: "BEIR v1, Table 2",
    13: "BEIR v1, Table 9",
    15: "BEIR v1, Table 10",
    20: "BEIR v4, Table 2",
    22: "BEIR v4, Table 4",
    23: "BEIR v4, Table 9",
    27: "BEIR-PL, Table 3",
    28: "BEIR-PL, Table 4",
    30: "BEIR-PL, Table 5",
    31: "BEIR-PL, Table 6",
    34: "BM25 Query Augmentation, Table 1",
    35: "BM25 Query Augmentation, Table 2",
    36: "BM25 Query Augmentation, Table 3",
}
"""Printed tables of scores, by the number of their item."""
FILES = {
    1: ("datasets", "train_pairs dev_queries test_queries documents avg_relevant_per_query"),
    6: ("domain_shift", "jaccard_unigram_pct jaccard_bigram_pct bm25_ndcg10 ance_ndcg10"),
    21: ("efficiency", "rank dimensions gpu_ms_per_query cpu_ms_per_query index_gb"),
    24: ("lengths", "value"),
    25: ("datasets_pl", "test_queries documents avg_query_words avg_document_words"),
    26: ("translation_pl", "labse semantic strict"),
    4: ("averages", "value"),
    37: ("query_counts", "train_queries dev_queries test_queries"),
}
"""Other printed numbers: a file of data/published and its columns."""


def record() -> list[dict[str, str]]:
    with (PROJECT / "data" / "papers.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def printed() -> dict[int, DataFrame]:
    """The numbers of each item that has some."""
    scores = published.results()
    table = scores["source"].str.extract(r"^(.*?, Table \d+)")[0]
    found = {item: scores.loc[table == name, ["value"]] for item, name in TABLES.items()}
    assert sum(map(len, found.values())) == len(scores)
    more = {1: " avg_query_words avg_document_words", 6: " sbert_ndcg10"}
    for item, (name, columns) in FILES.items():
        rows = pd.read_csv(published.FOLDER / f"{name}.csv")
        found[item] = rows[(columns + more.get(item, "")).split()]
    return found


def test_every_printed_number_is_held_to_the_record() -> None:
    told = {int(row["number"]): row for row in record()}
    for item, numbers in printed().items():
        values = numbers.to_numpy(float)
        count, total = int((values == values).sum()), float(pd.Series(values.ravel()).sum())
        said = told[item]["numbers"], told[item]["sum"]
        assert said == (str(count), f"{total:.4f}"), (item, count, f"{total:.4f}")


def test_items_have_a_status_a_test_or_a_reason() -> None:
    rows = record()
    assert [int(row["number"]) for row in rows] == list(range(1, 133))
    counts = Counter(row["status"] for row in rows)
    assert set(counts) <= set(STATUSES) and counts["missing"] <= 3
    for row in rows:
        whole = row["status"] in ("works", "published only")
        assert whole or row["reason"], row
        assert row["status"] == "missing" or (PROJECT / row["test"]).is_file(), row


def rendered() -> str:
    """The page, from the record."""
    rows, counts = record(), Counter(row["status"] for row in record())
    head, _, rest = PAGE.read_text("utf-8").partition("<!-- the record -->\n")
    said = ", ".join(f"{counts[status]} {status}" for status in STATUSES)
    lines = [f"{head}<!-- the record -->", "", f"{len(rows)} items: {said}.", ""]
    lines += ["| # | in print | item | status | where | test |", "|---|---|---|---|---|---|"]
    for row in rows:
        status = row["status"] + (f": {row['reason']}" if row["reason"] else "")
        where = row["where"].replace("|", "\\|")
        test = f"`{row['test']}`" if row["test"] else ""
        cells = [row["number"], row["paper"], row["item"], status, where, test]
        lines.append(f"| {' | '.join(cells)} |")
    limits = rest.partition("<!-- its end -->")[2]
    return "\n".join([*lines, "", "<!-- its end -->"]) + limits


@pytest.mark.skipif(bool(os.environ.get("BEIRSCOPE_WRITE_PAPERS")), reason="it is written anew")
def test_the_page_is_the_record() -> None:
    assert PAGE.read_text("utf-8") == rendered()


@pytest.mark.skipif(not os.environ.get("BEIRSCOPE_WRITE_PAPERS"), reason="nothing asks for it")
def test_the_page_is_written() -> None:
    PAGE.write_text(rendered(), encoding="utf-8")
