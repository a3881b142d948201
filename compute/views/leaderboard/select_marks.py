"""Tests of the systems against a baseline on each dataset, for the marks of the heatmap."""

from collections.abc import Iterator, Sequence

import numpy as np
from duckdb import DuckDBPyConnection
from pandas import DataFrame

from compute.evaluate import baseline as testing
from compute.evaluate import power
from compute.evaluate.distributions import Runs
from compute.evaluate.families import Codes
from compute.evaluate.sign_flips import LEVEL
from compute.evaluate.significance import Values
from compute.evaluate.tolerance import equal
from compute.reading.questions import question
from compute.views.shared import matrices


@question(datasets=("datasets",), systems=("systems", "baseline"), shows="runs")
def against(
    cursor: DuckDBPyConnection,
    measure: str,
    datasets: Sequence[str],
    systems: Sequence[str],
    baseline: str,
) -> DataFrame:
    """Test the other systems against the baseline on each dataset: dataset, system, p, side,
    detectable.

    p is from the randomisation test over the shared queries, or from its approximation if there are
    `baseline.NORMAL` or more, corrected by Holm's method over the systems of a dataset. `side` is 1
    if p < .05 and the mean is above the baseline's, -1 if it is below, else 0. `detectable` is the
    smallest difference that Holm's strictest step detects with 80% power, as in `power`. All
    results are by query family, if there are any. Pairs with fewer than two queries and datasets
    without a run of the baseline are left out.
    """
    names = [baseline, *(name for name in systems if name != baseline)]
    found = matrices.of_parts(cursor, measure, datasets, names)
    rows = [row for dataset, of in found.items() for row in _on_one(dataset, *of, names)]
    return DataFrame(rows, columns=["dataset", "system", "p", "side", "detectable"])


def _on_one(
    dataset: str,
    parts: Sequence[Values],
    families: Codes | None,
    runs: Runs | None,
    names: Sequence[str],
) -> Iterator[tuple]:
    """Yield the rows of one dataset; the first of `names` is the baseline."""
    tested = testing.against(parts, 0, families, runs).assign(system=names)[1:]
    tested = tested[tested["n"] > 1]
    if tested.empty:
        return
    adjusted = testing.holm(tested["p"].to_numpy())
    gaps = tested["difference"].to_numpy()
    sides = np.where(equal(gaps, 0), 0, np.sign(gaps))
    sides = np.where(adjusted < LEVEL, sides, 0).astype(int).tolist()
    over, level = tested["freedom"] + 1, LEVEL / len(tested)
    found = power.detectable(tested["error"], over, level, tested["differing"])
    columns = tested["system"], adjusted.tolist(), sides, found.tolist()
    for system, p, side, least in zip(*columns, strict=True):
        yield dataset, system, p, side, least
