"""The tables of the page Data: what is stored, in words for people."""

import json
from collections.abc import Hashable, Mapping
from typing import Any

import pandas as pd
from pandas import DataFrame

from compute.views.efficiency.panels import size

ORIGINS = {
    "computed": "computed here",
    "imported": "imported",
    "shipped": "came with the project",
}


def datasets_table(rows: DataFrame) -> DataFrame:
    """`data.select.datasets` as people read it, a row per dataset."""
    return DataFrame(
        {
            "Dataset": rows["dataset"],
            "Documents": rows["n_documents"].map(_number).astype("str"),
            "Queries": rows["n_queries"].map(_number).astype("str"),
            "Judgements": rows["n_judgements"].map(_number).astype("str"),
            "Runs": rows["n_runs"],
            "Split": rows["split"],
            "Language": rows["language"],
            "Texts": [texts(row) for row in rows.to_dict("records")],
            "Size": rows["bytes"].map(size),
            "From": [origin(row) for row in rows.to_dict("records")],
            "Stored": rows["created"].str.replace("T", " "),
        }
    )


def _number(value: float) -> str:
    return "–" if pd.isna(value) else f"{int(value):,}"


def texts(row: Mapping[Hashable, Any]) -> str:
    """What of a dataset can be read here."""
    there = [
        name
        for name, has in (("documents", row["has_documents"]), ("queries", row["has_texts"]))
        if has
    ]
    return " and ".join(there) or "ids only"


def origin(row: Mapping[Hashable, Any]) -> str:
    """Where a dataset came from, without the folders of this machine."""
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


def runs_table(
    rows: DataFrame, systems: Mapping[str, str], datasets: Mapping[str, str]
) -> DataFrame:
    """`data.select.runs` as people read it, a row per run, with titles by name."""
    return DataFrame(
        {
            "System": [systems.get(name, name) for name in rows["system"].tolist()],
            "Dataset": [datasets.get(name, name) for name in rows["dataset"].tolist()],
            "From": rows["origin"].map(ORIGINS),
            "Hits": rows["hits"],
            "Queries answered": [
                answered(found, of)
                for found, of in zip(rows["n_answered"], rows["n_queries"], strict=True)
            ],
            "Depth": rows["depth"],
            "File": rows["file"].fillna(""),
            "Size": rows["bytes"].map(size),
            "Stored": rows["created"].str.replace("T", " "),
            "Named in commands": rows["system"] + " " + rows["dataset"],
        }
    )


def answered(found: int, of: float) -> str:
    """`all 300` or `29 of 30`."""
    if pd.isna(of):
        return f"{found:,}"
    return f"all {found:,}" if found == of else f"{found:,} of {int(of):,}"
