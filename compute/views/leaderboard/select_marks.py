"""Which cells of a table of systems x datasets are significantly better than a baseline's."""

from collections.abc import Iterator, Sequence

import numpy as np
from duckdb import DuckDBPyConnection
from pandas import DataFrame
from statsmodels.stats.multitest import multipletests

from compute.evaluate.significance import aligned, pairs
from compute.evaluate.tolerance import above
from compute.reading.questions import question

FEW = 100
"""Resamples of the effect size, which is not asked for here."""


@question(datasets=("datasets",), systems=("systems",), shows="runs")
def against(
    cursor: DuckDBPyConnection,
    measure: str,
    datasets: Sequence[str],
    systems: Sequence[str],
    baseline: str,
    sign: int,
) -> DataFrame:
    """dataset, system, p, is_better: every other system against the baseline on each dataset.

    p is that of the randomisation test over the queries that both have, corrected over the systems
    of a dataset by Holm's method; `is_better`: p < 0.05 and the mean is better. `sign` is -1 where
    less is better. Pairs with fewer than two queries are left out, as are datasets without a run
    of the baseline.
    """
    rows = cursor.execute(
        """
        with chosen as (
            select
                name as board,
                unnest(case when len(parts) > 0 then parts else [name] end) as part
            from datasets where name in (select unnest($datasets))
        )
        select board, dataset, system, query_id, value
        from scores join chosen on dataset = part
        where measure = $measure and (system in (select unnest($systems)) or system = $baseline)
        """,
        {
            "datasets": list(datasets),
            "measure": measure,
            "systems": list(systems),
            "baseline": baseline,
        },
    ).df()
    found = [
        row
        for board, own in rows.groupby("board", sort=False)
        for row in _on_one(str(board), own, baseline, sign)
    ]
    return DataFrame(found, columns=["dataset", "system", "p", "is_better"])


def _on_one(board: str, rows: DataFrame, baseline: str, sign: int) -> Iterator[tuple]:
    compared = []
    for system in sorted(set(rows["system"]) - {baseline}):
        both = aligned(rows, (system, baseline)) if baseline in set(rows["system"]) else None
        if both is not None and both.values.shape[1] > 1:
            row = pairs(both.values, weights=both.weights, resamples=FEW).iloc[0]
            compared.append((system, float(row["p"]), float(row["difference"])))
    if compared:
        adjusted = np.asarray(multipletests([p for _, p, _ in compared], method="holm")[1])
        for (system, _, difference), p in zip(compared, adjusted, strict=True):
            yield board, system, float(p), bool(p < 0.05 and above(sign * difference, 0))
