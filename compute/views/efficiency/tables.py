"""Tables of what systems cost: as shown, as saved, and beside the papers' figures."""

import pandas as pd
from pandas import DataFrame

from compute.evaluate.measures import better
from compute.evaluate.tolerance import order
from compute.recompute.efficiency import MEASURED
from compute.views.efficiency.panels import figures, milliseconds, size
from compute.views.shared import theme as looks


def table(rows: DataFrame, measure: str) -> DataFrame:
    """Every figure of these rows of `pareto.points`, as text, the best value first."""
    ordered = rows.iloc[order(better(measure) * rows["value"], rows["system"])]
    shown = [
        {"System": row["title"], measure: looks.plain(row["value"], 4)}
        | {name[:1].upper() + name[1:]: said for name, said in figures(row).items()}
        | {"Measured on": row["hardware"]}
        for row in ordered.to_dict("records")
    ]
    found = DataFrame(shown)
    # A column that nothing fills says nothing.
    return found[[name for name in found if (found[name] != "–").any()]]


def whole(rows: DataFrame, datasets: list[str], measure: str) -> DataFrame:
    """The same rows in full: seconds, bytes and milliseconds as they were measured."""
    columns = ["system", "value", *MEASURED, "hardware", "load"]
    full = rows.sort_values("system")[columns].rename(columns={"value": measure})
    full.insert(1, "datasets", "; ".join(datasets))
    return full


def beside_print(printed: DataFrame, costs: DataFrame, named: DataFrame) -> DataFrame:
    """The papers' efficiency tables beside what is measured here, as text.

    `printed` as `published.efficiency` has it, `costs` rows of `efficiency.select.costs`: where
    several datasets are among them, the means. `named`: system and title. Systems that are
    measured here come first.
    """
    titles = dict(zip(named["system"], named["title"], strict=True))
    here = {}
    if len(costs):
        means = costs.groupby("system")[["latency_p50_ms", "index_bytes"]].mean()
        here = means.to_dict("index")
    rows = []
    for row in printed.to_dict("records"):
        own = here.get(row["system"], {})
        rows.append(
            {
                "System": titles.get(row["system"], row["system"]),
                "Documents": f"{row['documents']:,.0f}",
                "CPU, a query": milliseconds(row["cpu_ms_per_query"]),
                "GPU, a query": milliseconds(row["gpu_ms_per_query"]),
                "Index": size(row["index_gb"] * 1e9),
                "Latency here": milliseconds(own.get("latency_p50_ms", float("nan"))),
                "Index here": size(own.get("index_bytes", float("nan"))),
                "Printed in": row["source"].partition(" (")[0],
            }
        )
    rows.sort(key=lambda row: row["Index here"] == "–")
    return pd.DataFrame(rows)
