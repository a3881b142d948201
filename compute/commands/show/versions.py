"""The versions command, which prints superseded runs and what changed in each newer run."""

import pandas as pd

from compute.base import printable
from compute.base.errors import Missing
from compute.commands import groups, options
from compute.commands.common import scored_by
from compute.commands.opening import open_whole
from compute.commands.show.stored import cursor_of
from compute.store import run_versions
from compute.store.store import Store
from compute.views.dataset import versions as figures


def _nothing(store: Store, dataset: str, system: str) -> str:
    """Return the reason why no version is printed, and the next step."""
    name, _, label = system.rpartition("@")
    if label and name and run_versions.stored(store, dataset or None, name):
        return f"{system} is a version: give its system, --system {name}"
    of = (f" of {system}" if system else "") + (f" on {dataset}" if dataset else "")
    return f"no version is kept{of}: import-run and run keep one with --as-version"


def versions(
    *,
    dataset: options.OnlyDataset = "",
    system: options.OnlySystem = "",
    measure: options.OnlyMeasure = "nDCG@10",
    judged: groups.Judged = groups.Judged(),
    json: options.Json = False,
) -> int:
    """Print each version of each system, oldest first, and its change in score."""
    bench = open_whole()
    kept = run_versions.stored(bench.store, dataset or None, system or None)
    if not kept:
        raise Missing(_nothing(bench.store, dataset, system))
    picked = {part.system for part in kept}
    for name in picked:
        scored_by(bench, measure, dataset, name)
    found, pairs = [], dict.fromkeys((part.dataset, part.version_of) for part in kept)
    with cursor_of(bench, judged, dataset, picked) as cursor:
        for on, of in pairs:
            own = [part for part in kept if (part.dataset, part.version_of) == (on, of)]
            history = figures.history(own, bench.store.part("hits", on, of))
            asked = {"datasets": [on], "systems": history["system"].tolist()}
            rows = history.merge(figures.scored(cursor, measure=measure, **asked), on="system")
            found.append(rows.assign(dataset=on, measure=measure))
    told = pd.concat(found, ignore_index=True)
    first = ["dataset", "system", "label"]
    return printable.show(told[[*first, *told.columns.drop(first)]], json)
