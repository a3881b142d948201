"""Tables of the Data page, with stored data in words."""

import json
from collections.abc import Hashable, Mapping
from typing import Any

import pandas as pd
from pandas import DataFrame

from compute.views.efficiency.panels import size
from compute.views.page import Column

ORIGINS = {
    "computed": "computed here",
    "imported": "imported",
    "shipped": "shipped",
}


def datasets_rows(rows: DataFrame, titles: Mapping[str, str]) -> DataFrame:
    """Return `data.select.datasets` with titles by name, and readable columns: read, made_from."""
    records = rows.to_dict("records")
    return rows.assign(
        title=[titles.get(name, name) for name in rows["dataset"].tolist()],
        read=[texts(row) for row in records],
        made_from=[origin(row) for row in records],
        created=rows["created"].str.replace("T", " "),
    )


def _number(value: float) -> str:
    return "–" if pd.isna(value) else f"{int(value):,}"


def texts(row: Mapping[Hashable, Any]) -> str:
    """Say which texts of a dataset are stored."""
    there = [
        name
        for name, has in (("documents", row["has_documents"]), ("queries", row["has_texts"]))
        if has
    ]
    return " and ".join(there) or ("made on first use" if row["group"] == "PyDocs" else "ids only")


def origin(row: Mapping[Hashable, Any]) -> str:
    """Say where a dataset comes from, without folders of this machine."""
    if row["shipped"] is True:
        return ORIGINS["shipped"]
    if row["group"] == "own" and row["note"]:
        return row["note"].removesuffix(".")
    source = row["origin"]
    about = json.loads(source) if isinstance(source, str) else {}
    if "library" in about:
        return f"{about['library']} {about['version']}, installed"
    names = [file["name"] for file in about.get("files", [])]
    return ", ".join(names) or "–"


def runs_rows(
    rows: DataFrame, systems: Mapping[str, str], datasets: Mapping[str, str]
) -> DataFrame:
    """Return `data.select.runs` with titles by name, and readable columns."""
    return rows.assign(
        title=[systems.get(name, name) for name in rows["system"].tolist()],
        of=[datasets.get(name, name) for name in rows["dataset"].tolist()],
        origin=rows["origin"].map(ORIGINS),
        file=rows["file"].fillna(""),
        created=rows["created"].str.replace("T", " "),
        named=rows["system"] + " " + rows["dataset"],
    )


def answered(found: int, of: float) -> str:
    """Say how many queries were answered: `all 300` or `29 of 30`."""
    if pd.isna(of):
        return f"{found:,}"
    return f"all {found:,}" if found == of else f"{found:,} of {int(of):,}"


DATASETS = (
    Column("Dataset", "title", width=170),
    Column("Documents", "n_documents", _number),
    Column("Queries", "n_queries", _number),
    Column("Judgements", "n_judgements", _number),
    Column("Runs", "n_runs"),
    Column("Split", "split"),
    Column("Language", "language"),
    Column("Texts", "read", width=150),
    Column("Size", "bytes", size, "bytes"),
    Column("From", "made_from"),
    Column("Stored", "created"),
    Column("ID (CLI)", "dataset"),
)
RUNS = (
    Column("System", "title"),
    Column("Dataset", "of"),
    Column("From", "origin"),
    Column("Hits", "hits", "localized"),
    Column("Queries answered", ("n_answered", "n_queries"), answered),
    Column("Depth", "depth", "localized"),
    Column("File", "file"),
    Column("Size", "bytes", size, "bytes"),
    Column("Stored", "created"),
    Column("IDs (CLI)", "named"),
)
